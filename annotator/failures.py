"""Failures as answers: a status and one sentence, {"detail": "..."}."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError, StatementError

from db.blobs import BlobMissing
from engine.documents.refusal import DocumentRefused
from engine.errors import Conflict, Forbidden, NotFound, Refused, TooMany

_UNSTORABLE = "The request holds a character or a number that cannot be stored."
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


def install(app: FastAPI) -> None:
    """Teach the application which failure is which status."""
    for kind in (*_STATUS, *_NOT_STORED, StatementError):
        app.add_exception_handler(kind, _answer)
    app.add_exception_handler(RequestValidationError, _invalid)


def told(error: Exception) -> tuple[int, str] | None:
    """Return a failure as a status and a sentence; None for what nobody has thought of."""
    if isinstance(error, _NOT_STORED):
        return 422, _UNSTORABLE
    if isinstance(error, StatementError):  # hides what went wrong while values were written out
        return (422, _UNSTORABLE) if isinstance(error.orig, UnicodeEncodeError) else None
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), None)
    return None if status is None else (status, str(error))


def _answer(_request: Request, error: Exception) -> JSONResponse:
    found = told(error)
    if found is None:
        raise error
    headers = {"retry-after": str(error.seconds)} if isinstance(error, TooMany) else None
    return JSONResponse({"detail": found[1]}, status_code=found[0], headers=headers)


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """Name the first field that is wrong; the whole list stays there for programs."""
    assert isinstance(error, RequestValidationError)
    errors = [{"where": [str(part) for part in each["loc"]], "what": each["msg"]} for each in error.errors()[:20]]
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "The request"
    detail = "The request is not JSON." if first["type"] == "json_invalid" else f"{where}: {first['msg']}."
    return JSONResponse({"detail": detail, "errors": errors}, status_code=422)
