"""Fields of a form: a key with its value right of it, below, in a frame, above, or in a sentence.

Each block sets text at `y` and returns the top of the last line.
"""

from __future__ import annotations

import itertools

from engine.synthetic import questions
from engine.synthetic.kinds.forms import lists
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.values import person, value
from engine.synthetic.vocabulary import phrase, sentence, words


def field(
    form: Form,
    x: float,
    y: float,
    right: float,
    *,
    below: bool = False,
    value_x: float | None = None,
    gap: float | None = None,
) -> float:
    """Set a key and its value between `x` and `right`."""
    rng, canvas, em = form.rng, form.canvas, form.em
    key = form.keys.next()
    text = form.key_text(key)
    printed = canvas.write(
        text, x, y, right=x + (right - x) * (0.97 if below else 0.68), face=form.key_face, role="key"
    )
    top = printed.top
    if rng.random() < form.blank:
        if form.underlined and not below and right - printed.right > 3 * em:
            canvas.rule(printed.right + 0.4 * em, top + 0.95 * em, right - em, top + 0.95 * em)
        form.ask(text, [], key)
        return top + (1.4 * em if below else 0.0)
    if below:
        shift = rng.uniform(0, 1.2) * em if rng.random() < 0.5 else 0.0
        start, at = x + shift, top + form.key_face.size * rng.uniform(1.1, 1.9)
        hang = None
    else:
        distance = (
            gap if gap is not None else em * (rng.uniform(0.3, 2.2) if rng.random() < 0.8 else rng.uniform(2.2, 6))
        )
        start = value_x if value_x is not None and value_x > printed.right + 0.3 * em else printed.right + distance
        if start > right - 3 * em:
            start = printed.right + 0.5 * em
        at = top
        hang = x if rng.random() < 0.35 else None
    stacked = key.kind in ("person", "company", "address") and right - start > 10 * em and rng.random() < 0.15
    if stacked:
        written = lists.write_lines(form, lists.name_and_address(rng), start, at, right)
    else:
        written = form.write_value(form.value_text(key.kind, right - start), start, at, right, hang)
    if form.underlined and written.pieces and not below:
        canvas.rule(
            start - 0.2 * em, written.top + 0.98 * em, max(written.right + em, right - em), written.top + 0.98 * em
        )
    if written.whole and printed.whole and written.pieces and printed.pieces:
        form.ask(text, written.pieces, key)
        if rng.random() < 0.04 and not below and written.right < right - 8 * em:
            # Printed hint or unit that is not part of the value.
            canvas.write(
                f"({' '.join(words(rng, 1, 2))})",
                written.right + em * rng.uniform(0.5, 1.5),
                written.top,
                face=form.key_face,
                right=right,
            )
    return max(top, written.top)


def row_of_fields(form: Form, y: float, columns: int, below: bool) -> float:
    """Set one to three fields side by side."""
    rng = form.rng
    count = rng.randint(1, columns)
    width = (form.right - form.left) / count
    bottom = y
    for at in range(count):
        x = form.left + at * width
        bottom = max(bottom, field(form, x, y, x + width - form.em * 0.8, below=below))
    return bottom


def aligned_fields(form: Form, y: float, columns: int) -> float:
    """Set fields one under the other with aligned values, sometimes in two columns."""
    rng, em = form.rng, form.em
    side_by_side = 2 if columns > 1 and rng.random() < 0.45 else 1
    width = (form.right - form.left) / side_by_side
    deepest = y
    rows = rng.randint(2, 6)
    for column in range(side_by_side):
        x = form.left + column * width
        right = x + width - em * 0.8 if side_by_side > 1 or rng.random() < 0.6 else x + width * 0.65
        value_x = x + (right - x) * rng.uniform(0.15, 0.45)
        at = y
        for row in range(rows):
            bottom = field(form, x, at, right, value_x=value_x)
            deepest = max(deepest, bottom)
            at = bottom + form.step if side_by_side == 1 else max(bottom + form.step * 0.8, y + (row + 1) * form.step)
    return deepest


def framed_fields(form: Form, y: float) -> float:
    """Set rows of framed cells with a small key in the corner and the value under or beside it."""
    rng, canvas, em = form.rng, form.canvas, form.em
    small = form.key_face.scale(rng.uniform(0.6, 0.95), bold=False)
    beside = rng.random() < 0.3
    height = em * rng.uniform(1.7, 2.4) if beside else em * rng.uniform(2.5, 3.6) + 0.6 * (form.value_face.size - em)
    framed = rng.random() < 0.85
    for _ in range(rng.randint(1, 5)):
        if y + height > canvas.height - em:
            break
        count = rng.choice((1, 2, 2, 3, 3, 4))
        cuts = (
            sorted(rng.uniform(0.15, 0.85) for _ in range(count - 1))
            if rng.random() < 0.4
            else [n / count for n in range(1, count)]
        )
        edges = [form.left + (form.right - form.left) * cut for cut in (0.0, *cuts, 1.0)]
        for x, right in itertools.pairwise(edges):
            if framed:
                canvas.frame((x, y, right, y + height))
            if right - x < 5 * em:
                continue
            key = form.keys.next()
            text = form.key_text(key)
            printed = canvas.write(text, x + 0.35 * em, y + 0.25 * em, right=right - 0.3 * em, face=small, role="key")
            if rng.random() < form.blank or (
                printed.top + small.size * 1.2 + form.value_face.size > y + height and not beside
            ):
                form.ask(text, [], key)
                continue
            if beside:
                written = form.write_value(form.value_text(key.kind, 0), printed.right + 0.6 * em, printed.top, right)
            else:
                top = printed.top + small.size * rng.uniform(1.15, 1.4)
                start = x + em * rng.choice((0.5, 0.8, 2.0))
                start = start if right - start > 4 * em else x + 0.4 * em
                room = right - start if height > 4 * em else 0
                written = form.write_value(form.value_text(key.kind, room), start, top, right - 0.2 * em)
            if written.pieces and written.whole:
                form.ask(text, written.pieces, key)
        y += height + (0.0 if framed else 0.3 * em)
    return y - 0.5 * em


def signed_line(form: Form, y: float) -> float:
    """Set names, signatures and dates on a line with their keys below."""
    rng, canvas, em = form.rng, form.canvas, form.em
    count = rng.randint(1, 3)
    width = (form.right - form.left) / count
    bottom = y
    for at in range(count):
        x = form.left + at * width
        key = form.keys.next()
        text = rng.choice(
            (
                key.text,
                key.text,
                "signature",
                "authorized signature",
                "date",
                "name and title",
                "signature of applicant",
            )
        )
        shown = form.case(text)
        if rng.random() < 0.4:
            shown = f"({shown})"
        line_y = y + 1.6 * em
        canvas.rule(x, line_y, x + width * 0.85, line_y)
        printed = canvas.write(
            shown,
            x + em * rng.uniform(0, 1.5),
            line_y + 0.3 * em,
            right=x + width * 0.95,
            face=form.key_face,
            role="key",
        )
        bottom = max(bottom, printed.top)
        if rng.random() < form.blank:
            form.ask(shown.strip("()"), [])
        elif "sign" in text or ("name" in text and rng.random() < 0.3):
            sign(form, shown.strip("()"), x + em, line_y - em * 1.2, width * rng.uniform(0.4, 0.7))
        else:
            kind = "date" if "date" in text else rng.choice(("person", "date", "person", "phrase"))
            written = form.write_value(value(rng, kind), x + em * rng.uniform(0, 2), y + 0.4 * em, x + width * 0.9)
            if written.pieces and written.whole and written.top < line_y:
                form.ask(shown.strip("()"), written.pieces)
    return bottom


def sign(form: Form, key: str, x: float, y: float, width: float) -> None:
    """Draw a signature at (x, y), its vertical centre, with its question."""
    rng, em = form.rng, form.em
    height = em * rng.uniform(1.8, 3.2)
    ink = rng.choice(((15, 15, 20), (20, 30, 120), (40, 40, 45)))
    figure = form.canvas.figure(
        "signature", (x, y - height / 2, x + max(width, 4 * em), y + height / 2), person(rng), ink=ink
    )
    question = rng.choice(
        (
            questions.about(rng, key),
            questions.about(rng, key),
            "Where is the signature?",
            "signature",
            "Who signed this?",
            "Is there a signature?",
        )
    )
    form.canvas.ask(question, figures=[figure], region_type="signature")


def sentence_with_blanks(form: Form, y: float) -> float:
    """Set a printed sentence with filled-in blanks."""
    rng, canvas, em = form.rng, form.canvas, form.em
    x = form.left
    for _ in range(rng.randint(1, 4)):
        text = " ".join(words(rng, 1, 6))
        printed = canvas.write(text, x, y, right=form.right, face=form.key_face, hang=form.left, role="key")
        kind = rng.choice(("person", "city", "date", "number", "company", "state", "money"))
        written = form.write_value(
            value(rng, kind), printed.right + em * rng.uniform(0.4, 1.2), printed.top, form.right, hang=form.left
        )
        x, y = written.right + em * rng.uniform(0.4, 1.5), written.top
        if printed.whole and written.whole and written.pieces:
            form.ask(text, written.pieces)
    if rng.random() < 0.5:
        y = canvas.write(" ".join(words(rng, 2, 8)), x, y, right=form.right, face=form.key_face, hang=form.left).top
    return y


def twin_sections(form: Form, y: float) -> float:
    """Set two blocks with equal keys side by side, distinguished by their titles only."""
    rng, canvas, em = form.rng, form.canvas, form.em
    titles = rng.choice(
        (
            ("billing", "shipping"),
            ("sender", "receiver"),
            ("buyer", "seller"),
            ("applicant", "spouse"),
            ("present", "previous"),
            ("owner", "tenant"),
            ("from", "to"),
            tuple(words(rng, 2, 2)),
        )
    )
    keys = [form.keys.next() for _ in range(rng.randint(2, 4))]
    answers_by_key: dict[str, list[list[int]]] = {}
    width = (form.right - form.left) / 2
    deepest = y
    stacked = rng.random() < 0.3
    top = y
    for column, name in enumerate(titles):
        x = form.left if stacked else form.left + column * width
        right = form.right if stacked else x + width - em
        heading = form.case(rng.choice((name, f"{name} details", f"{name} information", name)))
        canvas.write(heading, x, top, right=right, face=form.key_face.scale(1.1, bold=True), role="heading")
        at = top + 1.8 * em
        for key in keys:
            text = form.key_text(key)
            printed = canvas.write(text, x, at, right=x + (right - x) * 0.6, face=form.key_face, role="key")
            written = form.write_value(
                form.value_text(key.kind, right - printed.right), printed.right + 0.7 * em, printed.top, right
            )
            shape = rng.choice(
                (
                    "{section} {key}",
                    "{key} of the {section}",
                    "{key} ({section})",
                    "{section}: {key}",
                    "{key} under {section}",
                )
            )
            if written.whole and written.pieces and rng.random() < 0.7:
                asked = shape.format(section=name, key=text.strip(" :.…_-#?"))
                canvas.ask(questions.around(rng, asked), written.pieces)
            if written.whole and written.pieces:
                answers_by_key.setdefault(key.text, []).append(written.pieces)
            at = max(written.top, printed.top) + form.step * 0.85
        deepest = max(deepest, at - form.step * 0.85)
        if stacked:
            top = at + 0.6 * em
    for text, answers in answers_by_key.items():
        if len(answers) == len(titles) and rng.random() < 0.35:
            canvas.ask(questions.about(rng, text), *answers)
    return deepest


def paragraph(form: Form, y: float) -> float:
    """Set a paragraph of text."""
    body = " ".join(sentence(form.rng) for _ in range(form.rng.randint(1, 3)))
    face = form.canvas.face.scale(form.rng.uniform(0.8, 1.0))
    return form.canvas.write(body, form.left, y, right=form.right, face=face).top


def section_title(form: Form, y: float) -> float:
    """Set the title of a section."""
    rng = form.rng
    text = rng.choice(("", "", "", "A. ", "II. ", "PART 1 ", "1. ")) + phrase(rng, 1, 5)
    face = form.canvas.face.scale(rng.uniform(1.0, 1.3), bold=rng.random() < 0.6)
    if rng.random() < 0.3:
        return form.canvas.write_centre(text, y, face=face, role="heading").top
    return form.canvas.write(text, form.left, y, right=form.right, face=face, role="heading").top
