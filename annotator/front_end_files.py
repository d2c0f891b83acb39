"""The files of the front end, served below an address that names their content.

Browsers keep what lies there and do not ask again: opening the page would take a hundred requests, one for each module.
After an upgrade the address is another one, so old and new modules never mix.
"""

import hashlib
from pathlib import Path
from typing import Any

from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

STATIC = Path(__file__).parent / "static"
FOREVER = "public, max-age=31536000, immutable"


def _digest() -> str:
    """Return a digest of the names and the content of all files."""
    sha = hashlib.sha256()
    for path in sorted(each for each in STATIC.rglob("*") if each.is_file()):
        sha.update(f"{path.relative_to(STATIC).as_posix()}\n{path.stat().st_size}\n".encode())
        sha.update(path.read_bytes())
    return sha.hexdigest()[:16]


DIGEST = _digest()  # of the files as they were when the server started
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
            HTTPException: 404: no such file, or the digest is that of another edition of the front end.
        """
        digest, _, inside = path.partition("/")
        if digest != DIGEST:
            return await super().get_response(path, scope)
        response = await super().get_response(inside, scope)
        if response.status_code in (200, 304):
            response.headers["cache-control"] = FOREVER
        return response
