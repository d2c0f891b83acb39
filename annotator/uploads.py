"""Uploads: rights, disk space and queue are checked before the body is read.

The file is then copied to disk.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from fastapi import Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from annotator.work_queues import Place
from engine.errors import Refused
from engine.settings import MEGABYTE

SPARE_BYTES = 200 * MEGABYTE  # kept free on the disk
_COPIES = 2  # of an upload: as received, and as read
_CHUNK = 1 << 20


def asked_early(check: Callable[[Request], None], place_in_line: Callable[[Request], Place]) -> type[APIRoute]:
    """Return a route class that checks requests before reading their bodies.

    FastAPI reads the body first and checks afterwards: every refused upload would be written to disk before.

    Args:
        check: checks the rights, and looks up the user.
        place_in_line: gives the upload a place, or refuses it; see `place_of`.

    Returns:
        A route class, which also checks the free disk space.
    """

    class AskedEarly(APIRoute):
        """Route that checks rights, disk space and queue before it reads a body."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            """Return FastAPI's handler behind the checks."""
            answer = super().get_route_handler()

            async def handler(request: Request) -> Response:
                await run_in_threadpool(check, request)
                _check_room(request)
                with await run_in_threadpool(place_in_line, request) as place:
                    request.state.place = place
                    return await answer(request)

            return handler

    return AskedEarly


def place_of(request: Request) -> Place:
    """Return the queue place of a request."""
    place: Place = request.state.place
    return place


def sent_name(file: UploadFile) -> str | None:
    """Return the name of an upload as its sender has it.

    Browsers and HTTP libraries write three characters of a name in a multipart form as %22, %0D and %0A (HTML, section
    "Multipart form data"), and nothing else.
    """
    if file.filename is None:
        return None
    return file.filename.replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")


def copy_upload(file: UploadFile) -> Path:
    """Return a copy of an upload on disk; the caller deletes it."""
    descriptor, name = tempfile.mkstemp(prefix="glossator-upload-")
    try:
        with os.fdopen(descriptor, "wb") as copy:
            while chunk := file.file.read(_CHUNK):
                copy.write(chunk)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def _check_room(request: Request) -> None:
    declared = request.headers.get("content-length", "")
    needed = _COPIES * int(declared) if declared.isdigit() else 0
    if shutil.disk_usage(tempfile.gettempdir()).free < needed + SPARE_BYTES:
        raise Refused(
            "The server's disk is almost full, so uploads are refused. Ask the administrator to free disk space."
        )
