"""What an OCR engine gives, whichever it is."""

from dataclasses import dataclass
from typing import Protocol

from PIL import Image

from engine.documents.reading.source_words import FoundLine

_CLOCKWISE = {90: Image.Transpose.ROTATE_270, 180: Image.Transpose.ROTATE_180, 270: Image.Transpose.ROTATE_90}


class OcrOutOfTime(Exception):
    """Raised when the time for this page, or for all of them, is over."""


class OcrFailed(Exception):
    """Raised when the engine fails on a page: crash, lack of memory, or unsuitable image."""


@dataclass(frozen=True, slots=True)
class OcrPage:
    """Result of OCR; `lines` are in pixels of the image after turning it clockwise by `turn` degrees.

    `foreign_script`: script that the engine's language does not cover. Of such a page only words of high confidence are
    kept, mostly numbers.
    """

    lines: tuple[FoundLine, ...]
    turn: int
    foreign_script: str | None = None


class OcrEngine(Protocol):
    """Engine that reads the words of an image; one is loaded for each reading process, and used by several threads."""

    @property
    def name(self) -> str:
        """Return "rapidocr" or "tesseract"."""

    @property
    def language(self) -> str:
        """Return the languages that are read, such as "eng+deu"."""

    @property
    def dpi(self) -> int:
        """Return the resolution at which it reads PDF pages best."""

    def scale_for(self, size: tuple[int, int]) -> float:
        """Return the factor by which an image of `size` (width, height in pixels) is enlarged before it is read."""
        ...

    def read_image(self, image: Image.Image, deadline: float) -> OcrPage:
        """Return the words of a grey image; it is turned first when its text is sideways or upside down.

        `deadline` is in seconds of the reading process's `CLOCK`. Raises OcrOutOfTime or OcrFailed.
        """
        ...


def turn_clockwise(image: Image.Image, degrees: int) -> Image.Image:
    """Turn an image clockwise by 0, 90, 180 or 270 degrees."""
    return image.transpose(_CLOCKWISE[degrees]) if degrees else image
