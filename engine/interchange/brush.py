"""Encode and decode the brush masks of Label Studio.

A brush mask is the page's pixels as red, green, blue and opacity, packed by run lengths bit by bit. The packing is that
of the JavaScript library @thi.ng/rle-pack, which Label Studio uses. Its head is:

- 32 bits: the number of values.
- 5 bits: the bits of a value, less one.
- 4 times 4 bits: the four sizes that a length may have in bits, each less one.

Blocks follow. A block is one bit (one value repeated, or several values), two bits that choose one of the four sizes,
the length less one, and the value or the values.
"""

from collections.abc import Sequence

import numpy as np

from model.masks import Mask

_VALUE_BITS = 8
_SIZES = (4, 8, 12, 16)  # bits of a length
_CHANNELS, _OPACITY = 4, 3


def encode_brush(mask: Mask) -> list[int]:
    """Return the bytes that Label Studio stores for a mask, bool [H, W].

    All four channels of a pixel are 255 where the answer is, else 0.
    """
    flat = np.asarray(mask, bool).ravel()
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    lengths = np.diff(np.concatenate([[0], edges, [flat.size]])) * _CHANNELS
    bits = [f"{flat.size * _CHANNELS:032b}", f"{_VALUE_BITS - 1:05b}", *(f"{size - 1:04b}" for size in _SIZES)]
    value = bool(flat[0]) if flat.size else False
    for length in lengths.tolist():
        bits += _blocks(length, 255 if value else 0)
        value = not value
    text = "".join(bits)
    text += "0" * (-len(text) % 8)
    return list(int(text, 2).to_bytes(len(text) // 8, "big"))


def _blocks(length: int, value: int) -> list[str]:
    blocks = []
    while length > 0:
        part = min(length, 1 << _SIZES[-1])
        choice = next(at for at, size in enumerate(_SIZES) if part <= 1 << size)
        blocks.append(f"1{choice:02b}{part - 1:0{_SIZES[choice]}b}{value:08b}")
        length -= part
    return blocks


def decode_brush(packed: Sequence[int], size: tuple[int, int]) -> Mask:
    """Return the mask of packed bytes, bool [height, width]: True where a pixel is not wholly transparent.

    Args:
        packed: The bytes of a brush mask, as whole numbers 0..255.
        size: Height and width of the page in pixels.

    Raises:
        ValueError: The bytes are cut short, are no bytes, or hold a picture of another size.
    """
    height, width = size
    try:
        text = "".join(f"{byte:08b}" for byte in bytes(packed))
    except (TypeError, ValueError):
        raise ValueError("a brush stroke must be a list of bytes") from None
    bits = _Bits(text)
    count = bits.read_bits(32)
    if count != height * width * _CHANNELS:
        raise ValueError(
            f"a brush stroke holds {count} values, and its page has {height * width} pixels of {_CHANNELS}"
        )
    value_bits = bits.read_bits(5) + 1
    sizes = [bits.read_bits(4) + 1 for _ in range(4)]
    values = np.zeros(count, bool)
    at = 0
    while at < count:
        repeated = bits.read_bits(1)
        end = at + 1 + bits.read_bits(sizes[bits.read_bits(2)])
        if end > count:
            raise ValueError("a brush stroke has a run that leaves the page")
        if repeated:
            values[at:end] = bits.read_bits(value_bits) > 0
        else:
            values[at:end] = [bits.read_bits(value_bits) > 0 for _ in range(end - at)]
        at = end
    return values.reshape(height, width, _CHANNELS)[:, :, _OPACITY]


class _Bits:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def read_bits(self, count: int) -> int:
        end = self._at + count
        if end > len(self._text):
            raise ValueError("a brush stroke is cut short")
        value = int(self._text[self._at : end], 2)
        self._at = end
        return value
