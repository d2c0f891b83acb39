"""Entries of a page: a key with a concept, and its value right, far right, below, above or in a box.

Like the fields of forms, each function sets text at `y` and returns the top of the last line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from engine.synthetic import questions
from engine.synthetic.canvas import Face, Written
from engine.synthetic.concepts import CONCEPTS, Concept
from engine.synthetic.draft import vary_case
from engine.synthetic.kinds.forms.lists import write_lines
from engine.synthetic.kinds.forms.style import Form, NotedValue
from engine.synthetic.vocabulary import words

_AMOUNT = re.compile(r"\d[.,]\d\d\b")

# right: after the key; aligned: values in one column; far: at the right edge; below: under the key; line: on a printed
# line, the key under it.
Place = Literal["right", "aligned", "far", "below", "line"]

_SAME: dict[str, list[Concept]] = {}
for _concept in CONCEPTS:
    for _said in _concept.printed + _concept.asked:
        _SAME.setdefault(_said, []).append(_concept)


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry: `lines` are the value's lines, empty for a blank."""

    concept: Concept
    lines: tuple[str, ...]


def mark_answered(form: Form, concept: Concept) -> None:
    """Record that the page answers a concept, so that no negative question asks for it."""
    form.keys.concepts.add(concept)
    for phrasing in concept.printed + concept.asked:
        form.keys.concepts.update(_SAME.get(phrasing, ()))
        form.keys.used.add(phrasing)


def absent(form: Form, concepts: Sequence[Concept]) -> str:
    """Return a negative question, about one of the kind's own concepts or about any key."""
    rng = form.rng
    missing = [
        concept
        for concept in concepts
        if concept not in form.keys.concepts and form.keys.used.isdisjoint(concept.printed + concept.asked)
    ]
    draw = rng.random()
    if missing and draw < 0.6:
        concept = rng.choice(missing)
        return questions.about(rng, vary_case(rng, rng.choice(concept.printed)), concept, synonyms=0.4)
    if draw < 0.9:
        key = form.keys.absent()
        return questions.about(rng, vary_case(rng, key.text), key.concept)
    return questions.about(rng, vary_case(rng, " ".join(words(rng, 1, 3))))


def set_entry(
    form: Form, entry: Entry, x: float, y: float, right: float, place: Place = "right", value_x: float = 0.0
) -> float:
    """Set one entry between `x` and `right`; `value_x` is the start of aligned values."""
    rng, canvas, em = form.rng, form.canvas, form.em
    concept = entry.concept
    mark_answered(form, concept)
    key = form.case(rng.choice(concept.printed))
    if place == "line":
        return _on_a_line(form, entry, key, x, y, right)
    limit = right if place == "below" else x + 0.66 * (right - x)
    printed = canvas.write(key + form.ending, x, y, right=limit, face=form.key_face, role="key")
    if not entry.lines:
        canvas.ask(questions.about(rng, key, concept))
        return printed.top + (1.3 * em if place == "below" else 0.0)
    start, top = printed.right + 0.6 * em, printed.top
    face = form.value_face
    # Handwriting has more space between words than type.
    widest = max(face.width(line) + 0.7 * face.space * len(line.split()) * (face.shake > 0) for line in entry.lines) + 1
    if place == "aligned":
        start = max(start, value_x)
    elif place == "far":
        start = max(start, right - widest)
    if place == "below" or (start + widest > right and right - start < min(12 * em, 0.6 * (right - x))):
        start, top = x + (0.0 if place == "below" else 1.2 * em), printed.top + 1.4 * em
    written = write_lines(form, list(entry.lines), start, top, right, step=1.35 * form.value_face.size)
    if printed.whole:
        _note_written(form, key, concept, written)
    return max(written.top, printed.top)


def note(form: Form, key: str, concept: Concept, pieces: list[int]) -> None:
    """Record the value of a key, for the questions of `settle`."""
    mark_answered(form, concept)
    if pieces:
        form.noted.append(NotedValue(key, concept, pieces))


def ask_noted(form: Form, *, synonyms: float = 0.4) -> None:
    """Ask questions on all recorded entries; `synonyms`: share asked in other words.

    Values of one concept on several places are alternative answers when equal. Otherwise only different printed keys
    can separate them.
    """
    rng, canvas = form.rng, form.canvas
    places: dict[Concept, list[tuple[str, str, list[int]]]] = {}
    for noted in form.noted:
        text = "".join(canvas.pieces[at].text for at in noted.pieces)
        if _AMOUNT.search(text):  # the same amount with and without a currency
            text = "".join(sign for sign in text if sign.isdigit())
        places.setdefault(noted.concept, []).append((text.lower(), noted.key.lower(), noted.pieces))
    for noted, same in ((noted, places[noted.concept]) for noted in form.noted):
        (value,) = (value for value, _, pieces in same if pieces is noted.pieces)
        if len({text for text, _, _ in same}) == 1:
            answers = [noted.pieces, *(pieces for _, _, pieces in same if pieces is not noted.pieces)]
            canvas.ask(questions.about(rng, noted.key, noted.concept, synonyms=synonyms), *answers[:4])
        elif not any(key == noted.key.lower() and text != value for text, key, _ in same):
            canvas.ask(questions.about(rng, noted.key), noted.pieces)
    form.noted.clear()


def _note_written(form: Form, key: str, concept: Concept, written: Written) -> None:
    if written.whole:
        note(form, key, concept, written.pieces)


def _on_a_line(form: Form, entry: Entry, key: str, x: float, y: float, right: float) -> float:
    rng, canvas, em = form.rng, form.canvas, form.em
    size = max(em, form.value_face.size)
    top, written = y, None
    if entry.lines:
        wide = form.value_face.width(entry.lines[0])
        start = max(x, min((x + right - wide) / 2, right - wide)) if rng.random() < 0.5 else x + 0.5 * em
        written = write_lines(form, list(entry.lines), start, y, right, step=1.35 * form.value_face.size)
        top = written.top
    line_y = top + 1.12 * size
    canvas.rule(x, line_y, right, line_y)
    small = form.key_face.scale(0.85, bold=False)
    shown = f"({key})" if rng.random() < 0.2 else key
    printed = canvas.write(shown, x, line_y + 0.35 * em, right=right, face=small, role="key")
    if written is None:
        canvas.ask(questions.about(rng, key, entry.concept))
    elif printed.whole:
        _note_written(form, key, entry.concept, written)
    return printed.top


def set_in_one_column(form: Form, entries: Sequence[Entry], x: float, y: float, right: float, place: Place) -> float:
    """Set entries one under the other."""
    return set_in_columns(form, entries, x, y, right, place, 1)


def set_in_columns(
    form: Form, entries: Sequence[Entry], x: float, y: float, right: float, place: Place, columns: int
) -> float:
    """Set entries in rows of `columns`; values of a column are aligned on request."""
    em = form.em
    gap = 1.5 * em if columns > 1 else 0.0
    width = (right - x + gap) / columns
    share = form.rng.uniform(0.36, 0.5)
    bottom, top = y, y
    for start in range(0, len(entries), columns):
        for column, entry in enumerate(entries[start : start + columns]):
            left = x + column * width
            end = left + width - gap
            bottom = max(bottom, set_entry(form, entry, left, top, end, place, left + share * (end - left)))
        top = bottom + form.step * (1.15 if place in ("below", "line") else 1.0)
    return bottom


def set_in_boxes(
    form: Form, rows: Sequence[Sequence[tuple[Entry, float]]], y: float, *, tallest: float = 0.0, frame: float = 1.0
) -> float:
    """Set rows of framed cells with a small key in the corner of each; return the foot of the last row.

    Each entry has its share of the row's width; `tallest`: least height of a row in ems.
    """
    rng, canvas, em = form.rng, form.canvas, form.em
    small = form.key_face.scale(rng.uniform(0.72, 0.85), bold=form.key_face.bold and rng.random() < 0.5)
    for row in rows:
        whole = sum(share for _, share in row)
        x, foot, edges = form.left, y + tallest * em, []
        for entry, share in row:
            right = x + (form.right - form.left) * share / whole
            edges.append((x, right))
            foot = max(foot, _in_a_box(form, entry, x, y, right, small) + 0.5 * em)
            x = right
        for left, right in edges:
            canvas.frame((left, y, right, foot), frame)
        y = foot
    return y


def _in_a_box(form: Form, entry: Entry, x: float, y: float, right: float, small: Face) -> float:
    """Set key and value of a cell; return the foot of its last line."""
    rng, canvas, em = form.rng, form.canvas, form.em
    mark_answered(form, entry.concept)
    key = form.case(rng.choice(entry.concept.printed))
    printed = canvas.write(
        key, x + 0.35 * em, y + 0.3 * em, right=right - 0.3 * em, face=small, leading=1.15, role="key"
    )
    foot = printed.top + small.size
    if not entry.lines:
        canvas.ask(questions.about(rng, key, entry.concept))
        return foot + 1.1 * em
    start = x + 0.55 * em if right - x < 12 * em else x + em * rng.uniform(0.5, 1.2)
    size = form.value_face.size
    written = write_lines(
        form, list(entry.lines), start, foot + 0.3 * em - min(0.0, form.value_drop), right - 0.3 * em, step=1.3 * size
    )
    if printed.whole:
        _note_written(form, key, entry.concept, written)
    return written.top + 0.95 * size
