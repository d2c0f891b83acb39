"""Words of a snapshot's pages: files of several pages each, written with a manifest and read page by page.

A file is lines of canonical JSON, stored as a blob: the first line names the format and the pages, and each further
line holds the words of one page as [number, text, x0, y0, x1, y1, line, confidence], in reading order; words of a
text layer have no confidence. Pages of one split stand together, so that snapshots of one split and of all splits
share their files. Where a file ends follows from the ids of the groups of documents: an answer more or less changes
no file of other documents.

Up to format 3 of manifests each page had a file of its own, a list of objects. 20,000 documents were 40,000 files, each
awaited on the disk.
"""

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import PageWord
from engine.datasets.async_blob_writer import AsyncBlobWriter
from engine.datasets.manifest import FrozenPage, FrozenWord, canonical, ends_after, whole
from engine.errors import Refused
from engine.workspace import Workspace

FORMAT = "glossator-words/1"
MOST_PAGES = 64  # of a file
_GROUPS = 16  # of documents in a file, on average
_PAGES_AT_ONCE, _WORDS_AT_ONCE = 200, 20_000  # read by one statement
_FILES_KEPT = 8  # in memory: files of up to four splits alternate
_PAGES_KEPT = 16


@dataclass(slots=True)
class _File:
    """A file that is being filled; `name` is its first page."""

    name: str
    pages: list[str] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)


class WordsWriter:
    """Writer of the words of pages; after `finish`, `files` maps the first page of each file to its SHA-256."""

    def __init__(self, blob_writer: AsyncBlobWriter) -> None:
        self._blob_writer = blob_writer
        self._begun: dict[str, _File] = {}  # by split
        self.files: dict[str, str] = {}

    def add(self, split: str, page_id: str, words: Sequence[Sequence[Any]]) -> str:
        """Add a page of the next document of a split; return the name of the file that holds it."""
        if split not in self._begun:
            self._begun[split] = _File(page_id)
        file = self._begun[split]
        file.pages.append(page_id)
        file.lines.append(canonical(words))
        if len(file.pages) == MOST_PAGES:
            self._close(split)
        return file.name

    def end_group(self, split: str, group_id: str) -> None:
        """Note that no further page of this group of documents follows."""
        if split in self._begun and ends_after(group_id, _GROUPS):
            self._close(split)

    def finish(self) -> dict[str, str]:
        """Store what is not stored yet, and return the files."""
        for split in list(self._begun):
            self._close(split)
        return self.files

    def _close(self, split: str) -> None:
        file = self._begun.pop(split)
        head = canonical({"format": FORMAT, "pages": file.pages})
        self.files[file.name] = self._blob_writer.put(b"\n".join([head, *file.lines]))


class WordsReader:
    """Reads words of frozen pages; keeps the last files and pages, which follow each other in a manifest."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._files: OrderedDict[str, dict[str, bytes]] = OrderedDict()
        self._pages: OrderedDict[str, tuple[FrozenWord, ...]] = OrderedDict()

    def of(self, page: FrozenPage) -> tuple[FrozenWord, ...]:
        """Return the words of a page in reading order.

        Raises:
            NotFound: The file is missing.
            Refused: The file was changed on disk, or has an unknown format.
        """
        key = f"{page.words_sha256} {page.id}"
        if key not in self._pages:
            self._pages[key] = self._read_words(page)
            if len(self._pages) > _PAGES_KEPT:
                self._pages.popitem(last=False)
        return self._pages[key]

    def _read_words(self, page: FrozenPage) -> tuple[FrozenWord, ...]:
        sha256 = page.words_sha256
        if sha256 in self._files:
            self._files.move_to_end(sha256)
            lines = self._files[sha256]
        else:
            content = whole(self._workspace, sha256)
            if content.startswith(b"["):
                return _of_one_page(content)
            lines = self._files[sha256] = _lines(sha256, content)
            if len(self._files) > _FILES_KEPT:
                self._files.popitem(last=False)
        rows = json.loads(lines[page.id])
        return tuple(
            FrozenWord(number, text, (x0, y0, x1, y1), line, *confidence)
            for number, text, x0, y0, x1, y1, line, *confidence in rows
        )


def words_of(workspace: Workspace, page: FrozenPage) -> list[FrozenWord]:
    """Return the frozen words of a page in reading order; for many pages use a `WordsReader`."""
    return list(WordsReader(workspace).of(page))


def living_words(session: Session, pages: Iterable[tuple[str, int]]) -> Iterator[list[list[Any]]]:
    """Yield the words of each page as a file holds them.

    Args:
        session: Session to read with.
        pages: Id and number of words of each page.
    """
    for page_ids in _batches(pages):
        columns = (PageWord.number, PageWord.text, PageWord.x0, PageWord.y0, PageWord.x1, PageWord.y1, PageWord.line)
        words_by_page: dict[str, list[list[Any]]] = {page_id: [] for page_id in page_ids}
        rows = session.execute(
            select(PageWord.page_id, *columns, PageWord.confidence)
            .where(PageWord.page_id.in_(page_ids), PageWord.retired_at.is_(None))
            .order_by(PageWord.page_id, PageWord.position, PageWord.number)
        )
        for page_id, *word, confidence in rows:
            # Words that OCR read have a confidence; those of a text layer keep the form that they always had.
            words_by_page[page_id].append(word if confidence is None else [*word, round(confidence, 3)])
        yield from words_by_page.values()


def _batches(pages: Iterable[tuple[str, int]]) -> Iterator[list[str]]:
    batch: list[str] = []
    words = 0
    for page_id, count in pages:
        batch.append(page_id)
        words += count
        if len(batch) == _PAGES_AT_ONCE or words >= _WORDS_AT_ONCE:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch


def _lines(sha256: str, content: bytes) -> dict[str, bytes]:
    first, *lines = content.split(b"\n")
    head = json.loads(first)
    if head.get("format") != FORMAT:
        raise Refused(f"The words {sha256[:12]} have a format that this version cannot read; update Glossator.")
    return dict(zip(head["pages"], lines, strict=True))


def _of_one_page(content: bytes) -> tuple[FrozenWord, ...]:
    return tuple(FrozenWord(row["number"], row["text"], tuple(row["box"]), row["line"]) for row in json.loads(content))
