"""State of reading: which documents are still being read, and how far.

A document whose pages still come in has an open job of the kind `READ`. The job's key names the document.
"""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.orm import Session

from db.tables import Document, Job
from engine.jobs.queue import ENDED

READ = "read"  # kind of the jobs that read the further pages of a document


def key_of(document_id: str) -> str:
    """Return the key of the job that reads a document."""
    return f"{READ}:{document_id}"


def is_being_read() -> ColumnElement[bool]:
    """Return the condition that pages of the query's document still come in."""
    return exists().where(Job.key == f"{READ}:" + Document.id)


@dataclass(frozen=True, slots=True)
class ReadingState:
    """How far the reading of a document is.

    Attributes:
        pages: Pages expected while the document is being read; None otherwise.
        failure: Why reading has stopped for now; it is tried again.
        cut_off: Whether a person stopped it, so that pages are missing.
    """

    pages: int | None = None
    failure: str | None = None
    cut_off: bool = False


def newest_job(session: Session, document_id: str) -> Job | None:
    """Return the newest job that read pages of a document; None for one that was read at once."""
    chosen = select(Job).where(Job.asked_as == key_of(document_id)).order_by(Job.id.desc()).limit(1)
    return session.scalar(chosen)


def state_of(session: Session, document_id: str) -> ReadingState:
    """Return how far the reading of a document is."""
    job = newest_job(session, document_id)
    if job is None or job.status in ENDED:
        return ReadingState(cut_off=job is not None and job.status == "cancelled")
    pages = int(job.payload["pages"])
    if job.status == "running" or not job.failure:
        return ReadingState(pages)
    return ReadingState(
        failure=f"Reading stopped before the last of {pages} pages: {job.failure.rstrip('.')}. "
        "It is tried again later, and at once when the file is uploaded again."
    )
