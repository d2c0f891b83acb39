"""Read one file page by page, store the pages, and renew its lease (see engine.documents.incoming)."""

import contextlib
import logging
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Document, Lease, Page
from engine.documents.duplicates.page_signature import Signature
from engine.documents.ingest import (
    Ingested,
    add_page,
    finish,
    limits_of,
    new_document,
    signature_of_page,
    there_already,
    with_content,
)
from engine.documents.limits import ReadLimits
from engine.documents.open import read_document
from engine.documents.page import READING, Beginning, ReadPage
from engine.documents.refusal import DocumentRefused
from engine.projects.open_tasks import open_missing
from engine.workspace import Workspace

_log = logging.getLogger(__name__)
_PAUSE = 1.0  # seconds between two commits of pages
_SPARE_SECONDS = 60.0  # added to the longest reading time; then the lease ends
_RENEWED = 30.0  # seconds between two renewals of the lease while a document waits for its turn
# Reading a file takes a core; more at once than this only makes everybody wait.
AT_ONCE = threading.Semaphore(2)


def until(workspace: Workspace) -> datetime:
    """Return when the lease of a reader who starts now ends, unless it is renewed."""
    return now() + timedelta(seconds=workspace.settings.max_read_seconds + _SPARE_SECONDS)


class Arrival:
    """One file on its way in. `pages`: how many are in the database, the first ones without a gap."""

    def __init__(
        self,
        workspace: Workspace,
        source: Path,
        name: str,
        done: Callable[[], None],
        limits: ReadLimits | None = None,
    ) -> None:
        self.workspace = workspace
        self.source = source
        self.name = name
        self.done = done
        self.limits = limits or limits_of(workspace.settings)
        self.opened: Future[Ingested] = Future()
        self.ended = threading.Event()
        self.project_id = ""
        self.user_id: str | None = None
        self.document_id: str | None = None
        self.pages = self.words = 0
        self.whole = False  # nothing comes after what is in the database
        self.warnings: tuple[str, ...] = ()
        self._beginning: Beginning | None = None
        # Number -> a page that is not in the database yet, its picture, and what it is known by.
        self._held: dict[int, tuple[ReadPage, str, Signature]] = {}
        self._written = 0.0

    def run(self) -> None:
        """Read the file to its end, and record the outcome."""
        try:
            self._wait_for_turn()
            try:
                self._read()
            finally:
                AT_ONCE.release()
        except BaseException as error:
            self._broken_off(error)
        finally:
            self.ended.set()
            with contextlib.suppress(OSError):
                self.done()

    def _wait_for_turn(self) -> None:
        while not AT_ONCE.acquire(timeout=_RENEWED):
            self._renew()

    def _renew(self, end: datetime | None = None) -> None:
        """Renew the lease of this document up to `end`."""
        if self.document_id is None:
            return
        with self.workspace.database.write() as session:
            self._hold(session, end or until(self.workspace))

    def _hold(self, session: Session, end: datetime) -> None:
        session.execute(
            update(Lease)
            .where(Lease.subject == READING + (self.document_id or ""))
            .values(expires_at=end)
            .execution_options(synchronize_session=False)
        )

    def _count(self) -> None:
        """Set the counts to the pages and words in the database."""
        with self.workspace.database.read() as session:
            pages, words = session.execute(
                select(func.count(Page.id), func.coalesce(func.sum(Page.word_count), 0)).where(
                    Page.document_id == self.document_id
                )
            ).one()
        self.pages, self.words = pages, int(words)
        self._held = {number: held for number, held in self._held.items() if number > pages}

    def _read(self) -> None:
        if self.document_id is not None:  # half read before: the time that was spent in the line is no reading
            self._renew()
            self._count()
        else:
            there = there_already(self.workspace, self.source, self.name, self.project_id)
            if there is not None:
                self.opened.set_result(there)
                return
        with tempfile.TemporaryDirectory(prefix="glossator-") as folder:
            try:
                read = read_document(
                    self.source, name=self.name, limits=self.limits, out_dir=Path(folder), on_read=self._hear
                )
            except _Elsewhere:
                return
            if self.document_id is None and not self._open():
                return
        self._write(read.warnings)

    def _hear(self, page: ReadPage, beginning: Beginning) -> None:
        self._beginning = beginning
        if page.number <= self.pages:
            return  # there since before the server was started again
        self._held[page.number] = page, self.workspace.blobs.put_file(page.image_path), signature_of_page(page)
        if self.pages + 1 not in self._held:
            return
        if self.document_id is None:
            if not self._open():
                raise _Elsewhere
        elif time.monotonic() - self._written >= _PAUSE:
            self._write()

    def _open(self) -> bool:
        """Make the document with the pages so far; False when somebody else was faster with the same file."""
        assert self._beginning is not None
        sha256 = self.workspace.blobs.put_file(self.source)
        try:
            with self.workspace.database.write() as session:
                document = new_document(
                    session,
                    self.project_id,
                    sha256,
                    self._beginning,
                    name=self.name,
                    byte_count=self.source.stat().st_size,
                    user_id=self.user_id,
                    signatures=[signature for _, _, signature in self._next()],
                )
                session.add(
                    Lease(
                        subject=READING + document.id,
                        holder=str(self._beginning.pages),
                        expires_at=until(self.workspace),
                    )
                )
                ready = self._add(session, document)
                open_missing(session, self.project_id, document.id)  # last: it locks the project until the commit
        except IntegrityError:
            there = with_content(self.workspace, self.project_id, sha256)
            if there is None:
                raise
            self.opened.set_result(there)
            return False
        self.document_id = document.id
        self._forget(ready)
        self.opened.set_result(Ingested(document.id, document.name, True, self.pages, self.words, ()))
        return True

    def _write(self, warnings: tuple[str, ...] | None = None) -> None:
        """Add the pages that follow without a gap. warnings: there is nothing to come after them."""
        while True:
            try:
                ready = self._stored(warnings)
                break
            except IntegrityError:  # somebody who took us for dead reads the same document: their pages are as good
                before = self.pages
                self._count()
                if self.pages == before:
                    raise
        self._forget(ready)
        self.whole = warnings is not None

    def _stored(self, warnings: tuple[str, ...] | None) -> list[ReadPage]:
        assert self.document_id is not None
        with self.workspace.database.write() as session:
            document = session.get_one(Document, self.document_id)
            ready = self._add(session, document)
            if warnings is None:
                self._hold(session, until(self.workspace))
            else:
                self.warnings = finish(session, document, warnings)
                session.execute(delete(Lease).where(Lease.subject == READING + self.document_id))
        return ready

    def _next(self) -> list[tuple[ReadPage, str, Signature]]:
        """Return the pages that follow those in the database without a gap."""
        ready: list[tuple[ReadPage, str, Signature]] = []
        while held := self._held.get(self.pages + len(ready) + 1):
            ready.append(held)
        return ready

    def _add(self, session: Session, document: Document) -> list[ReadPage]:
        ready = self._next()
        for page, image_sha256, signature in ready:
            add_page(session, document, page, image_sha256, signature)
        return [page for page, _, _ in ready]

    def _forget(self, ready: list[ReadPage]) -> None:
        """Drop committed pages from memory, and count them."""
        for page in ready:
            del self._held[page.number]
        self.words += sum(len(page.words) for page in ready)
        self.pages += len(ready)
        self._written = time.monotonic()

    def _broken_off(self, error: BaseException) -> None:
        if self.document_id is None:
            if not self.opened.done():
                self.opened.set_exception(error)
            return
        if not isinstance(error, DocumentRefused):
            # Not the file's fault: the lease stays, and says that nobody reads any more.
            _log.error("reading %s broke off after %d pages", self.name, self.pages, exc_info=error)
            with contextlib.suppress(Exception):  # else it runs out by itself
                self._renew(end=now())
            return
        try:
            held = self.pages + sum(1 for number in self._held if number > self.pages)
            of = f" of {self._beginning.pages}" if self._beginning else ""
            self._write((f"Only the first {held}{of} pages could be read: {error}",))
        except Exception:
            _log.exception("what was read of %s cannot be stored", self.name)


class _Elsewhere(Exception):
    """The same file came in at the same time, and the other one was faster: reading ends here."""
