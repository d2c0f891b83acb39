"""Failures as answers: a status and one sentence, {"detail": "..."}."""

import logging
from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DataError, StatementError

from db.blobs import BlobMissing
from engine.documents.refusal import DocumentRefused
from engine.errors import Conflict, Forbidden, NotFound, Refused, TooMany

_log = logging.getLogger(__name__)


def install(app: FastAPI) -> None:
    """Teach the application which failure is which status."""
    for kind, status in ((NotFound, 404), (Forbidden, 403), (Conflict, 409), (Refused, 422), (DocumentRefused, 422)):
        app.add_exception_handler(kind, _sentence(status))
    app.add_exception_handler(TooMany, _too_many)
    # NUL, half a character (JSON can write a lone surrogate as \\ud800), or a number beyond the column: what only the database can tell, and PostgreSQL tells differently from SQLite.
    app.add_exception_handler(DataError, _unstorable)
    app.add_exception_handler(OverflowError, _unstorable)
    app.add_exception_handler(UnicodeEncodeError, _unstorable)
    app.add_exception_handler(StatementError, _unwritable)
    app.add_exception_handler(BlobMissing, _sentence(500))
    app.add_exception_handler(RequestValidationError, _invalid)


def _sentence(status: int) -> Callable[[Request, Exception], JSONResponse]:
    def answer(_request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status_code=status)

    return answer


def _too_many(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, TooMany)
    headers = {"retry-after": str(error.seconds)}
    return JSONResponse({"detail": str(error)}, status_code=429, headers=headers)


def _unstorable(_request: Request, _error: Exception) -> JSONResponse:
    return JSONResponse({"detail": "The request holds a character or a number that cannot be stored."}, status_code=422)


def _unwritable(request: Request, error: Exception) -> JSONResponse:
    """SQLAlchemy hides in its own exception what went wrong while values were written out for the database."""
    assert isinstance(error, StatementError)
    if isinstance(error.orig, UnicodeEncodeError):
        return _unstorable(request, error)
    raise error


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """Name the first field that is wrong; the whole list stays there for programs."""
    assert isinstance(error, RequestValidationError)
    errors = [{"where": [str(part) for part in each["loc"]], "what": each["msg"]} for each in error.errors()[:20]]
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "The request"
    detail = "The request is not JSON." if first["type"] == "json_invalid" else f"{where}: {first['msg']}."
    return JSONResponse({"detail": detail, "errors": errors}, status_code=422)
