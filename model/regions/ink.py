"""The ink of a page: which pixels are darker than the paper around them, and the straight lines among them."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

Bits = NDArray[np.uint8]  # [h, w], 0 or 1

_LONGEST = 1700  # pixels of the long side: 150 dpi on letter paper, where a box to tick has 15
_BLOCK, _CONTRAST = 51, 14  # side of the neighbourhood in pixels, and how much darker than its mean ink is, of 255
_SOLID = 90  # of 255: so much darker than the paper are solid areas, which are no darker than their own neighbourhood
_COLOUR = 50  # of 255: difference between the strongest and the weakest channel of coloured ink
_UNREAD = 100  # line heights on the long side of a page without words


@dataclass(frozen=True, slots=True)
class Ink:
    """Ink of a page at working resolution.

    `scale`: working pixels per pixel of the page. `unit`: line height in working pixels.
    """

    dark: Bits
    coloured: Bits
    across: Bits  # horizontal lines of at least two line heights
    down: Bits  # vertical lines of at least one and a half line heights
    scale: float
    unit: float


@dataclass(frozen=True, slots=True)
class PackedInk:
    """Ink of a page in an eighth of the memory, to be kept as long as the page."""

    dark: Bits  # [h, ceil(w / 8)]
    coloured: Bits
    width: int
    scale: float
    unit: float

    def unpack(self) -> Ink:
        """Return the ink with its lines."""
        dark = np.unpackbits(self.dark, axis=1, count=self.width)
        coloured = np.unpackbits(self.coloured, axis=1, count=self.width)
        across, down = open_bits(dark, round(2 * self.unit), 1), open_bits(dark, 1, round(1.5 * self.unit))
        return Ink(dark, coloured, across, down, self.scale, self.unit)


def read_ink(image: Image.Image, line_height: float | None) -> PackedInk:
    """Read the ink of a page.

    Args:
        image: the rendered page.
        line_height: median height of its words in pixels; None on a page without words.

    Returns:
        Its ink, packed.
    """
    scale = min(1.0, _LONGEST / max(image.size))
    if scale < 1:
        size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
        image = image.resize(size, Image.Resampling.BILINEAR)
    colours = np.asarray(image.convert("RGB"))
    grey = cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY)
    paper = int(np.argmax(cv2.calcHist([grey], [0], None, [256], [0, 256])))
    local = cv2.adaptiveThreshold(grey, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, _BLOCK, _CONTRAST)
    red, green, blue = cv2.split(colours)
    spread = cv2.max(cv2.max(red, green), blue) - cv2.min(cv2.min(red, green), blue)
    coloured = (spread > _COLOUR).astype(np.uint8)
    dark = local | (grey < paper - _SOLID).astype(np.uint8) | coloured
    unit = max(6.0, line_height * scale if line_height else max(grey.shape) / _UNREAD)
    return PackedInk(np.packbits(dark, axis=1), np.packbits(coloured, axis=1), grey.shape[1], scale, unit)


def open_bits(bits: Bits, width: int, height: int) -> Bits:
    """Keep what a rectangle of this size fits into."""
    return np.asarray(cv2.morphologyEx(bits, cv2.MORPH_OPEN, np.ones((height, width), np.uint8)), np.uint8)


def close_bits(bits: Bits, width: int, height: int) -> Bits:
    """Close gaps smaller than a rectangle of this size."""
    return np.asarray(cv2.morphologyEx(bits, cv2.MORPH_CLOSE, np.ones((height, width), np.uint8)), np.uint8)


def halve(bits: Bits) -> Bits:
    """Return the bits at half of the resolution; a cell has ink where one of its four pixels has."""
    even = bits[: bits.shape[0] // 2 * 2, : bits.shape[1] // 2 * 2]
    return even[::2, ::2] | even[1::2, ::2] | even[::2, 1::2] | even[1::2, 1::2]


def parts(bits: Bits, connectivity: int = 8) -> NDArray[np.int32]:
    """Return the connected parts, [P, 5]: x0, y0, x1, y1 (exclusive) and number of pixels."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(bits, connectivity=connectivity)
    own = stats[1:]
    return np.stack([own[:, 0], own[:, 1], own[:, 0] + own[:, 2], own[:, 1] + own[:, 3], own[:, 4]], 1).astype(np.int32)
