"""Filling of a blank page: values in their fields, ticks in their boxes, on a sheet with the print of the page."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.synthetic.blank_forms.kinds import maker
from engine.synthetic.blank_forms.layout import is_leader
from engine.synthetic.blank_forms.template import FormField, FormTemplate, PrintedWord
from engine.synthetic.kinds.forms.choices import READ_AS
from engine.synthetic.metrics import ASCENT, DESCENT
from engine.synthetic.sheet import Face, Figure, FloatBox, Piece, Sheet, broken
from engine.synthetic.values import mark
from engine.synthetic.vocabulary import phrase

_BELOW = 0.2  # of the font size: depth of a printed word's box under its base line
_BOXES = frozenset("❏❐❑❒□☐◻▢■")
_TWO_TICKS = 0.05  # share of questions with a second box ticked
_SMALLEST = 0.6  # of the size of values on the page; smaller ones are not written
_INKS = ((0, 0, 0), (0, 0, 0), (20, 20, 30), (25, 35, 110), (30, 50, 150))


@dataclass(frozen=True, slots=True)
class Filled:
    """Field after filling: `pieces` of its value or its mark, `label` of its key, `figure` of a box to tick."""

    field: FormField
    pieces: list[int]
    label: list[int]
    figure: Figure | None = None
    ticked: bool = False


@dataclass(frozen=True, slots=True)
class _Style:
    """Habits of whoever filled the page; sizes in pixels."""

    face: Face
    empty: float  # share of fields left empty
    rows: int  # of a table that are filled
    ticked: float  # share of boxes
    to_the_right: float  # share of amounts that end at the right edge
    lift: float  # of values over the middle of their field, in ems
    leaders: str  # how OCR reads dots: "none", "some" or "joined"
    lines: bool  # whether OCR reads lines to write on
    read_as: tuple[str, str]


def fill(template: FormTemplate, chance: random.Random, width: int) -> tuple[Sheet, list[Filled]]:
    """Return a page of `width` pixels with its print and values, and what became of the fields with a key."""
    zoom = width / template.width
    family = chance.choice(("sans", "sans", "serif"))
    sheet = Sheet(width, round(template.height * zoom), chance, Face(family, 8 * zoom))
    style = _drawn(chance, zoom)
    ranks = _ranks(template.fields)
    chosen = [
        field.named and field.kind != "check"
        and (ranks[at] < style.rows if field.table >= 0 else chance.random() >= style.empty)
        for at, field in enumerate(template.fields)
    ]  # fmt: skip
    covered = [field.box for field, filled in zip(template.fields, chosen, strict=True) if filled]
    ticks = [field.box for field in template.fields if field.kind == "check"]
    places = _printed(sheet, template, zoom, style, covered, ticks)
    picked = _picked(template.fields, chance, style)
    found = []
    for at, (field, filled) in enumerate(zip(template.fields, chosen, strict=True)):
        label = [places[at] for at in field.key if at in places]
        if field.kind == "check":
            one = _tick(sheet, field, zoom, style, label, at in picked)
            if field.key:
                found.append(one)
        elif field.named:
            pieces = _written(sheet, template, field, zoom, style) if filled else []
            found.append(Filled(field, pieces, label))
    return sheet, found


def _drawn(chance: random.Random, zoom: float) -> _Style:
    if chance.random() < 0.25:
        face = Face(
            "hand",
            zoom * chance.uniform(8.5, 14),
            italic=True,
            stretch=chance.uniform(0.8, 1.05),
            ink=chance.choice(_INKS),
            shake=0.1,
        )
    else:
        family = chance.choice(("mono", "mono", "sans", "sans", "serif"))
        face = Face(
            family,
            zoom * chance.uniform(7.5, 10.5),
            stretch=chance.uniform(0.82, 1.0),
            ink=chance.choice(_INKS),
            shake=chance.choice((0.0, 0.0, 0.04)),
        )
    return _Style(
        face,
        empty=chance.choice((0.05, 0.1, 0.2, 0.35, 0.6)),
        rows=chance.choice((1, 1, 1, 1, 2, 3, 9)),
        ticked=chance.choice((0.15, 0.3, 0.5)),
        to_the_right=chance.choice((0.0, 1.0, 0.7)),
        lift=chance.choice((0.0, 0.0, chance.uniform(-0.15, 0.2))),
        leaders=chance.choice(("none", "none", "none", "joined", "some")),
        lines=chance.random() < 0.25,
        read_as=chance.choice(READ_AS),
    )  # fmt: skip


def _ranks(fields: Sequence[FormField]) -> list[int]:
    """Return the row of each field in its table, from 0."""
    rows: dict[int, list[float]] = {}
    for field in fields:
        rows.setdefault(field.table, []).append(field.box[1])
    return [sum(top < field.box[1] - 2 for top in rows[field.table]) for field in fields]


def _printed(
    sheet: Sheet, template: FormTemplate, zoom: float, style: _Style, covered: list[FloatBox], ticks: list[FloatBox]
) -> dict[int, int]:
    """Set the print; return word -> piece. Printed boxes, covered lines, and most dots are not read."""
    keys = {at for field in template.fields for at in field.key}
    titles = {at for field in template.fields for at in field.heading}
    places: dict[int, int] = {}
    before: PrintedWord | None = None
    for at, word in enumerate(template.words):
        if (
            at not in keys
            and at not in titles
            and is_leader(word.text)
            and not _read(word, style, covered, ticks, sheet.chance)
        ):
            continue
        if before is None or _new_line(before, word):
            sheet.lines += 1
        elif style.leaders == "joined" and word.text == "." == before.text:
            last = sheet.pieces[-1]
            last.text += "."
            last.width = word.box[2] * zoom - last.x
            before = word
            continue
        places[at] = len(sheet.pieces)
        face = Face(sheet.face.family, word.size * zoom, bold=word.bold)
        role = "heading" if at in titles else "key" if at in keys else "text"
        sheet.pieces.append(
            Piece(word.text, word.box[0] * zoom, (word.box[3] - _BELOW * word.size) * zoom,
                  (word.box[2] - word.box[0]) * zoom, face, sheet.lines, drawn=False, role=role)  # type: ignore[arg-type]
        )  # fmt: skip
        before = word
    return places


def _read(
    word: PrintedWord, style: _Style, covered: list[FloatBox], ticks: list[FloatBox], chance: random.Random
) -> bool:
    """Return whether OCR reads a word without letters and digits."""
    x, y = (word.box[0] + word.box[2]) / 2, word.middle
    if word.text[0] in _BOXES or any(_holds(box, x, y) for box in ticks):
        return False
    if set(word.text) <= {"_", " ", "-", "—", "."} and any(_holds(box, x, y) for box in covered):
        return False
    if set(word.text) <= {"."}:
        return style.leaders == "joined" or (style.leaders == "some" and chance.random() < 0.25)
    return style.lines if "__" in word.text else True


def _holds(box: FloatBox, x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _new_line(before: PrintedWord, word: PrintedWord) -> bool:
    gap = word.box[0] - before.box[2]
    return abs(word.middle - before.middle) > 0.4 * word.size or gap < -1 or gap > 2 * word.size


def _picked(fields: Sequence[FormField], chance: random.Random, style: _Style) -> set[int]:
    """Return the boxes to tick: mostly one of those that answer one question."""
    groups: dict[tuple[int, ...], list[int]] = {}
    picked = set()
    for at, field in enumerate(fields):
        if field.kind == "check" and field.group:
            groups.setdefault(field.group, []).append(at)
        elif field.kind == "check" and field.key and chance.random() < style.ticked:
            picked.add(at)
    for members in groups.values():
        if chance.random() >= style.empty:
            picked.add(chance.choice(members))
            if chance.random() < _TWO_TICKS:
                picked.add(chance.choice(members))
    return picked


def _tick(sheet: Sheet, field: FormField, zoom: float, style: _Style, label: list[int], ticked: bool) -> Filled:
    """Tick a box or leave it; OCR may read its mark."""
    chance = sheet.chance
    x0, y0, x1, y1 = (edge * zoom for edge in field.box)
    side = min(x1 - x0, y1 - y0)
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    box = (middle[0] - side / 2, middle[1] - side / 2, middle[0] + side / 2, middle[1] + side / 2)
    figure = Figure("tick-alone", box, chance.randrange(1 << 30), ticked=ticked, ink=style.face.ink)
    if ticked:
        sheet.figures.append(figure)
    text = style.read_as[ticked]
    pieces = []
    if text:
        inside = min(Face("sans", 0.8 * side).width(text), side)
        seen = box if text in "☐☑□☒" else (middle[0] - inside / 2, box[1], middle[0] + inside / 2, box[3])
        pieces.append(sheet.read_only(text, seen))
    return Filled(field, pieces, label, figure, ticked)


def _written(sheet: Sheet, template: FormTemplate, field: FormField, zoom: float, style: _Style) -> list[int]:
    """Write a value into a field; return its pieces, none when no value fits."""
    chance = sheet.chance
    box = (field.box[0] * zoom, field.box[1] * zoom, field.box[2] * zoom, field.box[3] * zoom)
    make = maker(field, template.name(field), template.text(field.column))
    for attempt in range(4):
        text = _short(field, make(chance) if attempt < 3 else phrase(chance, 1, 1), chance)
        if field.choices:
            text = chance.choice(field.choices)
        pieces = _fitted(sheet, field, box, text, style)
        if pieces:
            return pieces
    return []


def _short(field: FormField, text: str, chance: random.Random) -> str:
    if field.most and len(text) > field.most:
        plain = "".join(sign for sign in text if sign.isalnum())
        return (plain if len(plain) >= field.most else text)[: field.most].strip() or mark(chance)[: field.most]
    return text


def _fitted(sheet: Sheet, field: FormField, box: FloatBox, text: str, style: _Style) -> list[int]:
    """Set a text inside a box: smaller, or on several lines where the field has room; nothing when it does not fit."""
    chance = sheet.chance
    x0, y0, x1, y1 = box
    pad = min(0.06 * (x1 - x0), 0.25 * style.face.size)
    room = x1 - x0 - 2 * pad
    face = style.face
    if field.comb and field.kind != "multiline" and len(text) <= field.most:
        return _spaced(sheet, box, text, style, field.most)
    if y1 - y0 >= 2.3 * face.size * (ASCENT + DESCENT) and field.kind == "multiline":
        return _wrapped(sheet, (x0 + pad, y0, x1 - pad, y1), text, style)
    size = min(face.size, 0.98 * (y1 - y0) / (ASCENT + DESCENT))
    width = replace(face, size=size).width(text)
    if width > room:
        size *= room / width
    if size < _SMALLEST * face.size or size <= 0:
        return []
    face = replace(face, size=size)
    spare = room - face.width(text)
    number = text.strip("()$-., ").replace(",", "").replace(".", "").isdigit()
    start = (
        x0
        + pad
        + (
            spare
            if number and chance.random() < style.to_the_right
            else min(spare, chance.uniform(0, 0.8) * size)
            if spare > 0
            else 0
        )
    )
    slack = (y1 - y0) - (ASCENT + DESCENT) * size
    top = y0 + min(max(slack * 0.5 - style.lift * size + chance.gauss(0, 0.04) * size, 0), slack)
    return _line(sheet, text, start, top, face, x1)


def _line(sheet: Sheet, text: str, x: float, top: float, face: Face, right: float) -> list[int]:
    """Set words on a line, inside the field in any case."""
    sheet.lines += 1
    chance, pieces = sheet.chance, []
    for word in text.split():
        width = min(face.width(word), max(1.0, right - x))
        lift = chance.uniform(-face.shake, face.shake) * face.size * 0.5 if face.shake else 0.0
        pieces.append(len(sheet.pieces))
        sheet.pieces.append(Piece(word, x, top + ASCENT * face.size + lift, width, face, sheet.lines, role="value"))
        x += width + face.space
    return pieces


def _wrapped(sheet: Sheet, box: FloatBox, text: str, style: _Style) -> list[int]:
    """Set a text on several lines from the top of a field."""
    chance = sheet.chance
    face = style.face
    leading = chance.uniform(1.1, 1.4) * face.size
    lines = broken(face, text, box[2] - box[0])
    if len(lines) * leading > box[3] - box[1] or any(face.width(line) > box[2] - box[0] for line in lines):
        return []
    spare = (box[3] - box[1]) - len(lines) * leading
    top = box[1] + chance.choice((0.1, 0.1, 0.5)) * spare
    return [at for n, line in enumerate(lines) for at in _line(sheet, line, box[0], top + n * leading, face, box[2])]


def _spaced(sheet: Sheet, box: FloatBox, text: str, style: _Style, cells: int) -> list[int]:
    """Set characters into cells of equal width; OCR reads them alone or as one word."""
    chance = sheet.chance
    x0, y0, x1, y1 = box
    step = (x1 - x0) / cells
    face = replace(style.face, size=min(style.face.size, 0.98 * (y1 - y0) / (ASCENT + DESCENT), step / 0.62))
    baseline = y0 + ((y1 - y0) - (ASCENT + DESCENT) * face.size) / 2 + ASCENT * face.size
    text = text.replace(" ", "")
    sheet.lines += 1
    pieces = []
    if chance.random() < 0.5:
        pieces.append(len(sheet.pieces))
        width = step * len(text) - 0.3 * step
        sheet.pieces.append(Piece(text, x0 + 0.15 * step, baseline, width, face, sheet.lines, role="value"))
        return pieces
    for at, sign in enumerate(text):
        width = min(face.width(sign), 0.9 * step)
        pieces.append(len(sheet.pieces))
        sheet.pieces.append(
            Piece(sign, x0 + (at + 0.5) * step - width / 2, baseline, width, face, sheet.lines, role="value")
        )
    return pieces
