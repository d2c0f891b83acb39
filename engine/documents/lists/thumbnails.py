"""Thumbnails of pages in a few widths, cached in the folder `thumbnails`, which may be deleted."""

import io
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from sqlalchemy import select

from db.tables import Page
from engine.errors import NotFound
from engine.workspace import Workspace

# Other widths are rounded up to one of these: otherwise a client could request every width and fill the disk.
KEPT_WIDTHS = (80, 160, 200, 400, 600)
MEDIA_TYPE = "image/jpeg"
_AS_THEY_ARE = ("RGB", "L", "CMYK")  # modes that are scaled before they are converted


def image_version(sha256: str) -> str:
    """Return the version of a page's image that addresses carry; a page that is turned has another."""
    return sha256[:16]


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """Thumbnail of a page, cached or not. `width`: pixels, one of KEPT_WIDTHS."""

    workspace: Workspace
    sha256: str
    width: int

    @property
    def name(self) -> str:
        """Return the name of the cached file; equal for equal thumbnails."""
        return f"{self.sha256[:32]}-{self.width}"

    @property
    def path(self) -> Path:
        """Return the path in the cache."""
        return self.workspace.settings.data_dir / "thumbnails" / self.sha256[:2] / f"{self.name}.jpg"

    def load_cached(self) -> bytes | None:
        """Return the cached JPEG; None without one."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None

    def load_or_make(self) -> bytes:
        """Return the JPEG; makes and caches it when absent, at the cost of decoding the page."""
        content = self.load_cached()
        if content is None:
            content = _shrunk(self.workspace.blobs.read(self.sha256), self.width)
            _keep(self.path, content)
        return content


def thumbnail(workspace: Workspace, page_id: str, width: int) -> Thumbnail:
    """Return the thumbnail of a page at least `width` pixels wide, at most the largest of KEPT_WIDTHS.

    Reads and makes nothing yet. A narrower page is not enlarged. Raises NotFound.
    """
    with workspace.database.read() as session:
        sha256 = session.scalar(select(Page.image_sha256).where(Page.id == page_id))
    if sha256 is None:
        raise NotFound("There is no such page.")
    return Thumbnail(
        workspace,
        sha256,
        next((cached_width for cached_width in KEPT_WIDTHS if cached_width >= width), KEPT_WIDTHS[-1]),
    )


def _shrunk(picture: bytes, width: int) -> bytes:
    with Image.open(io.BytesIO(picture)) as image:
        image.draft("RGB", (width * 2, width * 4))
        # Converting first would need a second image of full size; palettes and transparency cannot be scaled well.
        small = image if image.mode in _AS_THEY_ARE else image.convert("RGB")
        small.thumbnail((width, width * 4), Image.Resampling.LANCZOS, reducing_gap=2.0)
        content = io.BytesIO()
        small.convert("RGB").save(content, "JPEG", quality=82)
    return content.getvalue()


def _keep(path: Path, content: bytes) -> None:
    """Store a file by renaming: two processes may make the same thumbnail. Ignores a full disk."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except OSError:
        return
