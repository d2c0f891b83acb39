"""Pages of PNG, JPEG and TIFF files."""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from PIL import Image, ImageCms, TiffImagePlugin, UnidentifiedImageError

from engine.documents import refusal
from engine.documents.kinds import JPEG, PNG, TIFF
from engine.documents.limits import ReadLimits
from engine.documents.ocr.engine import OcrEngine
from engine.documents.reading.page_draft import Sheet

_FORMATS = {PNG: "PNG", JPEG: "JPEG", TIFF: "TIFF"}
_ORIENTATION, _NEW_SUBFILE_TYPE = 0x0112, 254
_CLOCKWISE = {
    3: 180,
    4: 180,
    5: 90,
    6: 90,
    7: 270,
    8: 270,
}  # EXIF orientations; those of the other parity are mirrored as well


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
            image.load()
            orientation = _orientation(image)
            changed = displayable(image)
            upright = square_pixels(_upright(changed, orientation), image)
            return Sheet(
                image=upright,
                rotation=_CLOCKWISE.get(orientation, 0),
                original=self._source if upright is image and self.media_type != TIFF and not _moves(image) else None,
            )

    def for_ocr(self, number: int, engine: OcrEngine) -> Image.Image:
        """Return page `number` in grey, at the size that an OCR engine reads best."""
        image = self.read_page(number).image.convert("L")
        scale = engine.scale_for(image.size)
        if scale == 1:
            return image
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        return image.resize(size, Image.Resampling.BICUBIC if scale > 1 else Image.Resampling.BOX)

    def _open(self) -> Image.Image:
        return Image.open(self._source, formats=[_FORMATS[self.media_type]])

    def _check(self, image: Image.Image) -> list[int]:
        """Return the frames that are pages, without scanners' previews; reads headers only."""
        if self.media_type != TIFF:
            self._check_size(1, image)
            return [0]
        assert isinstance(image, TiffImagePlugin.TiffImageFile)
        frames: list[int] = []
        for frame in range(image.n_frames):
            image.seek(frame)
            if image.tag_v2.get(_NEW_SUBFILE_TYPE, 0) & 1 and frame > 0:
                continue
            frames.append(frame)
            self._check_size(len(frames), image)
            if len(frames) > self._limits.pages:
                raise refusal.too_many_pages(image.n_frames, self._limits.pages)
        return frames

    def _check_size(self, page: int, image: Image.Image) -> None:
        if image.width * image.height > self._limits.pixels:
            raise refusal.too_many_pixels(page, image.width, image.height, self._limits.pixels)

    @contextlib.contextmanager
    def _guard_errors(self, part: str) -> Iterator[None]:
        try:
            yield
        # Pillow's readers raise errors of many types; any of them means that the file is damaged.
        except (
            UnidentifiedImageError,
            OSError,
            SyntaxError,
            ValueError,
            KeyError,
            IndexError,
            TypeError,
            EOFError,
        ) as error:
            raise refusal.damaged_file(f"{_FORMATS[self.media_type]} image", part) from error


def displayable(image: Image.Image) -> Image.Image:
    """Return the image in a mode that all viewers show alike (1, L, P, RGB), transparency on white.

    Returns the image itself when nothing changes.
    """
    if image.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        flat = Image.new("RGB", image.size, "white")
        flat.paste(rgba, mask=rgba.getchannel("A"))
        return flat
    if image.mode in ("1", "L", "P", "RGB"):
        return image
    if image.mode == "F" or image.mode.startswith("I"):
        return _eight_bits(image)
    if image.mode == "CMYK":
        return _from_cmyk(image)
    return image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Convert grey of more than 8 bits; the brightest pixel shows the used depth (10, 12, 14 or 16 bits)."""
    wide = image.convert("I") if image.mode != "F" else image
    low, high = _extrema(wide)
    if image.mode == "F" or low < 0:
        scale, offset = 255 / max(1e-9, high - low), -low * 255 / max(1e-9, high - low)
    else:
        scale, offset = 255 / (2 ** max(8, int(high).bit_length()) - 1), 0.0
    return wide.convert("F").point(lambda value: value * scale + offset).convert("L")


def _from_cmyk(image: Image.Image) -> Image.Image:
    profile = image.info.get("icc_profile")
    if profile:
        # A broken profile is no reason to refuse the page: the plain conversion below shows it, less exactly.
        with contextlib.suppress(ImageCms.PyCMSError, OSError):
            converted = ImageCms.profileToProfile(
                image, ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB"), outputMode="RGB"
            )
            if converted is not None:
                converted.info.pop("icc_profile", None)
                return converted
    plain = image.convert("RGB")
    plain.info.pop("icc_profile", None)
    return plain


def square_pixels(image: Image.Image, source: Image.Image) -> Image.Image:
    """Stretch faxes, which have 204 x 98 dots per inch, to square pixels; other images are unchanged."""
    if not isinstance(source, TiffImagePlugin.TiffImageFile):
        return image
    try:
        across, down = (float(value) for value in source.info["dpi"])
    except (KeyError, TypeError, ValueError):
        return image
    if across <= 0 or down <= 0 or 0.8 < across / down < 1.25 or not 0.2 < across / down < 5:
        return image
    if image.size != source.size:  # rotated by its EXIF orientation, perhaps by a quarter turn
        across, down = down, across
    grey = image.convert("L") if image.mode == "1" else image
    best = max(across, down)
    return grey.resize(
        (round(image.width * best / across), round(image.height * best / down)), Image.Resampling.NEAREST
    )


def is_blank(grey: Image.Image, contrast: int) -> bool:
    """Return whether all pixels lie within `contrast` (of 255) of each other."""
    low, high = _extrema(grey)
    return high - low < contrast


def _extrema(one_band: Image.Image) -> tuple[float, float]:
    return cast(tuple[float, float], one_band.getextrema())


def _moves(image: Image.Image) -> bool:
    """Return whether a PNG is animated."""
    return image.format == "PNG" and getattr(image, "n_frames", 1) > 1


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # a damaged EXIF block says nothing about the image, and parsers raise errors of many types
        return 1


def _upright(image: Image.Image, orientation: int) -> Image.Image:
    methods = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    return image.transpose(methods[orientation]) if orientation in methods else image
