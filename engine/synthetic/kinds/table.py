"""Pages of tables: lists, statistics and measurements, with a title and sometimes a note."""

from __future__ import annotations

import random

from engine.synthetic.draft import Draft, body_face, page_width
from engine.synthetic.kinds import grid
from engine.synthetic.kinds.forms import fields
from engine.synthetic.kinds.forms.style import absent_question, drawn_form
from engine.synthetic.marks import ask_for_tables, ornament
from engine.synthetic.sheet import Sheet
from engine.synthetic.vocabulary import phrase


def lay_out(chance: random.Random) -> Draft:
    """Lay out one to three tables, portrait or landscape."""
    width = page_width(chance)
    across = chance.random() < 0.3
    height = width * (chance.uniform(0.66, 0.8) if across else chance.uniform(1.0, 1.36))
    sheet = Sheet(width, height, chance, body_face(chance, width / chance.uniform(56, 90)))
    form = drawn_form(chance, sheet)
    # A printed table has one face throughout.
    if chance.random() < 0.7:
        form.value_face, form.lower_baseline = sheet.face, 0.0
    em = sheet.face.size
    y = height * chance.uniform(0.03, 0.08)
    for _ in range(chance.randint(1, 3)):
        title = sheet.face.scaled(chance.uniform(1.0, 1.6), bold=chance.random() < 0.6)
        text = phrase(chance, 2, 7)
        written = (
            sheet.write_centre(text, y, face=title, role="heading")
            if chance.random() < 0.5
            else sheet.write(text, form.left, y, face=title, role="heading")
        )
        y = written.top + 2.4 * title.size
        y = grid.table(form, y, most_questions=14, rows=chance.randint(2, 14)) + 2.5 * em
        if chance.random() < 0.3:
            y = fields.paragraph(form, y) + 2.5 * em
        if chance.random() < 0.3:
            y = fields.row_of_fields(form, y, 2, below=False) + 2.5 * em
        if y > height * 0.7:
            break
    ornament(sheet, y)
    ask_for_tables(sheet)
    return Draft(sheet, lambda: absent_question(form))
