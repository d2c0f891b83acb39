"""Values of several lines: lists, names with addresses, and scattered notes."""

from __future__ import annotations

import random

from engine.synthetic import questions
from engine.synthetic.canvas import Written
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.values import address_lines, company, date, person, value
from engine.synthetic.vocabulary import phrase

_STAMPED = (
    "RECEIVED",
    "Received",
    "FILED",
    "APPROVED",
    "PAID",
    "DATE",
    "POSTED",
    "COPY TO",
    "cc",
    "REC'D",
    "Copies to",
    "Initials",
)


def write_lines(form: Form, lines: list[str], x: float, y: float, right: float, step: float | None = None) -> Written:
    """Set the lines of a value one under the other; long lines wrap."""
    step = step or form.rng.uniform(1.15, 1.5) * form.value_face.size
    pieces: list[int] = []
    whole, widest = True, x
    for line in lines:
        written = form.write_value(line, x, y, right)
        pieces += written.pieces
        whole = whole and written.whole
        widest = max(widest, written.right)
        y = written.top + step - form.value_drop
    return Written(pieces, widest, y - step + form.value_drop, whole)


def name_and_address(rng: random.Random) -> list[str]:
    """Return a name and address as on an envelope."""
    lines = [rng.choice((person, company))(rng)]
    if rng.random() < 0.4:
        lines.append(rng.choice((company(rng), phrase(rng, 1, 3))))
    return lines + address_lines(rng)[: rng.choice((1, 2, 3, 3))]


def listing(form: Form, y: float) -> float:
    """Set a key with a list beside or below it."""
    rng, canvas, em = form.rng, form.canvas, form.em
    key = form.keys.next()
    text = form.key_text(key)
    printed = canvas.write(text, form.left, y, right=form.left + canvas.width * 0.5, face=form.key_face, role="key")
    beside = rng.random() < 0.6
    x = printed.right + em * rng.uniform(0.5, 4) if beside else form.left + em * rng.uniform(0, 4)
    at = printed.top if beside else printed.top + 1.5 * em
    kind = rng.choice(("person", "company", "phrase", "person", "address", "brand"))
    step = rng.uniform(1.2, 1.7) * max(em, form.value_face.size)
    bullet = rng.choice(("", "", "", "- ", "* ", "1"))
    columns = rng.choice((1, 1, 1, 2, 3)) if kind in ("person", "brand") else 1
    room = (form.right - x) / columns
    pieces: list[int] = []
    whole = printed.whole
    rows = rng.choice((2, 2, 3, 3, 4, 5, 6, 8, 10))
    for item in range(rows):
        head = f"{item + 1}. " if bullet == "1" else bullet
        bottom = at
        for column in range(columns):
            if column and item == rows - 1 and rng.random() < 0.4:
                break
            start = x + column * room
            written = form.write_value(head + value(rng, kind), start, at, start + room - 0.5 * em)
            pieces += written.pieces
            whole = whole and written.whole
            bottom = max(bottom, written.top - form.value_drop)
        at = bottom + step
    if whole and pieces:
        form.ask(text, pieces, key)
    return at - step


def write_note(form: Form, y: float) -> float:
    """Set a stamped or handwritten note at a free place; `y` is the position of the fields."""
    rng, canvas, em = form.rng, form.canvas, form.em
    x = form.left + (form.right - form.left) * rng.uniform(0.0, 0.75)
    key = rng.choice(_STAMPED)
    face = canvas.face.scale(rng.uniform(0.9, 1.3), bold=rng.random() < 0.5)
    printed = canvas.write(key, x, y, face=face, role="key")
    text = date(rng).upper() if rng.random() < 0.7 else person(rng)
    if rng.random() < 0.6:
        written = canvas.write(
            text, x + rng.uniform(-1, 2) * em, y + face.size * rng.uniform(1.15, 1.6), face=face, role="value"
        )
    else:
        written = canvas.write(text, printed.right + em * rng.uniform(0.4, 1.5), y, face=face, role="value")
    if written.whole and written.pieces and printed.whole:
        canvas.ask(questions.about(rng, key), written.pieces)
    return written.top


def address_block(form: Form, y: float) -> float:
    """Set a name and an address without keys."""
    rng, canvas, em = form.rng, form.canvas, form.em
    x = rng.choice((form.left, form.left + canvas.width * 0.3, form.left + canvas.width * 0.55))
    for line in (value(rng, "company"), *address_lines(rng)):
        y = canvas.write(line, x, y, right=form.right).top + 1.3 * em
    return y - 1.3 * em
