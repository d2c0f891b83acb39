"""Choices on a form: checkboxes, marked words and scales, as figures and as OCR sees them."""

from __future__ import annotations

from dataclasses import dataclass

from engine.synthetic import questions
from engine.synthetic.canvas import Figure
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.values import value
from engine.synthetic.vocabulary import phrase

# OCR of an empty and a ticked box; "" for nothing.
READ_AS = (("☐", "☑"), ("[]", "[X]"), ("()", "(X)"), ("", "X"), ("", "x"), ("", "X"), ("□", "☒"), ("", ""))
_SETS = (
    ("Yes", "No"), ("YES", "NO"), ("Male", "Female"), ("M", "F"), ("Single", "Married", "Divorced"), ("New", "Renewal"),
    ("Poor", "Fair", "Good", "Excellent"), ("Low", "Medium", "High"), ("Cash", "Check", "Credit card"), ("Approved", "Rejected"),
    ("Yes", "No", "N/A"), ("Full time", "Part time"), ("Daily", "Weekly", "Monthly"), ("Pass", "Fail"), ("Own", "Rent", "Other"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """Option with its label, its mark, and whether it is ticked."""

    label: str
    label_pieces: list[int]
    mark_pieces: list[int]
    figure: Figure | None
    ticked: bool


def choices(form: Form, y: float) -> float:
    """Set a key with options, one or several of them ticked."""
    rng, canvas, em = form.rng, form.canvas, form.em
    key = form.keys.next()
    text = form.key_text(key)
    printed = canvas.write(text, form.left, y, right=form.left + canvas.width * 0.45, face=form.key_face, role="key")
    labels = (
        rng.choice(_SETS)
        if rng.random() < 0.5
        else tuple(phrase(rng, 1, rng.choice((1, 1, 2, 3))) for _ in range(rng.randint(2, 5)))
    )
    below, upright = rng.random() < 0.25, rng.random() < 0.25
    x = form.left + em * 1.5 if below else printed.right + em * rng.uniform(0.6, 3)
    top = printed.top + 1.6 * em if below else printed.top
    read_as = rng.choice(READ_AS)
    shape = rng.choice(("box", "box", "box", "line", "round")) if read_as[0] else rng.choice(("box", "line", "line"))
    left_of_label = rng.random() < 0.65
    some = rng.random() < 0.1
    picked = rng.randrange(len(labels)) if rng.random() > form.blank * 0.6 else -1
    home, set_choices = x, []
    for at, label in enumerate(labels):
        ticked = at == picked or (some and rng.random() < 0.3)
        if at and (upright or x + form.key_face.width(label) + 4 * em > form.right):
            x, top = home, top + 1.5 * em
        if left_of_label:
            figure, mark, x = mark_box(form, x, top, shape, ticked, read_as)
            written = canvas.write(label, x + 0.35 * em, top, face=form.key_face, right=form.right)
            x = written.right
        else:
            written = canvas.write(label, x, top, face=form.key_face, right=form.right)
            figure, mark, x = mark_box(form, written.right + em * rng.uniform(0.3, 0.7), top, shape, ticked, read_as)
        if not written.whole:
            return top
        set_choices.append(Choice(label, written.pieces, mark, figure, ticked))
        x += em * rng.uniform(0.8, 3)
    _ask(form, text, set_choices)
    return top


def mark_box(
    form: Form, x: float, y: float, shape: str, ticked: bool, read_as: tuple[str, str]
) -> tuple[Figure, list[int], float]:
    """Draw a box at (x, y); return it, its OCR pieces, and where it ends."""
    em = form.em
    width = em * (1.6 if shape == "line" else 0.78)
    box = (x, y, x + width, y + 0.78 * em)
    figure = form.canvas.figure(f"tick-{shape}", box, ticked=ticked)
    text = read_as[ticked]
    pieces = []
    if text:
        inside = form.key_face.width(text)
        middle = (box[0] + box[2]) / 2
        seen = box if text in "☐☑□☒" else (middle - inside / 2, y, middle + inside / 2, y + 0.9 * em)
        pieces.append(form.canvas.read_only(text, seen))
    return figure, pieces, box[2]


def _ask(form: Form, key: str, set_choices: list[Choice]) -> None:
    rng, canvas = form.rng, form.canvas
    ticked = [choice for choice in set_choices if choice.ticked]
    figures = [choice.figure for choice in ticked if choice.figure]
    if len(ticked) == 1:
        only = ticked[0]
        asked = key.strip(" :.…_-#?")
        ask = (
            questions.about(rng, key)
            if rng.random() < 0.7
            else rng.choice(
                (
                    f"Which option is ticked for {asked}?",
                    f"What is selected under {asked}?",
                    f"Which box is checked for {asked}?",
                )
            )
        )
        if rng.random() < 0.75:
            both = only.mark_pieces + only.label_pieces
            canvas.ask(ask, both, only.label_pieces, figures=figures, region_type="checkbox")
    elif not ticked:
        canvas.ask(questions.about(rng, key))
    for choice in set_choices:
        if rng.random() >= 0.35 or choice.figure is None:
            continue
        label = choice.label
        question = (
            questions.about(rng, label)
            if rng.random() < 0.6
            else rng.choice(
                (f"Is {label} ticked?", f"{label} checkbox", f"Where is the box for {label}?", f"box next to {label}")
            )
        )
        if choice.ticked or "box" in question:
            canvas.ask(question, choice.mark_pieces, figures=[choice.figure], region_type="checkbox")


def scale(form: Form, y: float) -> float:
    """Set rows of keys, each marked on the same short scale."""
    rng, canvas, em = form.rng, form.canvas, form.em
    labels = rng.choice([labels for labels in _SETS if len(labels) > 2])
    read_as = rng.choice(READ_AS[2:7])
    shape = rng.choice(("line", "box"))
    bottom = y
    start = form.left + canvas.width * rng.uniform(0.28, 0.4)
    room = (form.right - start) / len(labels)
    for _ in range(rng.randint(2, 4)):
        key = form.keys.next()
        text = form.key_text(key)
        printed = canvas.write(text, form.left, y, right=start - em, face=form.key_face, role="key")
        picked = rng.randrange(len(labels))
        row = []
        for at, label in enumerate(labels):
            figure, mark, x = mark_box(form, start + at * room, y, shape, at == picked, read_as)
            written = canvas.write(label, x + 0.3 * em, y, face=form.key_face, right=start + (at + 1) * room - 0.2 * em)
            if not written.whole:
                return bottom
            row.append(Choice(label, written.pieces, mark, figure, at == picked))
        only = row[picked]
        if printed.whole:
            canvas.ask(
                questions.about(rng, text),
                only.mark_pieces + only.label_pieces,
                only.label_pieces,
                figures=[only.figure] if only.figure else [],
                region_type="checkbox",
            )
        bottom = max(printed.top, y)
        y = bottom + form.step
    return bottom


def checklist(form: Form, y: float) -> float:
    """Set a block of labels in columns with marks; many are marked."""
    rng, canvas, em = form.rng, form.canvas, form.em
    if rng.random() < 0.5:
        y = (
            canvas.write(
                form.key_text(form.keys.next()), form.left, y, right=form.right, face=form.key_face, role="key"
            ).top
            + 1.6 * em
        )
    columns, rows = rng.randint(1, 4), rng.randint(2, 9)
    room = min((form.right - form.left) / columns, em * rng.uniform(12, 22))
    step = rng.uniform(1.3, 1.9) * em
    read_as = rng.choice(READ_AS)
    shape = rng.choice(("box", "line", "none" if read_as[1] else "box"))
    left_of_label, marked = rng.random() < 0.6, rng.uniform(0.2, 0.9)
    first = len(canvas.asked)
    mark_room = em * (1.8 if shape == "line" else 1.1)
    for column in range(columns):
        for row in range(rows):
            x, top = form.left + column * room, y + row * step
            if top + 2 * em > canvas.height:
                break
            label = form.case(phrase(rng, 1, rng.choice((1, 1, 2, 2, 3))))
            ticked = rng.random() < marked
            label_x = x + mark_room + 0.4 * em if left_of_label else x
            right = x + room - 0.6 * em - (0 if left_of_label else mark_room + em)
            written = canvas.write_fitted(label, label_x, top, right, face=form.key_face)
            mark_x = x if left_of_label else written.right + em * rng.uniform(0.3, 0.8)
            if shape == "none":
                figures, mark = [], form.write_value(read_as[1], mark_x, top, mark_x + 3 * em).pieces if ticked else []
            else:
                figure, mark, _ = mark_box(form, mark_x, top, shape, ticked, read_as)
                figures = [figure]
            if ticked and (mark or figures):
                canvas.ask(
                    questions.about(rng, label), mark, figures=figures, region_type="checkbox" if figures else None
                )
    if len(canvas.asked) - first > 5:
        canvas.asked[first:] = rng.sample(canvas.asked[first:], 5)
    return y + (rows - 1) * step


def marked_words(form: Form, y: float) -> float:
    """Set keys on a line, some with an X or a short value directly after them."""
    rng, canvas, em = form.rng, form.canvas, form.em
    x = form.left
    for _ in range(rng.randint(2, 4)):
        key = form.keys.next()
        text = form.key_text(key)
        if x + form.key_face.width(text) + 5 * em > form.right:
            break
        printed = canvas.write(text, x, y, face=form.key_face, right=form.right, role="key")
        x = printed.right
        if rng.random() < 0.6:
            kind = "mark" if rng.random() < 0.6 else "number"
            written = form.write_value(value(rng, kind), x + em * rng.uniform(0.4, 1.0), y, form.right)
            if written.whole and written.pieces:
                form.ask(text, written.pieces, key)
            x = written.right
        else:
            form.ask(text, [], key)
        x += em * rng.uniform(1.5, 4)
    return y
