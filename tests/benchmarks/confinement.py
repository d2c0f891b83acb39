"""Read files confined and unconfined, and compare all that was read: python -m tests.benchmarks.confinement FOLDER...

Words, boxes, widgets and pictures of pages are compared byte for byte, refusals by their sentences. Each file has a line:
seconds by the clock unconfined and confined, whether both are the same, and what was read. The table at the end says
what confinement costs a file.
"""

import argparse
import dataclasses
import hashlib
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from engine.confinement import Confinement
from engine.documents.limits import ReadLimits
from engine.documents.reading.forked_readers import FORKS
from engine.documents.reading.open import read_document
from engine.documents.refusal import DocumentRefused
from tests.benchmarks.markdown import table


class Reading(NamedTuple):
    """What became of a file: a hash of all pages with their number, or the sentence of a refusal; seconds."""

    outcome: str
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="+", help="folders of files, or files")
    parser.add_argument("--every", type=int, default=1, help="read each so-manieth file of a folder")
    parser.add_argument("--ocr", choices=("auto", "rapidocr", "tesseract"), default=ReadLimits().ocr)
    parser.add_argument("--seconds", type=float, default=ReadLimits().seconds)
    chosen = parser.parse_args()
    limits = ReadLimits(ocr=chosen.ocr, seconds=chosen.seconds)
    FORKS.enable()  # as a server reads
    lines = []
    try:
        for folder in chosen.folder:
            files = sorted(path for path in ([folder] if folder.is_file() else folder.rglob("*")) if path.is_file())
            lines.append(_compare(folder.name, files[:: chosen.every], limits))
    finally:
        FORKS.close()
    heads = ["folder", "files", "refused", "differ", "unconfined, median s", "confined", "median of ratios"]
    print(table(heads, lines))


def _compare(name: str, files: list[Path], limits: ReadLimits) -> list[str]:
    """Read files twice each, and print those that differ; return the line of the table."""
    pairs: list[tuple[Reading, Reading]] = []
    for turn, source in enumerate(files):
        order: tuple[Confinement, ...] = ("off", "required") if turn % 2 else ("required", "off")
        readings = {confinement: read(source, limits, confinement) for confinement in order}
        pairs.append((readings["off"], readings["required"]))
        free, confined = readings["off"], readings["required"]
        same = "same" if free.outcome == confined.outcome else f"DIFFERS, confined: {confined.outcome}"
        print(f"{source.name[:54]:54} {free.seconds:7.2f} {confined.seconds:7.2f}  {same}  {free.outcome}", flush=True)
    refused = sum(free.outcome.startswith("refused") for free, _ in pairs)
    differ = sum(free.outcome != confined.outcome for free, confined in pairs)
    seconds = [[reading.seconds for reading in column] for column in zip(*pairs, strict=True)]
    ratios = [confined / free for free, confined in zip(*seconds, strict=True)]
    medians = (f"{statistics.median(each):.3f}" for each in (*seconds, ratios))
    return [name, *map(str, (len(pairs), refused, differ)), *medians]


def read(source: Path, limits: ReadLimits, confinement: Confinement) -> Reading:
    """Read a file in a folder of its own, of which nothing else is left."""
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder, "pages")
        start = time.monotonic()
        try:
            document = read_document(
                source,
                name=source.name,
                limits=dataclasses.replace(limits, confinement=confinement),
                out_dir=pages,
            )
        except DocumentRefused as refused:
            return Reading(f"refused: {refused}", time.monotonic() - start)
        seconds = time.monotonic() - start
        said = hashlib.sha256(repr(dataclasses.asdict(document)).replace(folder, "").encode())
        for picture in sorted(pages.iterdir()):
            said.update(picture.name.encode() + picture.read_bytes())
        words = sum(len(page.words) for page in document.pages)
        return Reading(f"{len(document.pages)} pages, {words} words, {said.hexdigest()}", seconds)


if __name__ == "__main__":
    main()
