"""Failures as answers: a status and one sentence, {"detail": "..."}."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import iter_route_contexts
from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, OperationalError, StatementError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException
from starlette.routing import compile_path

from db.blobs import BlobMissing
from engine.documents.refusal import DocumentRefused
from engine.errors import Conflict, Forbidden, NotFound, Refused, TooMany

COME_BACK_SECONDS = 5  # to a database that does not answer
_UNSTORABLE = "The request holds a character or a number that cannot be stored."
_UNREADABLE = "The body cannot be read: it is no whole JSON in UTF-8, or no whole form."
_NOBODY_THOUGHT_OF = "The server made a mistake, which its log tells. Try again; if it stays, tell whoever runs it."
_STATUS: dict[type[Exception], int] = {
    NotFound: 404,
    Forbidden: 403,
    Conflict: 409,
    TooMany: 429,
    Refused: 422,
    DocumentRefused: 422,
    BlobMissing: 500,
}
# NUL, half a character (JSON can write a lone surrogate as \\ud800), or a number beyond the column: what only the database can tell, and PostgreSQL tells differently from SQLite.
_NOT_STORED = (DataError, OverflowError, UnicodeEncodeError)
_UNANSWERED = "The database does not answer. Try again in a few seconds."


def install(app: FastAPI) -> None:
    """Teach the application which failure is which status."""
    for kind in (*_STATUS, *_NOT_STORED, StatementError, NoConnection):
        app.add_exception_handler(kind, _answer)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _mistake)


def told(error: Exception) -> tuple[int, str] | None:
    """Return a failure as a status and a sentence; None for what nobody has thought of."""
    if isinstance(error, _NOT_STORED):
        return 422, _UNSTORABLE
    if _is_unanswered(error):
        return 503, _UNANSWERED
    if isinstance(error, StatementError):  # hides what went wrong while values were written out
        return (422, _UNSTORABLE) if isinstance(error.orig, UnicodeEncodeError) else None
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), None)
    return None if status is None else (status, str(error))


def answer(error: Exception) -> JSONResponse | None:
    """Return a failure as an answer; None for what nobody has thought of."""
    found = told(error)
    if found is None:
        return None
    status, sentence = found
    wait = error.seconds if isinstance(error, TooMany) else COME_BACK_SECONDS if status == 503 else None
    headers = {"retry-after": str(wait)} if wait is not None else None
    return JSONResponse({"detail": sentence}, status_code=status, headers=headers)


def _answer(_request: Request, error: Exception) -> JSONResponse:
    found = answer(error)
    if found is None:
        raise error
    return found


def _is_unanswered(error: Exception) -> bool:
    """Whether the database is gone, restarting or locked, or has no connection left: what was asked of it may be right."""
    if isinstance(error, NoConnection):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if getattr(error.orig, "sqlite_errorname", None) == "SQLITE_ERROR":  # a statement that is wrong: a mistake of ours
        return False
    return isinstance(error, OperationalError | InterfaceError) or bool(error.connection_invalidated)


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """Name the first field that is wrong; the whole list stays there for programs."""
    assert isinstance(error, RequestValidationError)
    errors = [{"where": [str(part) for part in each["loc"]], "what": each["msg"]} for each in error.errors()[:20]]
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "The request"
    detail = "The request is not JSON." if first["type"] == "json_invalid" else f"{where}: {first['msg']}."
    return JSONResponse({"detail": detail, "errors": errors}, status_code=422)


def _plain(request: Request, error: Exception) -> JSONResponse:
    """What the frameworks refuse by themselves, with a sentence of ours; and all methods of an address that was called with another."""
    assert isinstance(error, HTTPException)
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


def _mistake(_request: Request, _error: Exception) -> JSONResponse:
    return JSONResponse({"detail": _NOBODY_THOUGHT_OF}, status_code=500)
