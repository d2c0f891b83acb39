"""Read folders of documents once, in as many processes as there are cores, and keep what was read.

Each file is read as an upload is, in a guarded child process. What was kept is found again by the content of a file, so
a reading that was stopped goes on, and a file that was renamed is not read again. Files that are refused are kept with
their reason. An interrupted file leaves nothing.
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
from engine.documents.open import read_document
from engine.documents.page import ReadPage
from engine.documents.refusal import DocumentRefused, Unreadable
from engine.training.judging_files import judges
from engine.training.unlabelled.kept_document import KeptDocument, KeptPage, read_kept, write_document
from model.examples import Word


@dataclass(frozen=True, slots=True)
class Reading:
    """Progress of a reading: files that are done, all files, pages kept, files refused, files that judge the model."""

    done: int
    files: int
    pages: int
    refused: int
    judging: int


def files_in(folders: Iterable[Path]) -> list[Path]:
    """Return the files of folders and their subfolders that may be documents, by path.

    A path to a single file is taken as it is. Raises ValueError for a missing folder, or without any such file.
    """
    found: set[Path] = set()
    folders = list(folders)
    for folder in folders:
        if not folder.exists():
            raise ValueError(f"{folder} does not exist. Name a folder of PDFs, scans or pictures.")
        every = [folder] if folder.is_file() else folder.rglob("*")
        found.update(path.resolve() for path in every if path.is_file() and _is_supported(path))
    if not found:
        named = ", ".join(str(folder) for folder in folders)
        raise ValueError(f"{named} has no PDF, PNG, JPEG or TIFF file.")
    return sorted(found)


def kept_file(cache: Path, sha256: str) -> Path:
    """Return where the document of a file with this content is kept."""
    return cache / sha256[:2] / f"{sha256}.zip"


def read_folders(
    folders: Sequence[Path],
    cache: Path,
    *,
    long_side: int,
    limits: ReadLimits,
    processes: int | None = None,
    on_progress: Callable[[Reading], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[str] | None:
    """Read the documents of folders into `cache`; return their SHA-256 in order, None when cancelled.

    Files that judge the model (engine.training.judging_files) and refused ones are left out.

    Args:
        folders: Folders with their subfolders, or single files.
        cache: Folder of kept documents; may hold others.
        long_side: Long side of the kept images, in pixels.
        limits: Limits on the reading of a file.
        processes: Number of files read at once; by default the number of cores.
        on_progress: Called after each file.
        cancelled: Asked after each file; files under way are finished.

    Raises:
        ValueError: A folder is missing, or no document is left.
        OSError: The disk is full.
    """
    paths = files_in(folders)
    found: dict[str, int] = {}  # SHA-256 -> number of pages
    done = refused = judging = 0
    for _, sha256, pages in _each(paths, cache, long_side, limits, processes or os.cpu_count() or 1, cancelled):
        done += 1
        judging += sha256 is None
        if sha256 is not None:
            refused += not pages
            if pages:
                found[sha256] = pages
        on_progress(Reading(done, len(paths), sum(found.values()), refused, judging))
    if done < len(paths):
        return None
    if not found:
        raise ValueError("None of the files could be read and may be learned from.")
    return sorted(found)


def _each(
    paths: Sequence[Path],
    cache: Path,
    long_side: int,
    limits: ReadLimits,
    processes: int,
    cancelled: Callable[[], bool],
) -> Iterator[tuple[Path, str | None, int]]:
    """Yield file, SHA-256 (None where it judges) and number of pages, in order of completion."""
    waiting = iter(paths)
    with ThreadPoolExecutor(processes) as pool:  # the work is done by the child processes

        def begin(number: int) -> set[Future[tuple[Path, str | None, int]]]:
            """Start to read further files."""
            some = [] if cancelled() else list(islice(waiting, number))
            return {pool.submit(_kept, path, cache, long_side, limits) for path in some}

        running = begin(processes)
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for one in finished:
                yield one.result()
            running |= begin(processes - len(running))


def _kept(path: Path, cache: Path, long_side: int, limits: ReadLimits) -> tuple[Path, str | None, int]:
    """Keep the document of a file, unless it is kept already."""
    if judges(path):
        return path, None, 0
    sha256 = sha256_of(path)
    kept = kept_file(cache, sha256)
    if kept.is_file():
        with suppress(ValueError):
            return path, sha256, len(read_kept(kept).pages)
    with tempfile.TemporaryDirectory(prefix="glossator-") as folder:
        try:
            read = read_document(path, name=path.name, limits=limits, out_dir=Path(folder))
        except DocumentRefused as refusal:
            write_document(kept, KeptDocument(path.name, refused=str(refusal)), [], long_side)
            return path, sha256, 0
        images = [_opened(page) for page in read.pages]
        pages = tuple(_page(page, image) for page, image in zip(read.pages, images, strict=True))
        write_document(kept, KeptDocument(path.name, pages), images, long_side)
    return path, sha256, len(pages)


def _opened(page: ReadPage) -> Image.Image:
    with Image.open(page.image_path) as image:
        image.load()
        return image


def _page(page: ReadPage, image: Image.Image) -> KeptPage:
    return KeptPage(
        (page.width, page.height),
        tuple(Word(word.text, word.box) for word in page.words),
        tuple(word.line for word in page.words),
        signature_of(image, (word.text for word in page.words)),
    )


def _is_supported(path: Path) -> bool:
    try:
        media_type_of(path)
    except (Unreadable, OSError):
        return False
    return True
