"""Take in uploaded documents: a long one opens with its first page, and a job reads the other pages.

A document that a killed server or a full disk left half read has an open job (engine.documents.reading.read_jobs). Its
next attempt begins when a server runs again, a while after a failure, or when the file is uploaded again.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from db.tables import Document, Job
from engine.documents.ingest import (
    Ingested,
    add_page,
    finish,
    ingest,
    limits_of,
    new_document,
    there_already,
    with_content,
)
from engine.documents.limits import ReadLimits
from engine.documents.reading import read_jobs
from engine.documents.reading.page_stream import AT_ONCE, PageStream, StoredPage
from engine.documents.reading.reading_state import READ
from engine.documents.refusal import DocumentRefused
from engine.errors import Conflict, TooMany
from engine.jobs import queue
from engine.jobs.in_process_worker import LEASE_SECONDS, InProcessWorker
from engine.jobs.worker import do, holder_name
from engine.tasks.opening.open_tasks import open_missing
from engine.workspace import Workspace

_GRACE = 0.7  # seconds after the first page in which a short document becomes whole
_LOOK = 1.0  # seconds of one wait for the first page
# An upload holds a thread and its file on disk until its turn comes.
_UPLOADS = threading.BoundedSemaphore(12)
_COME_BACK = 5  # seconds


@contextlib.contextmanager
def place_in_line() -> Iterator[None]:
    """Hold a place for an upload that waits for its turn.

    Raises:
        TooMany: All places are taken.
    """
    if not _UPLOADS.acquire(blocking=False):
        raise TooMany("Many files are being read just now; send this one again in a few seconds.", _COME_BACK)
    try:
        yield
    finally:
        _UPLOADS.release()


def take(workspace: Workspace, source: Path, *, name: str, project_id: str, user_id: str | None) -> Ingested:
    """Store a whole file when its turn comes, and return its document.

    A document that was left half read is read to its end. Raises the errors of `ingest`.
    """
    with AT_ONCE:
        ingested = ingest(workspace, source, name=name, project_id=project_id, user_id=user_id)
    if ingested.whole:
        return ingested
    holder = holder_name()
    with contextlib.suppress(Conflict):
        read_jobs.resume(workspace, ingested.document_id, by=user_id)
    job = read_jobs.left_alone(workspace, ingested.document_id, holder)
    if job is None:
        return ingested
    do(
        workspace,
        job,
        holder,
        handlers={READ: read_jobs.read_further_pages},
        stop=threading.Event(),
        lease_seconds=LEASE_SECONDS,
    )
    with workspace.database.read() as session:
        sha256 = session.scalar(select(Document.sha256).where(Document.id == ingested.document_id))
    return with_content(workspace, project_id, sha256 or "") or ingested


def take_early(
    workspace: Workspace,
    source: Path,
    *,
    name: str,
    project_id: str,
    user_id: str | None,
    worker: InProcessWorker,
    done: Callable[[], None] = lambda: None,
    limits: ReadLimits | None = None,
) -> Ingested:
    """Store a file, and return soon after its first page is in the database.

    A short document is whole by then. A job reads the rest of a long one.

    Args:
        workspace: Where the document is stored.
        source: The file.
        name: Of the document, for people.
        project_id: The project that gets the document.
        user_id: The person who uploads; None without one.
        worker: Does the job.
        done: Called when `source` is no longer needed.
        limits: Limits of reading; None: those of the settings.

    Returns:
        The document, with the counts of the pages and words stored so far.

    Raises the errors of `ingest` that occur before the first page is stored.
    """
    with contextlib.ExitStack() as ending:
        ending.callback(done)
        stored = there_already(workspace, source, name, project_id, user_id)
        if stored is not None:
            if not stored.whole:
                with contextlib.suppress(Conflict):
                    read_jobs.resume(workspace, stored.document_id, by=user_id)
                go_on(workspace, stored.document_id, worker)
            return stored
        limits = limits or limits_of(workspace.settings)
        stream = PageStream(workspace, source, name=name, limits=limits, on_close=done).start()
        ending.pop_all()
        ending.enter_context(stream)
        first, whole = _first_pages(stream)
        try:
            ingested, job, holder = _open(workspace, source, stream, first, whole, name, project_id, user_id)
        except IntegrityError:  # somebody else was faster with the same file
            stored = with_content(workspace, project_id, workspace.blobs.put_file(source))
            if stored is None:
                raise
            return stored
        if job is not None:
            worker.go_on(job, holder, partial(read_jobs.read_further_pages, stream=stream))
            ending.pop_all()
        return ingested


def go_on(workspace: Workspace, document_id: str, worker: InProcessWorker) -> None:
    """Begin the next attempt at a document in this process, unless somebody reads it, or it is whole."""
    holder = holder_name()
    job = read_jobs.left_alone(workspace, document_id, holder)
    if job is not None:
        worker.go_on(job, holder, read_jobs.read_further_pages)


def _first_pages(stream: PageStream) -> tuple[list[StoredPage], bool]:
    """Return the pages that are there a moment after the first one, and whether these are all.

    Raises the failure of the stream when there is no page, or when it is not the file's fault.
    """
    first: list[StoredPage] = []
    ended = False
    while not first and not ended:
        first, ended = stream.take(_LOOK)
    if not ended:
        stream.wait(_GRACE)
        more, ended = stream.take(0)
        first += more
    if stream.failure is not None and not (first and isinstance(stream.failure, DocumentRefused)):
        raise stream.failure
    return first, ended


def _open(
    workspace: Workspace,
    source: Path,
    stream: PageStream,
    first: Sequence[StoredPage],
    whole: bool,
    name: str,
    project_id: str,
    user_id: str | None,
) -> tuple[Ingested, Job | None, str]:
    """Add the document with its first pages; return it, the job of the others, and that job's holder."""
    beginning = stream.beginning
    assert beginning is not None
    sha256 = workspace.blobs.put_file(source)
    warnings: Sequence[str] = stream.warnings
    if stream.failure is not None:
        warnings = (f"Only the first {len(first)} of {beginning.pages} pages could be read: {stream.failure}",)
    job, holder = None, holder_name()
    with workspace.database.write() as session:
        document = new_document(
            session,
            project_id,
            sha256,
            beginning,
            name=name,
            byte_count=source.stat().st_size,
            user_id=user_id,
            signatures=[page.signature for page in first],
        )
        for page in first:
            add_page(session, document, page.read, page.image_sha256, page.signature)
        if whole:
            warnings = finish(session, document, warnings, stream.try_again)
        else:
            job = read_jobs.request(session, document, beginning.pages)
            queue.hold(job, holder, seconds=LEASE_SECONDS)
        open_missing(session, project_id, document.id)  # last: it locks the project until the commit
        words = sum(len(page.read.words) for page in first)
        ingested = Ingested(document.id, document.name, True, len(first), words, tuple(warnings), whole)
    return ingested, job, holder
