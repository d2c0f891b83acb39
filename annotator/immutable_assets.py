"""Files whose address names their content: browsers keep them for good, and the server sends them from memory.

A file that starlette reads from disk for each request costs three times as much, and one that Gradio compresses for
each request five times.
"""

import gzip
import mimetypes
import stat
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from anyio import to_thread
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

FOREVER = "public, max-age=31536000, immutable"
_PACKED = {".js", ".css", ".svg", ".ts", ".ttf"}  # the others are packed already


@dataclass(frozen=True)
class ImmutableAsset:
    """A file in memory."""

    name: str
    content: bytes

    @cached_property
    def packed(self) -> bytes | None:
        """The content under gzip; None where that does not help."""
        return gzip.compress(self.content, mtime=0) if Path(self.name).suffix in _PACKED else None

    def response(self, scope: Scope) -> Response:
        """Return the file, under gzip where the browser takes it.

        Raises:
            HTTPException: 405: neither GET nor HEAD.
        """
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405)
        headers = {"cache-control": FOREVER, "vary": "accept-encoding"}
        content = self.content
        if "gzip" in Headers(scope=scope).get("accept-encoding", "") and self.packed is not None:
            content, headers["content-encoding"] = self.packed, "gzip"
        return Response(content, headers=headers, media_type=mimetypes.guess_type(self.name)[0])


class ImmutableAssets(StaticFiles):
    """The files of a folder with their digest in their names; each is read when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder)
        self._files: dict[str, ImmutableAsset] = {}

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file.

        Raises:
            HTTPException: 404: no such file. 405: neither GET nor HEAD.
        """
        if path not in self._files:
            self._files[path] = await to_thread.run_sync(self._read_asset, path)
        return self._files[path].response(scope)

    def _read_asset(self, path: str) -> ImmutableAsset:
        try:
            full, status = self.lookup_path(path)
        except (OSError, ValueError) as error:  # a name that is too long, or with a null in it
            raise HTTPException(404) from error
        if status is None or not stat.S_ISREG(status.st_mode):
            raise HTTPException(404)
        asset = ImmutableAsset(path, Path(full).read_bytes())
        asset.packed  # noqa: B018 (packed here, beside the event loop)
        return asset
