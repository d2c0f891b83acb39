"""Panels of keys and values: pairs in columns, framed boxes, strips, and pairs run together on lines."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.synthetic import questions
from engine.synthetic.canvas import Face, Panel, break_lines
from engine.synthetic.kinds.entries import mark_answered, note
from engine.synthetic.kinds.orders.layout import Item, OrderLayout
from model.boxes import FloatBox

Ruling = Literal["none", "grid", "rows", "underline", "outline"]
_RULINGS: tuple[Ruling, ...] = ("none", "none", "none", "grid", "grid", "rows", "underline", "outline")


MOST_LINES = 5  # of a value; a program cuts off the rest


@dataclass(frozen=True, slots=True)
class Cell:
    """Cell after layout: pieces of its key and of its value, and the room of the value (pixels)."""

    item: Item
    key: list[int]
    value: list[int]
    box: FloatBox


@dataclass(slots=True)
class Cells:
    """Panel after layout: its cells, right edge and foot."""

    cells: list[Cell] = field(default_factory=list)
    right: float = 0.0
    foot: float = 0.0


@dataclass(frozen=True, slots=True)
class Look:
    """Look of a panel; lengths in ems. `gap`: between columns; `apart`: between key and value; `step`: of rows."""

    key_face: Face
    value_face: Face
    ending: str
    ruling: Ruling
    keys_right: bool  # keys end at their values
    shade: bool
    gap: float
    apart: float
    step: float
    spread: bool  # columns fill the room
    flowing: bool  # each column has rows of its own height

    @classmethod
    def sample(cls, layout: OrderLayout, *, ruling: Ruling | None = None) -> Look:
        """Draw a look at random."""
        rng, form = layout.rng, layout.form
        rule: Ruling = rng.choice(_RULINGS) if ruling is None else ruling
        ending = form.ending if rng.random() < 0.8 else rng.choice((":", "", " :", "."))
        small = rng.random() < 0.25
        return cls(
            key_face=form.key_face.scale(rng.uniform(0.78, 0.95)) if small else form.key_face,
            value_face=form.value_face,
            ending=ending,
            ruling=rule,
            keys_right=rng.random() < 0.3,
            shade=rule == "grid" and rng.random() < 0.4,
            gap=rng.choice((0.0, 0.5)) if rule == "grid" else rng.choice((0.5, 0.7, 1.0, 2.0)),
            apart=rng.choice((0.4, 0.6, 1.0, 1.8)),
            step=rng.uniform(1.4, 2.0) if rule in ("grid", "underline") else rng.uniform(1.25, 1.8),
            spread=rng.random() < 0.6,
            flowing=rule in ("none", "outline") and rng.random() < 0.3,
        )


def record_cell(layout: OrderLayout, cells: Cells, cell: Cell) -> None:
    """Add a cell, with the question for it; an empty cell has no answer."""
    cells.cells.append(cell)
    concept = cell.item.concept
    mark_answered(layout.form, concept)
    if cell.value:
        note(layout.form, cell.item.asked or cell.item.key, concept, cell.value)
    else:
        layout.canvas.ask(questions.about(layout.rng, cell.item.asked or cell.item.key, concept, synonyms=0.08))


def grid_of(rng: random.Random, items: Sequence[Item], columns: int) -> list[list[Item | None]]:
    """Return items in rows of `columns`, filled row by row or column by column."""
    rows = -(-len(items) // columns)
    by_row = rng.random() < 0.35
    places: list[list[Item | None]] = [[None] * columns for _ in range(rows)]
    for at, item in enumerate(items):
        row, column = divmod(at, columns) if by_row else (at % rows, at // rows)
        places[row][column] = item
    return places


def pairs(
    layout: OrderLayout, items: Sequence[Item], x: float, y: float, right: float, columns: int, look: Look
) -> Cells:
    """Set keys with their values beside them, the values of a column aligned."""
    rng, canvas, em = layout.rng, layout.canvas, layout.em
    rows = grid_of(rng, items, columns)
    columns = len(rows[0])
    pad = 0.4 * em if look.ruling in ("grid", "outline") else 0.0
    widths = _widths(look, rows, (right - x - look.gap * em * (columns - 1)) / columns, pad, em)
    cells = Cells(foot=y)
    lefts = [x]
    for key, value in widths:
        lefts.append(lefts[-1] + key + value + look.gap * em)
    cells.right = lefts[-1] - look.gap * em
    tops = [y] * columns
    floor = canvas.height - 2 * em
    for row in rows:
        if not look.flowing:
            tops = [max(tops)] * columns
        heights = [_height(look, item, widths[at], pad, em) if item else look.step * em for at, item in enumerate(row)]
        if not look.flowing:
            heights = [max(heights)] * columns
        for at, item in enumerate(row):
            top, foot = tops[at], tops[at] + heights[at]
            if foot > floor:
                continue
            key_width, value_width = widths[at]
            left, middle, end = lefts[at], lefts[at] + key_width, lefts[at] + key_width + value_width
            if look.ruling == "grid":
                if item is None:
                    continue
                if look.shade:
                    canvas.panels.append(Panel((left, top, middle, foot), (226, 226, 228)))
                canvas.frame((left, top, middle, foot))
                canvas.frame((middle, top, end, foot))
            if item is not None:
                record_cell(layout, cells, _pair(layout, look, item, (left, middle, end, top, foot), pad))
                if look.ruling == "underline":
                    canvas.rule(middle, foot - 0.15 * em, end, foot - 0.15 * em)
            tops[at] = foot
        cells.foot = max(tops)
        if look.ruling == "rows":
            canvas.rule(x, cells.foot, cells.right, cells.foot)
    if look.ruling == "outline":
        canvas.frame((x - 0.3 * em, y - 0.3 * em, cells.right + 0.3 * em, cells.foot + 0.2 * em))
    return cells


def _widths(
    look: Look, rows: Sequence[Sequence[Item | None]], room: float, pad: float, em: float
) -> list[tuple[float, float]]:
    """Return the widths of keys and values for each column, padding included."""
    widths = []
    for column in zip(*rows, strict=True):
        items = [item for item in column if item is not None]
        keys = [look.key_face.width(item.key + look.ending) for item in items]
        texts = [look.value_face.width(line) for item in items for line in item.lines]
        key = min(max(keys, default=4 * em) + 1, 0.5 * room) + 2 * pad + (0.0 if pad else look.apart * em)
        value = max(min(max(texts, default=0.0), 24 * em), 5 * em) + 2 * pad
        if key + value > room or look.spread:
            value = max(room - key, 0.4 * room)
            key = min(key, 0.6 * room)
        widths.append((key, value))
    return widths


def _break_item(
    look: Look, item: Item, widths: tuple[float, float], pad: float, em: float
) -> tuple[list[str], list[str]]:
    key_room = widths[0] - (2 * pad or look.apart * em) + 0.5
    room = widths[1] - 2 * pad - 0.1 * em + 0.5
    texts = [part for line in item.lines for part in break_lines(look.value_face, line, room)]
    return break_lines(look.key_face, item.key + look.ending, key_room), texts[:MOST_LINES]


def _height(look: Look, item: Item, widths: tuple[float, float], pad: float, em: float) -> float:
    keys, texts = _break_item(look, item, widths, pad, em)
    tall = max(1.15 * look.key_face.size * len(keys), 1.2 * look.value_face.size * len(texts))
    return max(look.step * em, tall + (look.step - 1.15) * em)


def _pair(
    layout: OrderLayout, look: Look, item: Item, edges: tuple[float, float, float, float, float], pad: float
) -> Cell:
    canvas, em = layout.canvas, layout.em
    left, middle, end, top, foot = edges
    keys, texts = _break_item(look, item, (middle - left, end - middle), pad, em)
    larger = max(look.key_face.size, look.value_face.size)
    start = top + 0.18 * em
    key_y, value_y = start + 0.74 * (larger - look.key_face.size), start + 0.74 * (larger - look.value_face.size)
    key_right = middle - (pad or look.apart * em)
    key: list[int] = []
    for at, text in enumerate(keys):
        line_y = key_y + 1.15 * look.key_face.size * at
        wide = look.key_face.width(text)
        line_x = max(left + pad, key_right - wide) if look.keys_right else left + pad
        key += canvas.write_fitted(text, line_x, line_y, key_right, face=look.key_face, role="key").pieces
    value: list[int] = []
    for at, text in enumerate(texts):
        line_y = value_y + 1.2 * look.value_face.size * at
        value += canvas.write_fitted(text, middle + pad, line_y, end - pad, face=look.value_face, role="value").pieces
    return Cell(item, key, value, (middle, top, end, foot))


@dataclass(frozen=True, slots=True)
class BoxLook:
    """Look of boxes: key above its value in a frame; `split`: keys in a row of their own, shaded or ruled."""

    frame: bool
    split: bool
    shade: bool
    underlined: bool
    centred: bool
    indent: float

    @classmethod
    def sample(cls, rng: random.Random) -> BoxLook:
        """Draw a look at random."""
        split = rng.random() < 0.4
        return cls(
            frame=rng.random() < 0.85,
            split=split,
            shade=split and rng.random() < 0.5,
            underlined=not split and rng.random() < 0.3,
            centred=rng.random() < 0.25,
            indent=rng.choice((0.0, 0.0, 0.4, 1.2)),
        )


def boxes(
    layout: OrderLayout, items: Sequence[Item], x: float, y: float, right: float, columns: int, look: BoxLook
) -> Cells:
    """Set keys above their values in rows of one to `columns` boxes."""
    rng, canvas, em, form = layout.rng, layout.canvas, layout.em, layout.form
    key_face = form.key_face.scale(rng.uniform(0.8, 1.0))
    value_face = form.value_face
    pad = 0.35 * em
    cells = Cells(foot=y, right=right)
    left_over = list(items)
    fixed = look.split or rng.random() < 0.4
    while left_over:
        count = min(len(left_over), columns if fixed else rng.randint(1, columns))
        row, left_over = left_over[:count], left_over[count:]
        needs = [
            max(key_face.width(item.key), 4 * em, *(min(value_face.width(line), 18 * em) for line in item.lines), 0.0)
            + 2 * pad
            for item in row
        ]
        spare = (right - x - sum(needs)) / len(needs)
        widths = [need + spare for need in needs] if spare >= 0 else [need * (right - x) / sum(needs) for need in needs]
        keys = [break_lines(key_face, item.key, width - 2 * pad) for item, width in zip(row, widths, strict=True)]
        texts = [
            [part for line in item.lines for part in break_lines(value_face, line, width - 2 * pad - look.indent * em)]
            for item, width in zip(row, widths, strict=True)
        ]
        key_height = (0.35 * em) + 1.15 * key_face.size * max(map(len, keys))
        value_height = 1.2 * value_face.size * max(1, *map(len, texts)) + 0.35 * em
        top, middle, foot = cells.foot, cells.foot + key_height, cells.foot + key_height + value_height
        if foot > canvas.height - 2 * em:
            break
        at_x = x
        for item, width, key_lines, lines in zip(row, widths, keys, texts, strict=True):
            end = at_x + width
            if look.shade:
                canvas.panels.append(Panel((at_x, top, end, middle), (222, 222, 224)))
            if look.frame:
                canvas.frame((at_x, top, end, foot))
                if look.split:
                    canvas.rule(at_x, middle, end, middle)
            key = _stack(layout, key_lines, at_x + pad, top + 0.25 * em, end - pad, key_face, 1.15, "key", look)
            if look.underlined:
                canvas.rule(
                    at_x + pad, middle - 0.05 * em, at_x + pad + key_face.width(key_lines[-1]), middle - 0.05 * em
                )
            start = at_x + pad + look.indent * em
            value = _stack(layout, lines, start, middle + 0.1 * em, end - pad, value_face, 1.2, "value", look)
            record_cell(layout, cells, Cell(item, key, value, (at_x, middle, end, foot)))
            at_x = end
        cells.foot = foot
    return cells


def _stack(
    layout: OrderLayout, lines: Sequence[str], x: float, y: float, right: float, face: Face, leading: float, role: Literal["key", "value"], look: BoxLook
) -> list[int]:  # fmt: skip
    pieces: list[int] = []
    for at, text in enumerate(lines):
        start = max(x, (x + right - face.width(text)) / 2) if look.centred else x
        pieces += layout.canvas.write_fitted(
            text, start, y + at * leading * face.size, right, face=face, role=role
        ).pieces
    return pieces


def run_in(layout: OrderLayout, items: Sequence[Item], x: float, y: float, right: float) -> Cells:
    """Set keys and values one after the other on lines, as a typewriter or a teleprinter does."""
    rng, canvas, em, form = layout.rng, layout.canvas, layout.em, layout.form
    ending = rng.choice((":", ":", "", "..", " -"))
    step = rng.uniform(1.4, 1.9) * em
    cells = Cells(right=right, foot=y + step)
    gap = em * rng.uniform(0.9, 3.0)
    at_x, at_y = x, y
    face = replace(form.value_face, bold=False)
    for item in items:
        text = " ".join(item.lines)
        shown = item.key + ending
        wide = form.key_face.width(shown) + face.space + max(face.width(text), 3 * em)
        if at_x > x and at_x + wide > right:
            at_x, at_y = x, at_y + step
        if at_y + step > canvas.height - 2 * em:
            break
        key = canvas.write_fitted(shown, at_x, at_y, right - 4 * em, face=form.key_face, role="key")
        start = key.right + 0.5 * em
        value = (
            canvas.write_fitted(text, start, at_y, max(right, start + 4 * em), face=face, role="value").pieces
            if text
            else []
        )
        end = min(right, max(start + face.width(text), start + 3 * em))
        record_cell(
            layout,
            cells,
            Cell(item, key.pieces, value, (start - 0.4 * em, at_y - 0.3 * em, max(end, right), at_y + step)),
        )
        at_x = end + gap
        cells.foot = at_y + step
    return cells


def panel(layout: OrderLayout, items: Sequence[Item], x: float, y: float, right: float, *, widest: int = 4) -> Cells:
    """Set a panel of a kind that fits the room."""
    rng, em = layout.rng, layout.em
    room = (right - x) / em
    most = max(1, min(widest, int(room / 14)))
    draw = rng.random()
    if draw < 0.58:
        return pairs(layout, items, x, y, right, rng.choice((most, rng.randint(1, most))), Look.sample(layout))
    if draw < 0.92 or room < 40:
        columns = max(1, min(6, int(room / 9)))
        return boxes(layout, items, x, y, right, rng.randint(max(1, columns - 2), columns), BoxLook.sample(rng))
    return run_in(layout, items, x, y, right)
