"""The files of the front end, served below an address that names their content.

Browsers keep what lies there and do not ask again: opening the page would take a hundred requests, one for each module.
After an upgrade the address is another one, so old and new modules never mix. They are sent from memory, as they were
when the server started: the first visit of a browser costs a quarter of what it costs from disk, and an upgrade below
a server that runs on cannot put new content under the old address.
"""

import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class _File:
    """A file of the front end in memory."""

    name: str
    content: bytes

    @cached_property
    def packed(self) -> bytes:
        """The content under gzip."""
        return gzip.compress(self.content, mtime=0)

    def response(self, asked: Headers) -> Response:
        """Return the file, under gzip where the browser takes it."""
        kept = {"cache-control": FOREVER, "vary": "accept-encoding"}
        media_type = mimetypes.guess_type(self.name)[0]
        if "gzip" in asked.get("accept-encoding", ""):
            return Response(self.packed, headers={**kept, "content-encoding": "gzip"}, media_type=media_type)
        return Response(self.content, headers=kept, media_type=media_type)


def _files() -> dict[str, _File]:
    paths = sorted(each for each in STATIC.rglob("*") if each.is_file())
    names = {path: path.relative_to(STATIC).as_posix() for path in paths}
    return {name: _File(name, path.read_bytes()) for path, name in names.items()}


def _digest(files: Mapping[str, _File]) -> str:
    """Return a digest of the names and the content of all files."""
    sha = hashlib.sha256()
    for name, file in files.items():
        sha.update(f"{name}\n{len(file.content)}\n".encode())
        sha.update(file.content)
    return sha.hexdigest()[:16]


_FILES = _files()  # as they were when the server started
DIGEST = _digest(_FILES)
BASE = f"/static/{DIGEST}"


class Revalidated(StaticFiles):
    """Static files that browsers revalidate by ETag at every use."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return the file with `cache-control: no-cache`."""
        response = super().file_response(*args, **kwargs)
        response.headers["cache-control"] = "no-cache"
        return response


class FrontEnd(Revalidated):
    """The files of `annotator/static`: below their digest for good, without it revalidated."""

    def __init__(self) -> None:
        super().__init__(directory=STATIC)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file.

        Raises:
            HTTPException: 404: no such file, or the digest is that of another edition of the front end. 405: neither
                GET nor HEAD.
        """
        digest, _, inside = path.partition("/")
        if digest != DIGEST:
            return await super().get_response(path, scope)
        if inside not in _FILES or scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(404 if inside not in _FILES else 405)
        return _FILES[inside].response(Headers(scope=scope))
