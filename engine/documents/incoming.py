"""A long document opens with its first page; the others come in while people look at it.

While a document is being read, a lease "reading:<its id>" says so, with the number of pages it is to have; whoever reads
renews it. What was left half read, by a server that was killed or by a disk that was full, is found by a lease that ran out,
and read on from the stored file: when a server starts, and when the file is uploaded again. Pages come in without gaps; where
reading ends early, what is there stays, and a warning says what is missing.
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
# Each holds a thread and its file on disk until its turn comes.
_UPLOADS = threading.BoundedSemaphore(12)
_COME_BACK = 5  # seconds


@contextlib.contextmanager
def place_in_line() -> Iterator[None]:
    """Let an upload wait for its turn in here. TooMany when enough of them wait already."""
    if not _UPLOADS.acquire(blocking=False):
        raise TooMany("Many files are being read just now; send this one again in a few seconds.", _COME_BACK)
    try:
        yield
    finally:
        _UPLOADS.release()


def take(workspace: Workspace, source: Path, *, name: str, project_id: str, user_id: str | None) -> Ingested:
    """Store a file whole, as `ingest` does, when its turn comes. What was left half read is read on."""
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
    """Store a file, and return soon after its first page is in the database: a short document is whole then, the rest of a
    long one is read in a thread.

    `Ingested` counts what is there by then. `done` is called when `source` is not needed any more. `limits`: instead
    of the settings'. Raises what `ingest` raises, as far as it turns up before the first page.
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
    """Read on what an earlier process left half read; one thread a document. Called once, when the application starts.

    A lease that still holds may be another process's, at work on the document now: it is waited for until it has run out.
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
    """Read on a document as soon as nobody reads it; ends when it is whole."""
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
    """Start to read on a document whose lease ran out; None where somebody reads it, or it is whole.

    BlobMissing when its file is not there any more.
    """
    with workspace.database.write() as session:
        document = session.get_one(Document, document_id)
        source = workspace.blobs.path(document.sha256)
        # Of two who come for it one gets it.
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
    """Return how many pages a document that is being read will have, None when nobody is reading it; and a sentence where
    reading stopped half-way."""
    lease = session.get(Lease, READING + document_id)
    if lease is None:
        return None, None
    if lease.expires_at > now():
        return int(lease.holder), None
    return (
        None,
        f"Reading stopped before the last of {lease.holder} pages; it goes on when the server is started again, or the file "
        "is uploaded once more.",
    )
