"""How well each OCR engine reads pages in other languages than English.

python -m tests.benchmarks.languages [--engine rapidocr] [--language deu] [--pages 6]
"""

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.documents.limits import OcrChoice, ReadLimits
from engine.documents.ocr.scripts import read_by_rapidocr
from engine.grounded import GroundedPage
from engine.training.evaluation.ocr_words import OcrWords
from engine.training.evaluation.report.wording import format_share
from engine.training.evaluation.word_recall import WordRecall
from tests.benchmarks.languages.pages import by_characters, made_pages
from tests.benchmarks.languages.texts import TEXTS, Text
from tests.benchmarks.markdown import table

_ENGINES: tuple[OcrChoice, ...] = ("rapidocr", "tesseract")
_HEADS = ("language", "engine", "pages", "words", "recall", "precision", "recall*", "precision*", "s a page")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=_ENGINES, action="append", help="default: both")
    parser.add_argument("--language", choices=[text.code for text in TEXTS], action="append", help="default: all")
    parser.add_argument("--pages", type=int, default=6, help="pages a language; one of three is clean")
    parser.add_argument("--workers", type=int, default=1, help="pages read at once; above 1 the seconds are longer")
    chosen = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="glossator-languages-") as folder:
        for text in TEXTS:
            if chosen.language and text.code not in chosen.language:
                continue
            pages = list(made_pages(text, Path(folder), chosen.pages))
            for engine in chosen.engine or _ENGINES:
                rows.append([text.name, engine, *measured(text, engine, pages, Path(folder), chosen.workers)])
                print(" ".join(rows[-1]), flush=True)
    print("\n" + table(_HEADS, rows, left=2))
    print("\n*: without punctuation and symbols. Words of Japanese are its characters. Case is left out throughout.")
    print("Pages on which the engine ran out of time are not in the figures; `pages` tells how many were read.")


def measured(text: Text, engine: OcrChoice, pages: Sequence[GroundedPage], folder: Path, workers: int) -> list[str]:
    """Figures of one engine on the pages of one language, or why there are none."""
    if engine == "rapidocr" and not read_by_rapidocr(text.code):
        return ["letters not known", *["-"] * (len(_HEADS) - 3)]
    if engine == "tesseract" and text.code not in installed():
        return ["not installed", *["-"] * (len(_HEADS) - 3)]
    limits = ReadLimits(ocr=engine, ocr_language=text.code)
    found = WordRecall()
    ocr = OcrWords(folder, limits, workers=workers, warn=lambda sentence: print(sentence, flush=True))
    read_pages = 0
    for page, reading in ocr.read_ahead(pages):
        if reading.failed:  # out of time on a busy machine: says nothing about letters, and is told apart
            continue
        read_pages += 1
        if text.by_character:
            page = replace(page, words=by_characters(page.words))
            read = by_characters(reading.words)
            reading = replace(reading, words=tuple(read), confidences=(None,) * len(read))
        found.add(page, reading)
    figures = found.to_json()
    names = ("recall", "precision", "recall_without_punctuation", "precision_without_punctuation")
    pages_told = f"{read_pages} of {len(pages)}"
    if not read_pages:
        return [pages_told, *["-"] * (len(_HEADS) - 3)]
    return [
        pages_told,
        str(figures["given"]),
        *(format_share(figures[name]) for name in names),
        f"{figures['seconds_p50']:.1f}",
    ]


def installed() -> set[str]:
    """Languages of Tesseract on this machine."""
    program = shutil.which("tesseract")
    if program is None:
        return set()
    listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=10, check=False).stdout
    return set(listed.split("\n")[1:])


if __name__ == "__main__":
    main()
