"""Failures as answers: a status and one sentence, {"detail": "..."}."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from sqlalchemy.exc import DataError, StatementError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from db.blobs import BlobMissing
from engine.documents.refusal import DocumentRefused
from engine.errors import Conflict, Forbidden, NotFound, Refused, TooMany
from engine.jobs.outage import is_full, is_outage

_log = logging.getLogger(__name__)
_FULL = "The disk of the server is full, so this was not stored. Ask whoever runs the server to make room."
_OUT = "The database of the server does not answer. Try again in a moment; if it stays, tell whoever runs the server."
_FAILED = (
    "The server failed at this. Try again; if it stays, tell whoever runs the server: its log says where it failed."
)
COME_BACK = 10  # seconds after which an outage may be over
_UNREADABLE = "The body cannot be read: it is no whole JSON in UTF-8, or no whole form."
_UNSTORABLE = "The request holds a character or a number that cannot be stored."


class TooLarge(Exception):
    """The body of a request is larger than allowed."""


_STATUS: dict[type[Exception], int] = {
    NotFound: 404,
    Forbidden: 403,
    Conflict: 409,
    TooMany: 429,
    Refused: 422,
    DocumentRefused: 422,
    BlobMissing: 500,
    TooLarge: 413,
}
# NUL, half a character (JSON can write a lone surrogate as \\ud800), or a number beyond the column: what only the database can tell, and PostgreSQL tells differently from SQLite.
_NOT_STORED = (DataError, OverflowError, UnicodeEncodeError)


def install(app: FastAPI) -> None:
    """Teach the application which failure is which status."""
    for kind in (*_STATUS, *_NOT_STORED, StatementError, NoConnection, OSError):
        app.add_exception_handler(kind, _answer)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _unforeseen)


def told(error: Exception) -> tuple[int, str] | None:
    """Return a failure as a status and a sentence; None for what nobody has thought of."""
    if is_full(error):
        return 507, _FULL
    if isinstance(error, NoConnection) or (is_outage(error) and not _is_mistaken(error)):
        return 503, _OUT
    if isinstance(error, _NOT_STORED):
        return 422, _UNSTORABLE
    if isinstance(error, StatementError):  # hides what went wrong while values were written out
        return (422, _UNSTORABLE) if isinstance(error.orig, UnicodeEncodeError) else None
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), None)
    return None if status is None else (status, str(error))


def _is_mistaken(error: Exception) -> bool:
    """Whether SQLite means that a statement is wrong, which is a mistake of ours: it has one kind of error for both."""
    return getattr(getattr(error, "orig", None), "sqlite_errorname", None) == "SQLITE_ERROR"


def answer_to(error: Exception) -> JSONResponse | None:
    """Return the answer that tells a failure; None for what nobody has thought of."""
    found = told(error)
    if found is None:
        return None
    status, sentence = found
    if status >= 500:
        _log.error("%s (%s: %s)", sentence, type(error).__name__, getattr(error, "orig", error))
    wait = error.seconds if isinstance(error, TooMany) else COME_BACK if status in (503, 507) else None
    headers = {} if wait is None else {"retry-after": str(wait)}
    return JSONResponse({"detail": sentence}, status_code=status, headers=headers)


def _answer(_request: Request, error: Exception) -> JSONResponse:
    answer = answer_to(error)
    if answer is None:
        raise error
    return answer


def _plain(request: Request, error: Exception) -> JSONResponse:
    """What the frameworks refuse by themselves, with a sentence of ours: why, and what could be asked instead."""
    assert isinstance(error, HTTPException)
    known = answer_to(error.__cause__) if isinstance(error.__cause__, Exception) else None
    if known is not None:  # FastAPI only says that a body could not be taken in
        return known
    headers, detail = dict(error.headers or {}), error.detail
    if error.status_code == 405:
        allowed = _methods(request) or headers.get("Allow", "")  # the framework names those of the first route alone
        headers["Allow"], detail = allowed, f"This address cannot be called with {request.method}, only with {allowed}."
    elif error.status_code == 404 and detail == "Not Found":
        detail = "There is nothing here."
    elif error.status_code == 400:
        detail = _UNREADABLE
    return JSONResponse({"detail": detail}, status_code=error.status_code, headers=headers)


def _methods(request: Request) -> str:
    """The methods of all routes at the path of a request."""
    found: set[str] = set()
    for context in iter_route_contexts(request.app.routes):
        if context.path_format and context.methods and compile_path(context.path_format)[0].match(request.url.path):
            found |= context.methods
    return ", ".join(sorted(found))


def _unforeseen(_request: Request, error: Exception) -> JSONResponse:
    """Answer in the shape of all other answers; the error itself goes on to the log."""
    return answer_to(error) or JSONResponse({"detail": _FAILED}, status_code=500)


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """Name the first field that is wrong; the whole list stays there for programs."""
    assert isinstance(error, RequestValidationError)
    errors = [{"where": [str(part) for part in each["loc"]], "what": each["msg"]} for each in error.errors()[:20]]
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "The request"
    detail = "The request is not JSON." if first["type"] == "json_invalid" else f"{where}: {first['msg']}."
    return JSONResponse({"detail": detail, "errors": errors}, status_code=422)
