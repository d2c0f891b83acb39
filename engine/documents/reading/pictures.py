"""Picture files: which of their frames are pages, and a frame as every viewer shows it.

Uploads and imported sets read pictures by this module alone.
"""

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import numpy as np
from PIL import Image, ImageCms, TiffImagePlugin

from engine.documents.kinds import AVIF, BMP, GIF, JPEG, JPEG_2000, PNG, TIFF, WEBP

FORMATS = {
    PNG: "PNG", JPEG: "JPEG", TIFF: "TIFF", WEBP: "WEBP", BMP: "BMP", GIF: "GIF", JPEG_2000: "JPEG2000", AVIF: "AVIF"
}  # fmt: skip
"""Pillow's name of each kind."""
READ_ERRORS = (
    OSError, SyntaxError, ValueError, KeyError, IndexError, TypeError, EOFError, Image.DecompressionBombError
)  # fmt: skip
"""Errors of Pillow's readers; any of them means that the file is damaged."""
KEPT = (PNG, JPEG)  # kinds that browsers show and pages are stored in
CLOCKWISE = {3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}
"""Degrees by EXIF orientation; the orientations 2, 4, 5 and 7 are mirrored as well."""
_ORIENTATION, _WIDTH, _HEIGHT = 0x0112, 256, 257
_NEW_SUBFILE_TYPE, _SUBFILE_TYPE = 254, 255
_PREVIEW, _MASK = 1, 4  # bits of NewSubfileType (TIFF 6.0, section 8)
_OLD_PREVIEW = 2  # value of SubfileType
_END_OF_JPEG = b"\xff\xd9"
_OTHER_END = b"\x35" * 65_536 + _END_OF_JPEG  # what a decoder that still waits for pixels takes for pixels
_MOST_MISSING = 0.02  # share of the rows that may lack at the end of a JPEG
_MODES = ("1", "L", "P", "RGB")


@contextlib.contextmanager
def open_picture(source: Path, media_type: str) -> Iterator[Image.Image]:
    """Open a picture; reads its head only."""
    # By its file: by its name, Pillow maps uncompressed frames of TIFF into memory without regard to their orientation.
    with source.open("rb") as file, Image.open(file, formats=[FORMATS[media_type]]) as image:
        yield image


def frames_of(image: Image.Image, most: int) -> list[int]:
    """Return the frames that are pages: those of a TIFF without previews and masks, the first of other pictures.

    Args:
        image: An opened picture; afterwards it stands at any of its frames.
        most: Number of pages after which the search ends; one more is returned where there are more.
    """
    if not isinstance(image, TiffImagePlugin.TiffImageFile):
        return [0]
    pages, frames = list[int](), range(image.n_frames)
    for frame in frames:
        image.seek(frame)
        kind = image.tag_v2.get(_NEW_SUBFILE_TYPE, 0)
        if not kind & (_PREVIEW | _MASK) and image.tag_v2.get(_SUBFILE_TYPE) != _OLD_PREVIEW:
            pages.append(frame)
        if len(pages) > most:
            break
    return pages or [0]  # a picture of previews alone shows its first


def stored_size(image: Image.Image) -> tuple[int, int]:
    """Return width and height in pixels as stored, before the EXIF orientation turns them."""
    if isinstance(image, TiffImagePlugin.TiffImageFile):  # Pillow turns its size
        return int(image.tag_v2[_WIDTH]), int(image.tag_v2[_HEIGHT])
    return image.size


def orientation_of(image: Image.Image) -> int:
    """Return the EXIF orientation, 1 to 8; 1 (upright) where there is none."""
    try:
        orientation = int(image.getexif().get(_ORIENTATION, 1))
    except Exception:  # a damaged EXIF block says nothing about the image, and parsers raise errors of many types
        return 1
    return orientation if 1 <= orientation <= 8 else 1


def load_frame(image: Image.Image, source: Path) -> tuple[Image.Image, bool]:
    """Read the current frame to its end; return it, and whether pixels are missing at its end.

    A JPEG without its end marker is whole. One that lacks a few of its last rows is taken as viewers show it.

    Raises one of READ_ERRORS for a frame that lacks more.
    """
    try:
        image.load()
    except OSError:
        if image.format not in ("JPEG", "MPO"):
            raise
        return _load_cut_jpeg(source.read_bytes())
    return image, False


def _load_cut_jpeg(content: bytes) -> tuple[Image.Image, bool]:
    """Read a JPEG that ends too early; what it lacks shows by reading it with two different ends."""
    image, other = _load_jpeg(content + _END_OF_JPEG), _load_jpeg(content + _OTHER_END)
    missing = next((row for row in range(image.height) if _row(image, row) != _row(other, row)), image.height)
    if image.height - missing > max(1.0, _MOST_MISSING * image.height):
        raise OSError(f"it ends early: only {missing:,} of {image.height:,} rows are there")
    return image, missing < image.height


def _load_jpeg(content: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(content), formats=["JPEG"])
    image.load()
    return image


def _row(image: Image.Image, row: int) -> bytes:
    return image.crop((0, row, image.width, row + 1)).tobytes()


def upright(image: Image.Image) -> Image.Image:
    """Return a loaded frame in 8 bits, without transparency, turned by its orientation; itself where all that is so."""
    orientation = orientation_of(image)  # of a loaded TIFF 1: Pillow has turned it
    shown = displayable(image)
    methods = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }
    return shown.transpose(methods[orientation]) if orientation in methods else shown


def can_be_kept(image: Image.Image, changed: Image.Image, media_type: str, *, cut: bool) -> bool:
    """Return whether the file itself shows what the changed frame shows, in every browser."""
    moves = image.format == "PNG" and getattr(image, "n_frames", 1) > 1
    return media_type in KEPT and changed is image and not moves and not cut


def displayable(image: Image.Image) -> Image.Image:
    """Return the image in a mode that all viewers show alike (1, L, P, RGB), transparency on white.

    Returns the image itself when nothing changes.
    """
    if image.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in image.info:
        return _on_white(image)
    if image.mode in _MODES:
        return image
    if image.mode == "F" or image.mode.startswith("I"):
        return _eight_bits(image)
    if image.mode == "CMYK":
        return _from_cmyk(image)
    return image.convert("RGB")


def _on_white(image: Image.Image) -> Image.Image:
    clear = image.info.get("transparency")
    if image.mode.startswith("I"):  # Pillow would cut its bits
        grey = np.array(_eight_bits(image))
        grey[np.asarray(image.convert("I")) == clear] = 255
        return Image.fromarray(grey)
    rgba = image.convert("RGBA")
    flat = Image.new("RGB", image.size, "white")
    flat.paste(rgba, mask=rgba.getchannel("A"))
    return flat


def _eight_bits(image: Image.Image) -> Image.Image:
    """Convert grey of more than 8 bits; the brightest pixel shows the used depth (10, 12, 14 or 16 bits)."""
    wide = image.convert("I") if image.mode != "F" else image
    low, high = extrema(wide)
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


def extrema(one_band: Image.Image) -> tuple[float, float]:
    """Return the darkest and the brightest value of an image of one band."""
    return cast(tuple[float, float], one_band.getextrema())
