"""Words of a folder of documents, read once: each file is a line of a cache, behind which a stopped run goes on."""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.documents.limits import ReadLimits
from engine.documents.open import read_document
from engine.documents.page import Beginning, ReadPage
from engine.documents.refusal import DocumentRefused
from engine.training.judging_files import without_judging
from model.inference import Word

_SUFFIXES = frozenset((".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff"))


@dataclass(frozen=True, slots=True)
class ReadSheet:
    """Words of one page of a document, with the page's size in pixels."""

    page_id: str
    size: tuple[int, int]
    words: tuple[Word, ...]


def documents_of(folder: Path) -> list[Path]:
    """Return the PDFs and pictures of a folder and its subfolders, by name. Raises ValueError without any."""
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
    if not found:
        raise ValueError(f"{folder} has no PDFs and no pictures. Name a folder of documents.")
    return found


def read_corpus(
    folder: Path,
    cache: Path,
    limits: ReadLimits,
    *,
    pages: int = 2,
    at_once: int = 1,
    on_file: Callable[[str, str], None] = lambda name, refused: None,
    on_refused: Callable[[str], None] = lambda sentence: None,
) -> list[ReadSheet]:
    """Return the words of the first pages of all documents of a folder, as an upload would have them.

    Args:
        folder: folder of PDFs and pictures.
        cache: file of what was read; what it holds is not read again.
        limits: limits on the reading of one file.
        pages: pages of each document.
        at_once: documents read at the same time.
        on_file: called with each finished file's name and, if it was refused, the sentence for its owner.
        on_refused: called with a sentence about files that judge the model, from which nothing is learned.

    Raises:
        ValueError: the folder has no documents.
        OSError: the cache cannot be written.
    """
    files, judging = without_judging(documents_of(folder))
    if judging is not None:
        on_refused(judging)
    kept = _kept(cache, pages)
    waiting = [file for file in files if _name(folder, file) not in kept]
    cache.parent.mkdir(parents=True, exist_ok=True)
    with cache.open("a", encoding="utf-8") as out, ThreadPoolExecutor(at_once) as pool:
        for file, (rows, refused) in zip(
            waiting, pool.map(lambda file: _read(file, limits, pages), waiting), strict=True
        ):
            name = _name(folder, file)
            if not refused:  # a file that was refused, for want of time say, is tried again by the next run
                out.write(json.dumps({"name": name, "of": pages, "pages": rows}, ensure_ascii=False) + "\n")
                out.flush()
            kept[name] = rows
            on_file(name, refused)
    return list(_sheets(folder, files, kept))


class _Enough(Exception):
    """Raised when the wanted pages have been read, to stop the reading of the others."""


def _read(file: Path, limits: ReadLimits, pages: int) -> tuple[list[Any], str]:
    """Return the words of the first pages; without any, the sentence with which the file was refused."""
    found: dict[int, ReadPage] = {}

    def keep(page: ReadPage, beginning: Beginning) -> None:
        """Keep a wanted page; pages come in the order in which they are finished."""
        if page.number <= pages:
            found[page.number] = page
        if len(found) == min(pages, beginning.pages):
            raise _Enough

    with tempfile.TemporaryDirectory() as folder:
        try:
            read_document(file, name=file.name, limits=limits, out_dir=Path(folder), on_read=keep)
        except _Enough:
            pass
        except DocumentRefused as refused:
            return [], str(refused)
    ordered = [found[number] for number in sorted(found)]
    return [[one.width, one.height, [[word.text, *map(int, word.box)] for word in one.words]] for one in ordered], ""


def _kept(cache: Path, pages: int) -> dict[str, list[Any]]:
    """Return what earlier runs read of as many pages. A line that was cut by a stop is dropped from the file."""
    if not cache.is_file():
        return {}
    lines = cache.read_text(encoding="utf-8").splitlines(keepends=True)
    whole = [line for line in lines if line.endswith("\n")]
    if len(whole) < len(lines):
        cache.write_text("".join(whole), encoding="utf-8")
    rows: Sequence[dict[str, Any]] = [json.loads(line) for line in whole]
    return {row["name"]: row["pages"] for row in rows if row["of"] == pages}


def _sheets(folder: Path, files: Sequence[Path], kept: dict[str, list[Any]]) -> Iterator[ReadSheet]:
    for file in files:
        name = _name(folder, file)
        for number, (width, height, words) in enumerate(kept[name]):
            yield ReadSheet(
                f"{name}#{number + 1}",
                (width, height),
                tuple(Word(text, (x0, y0, x1, y1)) for text, x0, y0, x1, y1 in words),
            )


def _name(folder: Path, file: Path) -> str:
    return file.relative_to(folder).as_posix()
