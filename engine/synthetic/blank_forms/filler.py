"""Filling of a blank page: values in their fields, ticks in their boxes, on a canvas with the print of the page."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.synthetic.blank_forms.kinds import maker
from engine.synthetic.blank_forms.layout import is_leader
from engine.synthetic.blank_forms.template import FormField, FormTemplate, PrintedWord
from engine.synthetic.canvas import Canvas, Face, Figure, Piece, break_lines
from engine.synthetic.kinds.forms.choices import READ_AS
from engine.synthetic.metrics import ASCENT, DESCENT
from engine.synthetic.values import mark
from engine.synthetic.vocabulary import phrase
from model.boxes import FloatBox

_BELOW = 0.2  # of the font size: depth of a printed word's box under its base line
_BOXES = frozenset("❏❐❑❒□☐◻▢■")
_TWO_TICKS = 0.05  # share of questions with a second box ticked
_SMALLEST = 0.6  # of the size of values on the page; smaller ones are not written
_INKS = ((0, 0, 0), (0, 0, 0), (20, 20, 30), (25, 35, 110), (30, 50, 150))


@dataclass(frozen=True, slots=True)
class FilledField:
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


def fill(template: FormTemplate, rng: random.Random, width: int) -> tuple[Canvas, list[FilledField]]:
    """Return a page of `width` pixels with its print and values, and what became of the fields with a key."""
    zoom = width / template.width
    family = rng.choice(("sans", "sans", "serif"))
    canvas = Canvas(width, round(template.height * zoom), rng, Face(family, 8 * zoom))
    style = _sample_style(rng, zoom)
    ranks = _ranks(template.fields)
    chosen = [
        field.is_named and field.kind != "check"
        and (ranks[at] < style.rows if field.table >= 0 else rng.random() >= style.empty)
        for at, field in enumerate(template.fields)
    ]  # fmt: skip
    covered = [field.box for field, filled in zip(template.fields, chosen, strict=True) if filled]
    ticks = [field.box for field in template.fields if field.kind == "check"]
    places = _set_print(canvas, template, zoom, style, covered, ticks)
    ticked = _choose_ticks(template.fields, rng, style)
    filled_fields = []
    for at, (field, filled) in enumerate(zip(template.fields, chosen, strict=True)):
        label = [places[at] for at in field.key if at in places]
        if field.kind == "check":
            tick_box = _tick(canvas, field, zoom, style, label, at in ticked)
            if field.key:
                filled_fields.append(tick_box)
        elif field.is_named:
            pieces = _write_value(canvas, template, field, zoom, style) if filled else []
            filled_fields.append(FilledField(field, pieces, label))
    return canvas, filled_fields


def _sample_style(rng: random.Random, zoom: float) -> _Style:
    if rng.random() < 0.25:
        face = Face(
            "hand",
            zoom * rng.uniform(8.5, 14),
            italic=True,
            stretch=rng.uniform(0.8, 1.05),
            ink=rng.choice(_INKS),
            shake=0.1,
        )
    else:
        family = rng.choice(("mono", "mono", "sans", "sans", "serif"))
        face = Face(
            family,
            zoom * rng.uniform(7.5, 10.5),
            stretch=rng.uniform(0.82, 1.0),
            ink=rng.choice(_INKS),
            shake=rng.choice((0.0, 0.0, 0.04)),
        )
    return _Style(
        face,
        empty=rng.choice((0.05, 0.1, 0.2, 0.35, 0.6)),
        rows=rng.choice((1, 1, 1, 1, 2, 3, 9)),
        ticked=rng.choice((0.15, 0.3, 0.5)),
        to_the_right=rng.choice((0.0, 1.0, 0.7)),
        lift=rng.choice((0.0, 0.0, rng.uniform(-0.15, 0.2))),
        leaders=rng.choice(("none", "none", "none", "joined", "some")),
        lines=rng.random() < 0.25,
        read_as=rng.choice(READ_AS),
    )  # fmt: skip


def _ranks(fields: Sequence[FormField]) -> list[int]:
    """Return the row of each field in its table, from 0."""
    rows: dict[int, list[float]] = {}
    for field in fields:
        rows.setdefault(field.table, []).append(field.box[1])
    return [sum(top < field.box[1] - 2 for top in rows[field.table]) for field in fields]


def _set_print(
    canvas: Canvas, template: FormTemplate, zoom: float, style: _Style, covered: list[FloatBox], ticks: list[FloatBox]
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
            and not _is_read(word, style, covered, ticks, canvas.rng)
        ):
            continue
        if before is None or _new_line(before, word):
            canvas.lines += 1
        elif style.leaders == "joined" and word.text == "." == before.text:
            last = canvas.pieces[-1]
            last.text += "."
            last.width = word.box[2] * zoom - last.x
            before = word
            continue
        places[at] = len(canvas.pieces)
        face = Face(canvas.face.family, word.size * zoom, bold=word.bold)
        role = "heading" if at in titles else "key" if at in keys else "text"
        canvas.pieces.append(
            Piece(word.text, word.box[0] * zoom, (word.box[3] - _BELOW * word.size) * zoom,
                  (word.box[2] - word.box[0]) * zoom, face, canvas.lines, drawn=False, role=role)  # type: ignore[arg-type]
        )  # fmt: skip
        before = word
    return places


def _is_read(
    word: PrintedWord, style: _Style, covered: list[FloatBox], ticks: list[FloatBox], rng: random.Random
) -> bool:
    """Return whether OCR reads a word without letters and digits."""
    x, y = (word.box[0] + word.box[2]) / 2, word.middle
    if word.text[0] in _BOXES or any(_holds(box, x, y) for box in ticks):
        return False
    if set(word.text) <= {"_", " ", "-", "—", "."} and any(_holds(box, x, y) for box in covered):
        return False
    if set(word.text) <= {"."}:
        return style.leaders == "joined" or (style.leaders == "some" and rng.random() < 0.25)
    return style.lines if "__" in word.text else True


def _holds(box: FloatBox, x: float, y: float) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _new_line(before: PrintedWord, word: PrintedWord) -> bool:
    gap = word.box[0] - before.box[2]
    return abs(word.middle - before.middle) > 0.4 * word.size or gap < -1 or gap > 2 * word.size


def _choose_ticks(fields: Sequence[FormField], rng: random.Random, style: _Style) -> set[int]:
    """Return the boxes to tick: mostly one of those that answer one question."""
    groups: dict[tuple[int, ...], list[int]] = {}
    ticks = set()
    for at, field in enumerate(fields):
        if field.kind == "check" and field.group:
            groups.setdefault(field.group, []).append(at)
        elif field.kind == "check" and field.key and rng.random() < style.ticked:
            ticks.add(at)
    for members in groups.values():
        if rng.random() >= style.empty:
            ticks.add(rng.choice(members))
            if rng.random() < _TWO_TICKS:
                ticks.add(rng.choice(members))
    return ticks


def _tick(canvas: Canvas, field: FormField, zoom: float, style: _Style, label: list[int], ticked: bool) -> FilledField:
    """Tick a box or leave it; OCR may read its mark."""
    rng = canvas.rng
    x0, y0, x1, y1 = (edge * zoom for edge in field.box)
    side = min(x1 - x0, y1 - y0)
    middle = ((x0 + x1) / 2, (y0 + y1) / 2)
    box = (middle[0] - side / 2, middle[1] - side / 2, middle[0] + side / 2, middle[1] + side / 2)
    figure = Figure("tick-alone", box, rng.randrange(1 << 30), ticked=ticked, ink=style.face.ink)
    if ticked:
        canvas.figures.append(figure)
    text = style.read_as[ticked]
    pieces = []
    if text:
        inside = min(Face("sans", 0.8 * side).width(text), side)
        seen = box if text in "☐☑□☒" else (middle[0] - inside / 2, box[1], middle[0] + inside / 2, box[3])
        pieces.append(canvas.read_only(text, seen))
    return FilledField(field, pieces, label, figure, ticked)


def _write_value(canvas: Canvas, template: FormTemplate, field: FormField, zoom: float, style: _Style) -> list[int]:
    """Write a value into a field; return its pieces, none when no value fits."""
    rng = canvas.rng
    box = (field.box[0] * zoom, field.box[1] * zoom, field.box[2] * zoom, field.box[3] * zoom)
    make = maker(field, template.name(field), template.text(field.column))
    for attempt in range(4):
        text = _short(field, make(rng) if attempt < 3 else phrase(rng, 1, 1), rng)
        if field.choices:
            text = rng.choice(field.choices)
        pieces = _fit_text(canvas, field, box, text, style)
        if pieces:
            return pieces
    return []


def _short(field: FormField, text: str, rng: random.Random) -> str:
    if field.most and len(text) > field.most:
        plain = "".join(sign for sign in text if sign.isalnum())
        return (plain if len(plain) >= field.most else text)[: field.most].strip() or mark(rng)[: field.most]
    return text


def _fit_text(canvas: Canvas, field: FormField, box: FloatBox, text: str, style: _Style) -> list[int]:
    """Set a text inside a box: smaller, or on several lines where the field has room; nothing when it does not fit."""
    rng = canvas.rng
    x0, y0, x1, y1 = box
    pad = min(0.06 * (x1 - x0), 0.25 * style.face.size)
    room = x1 - x0 - 2 * pad
    face = style.face
    if field.comb and field.kind != "multiline" and len(text) <= field.most:
        return _space_characters(canvas, box, text, style, field.most)
    if y1 - y0 >= 2.3 * face.size * (ASCENT + DESCENT) and field.kind == "multiline":
        return _wrap_text(canvas, (x0 + pad, y0, x1 - pad, y1), text, style)
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
            if number and rng.random() < style.to_the_right
            else min(spare, rng.uniform(0, 0.8) * size)
            if spare > 0
            else 0
        )
    )
    slack = (y1 - y0) - (ASCENT + DESCENT) * size
    top = y0 + min(max(slack * 0.5 - style.lift * size + rng.gauss(0, 0.04) * size, 0), slack)
    return _line(canvas, text, start, top, face, x1)


def _line(canvas: Canvas, text: str, x: float, top: float, face: Face, right: float) -> list[int]:
    """Set words on a line, inside the field in any case."""
    canvas.lines += 1
    rng, pieces = canvas.rng, []
    for word in text.split():
        width = min(face.width(word), max(1.0, right - x))
        lift = rng.uniform(-face.shake, face.shake) * face.size * 0.5 if face.shake else 0.0
        pieces.append(len(canvas.pieces))
        canvas.pieces.append(Piece(word, x, top + ASCENT * face.size + lift, width, face, canvas.lines, role="value"))
        x += width + face.space
    return pieces


def _wrap_text(canvas: Canvas, box: FloatBox, text: str, style: _Style) -> list[int]:
    """Set a text on several lines from the top of a field."""
    rng = canvas.rng
    face = style.face
    leading = rng.uniform(1.1, 1.4) * face.size
    lines = break_lines(face, text, box[2] - box[0])
    if len(lines) * leading > box[3] - box[1] or any(face.width(line) > box[2] - box[0] for line in lines):
        return []
    spare = (box[3] - box[1]) - len(lines) * leading
    top = box[1] + rng.choice((0.1, 0.1, 0.5)) * spare
    return [at for n, line in enumerate(lines) for at in _line(canvas, line, box[0], top + n * leading, face, box[2])]


def _space_characters(canvas: Canvas, box: FloatBox, text: str, style: _Style, cells: int) -> list[int]:
    """Set characters into cells of equal width; OCR reads them alone or as one word."""
    rng = canvas.rng
    x0, y0, x1, y1 = box
    step = (x1 - x0) / cells
    face = replace(style.face, size=min(style.face.size, 0.98 * (y1 - y0) / (ASCENT + DESCENT), step / 0.62))
    baseline = y0 + ((y1 - y0) - (ASCENT + DESCENT) * face.size) / 2 + ASCENT * face.size
    text = text.replace(" ", "")
    canvas.lines += 1
    pieces = []
    if rng.random() < 0.5:
        pieces.append(len(canvas.pieces))
        width = step * len(text) - 0.3 * step
        canvas.pieces.append(Piece(text, x0 + 0.15 * step, baseline, width, face, canvas.lines, role="value"))
        return pieces
    for at, sign in enumerate(text):
        width = min(face.width(sign), 0.9 * step)
        pieces.append(len(canvas.pieces))
        canvas.pieces.append(
            Piece(sign, x0 + (at + 0.5) * step - width / 2, baseline, width, face, canvas.lines, role="value")
        )
    return pieces
