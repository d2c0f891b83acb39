"""Read folders of documents once, in as many processes as there are cores, and keep what was read.

Each file is read as an upload is, in a guarded child process. What was kept is found again by the content of a file, so
a reading that was stopped goes on, and a file that was renamed is not read again. Refusals are kept too, but for those
that another machine might not give: of time and memory. A document with pages that OCR had no time for is read up to
three times.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from PIL import Image

from db.blobs import sha256_of
from engine.documents.duplicates.page_signature import signature_of
from engine.documents.kinds import media_type_of
from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
from engine.documents.reading.page import Beginning, ReadPage
from engine.documents.refusal import DocumentRefused, Reason, Unreadable
from engine.plurals import count
from engine.training.judging_files import without_judging
from engine.training.unlabelled.kept_document import (
    KeptDocument,
    KeptPage,
    count_try,
    read_kept,
    small_jpeg,
    write_document,
)
from model.examples import Word

_THAT_CHANGE_PAGES = ("pages", "pixels", "bytes", "words", "dpi", "long_side", "ocr", "ocr_language")
# Of a document whose pages OCR did not all read. Scans that always take too long would be read at every run.
_TRIES = 3
_NAMED_AT_MOST = 3
_MAY_PASS_LATER = (Reason.TOO_SLOW, Reason.TOO_MUCH_MEMORY)


@dataclass(frozen=True, slots=True)
class Reading:
    """Progress of a reading.

    `done` and `files`: files finished, and all. `pages`: pages kept. `refused`: files refused. `sentence`: what became
    of the last file where not all of it was kept.
    """

    done: int
    files: int
    pages: int
    refused: int
    sentence: str | None = None


@dataclass(frozen=True, slots=True)
class _Read:
    path: Path
    sha256: str
    pages: int
    sentence: str | None


def files_in(folders: Iterable[Path]) -> tuple[list[Path], str | None]:
    """Return the files of folders and their subfolders that may be documents, by path.

    A path to a single file is taken as it is. The second result is a sentence about files and folders that may not be
    read, None without any. Raises ValueError for a missing folder, or without any file to read.
    """
    supported: set[Path] = set()
    closed: list[Path] = []
    folders = list(folders)
    for folder in folders:
        if not folder.exists():
            raise ValueError(f"{folder} does not exist. Name a folder of PDFs, scans or pictures.")
        for path in [folder] if folder.is_file() else _below(folder, closed):
            try:
                if path.is_file() and _is_supported(path):
                    supported.add(path.resolve())
            except OSError:
                closed.append(path)
    without = None
    if closed:
        more = f" and {count(len(closed) - _NAMED_AT_MOST, 'other')}" if len(closed) > _NAMED_AT_MOST else ""
        without = f"Left out, because they cannot be opened: {', '.join(map(str, closed[:_NAMED_AT_MOST]))}{more}."
    if not supported:
        named = ", ".join(str(folder) for folder in folders)
        complaint = f"{named} has no PDF and no picture. Name a folder of documents."
        raise ValueError(f"{complaint} {without}" if without else complaint)
    return sorted(supported), without


def _below(folder: Path, closed: list[Path]) -> Iterator[Path]:
    """Yield the files of a folder and its subfolders; folders that cannot be opened are added to `closed`."""
    for name, _, files in os.walk(folder, onerror=lambda error: closed.append(Path(error.filename))):
        yield from (Path(name, file) for file in files)


def folder_for(cache: Path, limits: ReadLimits, *, long_side: int | None, first_pages: int | None) -> Path:
    """Return the folder of `cache` for documents that were read so; each other way of reading has a folder of its own.

    Its name tells the size of the pictures, the pages taken, and the limits that are not the usual ones.
    """
    usual = ReadLimits()
    changed = [name for name in _THAT_CHANGE_PAGES if getattr(limits, name) != getattr(usual, name)]
    pictures = [] if long_side is None else [f"{long_side} px"]
    of_each = "all pages" if first_pages is None else f"first {first_pages}"
    return cache / ", ".join([*pictures, of_each, *(f"{name} {getattr(limits, name)}" for name in changed)])


def kept_file(cache: Path, sha256: str) -> Path:
    """Return where the document of a file with this content is kept."""
    return cache / sha256[:2] / f"{sha256}.zip"


def read_folders(
    folders: Sequence[Path],
    cache: Path,
    *,
    long_side: int | None,
    limits: ReadLimits,
    first_pages: int | None = None,
    processes: int | None = None,
    on_progress: Callable[[Reading], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[str] | None:
    """Read the documents of folders into `cache`; return their SHA-256 by path, None when cancelled.

    Files that judge the model (engine.training.judging_files) and refused ones are left out. Of equal files one is
    taken.

    Args:
        folders: Folders with their subfolders, or single files.
        cache: Folder of documents that were read in the same way, as `folder_for` names it; may hold others.
        long_side: Long side of the kept images, in pixels; None keeps words alone.
        limits: Limits on the reading of a file.
        first_pages: Pages taken of each document; None takes all.
        processes: Number of files read at once; by default the number of cores.
        on_progress: Called after each file, and before with sentences on files that judge, or cannot be opened.
        cancelled: Asked after each file; files under way are finished.

    Raises:
        ValueError: A folder is missing, or no document is left.
        OSError: The disk is full.
    """
    files, closed = files_in(folders)
    paths, judging = without_judging(files)
    for sentence in (closed, judging):
        if sentence is not None:
            on_progress(Reading(0, len(paths), 0, 0, sentence))
    reads: dict[Path, _Read] = {}
    pages = refused = 0

    def keep(path: Path) -> _Read:
        """Keep the document of a file."""
        return _keep_file(path, cache, long_side, limits, first_pages)

    for read in _read_all(paths, keep, processes or os.cpu_count() or 1, cancelled):
        reads[read.path] = read
        pages, refused = pages + read.pages, refused + (not read.pages)
        on_progress(Reading(len(reads), len(paths), pages, refused, read.sentence))
    if len(reads) < len(paths):
        return None
    documents = dict.fromkeys(reads[path].sha256 for path in paths if reads[path].pages)
    if not documents:
        raise ValueError("None of the files could be read and may be learned from.")
    return list(documents)


def named_pages(cache: Path, documents: Iterable[str]) -> Iterator[tuple[str, KeptPage]]:
    """Yield the pages of kept documents in order, each with a name of its own, such as "letter.pdf#1"."""
    named: set[str] = set()
    for sha256 in documents:
        document = read_kept(kept_file(cache, sha256))
        name = f"{document.name}-{sha256[:8]}" if document.name in named else document.name
        named.add(name)
        for number, page in enumerate(document.pages, 1):
            yield f"{name}#{number}", page


def _read_all(
    paths: Sequence[Path], keep: Callable[[Path], _Read], processes: int, cancelled: Callable[[], bool]
) -> Iterator[_Read]:
    """Yield the reading of each file, in order of completion."""
    waiting = iter(paths)
    with ThreadPoolExecutor(processes) as pool:  # the work is done by the child processes

        def begin(number: int) -> set[Future[_Read]]:
            """Start to read further files."""
            return {pool.submit(keep, path) for path in ([] if cancelled() else islice(waiting, number))}

        running = begin(processes)
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
            running |= begin(processes - len(running))


class _Enough(Exception):
    """Raised when the wanted pages have been read, to stop the reading of the others."""


def _keep_file(path: Path, cache: Path, long_side: int | None, limits: ReadLimits, first_pages: int | None) -> _Read:
    """Keep the document of a file, unless it is kept already."""
    sha256 = sha256_of(path)
    target, known = kept_file(cache, sha256), None
    if target.is_file():
        with suppress(ValueError):
            known = read_kept(target)
    if known is not None and (not known.unread or known.tries >= _TRIES):
        return _Read(path, sha256, len(known.pages), _left_out(known.refused))
    pages_by_number: dict[int, tuple[KeptPage, bytes | None]] = {}

    def take(page: ReadPage, beginning: Beginning) -> None:
        """Take a wanted page, while the child reads the next; pages come in the order in which they are finished."""
        if first_pages is None or page.number <= first_pages:
            pages_by_number[page.number] = _page(page, long_side)
        if first_pages is not None and len(pages_by_number) == first_pages < beginning.pages:
            raise _Enough

    unread: tuple[int, ...] = ()
    with tempfile.TemporaryDirectory(prefix="glossator-") as folder:
        try:
            unread = read_document(path, name=path.name, limits=limits, out_dir=Path(folder), on_read=take).unread
        except _Enough:  # before the child names the pages that OCR did not read: they have no words
            unread = tuple(number for number, (page, _) in pages_by_number.items() if not page.words)
        except DocumentRefused as refusal:
            if known is not None:  # what was read before is of use
                count_try(target)
                return _Read(path, sha256, len(known.pages), None)
            if refusal.reason not in _MAY_PASS_LATER:
                write_document(target, KeptDocument(path.name, refused=str(refusal)), [])
            return _Read(path, sha256, 0, _left_out(str(refusal)))
    pages, images = zip(*(pages_by_number[number] for number in sorted(pages_by_number)), strict=True)
    tries = 1 if known is None else known.tries + 1
    document = KeptDocument(
        path.name, pages, unread=tuple(number for number in unread if number in pages_by_number), tries=tries
    )
    unread = document.unread
    write_document(target, document, [image for image in images if image is not None])
    return _Read(path, sha256, len(pages), _without_words(path, unread))


def _left_out(refused: str | None) -> str | None:
    return None if refused is None else f"Left out: {refused}"


def _without_words(path: Path, unread: Sequence[int]) -> str | None:
    if not unread:
        return None
    return f"{path.name}: OCR did not read {count(len(unread), 'page')}, which a later run may read."


def _page(page: ReadPage, long_side: int | None) -> tuple[KeptPage, bytes | None]:
    with Image.open(page.image_path) as image:
        signature = signature_of(image, (word.text for word in page.words))
        small = None if long_side is None else small_jpeg(image, long_side)
    words = tuple(Word(word.text, word.box) for word in page.words)
    return KeptPage((page.width, page.height), words, tuple(word.line for word in page.words), signature), small


def _is_supported(path: Path) -> bool:
    try:
        media_type_of(path)
    except Unreadable:
        return False
    return True
