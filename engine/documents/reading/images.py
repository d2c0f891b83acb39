"""Pages of picture files."""

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from PIL import Image, TiffImagePlugin

from engine.documents import refusal
from engine.documents.limits import ReadLimits
from engine.documents.ocr.engine import OcrEngine
from engine.documents.reading.page_draft import Sheet
from engine.documents.reading.pictures import (
    CLOCKWISE,
    FORMATS,
    READ_ERRORS,
    can_be_kept,
    extrema,
    frames_of,
    load_frame,
    open_picture,
    orientation_of,
    upright,
)

CUT = "The picture ends early: its last rows are missing in the file."


class ImagePages:
    """Image file opened for reading."""

    def __init__(self, source: Path, media_type: str, limits: ReadLimits) -> None:
        Image.MAX_IMAGE_PIXELS = None  # the limit here is `limits.pixels`, checked on the header
        self.media_type = media_type
        self.warnings: list[str] = []
        self._source = source
        self._limits = limits
        with self._guard_errors(""), self._open() as image:
            self._frames = self._check(image)
        self.count = len(self._frames)
        if not self.count:
            raise refusal.no_pages()

    @property
    def title(self) -> str | None:
        """Return the title in the file; None without one."""
        return None

    def read_page(self, number: int) -> Sheet:
        """Return page `number` (from 1), upright by its EXIF orientation, 8 bits, without transparency."""
        with self._guard_errors(f"page {number}" if self.count > 1 else ""), self._open() as image:
            image.seek(self._frames[number - 1])
            orientation = orientation_of(image)
            frame, cut = load_frame(image, self._source)
            if cut and CUT not in self.warnings:
                self.warnings.append(CUT)
            changed = square_pixels(upright(frame), frame, orientation)
            return Sheet(
                image=changed,
                rotation=CLOCKWISE.get(orientation, 0),
                original=self._source if can_be_kept(image, changed, self.media_type, cut=cut) else None,
            )

    def for_ocr(self, number: int, engine: OcrEngine) -> Image.Image:
        """Return page `number` in grey, at the size that an OCR engine reads best."""
        image = self.read_page(number).image.convert("L")
        scale = engine.scale_for(image.size)
        if scale == 1:
            return image
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        return image.resize(size, Image.Resampling.BICUBIC if scale > 1 else Image.Resampling.BOX)

    def _open(self) -> AbstractContextManager[Image.Image]:
        return open_picture(self._source, self.media_type)

    def _check(self, image: Image.Image) -> list[int]:
        """Return the frames that are pages; reads headers only."""
        frames = frames_of(image, self._limits.pages)
        if len(frames) > self._limits.pages:
            raise refusal.too_many_pages(getattr(image, "n_frames", len(frames)), self._limits.pages)
        for page, frame in enumerate(frames, 1):
            if image.tell() != frame:
                image.seek(frame)
            self._check_size(page, image)
        return frames

    def _check_size(self, page: int, image: Image.Image) -> None:
        if image.width * image.height > self._limits.pixels:
            raise refusal.too_many_pixels(page, image.width, image.height, self._limits.pixels)

    @contextlib.contextmanager
    def _guard_errors(self, part: str) -> Iterator[None]:
        try:
            yield
        except READ_ERRORS as error:
            raise refusal.damaged_file(f"{FORMATS[self.media_type]} image", part) from error


def square_pixels(image: Image.Image, source: Image.Image, orientation: int) -> Image.Image:
    """Stretch faxes, which have 204 x 98 dots per inch, to square pixels; other images are unchanged.

    Args:
        image: The frame, upright.
        source: The frame as Pillow loaded it.
        orientation: EXIF orientation before it was loaded, 1 to 8.
    """
    if not isinstance(source, TiffImagePlugin.TiffImageFile):
        return image
    try:
        across, down = (float(value) for value in source.info["dpi"])
    except (KeyError, TypeError, ValueError):
        return image
    if across <= 0 or down <= 0 or 0.8 < across / down < 1.25 or not 0.2 < across / down < 5:
        return image
    if orientation >= 5:  # a quarter turn
        across, down = down, across
    grey = image.convert("L") if image.mode == "1" else image
    best = max(across, down)
    return grey.resize(
        (round(image.width * best / across), round(image.height * best / down)), Image.Resampling.NEAREST
    )


def is_blank(grey: Image.Image, contrast: int) -> bool:
    """Return whether all pixels lie within `contrast` (of 255) of each other."""
    low, high = extrema(grey)
    return high - low < contrast
