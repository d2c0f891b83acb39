"""Failures of the machine, of files, disk and database, as one sentence in place of a traceback."""

import errno
import logging

from sqlalchemy.exc import DatabaseError, DBAPIError

from db.blobs import StoreUnavailable
from engine.commands.common import fail
from engine.outage import is_full, is_outage

_log = logging.getLogger(__name__)


def sentence_of(error: Exception) -> str:
    """Return the sentence of an error, which names the file of an error of the system."""
    if is_full(error):
        where = f" of {error.filename}" if isinstance(error, OSError) and error.filename else ""
        return f"The disk{where} is full. Free disk space, then run the command again."
    if isinstance(error, OSError) and error.strerror:
        why = error.strerror[0].lower() + error.strerror[1:]
        return f"{error.filename} cannot be used: {why}." if error.filename else f"{error.strerror}."
    if isinstance(error, DBAPIError):
        lines = str(error.orig).strip().splitlines()
        return f"The database cannot be used: {lines[0].rstrip('.') if lines else type(error.orig).__name__}."
    return str(error)


def end_with_sentence(error: Exception) -> None:
    """End the command with a sentence where a file, the disk or the database failed; return for other errors."""
    if isinstance(error, StoreUnavailable) or (isinstance(error, OSError | DBAPIError) and _of_the_machine(error)):
        _log.debug("the command failed", exc_info=error)
        fail(sentence_of(error))


def _of_the_machine(error: OSError | DBAPIError) -> bool:
    """Return whether no fault of Glossator is the cause: its traceback would be wanted."""
    if isinstance(error, OSError):
        return error.errno != errno.EPIPE  # the reader of the output has left, as head does; typer ends quietly
    return is_outage(error) or is_full(error) or type(error) is DatabaseError  # the last: the file is no database
