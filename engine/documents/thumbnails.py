"""Small pictures of pages, in a few widths: each is made once and kept in the folder `thumbnails`, which may be deleted at any time."""

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

# Every other width is rounded up to one of these: who asks for each width in turn must not have each of them made.
KEPT_WIDTHS = (80, 160, 200, 400, 600)
MEDIA_TYPE = "image/jpeg"
_AS_THEY_ARE = ("RGB", "L", "CMYK")  # modes that are made smaller before they are converted


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small picture of a page, made or not. `width`: pixels, one of KEPT_WIDTHS; `name`: the same for the same picture."""

    workspace: Workspace
    sha256: str
    width: int

    @property
    def name(self) -> str:
        return f"{self.sha256[:32]}-{self.width}"

    @property
    def path(self) -> Path:
        """Where it is kept."""
        return self.workspace.settings.data_dir / "thumbnails" / self.sha256[:2] / f"{self.name}.jpg"

    def kept(self) -> bytes | None:
        """Return the JPEG that is kept, None where there is none yet."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None

    def made(self) -> bytes:
        """Return the JPEG, made and kept first where there is none. Takes as long and as much memory as decoding the page."""
        content = self.kept()
        if content is None:
            content = _shrunk(self.workspace.blobs.read(self.sha256), self.width)
            _keep(self.path, content)
        return content


def thumbnail(workspace: Workspace, page_id: str, width: int) -> Thumbnail:
    """Return the small picture of a page that is at least `width` pixels wide, at most the largest of KEPT_WIDTHS, and reads and
    makes nothing yet. A page that is narrower than that is not made wider. NotFound when there is no such page."""
    with workspace.database.read() as session:
        sha256 = session.scalar(select(Page.image_sha256).where(Page.id == page_id))
    if sha256 is None:
        raise NotFound("There is no such page.")
    return Thumbnail(workspace, sha256, next((kept for kept in KEPT_WIDTHS if kept >= width), KEPT_WIDTHS[-1]))


def _shrunk(picture: bytes, width: int) -> bytes:
    with Image.open(io.BytesIO(picture)) as image:
        image.draft("RGB", (width * 2, width * 4))
        # Converting first costs a second picture of full size; palettes and transparency cannot be resized well as they are.
        small = image if image.mode in _AS_THEY_ARE else image.convert("RGB")
        small.thumbnail((width, width * 4), Image.Resampling.LANCZOS, reducing_gap=2.0)
        content = io.BytesIO()
        small.convert("RGB").save(content, "JPEG", quality=82)
    return content.getvalue()


def _keep(path: Path, content: bytes) -> None:
    """Store under a temporary name first: two processes may make the same picture at once. A full disk is no reason to show none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    except OSError:
        return
