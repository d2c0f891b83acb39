"""Pages of a file as a child process reads them, in their order; a thread stores their pictures."""

import contextlib
import tempfile
import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from db.tables import Page
from engine import left_files
from engine.documents.duplicates.page_signature import Signature
from engine.documents.ingest import signature_of_page
from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
from engine.documents.reading.page import Beginning, ReadPage
from engine.workspace import Workspace

# Reading a file takes a core; more at once than this only makes everybody wait.
AT_ONCE = threading.Semaphore(2)
_LOOK = 0.25  # seconds between two looks whether the stream was closed
_IMAGES_AT_ONCE = 500  # of one statement
_AHEAD = 200  # pages without a gap that are read ahead of those that were taken


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page that was read, with the blob of its picture and the signature that it is recognised by."""

    read: ReadPage
    image_sha256: str
    signature: Signature


class PageStream:
    """Reads a file in a thread of its own from `start` to `close`, when its turn has come.

    Attributes:
        beginning: What is known of the file since it was opened; None before.
        warnings: For the person who uploaded it; complete when the stream has ended without a failure.
        try_again: Numbers of pages that OCR may read later; complete like `warnings`.
        failure: What ended the reading early.
    """

    def __init__(
        self,
        workspace: Workspace,
        source: Path,
        *,
        name: str,
        limits: ReadLimits,
        after: int = 0,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare a stream; nothing is read before `start`.

        Args:
            workspace: Where the pictures are stored.
            source: The file.
            name: Of the file, for people.
            limits: Limits of reading.
            after: Number of the page before the first one that is wanted.
            on_close: Called when `source` is no longer needed.
        """
        self.beginning: Beginning | None = None
        self.warnings: tuple[str, ...] = ()
        self.try_again: tuple[int, ...] = ()
        self.failure: Exception | None = None
        self._workspace, self._source, self._name, self._limits = workspace, source, name, limits
        self._taken, self._on_close = after, on_close
        self._images: set[str] = set()  # blobs that were stored
        self._pages: dict[int, StoredPage] = {}  # by number; OCR ends later for some than for those behind them
        self._changed = threading.Condition()
        self._ended = self._closed = False
        read = partial(copy_context().run, self._read_file)  # what it logs belongs to the request or job
        self._thread = threading.Thread(target=read, name="reading", daemon=True)

    def start(self) -> Self:
        """Begin to read, and return the stream."""
        self._thread.start()
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop reading; the child process has ended when this returns."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()
        with contextlib.suppress(OSError):
            self._on_close()
        if self._images:
            with contextlib.suppress(DBAPIError):  # while the database is gone: `glossator blobs cleanup` deletes them
                self._leave_images()

    def _leave_images(self) -> None:
        """Let a worker delete the images that no page shows: those of a reading that was stopped or refused."""
        images = sorted(self._images)
        shown = select(Page.image_sha256)
        with self._workspace.database.read() as session:
            for start in range(0, len(images), _IMAGES_AT_ONCE):
                some = images[start : start + _IMAGES_AT_ONCE]
                self._images.difference_update(session.scalars(shown.where(Page.image_sha256.in_(some))))
        if self._images:
            with self._workspace.database.write() as session:
                left_files.leave(session, self._images)

    def take(self, seconds: float) -> tuple[list[StoredPage], bool]:
        """Wait for the next pages.

        Args:
            seconds: How long to wait at most.

        Returns:
            The pages that follow those taken so far, without a gap, and whether these were the last ones.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._ended or self._taken + 1 in self._pages, seconds)
            ready = []
            while page := self._pages.pop(self._taken + 1, None):
                ready.append(page)
                self._taken += 1
            self._changed.notify_all()
            return ready, self._ended

    def wait(self, seconds: float) -> bool:
        """Wait for the end of the file, at most so long, and return whether it has come."""
        with self._changed:
            return self._changed.wait_for(lambda: self._ended, seconds)

    def _read_file(self) -> None:
        try:
            while not AT_ONCE.acquire(timeout=_LOOK):
                self._check()
            try:
                with tempfile.TemporaryDirectory(prefix="glossator-") as folder:
                    read = read_document(
                        self._source,
                        name=self._name,
                        limits=self._limits,
                        out_dir=Path(folder),
                        on_read=self._hear,
                        on_look=self._check,
                    )
                self.warnings, self.try_again = read.warnings, read.try_again
            finally:
                AT_ONCE.release()
        except Exception as error:
            self.failure = error
        except BaseException as error:  # without a failure, the document would be called whole
            self.failure = RuntimeError(f"reading ended early: {type(error).__name__}")
            raise
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()

    def _check(self) -> None:
        if self._closed:
            raise _Closed

    def _hear(self, page: ReadPage, beginning: Beginning) -> None:
        self._check()
        self.beginning = beginning
        if page.number <= self._taken:
            return  # stored by an earlier attempt
        image = self._workspace.blobs.put_file(page.image_path)
        self._images.add(image)
        stored = StoredPage(page, image, signature_of_page(page))
        with self._changed:
            self._pages[page.number] = stored
            self._changed.notify_all()
            # Behind a gap all pages must come in: the one that closes it comes after them, when OCR has read it.
            self._changed.wait_for(
                lambda: self._closed or self._taken + 1 not in self._pages or len(self._pages) < _AHEAD
            )


class _Closed(Exception):
    """Ends the reading of a stream that was closed."""
