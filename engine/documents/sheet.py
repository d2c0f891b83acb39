"""One page on its way from the file to a ReadPage."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PIL import Image

from engine.documents.found import FoundLine


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page as a picture, with what the file itself says about its words.

    `original` is the file to keep byte for byte instead of `image`, when it shows the same. `garbage` is the share of
    unreadable characters in the text layer, `picture_share` the share of the page that the largest picture covers.
    """

    image: Image.Image
    rotation: int
    lines: tuple[FoundLine, ...] = ()
    garbage: float = 0.0
    picture_share: float = 1.0
    original: Path | None = None


class Pages(Protocol):
    """A file opened for reading, page by page; numbers count from 1. All methods raise Unreadable."""

    media_type: str
    count: int
    warnings: list[str]

    @property
    def title(self) -> str | None: ...

    def read(self, number: int) -> Sheet: ...

    def for_ocr(self, number: int) -> Image.Image: ...
