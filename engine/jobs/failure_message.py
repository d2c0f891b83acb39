"""Failure messages: one sentence that says why an attempt at a job failed, and what to do."""

from db.blobs import StoreUnavailable
from engine.outage import is_full, is_outage

_NO_MEMORY = ("can't allocate memory", "out of memory", "not enough memory")  # in messages of torch


class AttemptFailed(Exception):
    """Fails an attempt with a sentence for people; the job is tried again."""


def sentence_for(error: BaseException) -> str:
    """Return the sentence for an error; for an unforeseen one, its type and its first line."""
    if isinstance(error, OSError) and is_full(error):
        where = f" {error.filename}" if error.filename else ""
        return (
            f"The disk is full: the file{where} could not be written ({error.strerror}). Free disk space. The "
            "next attempt continues from the last checkpoint."
        )
    if isinstance(error, MemoryError) or any(sign in str(error).lower() for sign in _NO_MEMORY):
        return (
            "The machine has not enough memory for this job. End other programs, or retrain with the depth quick. "
            "The next attempt continues from the last checkpoint."
        )
    if is_outage(error):
        return f"The database did not answer ({_first_line(getattr(error, 'orig', error))})."
    if isinstance(error, AttemptFailed | StoreUnavailable):
        return str(error)
    return f"{type(error).__name__}: {_first_line(error)}".rstrip(": ")


def _first_line(error: object) -> str:
    return (str(error).splitlines() or [""])[0]
