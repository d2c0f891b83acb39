"""State of reading: which documents are still being read, and how far.

A document whose pages still come in has an open job of the kind `READ`. The job's key names the document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, exists, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from db.base import now
from db.tables import Document, Job
from engine.jobs.queue import ENDED, enqueue

READ = "read"  # kind of the jobs that read the further pages of a document
READ_AGAIN = "read_again"  # kind of the jobs that read pages again by OCR
CUT_OFF = "cut_off"  # in the result of such a job that was done before the last page, for a limit on reading
LATER_SECONDS = 60.0  # until pages that OCR did not read are tried again; the pauses after that double
_ATTEMPTS = 8  # in about twenty minutes


def key_of(document_id: str) -> str:
    """Return the key of the job that reads a document."""
    return f"{READ}:{document_id}"


def is_being_read() -> ColumnElement[bool]:
    """Return the condition that pages of the query's document still come in."""
    return exists().where(Job.key == f"{READ}:" + Document.id)


def key_of_another(document_id: str) -> str:
    """Return the key of the job that reads pages of a document again."""
    return f"{READ_AGAIN}:{document_id}"


def waits_for_words(document_id: InstrumentedAttribute[str]) -> ColumnElement[bool]:
    """Return the condition that OCR has still to read pages of a document, which nobody has asked for."""
    return exists().where(Job.key == f"{READ_AGAIN}:" + document_id, Job.created_by.is_(None))


def read_later(session: Session, document: Document, pages: Sequence[str]) -> None:
    """Let a job read pages again that OCR did not read, in the unit of work that stores them.

    Args:
        session: Of that unit of work.
        document: The document.
        pages: Ids of its pages.
    """
    if document.created_by is None:  # words that change have an author
        return
    payload = {"document_id": document.id, "name": document.name, "pages": list(pages), "by": document.created_by}
    enqueue(
        session,
        READ_AGAIN,
        document.project_id,
        payload,
        key_of_another(document.id),
        run_after=now() + timedelta(seconds=LATER_SECONDS),
        max_attempts=_ATTEMPTS,
    )


@dataclass(frozen=True, slots=True)
class ReadingState:
    """How far the reading of a document is.

    Attributes:
        pages: Pages expected while the document is being read, or will be read on; None otherwise.
        failure: Why reading has stopped for now; it is tried again.
        cut_off: Whether reading ended early, by a person or a limit, so that it can be resumed.
    """

    pages: int | None = None
    failure: str | None = None
    cut_off: bool = False


def job_of(session: Session, document_id: str, *, lock: bool = False) -> Job | None:
    """Return the job that reads or read the further pages of a document; None for one that was read at once.

    Args:
        session: An open session.
        document_id: The document.
        lock: Whether to lock its row, in a unit of work that changes it.
    """
    open_first = Job.key.is_(None), Job.id.desc()
    chosen = select(Job).where(Job.asked_as == key_of(document_id)).order_by(*open_first).limit(1)
    return session.scalar(chosen.with_for_update() if lock else chosen)


def is_cut_off(job: Job) -> bool:
    """Return whether a job of reading ended with pages missing that another attempt may read."""
    return job.status == "cancelled" or (job.status == "done" and bool(job.result.get(CUT_OFF)))


def state_of(session: Session, document_id: str) -> ReadingState:
    """Return how far the reading of a document is."""
    job = job_of(session, document_id)
    if job is None or job.status in ENDED:
        return ReadingState(cut_off=job is not None and is_cut_off(job))
    pages = int(job.payload["pages"])
    if job.status == "running" or not job.failure or job.run_after <= now():
        return ReadingState(pages)
    return ReadingState(
        pages,
        failure=f"Reading stopped before the last of {pages} pages: {job.failure.rstrip('.')}. "
        "It is tried again later, and at once when the file is uploaded again.",
    )
