"""Forms: noisy office and laboratory forms, typed or handwritten."""

from __future__ import annotations

import random
from dataclasses import replace

from engine.synthetic.draft import Draft, body_face, page_width
from engine.synthetic.kinds import grid
from engine.synthetic.kinds.forms import choices, fields, lists, long_text
from engine.synthetic.kinds.forms.style import Form, absent_question, drawn_form
from engine.synthetic.marks import ask_for_tables, ornament
from engine.synthetic.ocr import Reading
from engine.synthetic.sheet import Sheet
from engine.synthetic.values import code
from engine.synthetic.vocabulary import phrase


def lay_out(chance: random.Random) -> Draft:
    """Lay out a form of blocks from top to bottom, of random length."""
    width = page_width(chance)
    height = width * chance.uniform(1.25, 1.36)
    sheet = Sheet(width, height, chance, body_face(chance, width / chance.uniform(42, 74)))
    form = drawn_form(chance, sheet)
    em = sheet.face.size
    y = height * chance.uniform(0.015, 0.09)
    if chance.random() < 0.8:
        face = sheet.face.scaled(chance.uniform(1.0, 1.9), bold=chance.random() < 0.6)
        y = sheet.write_centre(phrase(chance, 2, 7), y, face=face, role="heading").top + face.size * chance.uniform(
            1.5, 2.5
        )
        if chance.random() < 0.3:
            y = sheet.write_centre(phrase(chance, 2, 6), y, role="heading").top + 2 * em
    if chance.random() < 0.12:
        y = lists.address_block(form, y) + 2 * em
    mode = chance.choice(("free", "free", "free", "aligned", "aligned", "framed", "below"))
    columns = chance.choice((1, 1, 2, 2, 3))
    foot = height * chance.triangular(0.18, 0.95, 0.6)
    while y < foot:
        state = sheet.state()
        bottom = _block(form, y, mode, columns)
        if sheet.collides(state[0]):
            sheet.back_to(state)
            y += 0.2 * em
        else:
            y = bottom + form.step * chance.uniform(0.9, 1.3)
    if chance.random() < 0.12:
        sheet.frame((0.4 * form.left, 0.01 * height, width - 0.4 * form.left, min(y + 2 * em, 0.985 * height)), 2)
    if chance.random() < 0.4:
        state = sheet.state()
        sheet.write(code(chance), width * chance.uniform(0.7, 0.85), height - 2 * em)
        if sheet.collides(state[0]):
            sheet.back_to(state)
    if chance.random() < 0.25:
        number = "".join(chance.choice("0123456789") for _ in range(8))
        sheet.write_upwards(
            number, width - 1.3 * em, height * chance.uniform(0.4, 0.9), face=sheet.face.scaled(1.2, bold=True)
        )
    if chance.random() < 0.25:
        state = sheet.state()
        lists.noted(form, height * chance.uniform(0.03, 0.9))
        if sheet.collides(state[0]):
            sheet.back_to(state)
    ornament(sheet, y + em)
    ask_for_tables(sheet)
    # OCR of old forms often splits dates, initials and numbers at their signs. Boxes are uneven, too: typed below the
    # line, stamped over it, corrected by hand.
    reading = replace(
        Reading.drawn(chance),
        splits=chance.choice((0.0, 0.0, 0.3, 0.8, 0.9, 1.0)),
        jitter=chance.uniform(0.0, 0.16),
    )
    return Draft(sheet, lambda: absent_question(form), reading)


def _block(form: Form, y: float, mode: str, columns: int) -> float:
    chance = form.chance
    draw = chance.random()
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
    return fields.row_of_fields(
        form, y, columns, below=(mode == "below" and chance.random() < 0.8) or chance.random() < 0.06
    )
