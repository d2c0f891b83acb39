"""Page on its way from the file to a ReadPage."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PIL import Image

from engine.documents.form_layer.widgets import FormWidget
from engine.documents.ocr.engine import OcrEngine
from engine.documents.reading.source_words import FoundLine
from model.boxes import FloatBox


@dataclass(frozen=True, slots=True)
class Sheet:
    """Page as an image, with the text layer of the file.

    `original`: file to keep byte for byte instead of `image`, when equal. `picture_share`: share of the page under its
    largest image. `pictures`: boxes of its smaller images, in pixels. `widgets`: of the file's form.
    """

    image: Image.Image
    rotation: int
    lines: tuple[FoundLine, ...] = ()
    picture_share: float = 1.0
    original: Path | None = None
    pictures: tuple[FloatBox, ...] = ()
    widgets: tuple[FormWidget, ...] = ()


class Pages(Protocol):
    """File opened for reading, page by page; numbers count from 1. All methods raise Unreadable."""

    media_type: str
    count: int

    @property
    def warnings(self) -> list[str]:
        """Return sentences for the person who uploaded it; complete when all pages were read."""

    @property
    def title(self) -> str | None:
        """Return the title in the file; None without one."""

    def read_page(self, number: int) -> Sheet:
        """Return a page, upright, with its text layer."""
        ...

    def for_ocr(self, number: int, engine: OcrEngine) -> Image.Image:
        """Return a page in grey, at the resolution that an OCR engine reads best."""
        ...
