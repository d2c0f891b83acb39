"""Read uploaded documents: a long one opens with its first page, and the other pages follow.

While a document is being read, a lease "reading:<its id>" holds the number of its pages. The reader renews the lease.
A killed server or a full disk leaves a document half read, and its lease expires. Reading then goes on from the stored
file when a server starts, or when the file is uploaded again.
Pages come in without gaps. Where reading ends early, the pages so far stay, and a warning names the missing ones.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from sqlalchemy import CursorResult, select, update
from sqlalchemy.orm import Session

from db.base import now
from db.blobs import BlobMissing
from db.tables import Document, Lease
from engine.documents.arrival import AT_ONCE, Arrival, until
from engine.documents.ingest import Ingested, ingest, with_content
from engine.documents.limits import ReadLimits
from engine.documents.page import READING
from engine.errors import TooMany
from engine.workspace import Workspace

_log = logging.getLogger(__name__)
_GRACE = 0.7  # seconds after the first page in which a short document becomes whole
_MARGIN = 0.5  # seconds after the end of a lease
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
        found = ingest(workspace, source, name=name, project_id=project_id, user_id=user_id)
    reading = None
    if not found.whole:
        with contextlib.suppress(BlobMissing):
            reading = _read_on(workspace, found.document_id)
    if reading is None:
        return found
    reading.join()
    with workspace.database.read() as session:
        sha256 = session.scalar(select(Document.sha256).where(Document.id == found.document_id))
    return with_content(workspace, project_id, sha256 or "") or found


def take_early(
    workspace: Workspace,
    source: Path,
    *,
    name: str,
    project_id: str,
    user_id: str | None,
    done: Callable[[], None] = lambda: None,
    limits: ReadLimits | None = None,
) -> Ingested:
    """Store a file, and return soon after its first page is in the database.

    A short document is whole by then. A thread reads the rest of a long one.

    Args:
        workspace: Where the document is stored.
        source: The file.
        name: Of the document, for people.
        project_id: The project that gets the document.
        user_id: The person who uploads; None without one.
        done: Called when `source` is no longer needed.
        limits: Limits of reading; None: those of the settings.

    Returns:
        The document, with the counts of the pages and words stored so far.

    Raises the errors of `ingest` that occur before the first page is stored.
    """
    arrival = Arrival(workspace, source, name, done, limits)
    arrival.project_id, arrival.user_id = project_id, user_id
    threading.Thread(target=arrival.run, name="reading", daemon=True).start()
    found = arrival.opened.result()
    if not found.created:
        if not found.whole:
            with contextlib.suppress(BlobMissing):
                _read_on(workspace, found.document_id)
        return found
    whole = arrival.ended.wait(_GRACE) and arrival.whole
    return replace(found, pages=arrival.pages, words=arrival.words, warnings=arrival.warnings, whole=whole)


def resume(workspace: Workspace) -> list[threading.Thread]:
    """Finish the documents that an earlier process left half read, and return the threads, one a document.

    Call it once, when the application starts. A lease that still holds may belong to another process that reads the
    document now. Its thread waits until the lease has expired.
    """
    with workspace.database.read() as session:
        found = session.scalars(
            select(Document.id).join(Lease, Lease.subject == READING + Document.id).order_by(Document.id)
        ).all()
    threads = []
    for document_id in found:
        threads.append(threading.Thread(target=_read_when_left, args=(workspace, document_id), daemon=True))
        threads[-1].start()
    return threads


def _read_when_left(workspace: Workspace, document_id: str) -> None:
    """Finish a document as soon as nobody else reads it; return when it is whole."""
    try:
        while True:
            with workspace.database.read() as session:
                lease = session.get(Lease, READING + document_id)
            if lease is None:
                return
            left = (lease.expires_at - now()).total_seconds()
            if left > 0:
                time.sleep(left + _MARGIN)
                continue
            reading = _read_on(workspace, document_id)
            if reading is not None:
                reading.join()
                return
    except BlobMissing:
        _log.error("the document %s cannot be read on: its file is missing", document_id)
    except Exception:
        _log.exception("the document %s cannot be read on", document_id)


def _read_on(workspace: Workspace, document_id: str) -> threading.Thread | None:
    """Resume a document whose lease has expired, and return the thread; None while it is read, or when it is whole.

    Raises:
        BlobMissing: The stored file is missing.
    """
    with workspace.database.write() as session:
        document = session.get_one(Document, document_id)
        source = workspace.blobs.path(document.sha256)
        # The update succeeds for one process alone, so that no document is read twice.
        taken = session.execute(
            update(Lease)
            .where(Lease.subject == READING + document_id, Lease.expires_at <= now())
            .values(expires_at=until(workspace))
            .execution_options(synchronize_session=False)
        )
        assert isinstance(taken, CursorResult)
        if taken.rowcount != 1:
            return None
    arrival = Arrival(workspace, source, document.name, lambda: None)
    arrival.document_id = document_id
    reading = threading.Thread(target=arrival.run, name="reading", daemon=True)
    reading.start()
    return reading


def progress(session: Session, document_id: str) -> tuple[int | None, str | None]:
    """Return how far reading is: the pages expected, and a sentence when reading has stopped.

    The number is None when nobody reads the document. The sentence is None unless reading stopped early.
    """
    lease = session.get(Lease, READING + document_id)
    if lease is None:
        return None, None
    if lease.expires_at > now():
        return int(lease.holder), None
    return (
        None,
        f"Reading stopped before the last of {lease.holder} pages; it goes on when the server is started again, "
        "or the file is uploaded once more.",
    )
