"""Words of a PDF's text layer."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pymupdf

from engine.documents.reading.source_words import FoundLine, FoundWord, overlap, union
from engine.documents.text_layer.fonts import doubtful_fonts, font_of
from engine.documents.text_layer.hidden_text import mark_undrawn
from engine.documents.text_layer.legible import clean, unreadable_characters
from engine.documents.text_layer.letter_spacing import join_spaced_letters
from engine.documents.text_layer.right_to_left import words_in_logical_order
from engine.documents.text_layer.symbols import mark_symbols
from engine.documents.text_layer.vertical import with_columns
from model.boxes import FloatBox

# Ligatures are split, all spaces are plain spaces, unknown glyphs are U+FFFD, text off the page is dropped.
_FLAGS = pymupdf.TEXT_MEDIABOX_CLIP
_ASCENT, _DESCENT = 0.8, 0.2  # of a character's box above and below its base line, in font sizes
_SAME_WORD = 0.7  # overlap of two equal words above which one of them is a shadow or fake bold
_SAME_CHARACTER = 0.12  # distance of two equal characters, in heights, below which it is one printed twice
_TURN_SHARE = 0.8  # share of characters that must run another way before the page is turned


def raw_text(page: pymupdf.Page) -> dict[str, Any]:
    """Return PyMuPDF's "rawdict" with one box a character, in points of the page before its /Rotate.

    Characters get the height of their font size, not of the font's ascender: some fonts claim several lines. Lines of a
    mirrored page have "mirrored" set. (PyMuPDF's own small glyph heights are wrong for text upside down.) Characters
    that the page does not draw have "hidden" set.
    """
    pymupdf.TOOLS.set_small_glyph_heights(False)
    raw: dict[str, Any] = page.get_text("rawdict", flags=_FLAGS)
    mark_undrawn(raw)
    mirrored = _is_mirrored(raw)
    for line in _lines(raw):
        line["mirrored"] = mirrored and not line["wmode"] and _rise(line) < 0
        if not line["wmode"]:
            _lower(line)
    return raw


def characters_of(page: pymupdf.Page) -> list[dict[str, Any]]:
    """Return the characters of a page as its "rawdict" holds them."""
    raw: dict[str, Any] = page.get_text("rawdict", flags=_FLAGS)
    return [character for line in _lines(raw) for span in line["spans"] for character in span["chars"]]


def _is_mirrored(raw: dict[str, Any]) -> bool:
    """Return whether the page is mirrored; one line is no proof, as some fonts claim to be all descender."""
    hanging = lengths = 0
    for line in _lines(raw):
        length = 0 if line["wmode"] else sum(len(span["chars"]) for span in line["spans"])
        lengths += length
        hanging += length if _rise(line) < 0 else 0
    return hanging >= _TURN_SHARE * lengths > 0


def _rise(line: dict[str, Any]) -> float:
    """Return the height of the letters' centres above the base line, relative to the text direction."""
    dx, dy = line["dir"]
    rise = 0.0
    for span in line["spans"]:
        for character in span["chars"][:8]:
            x0, y0, x1, y1 = character["bbox"]
            origin_x, origin_y = character["origin"]
            rise += ((x0 + x1) / 2 - origin_x) * dy - ((y0 + y1) / 2 - origin_y) * dx
    return rise


def _lower(line: dict[str, Any]) -> None:
    """Set each character to its font size above the base line; slanted lines are unchanged."""
    dx, dy = (round(part, 3) for part in line["dir"])
    if (abs(dx), abs(dy)) not in ((1, 0), (0, 1)):
        return
    up = (-dy, dx) if line["mirrored"] else (dy, -dx)
    for span in line["spans"]:
        above, below = _ASCENT * span["size"], _DESCENT * span["size"]
        for character in span["chars"]:
            x0, y0, x1, y1 = character["bbox"]
            x, y = character["origin"]
            if dy == 0:
                top, bottom = sorted((y + up[1] * above, y - up[1] * below))
                character["bbox"] = (x0, top, x1, bottom)
            else:
                left, right = sorted((x + up[0] * above, x - up[0] * below))
                character["bbox"] = (left, y0, right, y1)


def turn_needed(raw: dict[str, Any], matrix: pymupdf.Matrix) -> int:
    """Return the clockwise turn (0, 90, 180, 270) that makes a page, shown with `matrix`, upright.

    Vertical writing is upright. Returns 0 unless most of the text agrees on another direction.
    """
    headings: Counter[int] = Counter()
    for line in _lines(raw):
        heading = 0 if line["wmode"] else _heading(line, matrix)
        headings[heading] += sum(len(span["chars"]) for span in line["spans"])
    if headings.total() == 0:
        return 0
    heading, count = headings.most_common(1)[0]
    return (360 - heading) % 360 if count >= _TURN_SHARE * headings.total() else 0


@dataclass(frozen=True, slots=True)
class _Written:
    """Word as the file has it."""

    text: str
    box: FloatBox
    font: str
    hidden: bool


def read_layer(
    raw: dict[str, Any], matrix: pymupdf.Matrix, without_map: frozenset[str] = frozenset()
) -> tuple[FoundLine, ...]:
    """Return the words of the layer, in pixels.

    Args:
        raw: By `raw_text`.
        matrix: Maps points of the unrotated page to rendered pixels.
        without_map: Names of fonts by `fonts_without_map`.
    """
    once = _Once()
    written = [
        (line, [_write_word(characters, matrix) for characters in _split_line(line, once)]) for line in _lines(raw)
    ]
    doubted = doubtful_fonts(
        ((word.font, word.text) for _, some in written for word in some if not word.hidden), without_map
    )
    lines: list[FoundLine] = []
    for line, some in written:
        words = tuple(word for word in (_judge(word, doubted) for word in some) if word is not None)
        if words:
            lines.append(FoundLine(words, _heading(line, matrix)))
    return tuple(with_columns(list(_without_doubles(lines))))


def _write_word(characters: list[dict[str, Any]], matrix: pymupdf.Matrix) -> _Written:
    return _Written(
        "".join(c["c"] for c in characters),
        _box([c["bbox"] for c in characters], matrix),
        font_of([c["font"] for c in characters]),
        sum("hidden" in c for c in characters) * 2 > len(characters),
    )


def _judge(word: _Written, doubted: frozenset[str]) -> FoundWord | None:
    """Return a word; None for one without a letter that nobody could read either: hidden, or a symbol."""
    text, unreadable = clean(word.text), unreadable_characters(word.text)
    if unreadable:
        # What is left of a word is better than nothing, where OCR reads nothing in its place.
        text = "" if word.font in doubted or 2 * unreadable > len(word.text) else text
        return None if word.hidden else FoundWord(text, word.box, unreadable=unreadable)
    if not text:
        return None
    return FoundWord(text, word.box, hidden=word.hidden, doubted_font=word.font if word.font in doubted else None)


def _lines(raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for block in raw["blocks"]:
        yield from block.get("lines", ())


def _heading(line: dict[str, Any], matrix: pymupdf.Matrix) -> int:
    """Return the direction of a line as the nearest quarter turn, y pointing down.

    Mirrored text runs backwards with upright letters: there the letters count, since turning the page would put them
    upside down.
    """
    dx, dy = line["dir"]
    if line["mirrored"]:
        dx, dy = -dx, -dy
    x = dx * matrix.a + dy * matrix.c
    y = dx * matrix.b + dy * matrix.d
    if abs(x) >= abs(y):
        return 0 if x >= 0 else 180
    return 90 if y > 0 else 270


class _Once:
    """Filter of characters printed twice: some programs print text twice to make it bold."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int, int], list[tuple[float, float]]] = {}

    def keep(self, characters: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the characters that were not printed before at the same place."""
        is_new = True
        for character in characters:
            x0, y0, x1, y1 = character["bbox"]
            # The further letters of a ligature have no width: they follow the first one.
            if x1 - x0 >= 0.01 and not character["c"].isspace():
                is_new = self._is_new(character["c"], (x0 + x1) / 2, (y0 + y1) / 2, max(1.0, y1 - y0))
            if is_new or character["c"].isspace():
                yield character

    def _is_new(self, c: str, x: float, y: float, height: float) -> bool:
        near = _SAME_CHARACTER * height
        column, row = round(x / 8), round(y / 8)  # cells of 8 points: neighbours are checked, too
        for key in ((c, column + i, row + j) for i in (0, -1, 1) for j in (0, -1, 1)):
            if any(abs(x - u) < near and abs(y - v) < near for u, v in self._seen.get(key, ())):
                return False
        self._seen.setdefault((c, column, row), []).append((x, y))
        return True


def _split_line(line: dict[str, Any], once: _Once) -> Iterator[list[dict[str, Any]]]:
    """Yield the characters of each word of a line, in logical order; a Chinese or Japanese one is a word.

    Characters that are covered, and those of symbols, are left out.
    """
    spans = line["spans"]
    for span in spans:
        mark_symbols(span)
        for character in span["chars"]:
            character["font"] = span["font"]
    characters: Iterable[dict[str, Any]] = once.keep([character for span in spans for character in span["chars"]])
    size = max((span["size"] for span in spans), default=1.0) or 1.0
    if not line["wmode"] and not line["mirrored"]:
        characters = join_spaced_letters(list(characters), line["dir"], size)
    is_level = not line["wmode"] and abs(line["dir"][0]) > 0.99
    for word in _split_at_spaces(characters):
        yield from words_in_logical_order(word, size) if is_level else [word]


def _split_at_spaces(characters: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    word: list[dict[str, Any]] = []
    for character in characters:
        c = character["c"]
        left_out = "covered" in character or "symbol" in character
        if c.isspace() or c == "\u200b" or left_out or _stands_alone(c):
            if word:
                yield word
            word = []
            if _stands_alone(c) and not left_out:
                yield [character]
        else:
            word.append(character)
    if word:
        yield word


def _stands_alone(c: str) -> bool:
    code = ord(c)
    return (
        0x4E00 <= code <= 0x9FFF  # Han
        or 0x3400 <= code <= 0x4DBF
        or 0x20000 <= code <= 0x323AF
        or 0x3040 <= code <= 0x30FF  # kana
        or 0xF900 <= code <= 0xFAFF
    )


def _box(boxes: list[FloatBox], matrix: pymupdf.Matrix) -> FloatBox:
    rect = pymupdf.Rect(union(boxes)) * matrix
    return (rect.x0, rect.y0, rect.x1, rect.y1)


def _without_doubles(lines: list[FoundLine]) -> Iterator[FoundLine]:
    """Yield lines without words printed twice, for bold or shadow, and without repeated layers."""
    seen: dict[str, list[FloatBox]] = {}
    for line in lines:
        words = []
        for word in line.words:
            boxes = seen.setdefault(word.text, [])
            if not any(overlap(word.box, box) > _SAME_WORD for box in boxes):
                boxes.append(word.box)
                words.append(word)
        if words:
            yield FoundLine(tuple(words), line.heading)
