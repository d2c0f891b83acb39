"""Uploads: who may not send one, or finds no place in the line, is told before the file is read; then it lies on disk, for what reads
it wants a path."""

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

from annotator.deps import required_user
from annotator.work_queues import Place, WorkQueue
from engine.errors import Refused
from engine.settings import MEGABYTE

SPARE_BYTES = 200 * MEGABYTE  # that stay free on the disk
_COPIES = 2  # of an upload: as it arrives, and for what reads it
_CHUNK = 1 << 20


def asked_early(check: Callable[[Request], None], line: WorkQueue) -> type[APIRoute]:
    """Return the class of routes that ask, before the body of a request is read, whether the person may send it (`check`, which
    looks up who it is), whether the disk has room, and for a place of theirs in `line`; the place is `place_of(request)`.

    FastAPI itself reads a body first and asks then: every upload that is refused would lie on disk before.
    """

    class AskedEarly(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            answer = super().get_route_handler()

            async def handler(request: Request) -> Response:
                await run_in_threadpool(check, request)
                _check_room(request)
                with line.place(required_user(request).id) as place:
                    request.state.place = place
                    return await answer(request)

            return handler

    return AskedEarly


def place_of(request: Request) -> Place:
    """Return the place in the line that a request was given."""
    place: Place = request.state.place
    return place


def copied(file: UploadFile) -> Path:
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
        raise Refused("The server's disk is almost full, so it takes no files. Tell whoever runs it.")
