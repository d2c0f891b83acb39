"""Forms: noisy office and laboratory forms, typed or handwritten."""

from __future__ import annotations

import random
from dataclasses import replace

from engine.synthetic.canvas import Canvas
from engine.synthetic.draft import Draft, body_face, page_width
from engine.synthetic.kinds import grid
from engine.synthetic.kinds.forms import choices, fields, lists, long_text
from engine.synthetic.kinds.forms.style import Form, absent_question, sample_form
from engine.synthetic.marks import ask_for_tables, ornament
from engine.synthetic.ocr import Reading
from engine.synthetic.values import code
from engine.synthetic.vocabulary import phrase


def lay_out(rng: random.Random) -> Draft:
    """Lay out a form of blocks from top to bottom, of random length."""
    width = page_width(rng)
    height = width * rng.uniform(1.25, 1.36)
    canvas = Canvas(width, height, rng, body_face(rng, width / rng.uniform(42, 74)))
    form = sample_form(rng, canvas)
    em = canvas.face.size
    y = height * rng.uniform(0.015, 0.09)
    if rng.random() < 0.8:
        face = canvas.face.scale(rng.uniform(1.0, 1.9), bold=rng.random() < 0.6)
        y = canvas.write_centre(phrase(rng, 2, 7), y, face=face, role="heading").top + face.size * rng.uniform(1.5, 2.5)
        if rng.random() < 0.3:
            y = canvas.write_centre(phrase(rng, 2, 6), y, role="heading").top + 2 * em
    if rng.random() < 0.12:
        y = lists.address_block(form, y) + 2 * em
    mode = rng.choice(("free", "free", "free", "aligned", "aligned", "framed", "below"))
    columns = rng.choice((1, 1, 2, 2, 3))
    foot = height * rng.triangular(0.18, 0.95, 0.6)
    while y < foot:
        state = canvas.state()
        bottom = _block(form, y, mode, columns)
        if canvas.collides(state[0]):
            canvas.back_to(state)
            y += 0.2 * em
        else:
            y = bottom + form.step * rng.uniform(0.9, 1.3)
    if rng.random() < 0.12:
        canvas.frame((0.4 * form.left, 0.01 * height, width - 0.4 * form.left, min(y + 2 * em, 0.985 * height)), 2)
    if rng.random() < 0.4:
        state = canvas.state()
        canvas.write(code(rng), width * rng.uniform(0.7, 0.85), height - 2 * em)
        if canvas.collides(state[0]):
            canvas.back_to(state)
    if rng.random() < 0.25:
        number = "".join(rng.choice("0123456789") for _ in range(8))
        canvas.write_upwards(
            number, width - 1.3 * em, height * rng.uniform(0.4, 0.9), face=canvas.face.scale(1.2, bold=True)
        )
    if rng.random() < 0.25:
        state = canvas.state()
        lists.write_note(form, height * rng.uniform(0.03, 0.9))
        if canvas.collides(state[0]):
            canvas.back_to(state)
    ornament(canvas, y + em)
    ask_for_tables(canvas)
    # OCR of old forms often splits dates, initials and numbers at their signs. Boxes are uneven, too: typed below the
    # line, stamped over it, corrected by hand.
    reading = replace(
        Reading.sample(rng),
        splits=rng.choice((0.0, 0.0, 0.3, 0.8, 0.9, 1.0)),
        jitter=rng.uniform(0.0, 0.16),
    )
    return Draft(canvas, lambda: absent_question(form), reading)


def _block(form: Form, y: float, mode: str, columns: int) -> float:
    rng = form.rng
    draw = rng.random()
    if draw < 0.03:
        return fields.paragraph(form, y)
    if draw < 0.07:
        return fields.section_title(form, y)
    if draw < 0.125:
        return grid.table(form, y, most_questions=3)
    if draw < 0.19:
        return choices.choices(form, y)
    if draw < 0.2:
        return choices.scale(form, y)
    if draw < 0.215:
        return choices.checklist(form, y)
    if draw < 0.235:
        return choices.marked_words(form, y)
    if draw < 0.28:
        return lists.listing(form, y)
    if draw < 0.31:
        return fields.sentence_with_blanks(form, y)
    if draw < 0.34:
        return fields.signed_line(form, y)
    if draw < 0.44:
        return long_text.headed_text(form, y)
    if draw < 0.47:
        return fields.twin_sections(form, y)
    if (mode == "framed" and draw < 0.9) or draw < 0.51:
        return fields.framed_fields(form, y)
    if mode == "aligned" or draw < 0.61:
        return fields.aligned_fields(form, y, columns)
    return fields.row_of_fields(form, y, columns, below=(mode == "below" and rng.random() < 0.8) or rng.random() < 0.06)
