"""Doubts about a text layer: what of it is printed, and what OCR has to look at.

A text that the page shows is by nature what is printed, unless its font has a wrong map to letters. A text that it does
not show was put there by somebody's OCR, or for other ends.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import Flag, auto

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.documents.reading.images import is_blank
from engine.documents.reading.page_draft import Sheet
from engine.documents.reading.source_words import FoundLine, FoundWord, clip
from engine.documents.text_layer.ink import letters_outside
from engine.documents.text_layer.layer_check import is_odd
from model.boxes import FloatBox

_INK = 12  # contrast (of 255) below which a word is invisible
_UNREADABLE = 2  # characters without a letter from which OCR reads their place
_SCAN_SHARE = 0.5  # an image over this share of the page may be a scan ...
_SCAN_WORDS = 40  # ... if the layer has fewer words: a stamp or a page number printed over it
_FEW = 0.05  # hidden letters, as a share of those shown, that are not worth a reading
_SAME_PLACE = 0.5  # share of a hidden word's box from which it lies on a shown word
_IN_PICTURE = 8  # letters outside the words within a picture, from which it has words
_MISSING, _MISSING_SHARE = 40, 0.1  # letters outside the words, and their share of the layer's, that make it incomplete


class Doubt(Flag):
    """Why OCR has to look at a page."""

    LACKS = auto()  # words are printed that the layer has not
    HIDDEN = auto()  # words of the layer are not shown by the page
    ODD = auto()  # the words that it shows, or those of a font, look as if the font's map to letters were wrong
    PARTS = auto()  # the layer lacks the words of some places: in a font without letters, in a picture


def drop_words_without_ink(lines: Sequence[FoundLine], grey: Image.Image) -> tuple[FoundLine, ...]:
    """Return the lines without words that have no ink of their own: white on white, off the page, painted over.

    A hidden word in the place of a shown one has no ink of its own. A few hidden letters beside a text that is shown
    are left out without a reading: where they are printed after all, ink is left over.

    Args:
        lines: Of the layer, in pixels of the page.
        grey: Image of the page, mode L.
    """
    inked = tuple(_with_words(lines, lambda word: _has_ink(word, grey)))
    behind = hidden(inked)
    if not behind:
        return inked
    seen = drop_hidden_words(inked)
    corners = np.array([word.box for line in seen for word in line.words], dtype=np.float64).reshape(-1, 4)
    apart = tuple(_with_words(behind, lambda word: not _lies_on(word.box, corners)))
    if _letters(apart) < _FEW * _letters(seen):
        return seen
    own = {id(word) for line in (*seen, *apart) for word in line.words}
    return tuple(_with_words(inked, lambda word: id(word) in own))


def doubts_about(sheet: Sheet, lines: Sequence[FoundLine], grey: Image.Image) -> Doubt:
    """Return the doubts about a page; none when `lines`, those words of its layer that have ink, are all it has."""
    if is_blank(grey, _INK):
        return Doubt(0)
    words = [word for line in lines for word in line.words]
    if all(word.unreadable for word in words):
        return Doubt.LACKS
    doubts = Doubt.HIDDEN if any(word.hidden for word in words) else Doubt(0)
    if any(word.doubted_font for word in words) or is_odd(drop_hidden_words(lines)):
        doubts |= Doubt.ODD
    if sheet.picture_share >= _SCAN_SHARE and len(words) < _SCAN_WORDS:
        return doubts | Doubt.LACKS
    outside = letters_outside(grey, [word.box for word in words])
    if outside >= max(_MISSING, _MISSING_SHARE * _letters(lines)):
        return doubts | Doubt.LACKS
    return doubts | (Doubt.PARTS if lacking_parts(sheet, lines, grey) else Doubt(0))


def lacking_parts(sheet: Sheet, lines: Sequence[FoundLine], grey: Image.Image) -> tuple[FloatBox, ...]:
    """Return the places of a page whose words its layer lacks: words without letters, and pictures with words.

    Large pictures are left out: they are scans, whose layer is judged as a whole.
    """
    unreadable = [word for line in lines for word in line.words if word.unreadable]
    if sum(word.unreadable for word in unreadable) < _UNREADABLE:
        unreadable = []
    boxes = [word.box for line in lines for word in line.words]
    whole = grey.width * grey.height
    parts = [word.box for word in unreadable]
    for x0, y0, x1, y1 in sheet.pictures:
        if (x1 - x0) * (y1 - y0) >= _SCAN_SHARE * whole:
            continue
        left, top = max(0, int(x0)), max(0, int(y0))
        cut = grey.crop((left, top, min(grey.width, round(x1)), min(grey.height, round(y1))))
        inside = [(a - left, b - top, c - left, d - top) for a, b, c, d in boxes]
        if min(cut.size) > 1 and letters_outside(cut, inside) >= _IN_PICTURE:
            parts.append((x0, y0, x1, y1))
    return tuple(parts)


def drop_unreadable_words(lines: Sequence[FoundLine]) -> tuple[FoundLine, ...]:
    """Return the lines without the words for which the file has no letters."""
    return tuple(_with_words(lines, lambda word: not word.unreadable))


def drop_empty_words(lines: Sequence[FoundLine]) -> tuple[FoundLine, ...]:
    """Return the lines without the words of which nothing is known."""
    return tuple(_with_words(lines, lambda word: bool(word.text)))


def doubted_fonts(lines: Sequence[FoundLine]) -> dict[str | None, tuple[FoundLine, ...]]:
    """Return the lines of each font in doubt; those of all words that are shown under None where no font is named."""
    fonts = dict.fromkeys(word.doubted_font for line in lines for word in line.words if word.doubted_font)
    if not fonts:
        return {None: drop_hidden_words(lines)}
    return {font: _of_font(lines, font) for font in fonts}


def drop_font(lines: Sequence[FoundLine], font: str | None) -> tuple[FoundLine, ...]:
    """Return the lines without the words of a font in doubt, or without all that are shown."""
    if font is None:
        return hidden(lines)
    return tuple(_with_words(lines, lambda word: word.doubted_font != font))


def drop_hidden_words(lines: Sequence[FoundLine]) -> tuple[FoundLine, ...]:
    """Return the lines without the words that the page does not show."""
    return tuple(_with_words(lines, lambda word: not word.hidden))


def hidden(lines: Sequence[FoundLine]) -> tuple[FoundLine, ...]:
    """Return the lines of the words that the page does not show."""
    return tuple(_with_words(lines, lambda word: word.hidden))


def _with_words(lines: Sequence[FoundLine], wanted: Callable[[FoundWord], bool]) -> Iterator[FoundLine]:
    for line in lines:
        words = tuple(word for word in line.words if wanted(word))
        if words:
            yield FoundLine(words, line.heading)


def _of_font(lines: Sequence[FoundLine], font: str | None) -> tuple[FoundLine, ...]:
    return tuple(_with_words(lines, lambda word: word.doubted_font == font))


def _letters(lines: Sequence[FoundLine]) -> int:
    return sum(len(word.text) for line in lines for word in line.words)


def _lies_on(box: FloatBox, corners: NDArray[np.float64]) -> bool:
    """Return whether half of a box lies on one of others, float64 [N, 4]."""
    x0, y0, x1, y1 = box
    width = np.minimum(corners[:, 2], x1) - np.maximum(corners[:, 0], x0)
    height = np.minimum(corners[:, 3], y1) - np.maximum(corners[:, 1], y0)
    shared = np.clip(width, 0, None) * np.clip(height, 0, None)
    return bool((shared >= _SAME_PLACE * (x1 - x0) * (y1 - y0)).any())


def _has_ink(word: FoundWord, grey: Image.Image) -> bool:
    box = clip(word.box, grey.size)
    return box is not None and not is_blank(grey.crop(box), _INK)
