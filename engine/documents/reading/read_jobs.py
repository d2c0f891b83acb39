"""Reading as a job of the queue: the pages that follow those a document was opened with.

The server that opened the document goes on with the child process at hand. After a crash, another attempt reads the
stored file and leaves out the pages that are there. Pages come in without gaps, each in the unit of work that also
checks the lease, so that no page comes in twice.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.blobs import BlobMissing
from db.tables import Document, Job, Page
from engine import audit
from engine.documents.ingest import add_page, finish, limits_of
from engine.documents.reading.page_stream import PageStream, StoredPage
from engine.documents.reading.reading_state import CUT_OFF, READ, is_cut_off, job_of, key_of
from engine.documents.refusal import DocumentRefused, Reason
from engine.errors import Conflict
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop, Stopped
from engine.jobs.failure_message import AttemptFailed
from engine.jobs.in_process_worker import LEASE_SECONDS
from engine.queries import existing
from engine.workspace import Workspace

_PAUSE = 1.0  # seconds between two commits of pages
_LOOK = 0.25  # seconds between two looks whether the job should stop
_LIMITS = (Reason.TOO_SLOW, Reason.TOO_MUCH_MEMORY)
_ATTEMPTS_AT_LIMITS = 3
_RESUMED = "resumed"  # in the payload: snapshots may hold the document since it was cut off
_ATTEMPTS = 1_000_000  # never given up: the document would lack pages; the pauses between attempts grow to an hour


def request(session: Session, document: Document, pages: int) -> Job:
    """Ask for the further pages of a document, in the unit of work that adds its first ones.

    Args:
        session: Of that unit of work.
        document: The document.
        pages: How many it has in all.
    """
    payload = {"document_id": document.id, "name": document.name, "pages": pages, queue.WINDS_UP: True}
    key = key_of(document.id)
    return queue.enqueue(session, READ, document.project_id, payload, key, max_attempts=_ATTEMPTS)


def stop(workspace: Workspace, document_id: str, *, by: str) -> None:
    """Stop the reading of a document at its next step; the pages that are in stay.

    Raises:
        NotFound: There is no such document.
        Conflict: It is not being read.
    """
    with workspace.database.read() as session:
        existing(session, Document, document_id)
        job = job_of(session, document_id)
    if job is None or job.status in queue.ENDED:
        raise Conflict("This document is not being read. Reload it to see its pages.")
    queue.cancel(workspace, job.id, by=by)


def resume(workspace: Workspace, document_id: str, *, by: str | None) -> None:
    """Ask for the pages that are missing since reading ended early. Audited.

    Raises:
        NotFound: There is no such document.
        Conflict: No page is missing that could be read.
    """
    with workspace.database.write() as session:
        document = existing(session, Document, document_id)
        job = job_of(session, document_id, lock=True)
        if job is None or not is_cut_off(job):
            raise Conflict("The reading of this document was not stopped. Reload it to see its pages.")
        queue.put_back(job)
        job.failure, job.result = "", {}
        job.payload = {**job.payload, _RESUMED: True}
        document.warnings = ""  # they are told anew when it is whole
        audit.record(session, by, "jobs.ask", job.id, document.project_id, kind=READ)


def left_alone(workspace: Workspace, document_id: str, holder: str) -> Job | None:
    """Begin the next attempt at a document that nobody reads, and return its job; None without one."""
    with workspace.database.write() as session:
        job = session.scalar(select(Job).where(Job.key == key_of(document_id)).with_for_update(skip_locked=True))
        if job is None or job.status == "running":
            return None
        queue.hold(job, holder, seconds=LEASE_SECONDS)
        session.flush()
        return job


def read_further_pages(
    workspace: Workspace,
    job: Job,
    *,
    on_progress: OnProgress,
    should_stop: ShouldStop,
    stream: PageStream | None = None,
) -> dict[str, Any]:
    """Read the further pages of a document; a handler of the queue.

    Args:
        workspace: Where the document is.
        job: As it was leased.
        on_progress: Hears how many pages are in the database.
        should_stop: Tells why the job should stop.
        stream: Of the file, when it is being read already. It is closed in any case.
    """
    with ExitStack() as ending:
        if stream is not None:
            ending.enter_context(stream)
        reading = _Reading(workspace, job)
        result: dict[str, Any] = {}
        try:
            if stream is None and should_stop() is None:
                stream = ending.enter_context(reading.stream().start())
            reading.follow(stream, on_progress, should_stop)
        except (DocumentRefused, BlobMissing) as error:
            # At a limit, the machine may have been busy. Otherwise another attempt would end in the same way.
            result[CUT_OFF] = isinstance(error, DocumentRefused) and error.reason in _LIMITS
            if result[CUT_OFF] and job.attempts < _ATTEMPTS_AT_LIMITS:
                raise AttemptFailed(str(error)) from error
            reading.end((f"Only the first {reading.pages} of {reading.of} pages could be read: {error}",))
        except Stopped as stopped:
            if stopped.reason == "cancel":
                reading.end((f"Only the first {reading.pages} of {reading.of} pages were read: reading was stopped.",))
            raise
    return {**result, "pages": reading.pages, "sentence": reading.sentence}


class _Reading:
    """One attempt at a document; `pages`: how many are in the database, `of` how many there are."""

    def __init__(self, workspace: Workspace, job: Job) -> None:
        self._workspace, self._job = workspace, job
        self._document_id, self.of = str(job.payload["document_id"]), int(job.payload["pages"])
        with workspace.database.read() as session:
            stored_pages = session.scalar(select(func.count(Page.id)).where(Page.document_id == self._document_id))
        self.pages = stored_pages or 0

    @property
    def sentence(self) -> str:
        """Return how much is done."""
        return f"Read {self.pages} of {self.of} pages."

    def stream(self) -> PageStream:
        """Return a stream of the stored file, from the first page that is not in the database."""
        with self._workspace.database.read() as session:
            document = existing(session, Document, self._document_id)
        return PageStream(
            self._workspace,
            self._workspace.blobs.path(document.sha256),
            name=document.name,
            limits=limits_of(self._workspace.settings),
            after=self.pages,
        )

    def follow(self, stream: PageStream | None, on_progress: OnProgress, should_stop: ShouldStop) -> None:
        """Store pages as they come, up to the last one."""
        held: list[StoredPage] = []
        written, ended = 0.0, False
        while not ended:
            if reason := should_stop():
                raise Stopped(reason)
            assert stream is not None  # there is one unless the job was stopped from the first
            ready, ended = stream.take(_LOOK)
            held += ready
            if held and not ended and time.monotonic() - written >= _PAUSE:
                self._store(held)
                held, written = [], time.monotonic()
                on_progress(self.pages / self.of, self.sentence)
        assert stream is not None
        failure = stream.failure
        if failure is None and self.pages + len(held) == self.of:
            self.end(stream.warnings, held, stream.try_again)
            return
        if held:
            self._store(held)
        raise failure or RuntimeError("The file ended before its last page.")

    def end(self, warnings: Sequence[str], last: Sequence[StoredPage] = (), try_again: Sequence[int] = ()) -> None:
        """Add the last pages, and call the document whole."""
        with self._workspace.database.write() as session:
            self._add(session, last)
            document = session.get_one(Document, self._document_id)
            finish(session, document, warnings, try_again, may_move=_RESUMED not in self._job.payload)
        self.pages += len(last)

    def _store(self, pages: Sequence[StoredPage]) -> None:
        with self._workspace.database.write() as session:
            self._add(session, pages)
        self.pages += len(pages)

    def _add(self, session: Session, pages: Sequence[StoredPage]) -> None:
        queue.keep(session, self._job.id, str(self._job.holder), {"pages": self.pages + len(pages)})
        document = session.get_one(Document, self._document_id)
        for page in pages:
            add_page(session, document, page.read, page.image_sha256, page.signature)
