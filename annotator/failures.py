"""Failures as answers: a status and one sentence, {"detail": "..."}."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from db.blobs import BlobMissing
from engine.documents.refusal import DocumentRefused
from engine.errors import Conflict, Forbidden, NotFound, Refused

_log = logging.getLogger(__name__)


def install(app: FastAPI) -> None:
    """Teach the application which failure is which status."""
    for kind, status in ((NotFound, 404), (Forbidden, 403), (Conflict, 409), (Refused, 422), (DocumentRefused, 422)):
        app.add_exception_handler(kind, _sentence(status))
    app.add_exception_handler(BlobMissing, _sentence(500))
    app.add_exception_handler(RequestValidationError, _invalid)


def _sentence(status: int):
    def answer(_request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status_code=status)

    return answer


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    """Name the first field that is wrong; the whole list stays there for programs."""
    assert isinstance(error, RequestValidationError)
    errors = [{"where": [str(part) for part in each["loc"]], "what": each["msg"]} for each in error.errors()[:20]]
    where = ".".join(part for part in errors[0]["where"] if part != "body") if errors else "the request"
    detail = f"{where}: {errors[0]['what']}." if errors else "The request cannot be read."
    return JSONResponse({"detail": detail, "errors": errors}, status_code=422)
