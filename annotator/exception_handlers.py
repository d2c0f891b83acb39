"""Exceptions as HTTP responses: a status and one sentence, {"detail": "..."}."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from sqlalchemy.exc import DataError, StatementError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from db.blobs import BlobMissing, StoreUnavailable
from engine.documents.refusal import DocumentRefused
from engine.errors import Conflict, Forbidden, NotFound, Refused, TooMany
from engine.logs import field_of_work, with_error_id
from engine.outage import is_full, is_outage

_log = logging.getLogger(__name__)
_FULL = "The server's disk is full; nothing was saved. Ask the administrator to free disk space."
_OUT = "The server's database does not respond. Try again in a moment; if it fails, tell the administrator."
_NO_STORE = (
    "The server's file store does not answer; nothing was saved. Try again in a moment; if it fails, tell the "
    "administrator."
)
_FAILED = "The server failed to do this. Try again; if it still fails, tell the administrator."
UNFORESEEN = "unforeseen"  # in the state of a request: the exception that ended it
COME_BACK = 10  # seconds for Retry-After in an outage
_UNREADABLE = "The request body is not complete JSON in UTF-8, nor a complete form. Check the body."
_UNSTORABLE = "The request contains a character or number that cannot be stored. Remove it."


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
# NUL, a lone surrogate (\\ud800 in JSON), or a number too large for the column. Only the database detects these, and
# PostgreSQL reports them differently from SQLite.
_NOT_STORED = (DataError, OverflowError, UnicodeEncodeError)


def install(app: FastAPI) -> None:
    """Register the handlers of all exceptions that have a status; annotator.request_guard answers others.

    Args:
        app: the application.
    """
    for kind in (*_STATUS, *_NOT_STORED, StatementError, NoConnection, StoreUnavailable, OSError):
        app.add_exception_handler(kind, _answer)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)


def status_and_sentence(error: Exception) -> tuple[int, str] | None:
    """Return the status and sentence of an exception; None for an unexpected one."""
    if is_full(error):
        return 507, _FULL
    if isinstance(error, NoConnection) or (is_outage(error) and not _is_mistaken(error)):
        return 503, _OUT
    if isinstance(error, StoreUnavailable):
        return 503, _NO_STORE
    if isinstance(error, _NOT_STORED):
        return 422, _UNSTORABLE
    if isinstance(error, StatementError):  # its `orig` holds the error of a value
        return (422, _UNSTORABLE) if isinstance(error.orig, UnicodeEncodeError) else None
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), None)
    return None if status is None else (status, str(error))


def _is_mistaken(error: Exception) -> bool:
    """Return whether SQLite reports a wrong statement; it uses the same exception for an outage."""
    return getattr(getattr(error, "orig", None), "sqlite_errorname", None) == "SQLITE_ERROR"


def answer_to(error: Exception) -> JSONResponse | None:
    """Return the response for an exception; None for an unexpected one."""
    answer = status_and_sentence(error)
    if answer is None:
        return None
    status, sentence = answer
    if status >= 500:
        _log.error("%s (%s: %s)", sentence, type(error).__name__, getattr(error, "orig", error))
    wait = error.seconds if isinstance(error, TooMany) else COME_BACK if status in (503, 507) else None
    headers = {} if wait is None else {"retry-after": str(wait)}
    return JSONResponse(failure(status, sentence), status_code=status, headers=headers)


def failure(status: int, sentence: str = _FAILED) -> dict[str, str]:
    """Return the body of a failed request; of a status 500, with the id under which the server log has more."""
    request_id = field_of_work("request_id")
    if status != 500 or request_id is None:
        return {"detail": sentence}
    return {"detail": with_error_id(sentence, request_id), "request_id": request_id}


def _answer(_request: Request, error: Exception) -> JSONResponse:
    answer = answer_to(error)
    if answer is None:
        raise error
    return answer


def _plain(request: Request, error: Exception) -> JSONResponse:
    """Return the response for an exception of the frameworks, with a sentence of our own."""
    assert isinstance(error, HTTPException)
    known = answer_to(error.__cause__) if isinstance(error.__cause__, Exception) else None
    if known is not None:  # FastAPI reports only that reading the body failed
        return known
    headers, detail = dict(error.headers or {}), error.detail
    if error.status_code == 405:
        allowed = _methods(request) or headers.get("Allow", "")  # the framework lists the first route's methods only
        headers["Allow"], detail = allowed, f"Method {request.method} is not allowed here. Use {allowed}."
    elif error.status_code == 404 and detail == "Not Found":
        detail = "Nothing exists at this address. Check the path."
    elif error.status_code == 400:
        detail = _UNREADABLE
    return JSONResponse(failure(error.status_code, detail), status_code=error.status_code, headers=headers)


def _methods(request: Request) -> str:
    """Return the methods of all routes at the path of a request."""
    methods: set[str] = set()
    for context in iter_route_contexts(request.app.routes):
        if context.path_format and context.methods and compile_path(context.path_format)[0].match(request.url.path):
            methods |= context.methods
    return ", ".join(sorted(methods))


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """Return a sentence about the first wrong field; `errors` lists all of them for programs."""
    assert isinstance(error, RequestValidationError)
    errors = [
        {"where": [str(part) for part in problem["loc"]], "what": problem["msg"]} for problem in error.errors()[:20]
    ]
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "The request"
    detail = (
        "The request body is not valid JSON. Check its syntax."
        if first["type"] == "json_invalid"
        else f"{where}: {first['msg']}."
    )
    return JSONResponse({"detail": detail, "errors": errors}, status_code=422)
