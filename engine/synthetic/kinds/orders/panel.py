"""Panels of keys and values: pairs in columns, framed boxes, strips, and pairs run together on lines."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.synthetic import questions
from engine.synthetic.kinds.entries import known, note
from engine.synthetic.kinds.orders.desk import Desk, Item
from engine.synthetic.sheet import Face, FloatBox, Panel, broken

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
    def drawn(cls, desk: Desk, *, ruling: Ruling | None = None) -> Look:
        """Draw a look at random."""
        chance, form = desk.chance, desk.form
        rule: Ruling = chance.choice(_RULINGS) if ruling is None else ruling
        ending = form.ending if chance.random() < 0.8 else chance.choice((":", "", " :", "."))
        small = chance.random() < 0.25
        return cls(
            key_face=form.key_face.scaled(chance.uniform(0.78, 0.95)) if small else form.key_face,
            value_face=form.value_face,
            ending=ending,
            ruling=rule,
            keys_right=chance.random() < 0.3,
            shade=rule == "grid" and chance.random() < 0.4,
            gap=chance.choice((0.0, 0.5)) if rule == "grid" else chance.choice((0.5, 0.7, 1.0, 2.0)),
            apart=chance.choice((0.4, 0.6, 1.0, 1.8)),
            step=chance.uniform(1.4, 2.0) if rule in ("grid", "underline") else chance.uniform(1.25, 1.8),
            spread=chance.random() < 0.6,
            flowing=rule in ("none", "outline") and chance.random() < 0.3,
        )


def recorded(desk: Desk, cells: Cells, cell: Cell) -> None:
    """Add a cell, with the question for it; an empty cell has no answer."""
    cells.cells.append(cell)
    concept = cell.item.concept
    known(desk.form, concept)
    if cell.value:
        note(desk.form, cell.item.asked or cell.item.key, concept, cell.value)
    else:
        desk.sheet.ask(questions.about(desk.chance, cell.item.asked or cell.item.key, concept, synonyms=0.08))


def grid_of(chance: random.Random, items: Sequence[Item], columns: int) -> list[list[Item | None]]:
    """Return items in rows of `columns`, filled row by row or column by column."""
    rows = -(-len(items) // columns)
    by_row = chance.random() < 0.35
    places: list[list[Item | None]] = [[None] * columns for _ in range(rows)]
    for at, one in enumerate(items):
        row, column = divmod(at, columns) if by_row else (at % rows, at // rows)
        places[row][column] = one
    return places


def pairs(desk: Desk, items: Sequence[Item], x: float, y: float, right: float, columns: int, look: Look) -> Cells:
    """Set keys with their values beside them, the values of a column aligned."""
    chance, sheet, em = desk.chance, desk.sheet, desk.em
    rows = grid_of(chance, items, columns)
    columns = len(rows[0])
    pad = 0.4 * em if look.ruling in ("grid", "outline") else 0.0
    widths = _widths(look, rows, (right - x - look.gap * em * (columns - 1)) / columns, pad, em)
    made = Cells(foot=y)
    lefts = [x]
    for key, value in widths:
        lefts.append(lefts[-1] + key + value + look.gap * em)
    made.right = lefts[-1] - look.gap * em
    tops = [y] * columns
    floor = sheet.height - 2 * em
    for row in rows:
        if not look.flowing:
            tops = [max(tops)] * columns
        heights = [_height(look, one, widths[at], pad, em) if one else look.step * em for at, one in enumerate(row)]
        if not look.flowing:
            heights = [max(heights)] * columns
        for at, one in enumerate(row):
            top, foot = tops[at], tops[at] + heights[at]
            if foot > floor:
                continue
            key_width, value_width = widths[at]
            left, middle, end = lefts[at], lefts[at] + key_width, lefts[at] + key_width + value_width
            if look.ruling == "grid":
                if one is None:
                    continue
                if look.shade:
                    sheet.panels.append(Panel((left, top, middle, foot), (226, 226, 228)))
                sheet.frame((left, top, middle, foot))
                sheet.frame((middle, top, end, foot))
            if one is not None:
                recorded(desk, made, _pair(desk, look, one, (left, middle, end, top, foot), pad))
                if look.ruling == "underline":
                    sheet.rule(middle, foot - 0.15 * em, end, foot - 0.15 * em)
            tops[at] = foot
        made.foot = max(tops)
        if look.ruling == "rows":
            sheet.rule(x, made.foot, made.right, made.foot)
    if look.ruling == "outline":
        sheet.frame((x - 0.3 * em, y - 0.3 * em, made.right + 0.3 * em, made.foot + 0.2 * em))
    return made


def _widths(
    look: Look, rows: Sequence[Sequence[Item | None]], room: float, pad: float, em: float
) -> list[tuple[float, float]]:
    """Return the widths of keys and values for each column, padding included."""
    found = []
    for column in zip(*rows, strict=True):
        items = [one for one in column if one is not None]
        keys = [look.key_face.width(one.key + look.ending) for one in items]
        texts = [look.value_face.width(line) for one in items for line in one.lines]
        key = min(max(keys, default=4 * em) + 1, 0.5 * room) + 2 * pad + (0.0 if pad else look.apart * em)
        value = max(min(max(texts, default=0.0), 24 * em), 5 * em) + 2 * pad
        if key + value > room or look.spread:
            value = max(room - key, 0.4 * room)
            key = min(key, 0.6 * room)
        found.append((key, value))
    return found


def _broken(look: Look, one: Item, widths: tuple[float, float], pad: float, em: float) -> tuple[list[str], list[str]]:
    key_room = widths[0] - (2 * pad or look.apart * em) + 0.5
    room = widths[1] - 2 * pad - 0.1 * em + 0.5
    texts = [part for line in one.lines for part in broken(look.value_face, line, room)]
    return broken(look.key_face, one.key + look.ending, key_room), texts[:MOST_LINES]


def _height(look: Look, one: Item, widths: tuple[float, float], pad: float, em: float) -> float:
    keys, texts = _broken(look, one, widths, pad, em)
    tall = max(1.15 * look.key_face.size * len(keys), 1.2 * look.value_face.size * len(texts))
    return max(look.step * em, tall + (look.step - 1.15) * em)


def _pair(desk: Desk, look: Look, one: Item, edges: tuple[float, float, float, float, float], pad: float) -> Cell:
    sheet, em = desk.sheet, desk.em
    left, middle, end, top, foot = edges
    keys, texts = _broken(look, one, (middle - left, end - middle), pad, em)
    larger = max(look.key_face.size, look.value_face.size)
    start = top + 0.18 * em
    key_y, value_y = start + 0.74 * (larger - look.key_face.size), start + 0.74 * (larger - look.value_face.size)
    key_right = middle - (pad or look.apart * em)
    key: list[int] = []
    for at, text in enumerate(keys):
        line_y = key_y + 1.15 * look.key_face.size * at
        wide = look.key_face.width(text)
        line_x = max(left + pad, key_right - wide) if look.keys_right else left + pad
        key += sheet.write_fitted(text, line_x, line_y, key_right, face=look.key_face, role="key").pieces
    value: list[int] = []
    for at, text in enumerate(texts):
        line_y = value_y + 1.2 * look.value_face.size * at
        value += sheet.write_fitted(text, middle + pad, line_y, end - pad, face=look.value_face, role="value").pieces
    return Cell(one, key, value, (middle, top, end, foot))


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
    def drawn(cls, chance: random.Random) -> BoxLook:
        """Draw a look at random."""
        split = chance.random() < 0.4
        return cls(
            frame=chance.random() < 0.85,
            split=split,
            shade=split and chance.random() < 0.5,
            underlined=not split and chance.random() < 0.3,
            centred=chance.random() < 0.25,
            indent=chance.choice((0.0, 0.0, 0.4, 1.2)),
        )


def boxes(desk: Desk, items: Sequence[Item], x: float, y: float, right: float, columns: int, look: BoxLook) -> Cells:
    """Set keys above their values in rows of one to `columns` boxes."""
    chance, sheet, em, form = desk.chance, desk.sheet, desk.em, desk.form
    key_face = form.key_face.scaled(chance.uniform(0.8, 1.0))
    value_face = form.value_face
    pad = 0.35 * em
    made = Cells(foot=y, right=right)
    left_over = list(items)
    fixed = look.split or chance.random() < 0.4
    while left_over:
        count = min(len(left_over), columns if fixed else chance.randint(1, columns))
        row, left_over = left_over[:count], left_over[count:]
        needs = [
            max(key_face.width(one.key), 4 * em, *(min(value_face.width(line), 18 * em) for line in one.lines), 0.0)
            + 2 * pad
            for one in row
        ]
        spare = (right - x - sum(needs)) / len(needs)
        widths = [need + spare for need in needs] if spare >= 0 else [need * (right - x) / sum(needs) for need in needs]
        keys = [broken(key_face, one.key, width - 2 * pad) for one, width in zip(row, widths, strict=True)]
        texts = [
            [part for line in one.lines for part in broken(value_face, line, width - 2 * pad - look.indent * em)]
            for one, width in zip(row, widths, strict=True)
        ]
        key_height = (0.35 * em) + 1.15 * key_face.size * max(map(len, keys))
        value_height = 1.2 * value_face.size * max(1, *map(len, texts)) + 0.35 * em
        top, middle, foot = made.foot, made.foot + key_height, made.foot + key_height + value_height
        if foot > sheet.height - 2 * em:
            break
        at_x = x
        for one, width, key_lines, lines in zip(row, widths, keys, texts, strict=True):
            end = at_x + width
            if look.shade:
                sheet.panels.append(Panel((at_x, top, end, middle), (222, 222, 224)))
            if look.frame:
                sheet.frame((at_x, top, end, foot))
                if look.split:
                    sheet.rule(at_x, middle, end, middle)
            key = _stack(desk, key_lines, at_x + pad, top + 0.25 * em, end - pad, key_face, 1.15, "key", look)
            if look.underlined:
                sheet.rule(
                    at_x + pad, middle - 0.05 * em, at_x + pad + key_face.width(key_lines[-1]), middle - 0.05 * em
                )
            start = at_x + pad + look.indent * em
            value = _stack(desk, lines, start, middle + 0.1 * em, end - pad, value_face, 1.2, "value", look)
            recorded(desk, made, Cell(one, key, value, (at_x, middle, end, foot)))
            at_x = end
        made.foot = foot
    return made


def _stack(
    desk: Desk, lines: Sequence[str], x: float, y: float, right: float, face: Face, leading: float, role: Literal["key", "value"], look: BoxLook
) -> list[int]:  # fmt: skip
    pieces: list[int] = []
    for at, text in enumerate(lines):
        start = max(x, (x + right - face.width(text)) / 2) if look.centred else x
        pieces += desk.sheet.write_fitted(text, start, y + at * leading * face.size, right, face=face, role=role).pieces
    return pieces


def run_in(desk: Desk, items: Sequence[Item], x: float, y: float, right: float) -> Cells:
    """Set keys and values one after the other on lines, as a typewriter or a teleprinter does."""
    chance, sheet, em, form = desk.chance, desk.sheet, desk.em, desk.form
    ending = chance.choice((":", ":", "", "..", " -"))
    step = chance.uniform(1.4, 1.9) * em
    made = Cells(right=right, foot=y + step)
    gap = em * chance.uniform(0.9, 3.0)
    at_x, at_y = x, y
    face = replace(form.value_face, bold=False)
    for one in items:
        text = " ".join(one.lines)
        shown = one.key + ending
        wide = form.key_face.width(shown) + face.space + max(face.width(text), 3 * em)
        if at_x > x and at_x + wide > right:
            at_x, at_y = x, at_y + step
        if at_y + step > sheet.height - 2 * em:
            break
        key = sheet.write_fitted(shown, at_x, at_y, right - 4 * em, face=form.key_face, role="key")
        start = key.right + 0.5 * em
        value = (
            sheet.write_fitted(text, start, at_y, max(right, start + 4 * em), face=face, role="value").pieces
            if text
            else []
        )
        end = min(right, max(start + face.width(text), start + 3 * em))
        recorded(
            desk, made, Cell(one, key.pieces, value, (start - 0.4 * em, at_y - 0.3 * em, max(end, right), at_y + step))
        )
        at_x = end + gap
        made.foot = at_y + step
    return made


def panel(desk: Desk, items: Sequence[Item], x: float, y: float, right: float, *, widest: int = 4) -> Cells:
    """Set a panel of a kind that fits the room."""
    chance, em = desk.chance, desk.em
    room = (right - x) / em
    most = max(1, min(widest, int(room / 14)))
    draw = chance.random()
    if draw < 0.58:
        return pairs(desk, items, x, y, right, chance.choice((most, chance.randint(1, most))), Look.drawn(desk))
    if draw < 0.92 or room < 40:
        columns = max(1, min(6, int(room / 9)))
        return boxes(desk, items, x, y, right, chance.randint(max(1, columns - 2), columns), BoxLook.drawn(chance))
    return run_in(desk, items, x, y, right)
