"""The files of the front end, served below an address that names their content.

Browsers keep what lies there and do not ask again. The page loads all modules as one file, and all styles as another.
After an upgrade the address is another one, so old and new modules never mix. They are sent from memory, as they were
when the server started, so an upgrade below a server that runs on cannot put new content under the old address.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from annotator.front_end_bundle import STYLES, join_modules, join_styles
from annotator.immutable_assets import ImmutableAsset

STATIC = Path(__file__).parent / "static"
# In this order; a rule of a later one wins. Other pages have style sheets of their own.
_STYLES = [
    f"css/{name}.css"
    for name in (
        "theme",
        "workspace",
        "panels",
        "table",
        "uploads",
        "stage",
        "desk",
        "overlays",
        "gradio",
        "people",
        "jobs",
        "fields",
        "answer_table",
        "answer_cell",
        "form",
        "narrow",
        "touch",
    )
]


def _files() -> dict[str, ImmutableAsset]:
    paths = sorted(file for file in STATIC.rglob("*") if file.is_file())
    names = {path: path.relative_to(STATIC).as_posix() for path in paths}
    contents = {name: path.read_bytes() for path, name in names.items()}
    contents |= join_modules(contents, "main.js") | {STYLES: join_styles(contents, _STYLES)}
    return {name: ImmutableAsset(name, content) for name, content in contents.items()}


def _digest(files: Mapping[str, ImmutableAsset]) -> str:
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
        if inside not in _FILES:
            raise HTTPException(404)
        return _FILES[inside].response(scope)
