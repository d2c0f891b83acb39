"""Logs of a process: lines for people, or one JSON object a line for programs.

What a line belongs to (a request, a job) is noted once, by `log_fields`, and stands in each line of that work.
Logs hold no document text, no question text and no secrets: where a library puts values into an error message, they
are left out (`_HIDDEN`), and db.session keeps the values of statements out.
"""

import json
import logging
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Literal

Format = Literal["text", "json"]
ACCESS = "glossator.access"  # the log of requests that were answered
_OWN = "glossator.process"
FIELDS = "glossator_fields"  # of a record, by `extra`: what belongs to this line alone
_OF_WORK: ContextVar[Mapping[str, str]] = ContextVar("log_fields", default=MappingProxyType({}))
_SECRET_PATH = re.compile(r"^(.*?/invite)/.*", re.DOTALL)  # it opens something; below a path of any length
# Values that pydantic and PostgreSQL quote in their messages.
_HIDDEN = (
    (re.compile(r"input_value=.*?, input_type=", re.DOTALL), "input_value=..., input_type="),
    (re.compile(r"^(DETAIL|CONTEXT): .*$", re.MULTILINE), r"\1: ..."),
)


@contextmanager
def log_fields(**fields: str) -> Iterator[None]:
    """Note what the work inside belongs to, as `job_id`; threads that it starts by asyncio or anyio know it, too."""
    token = _OF_WORK.set({**_OF_WORK.get(), **fields})
    try:
        yield
    finally:
        _OF_WORK.reset(token)


def field_of_work(name: str) -> str | None:
    """Return what was noted for the work that goes on, as its `request_id`; None when nothing was."""
    return _OF_WORK.get().get(name)


def set_up(process: str, form: Format, *, trace_ids: Callable[[], Mapping[str, str]] = dict) -> None:
    """Write the logs of this process to standard error.

    Args:
        process: Name of the process, in each line.
        form: text for people, json for programs.
        trace_ids: Returns the ids of the trace that goes on, for JSON.
    """
    handler = _ToStandardError()
    handler.setFormatter(JsonLines(process, trace_ids) if form == "json" else TextLines(process))
    root = logging.getLogger()
    for former in [each for each in root.handlers if isinstance(each, _ToStandardError)]:
        root.removeHandler(former)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for name in (ACCESS, _OWN):
        logging.getLogger(name).setLevel(logging.INFO)


class _ToStandardError(logging.Handler):
    """Writes to what is standard error at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()
        except Exception:
            self.handleError(record)


def announce(sentence: str) -> None:
    """Log a sentence about the process itself."""
    logging.getLogger(_OWN).info(sentence)


class _Lines(logging.Formatter):
    """Leaves the traceback out where the database was gone: an outage fails hundreds of requests in the same way."""

    def formatException(self, ei: Any) -> str:
        """Return the traceback of an error, or its first line."""
        error = ei[1]
        if "sqlalchemy" in sys.modules:  # a command that needs no database imports none
            from engine.outage import is_disconnect

            if error is not None and is_disconnect(error):
                return f"{type(error).__name__}: {str(error).splitlines()[0]}"
        return super().formatException(ei)


class TextLines(_Lines):
    """Lines for people: time, process, message, and what the work belongs to."""

    def __init__(self, process: str) -> None:
        super().__init__(f"%(asctime)s {process}: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the first line of a record."""
        belongs = " ".join(f"{name}={value}" for name, value in _OF_WORK.get().items())
        return super().formatMessage(record) + (f" [{belongs}]" if belongs else "")

    def format(self, record: logging.LogRecord) -> str:
        """Return a record with its traceback, without quoted values."""
        return hide_values(super().format(record))


class JsonLines(_Lines):
    """One JSON object a line."""

    def __init__(self, process: str, trace_ids: Callable[[], Mapping[str, str]] = dict) -> None:
        super().__init__()
        self._process, self._trace_ids = process, trace_ids

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": self._process,
            "pid": os.getpid(),
            "message": hide_values(record.getMessage()),
            **_OF_WORK.get(),
            **self._trace_ids(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            line["exception"] = hide_values(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False, default=str)


def new_error_id() -> str:
    """Return an id by which a request, or what failed, is found in the log."""
    return secrets.token_hex(6)


def with_error_id(sentence: str, error_id: str) -> str:
    """Return a sentence for a person about what failed, with the id by which an administrator finds more."""
    return f"{sentence} Error id for the administrator: {error_id}."


def shown_path(path: str) -> str:
    """Return a path as logs and traces show it: without a token, and on one line."""
    plain = _SECRET_PATH.sub(r"\1/...", path)
    return plain.encode("unicode_escape").decode("ascii")[:500]


def hide_values(message: str) -> str:
    """Return a message without the values that libraries quote in it."""
    for pattern, instead in _HIDDEN:
        message = pattern.sub(instead, message)
    return message
