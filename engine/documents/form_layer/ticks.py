"""Ticks as words: a ticked box is the word ☒ on its page, whatever letter its font draws the tick with."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pymupdf

from engine.documents.form_layer.widgets import FormWidget
from engine.documents.reading.page import ReadWord
from engine.documents.reading.source_words import FoundLine, FoundWord
from model.boxes import Box, FloatBox

TICK = "☒"
EMPTY_BOX = "☐"
_PRINTED_BOXES = frozenset("☐□▢◻⬜❏❐❑❒○◯☑☒✓✔✗✘✕✖")
_LONGEST_MISREAD = 2  # characters that OCR reads where a tick is
_WIDER = 1.6  # of a box: what OCR reads of its tick is not wider


def mark_ticks(page: pymupdf.Page, raw: dict[str, Any], matrix: pymupdf.Matrix, widgets: Sequence[FormWidget]) -> None:
    """Set "symbol" in the characters of a "rawdict" by which boxes to tick draw their ticks.

    Print of the page itself stays, also where a button lies over it, as over the numbers of a scale.

    Args:
        page: The page.
        raw: Its text.
        matrix: Maps points of the page before its /Rotate to pixels.
        widgets: Its widgets, in pixels.
    """
    boxes = [widget.box for widget in widgets if widget.is_tick]
    if not boxes:
        return
    drawn = _drawn_by_widgets(page)
    for character in _characters(raw):
        if _key(character) in drawn:
            place = pymupdf.Rect(character["bbox"]) * matrix
            if _box_at((place.x0, place.y0, place.x1, place.y1), boxes) is not None:
                character["symbol"] = True


def with_ticks(lines: Sequence[FoundLine], widgets: Sequence[FormWidget]) -> tuple[FoundLine, ...]:
    """Return the lines of a page with the word ☒ in each ticked box, in place of what was read there.

    Args:
        lines: In pixels of the page.
        widgets: Of the page.
    """
    ticks = [widget for widget in widgets if widget.is_tick]
    if not ticks:
        return tuple(lines)
    boxes = [widget.box for widget in ticks]
    cleared = []
    for line in lines:
        words = tuple(
            word for word in line.words if not _is_of_tick(word.text, word.box, word.confidence, ticks, boxes)
        )
        if words:
            cleared.append(replace(line, words=words))
    new = [FoundLine((FoundWord(TICK, _floats(widget.box)),)) for widget in ticks if widget.ticked]
    return (*cleared, *new)


def ticks_in_place(words: Sequence[ReadWord], widgets: Sequence[FormWidget]) -> list[ReadWord]:
    """Return words in reading order as OCR has read them, with ☒ in each ticked box, as `with_ticks` does.

    Args:
        words: In pixels of the page.
        widgets: Of the page.
    """
    ticks = [widget for widget in widgets if widget.is_tick]
    boxes = [widget.box for widget in ticks]
    placed = [word for word in words if not _is_of_tick(word.text, word.box, word.confidence, ticks, boxes)]
    for widget in ticks:
        if widget.ticked:
            place = _place_of(widget.box, placed)
            line = placed[min(place, len(placed) - 1)].line if placed else 0
            placed.insert(place, ReadWord(TICK, widget.box, line))
    return placed


def _place_of(box: Box, words: Sequence[ReadWord]) -> int:
    """Return where a box comes in reading order: before the nearest word right of it on its row, or behind the left."""
    middle = (box[1] + box[3]) / 2
    row = [at for at, word in enumerate(words) if word.box[1] <= middle < word.box[3]]
    right = [at for at in row if words[at].box[0] >= box[0]]
    if right:
        return min(right, key=lambda at: words[at].box[0])
    if row:
        return max(row, key=lambda at: words[at].box[2]) + 1
    return next((at for at, word in enumerate(words) if word.box[1] > middle), len(words))


def _is_of_tick(
    text: str, box: FloatBox, confidence: float | None, ticks: Sequence[FormWidget], boxes: Sequence[Box]
) -> bool:
    """Return whether a word is a tick or an empty box, as printed or as OCR has misread it."""
    at = _box_at(box, boxes)
    if at is None:
        return False
    if text in _PRINTED_BOXES:
        return bool(ticks[at].ticked) or text != EMPTY_BOX
    width = boxes[at][2] - boxes[at][0]
    return confidence is not None and len(text) <= _LONGEST_MISREAD and box[2] - box[0] <= _WIDER * width


def _box_at(box: FloatBox, boxes: Sequence[Box]) -> int | None:
    """Return which of some boxes the centre of a box lies in."""
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return next((at for at, (x0, y0, x1, y1) in enumerate(boxes) if x0 <= x <= x1 and y0 <= y <= y1), None)


def _drawn_by_widgets(page: pymupdf.Page) -> set[tuple[str, float, float]]:
    """Return the characters that the widgets of a page draw, with their places before its /Rotate."""
    mupdf, rotation = pymupdf.mupdf, page.rotation
    if rotation:
        page.set_rotation(0)
    try:
        text = mupdf.FzStextPage(mupdf.fz_bound_page(page.this))
        device = mupdf.fz_new_stext_device(text, mupdf.FzStextOptions(0))
        mupdf.fz_run_page_widgets(page.this, device, mupdf.FzMatrix(), mupdf.FzCookie())
        mupdf.fz_close_device(device)
    finally:
        if rotation:
            page.set_rotation(rotation)
    return {_key(character) for character in _characters(pymupdf.TextPage(text).extractRAWDICT())}


def _characters(raw: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for block in raw["blocks"]:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                yield from span["chars"]


def _key(character: dict[str, Any]) -> tuple[str, float, float]:
    x, y = character["origin"]
    return character["c"], round(x, 1), round(y, 1)


def _floats(box: Box) -> FloatBox:
    return (float(box[0]), float(box[1]), float(box[2]), float(box[3]))
