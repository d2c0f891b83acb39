"""Pages of tables: lists, statistics and measurements, with a title and sometimes a note."""

from __future__ import annotations

import random

from engine.synthetic.canvas import Canvas
from engine.synthetic.draft import Draft, body_face, page_width
from engine.synthetic.kinds import grid
from engine.synthetic.kinds.forms import fields
from engine.synthetic.kinds.forms.style import absent_question, sample_form
from engine.synthetic.marks import ask_for_tables, ornament
from engine.synthetic.vocabulary import phrase


def lay_out(rng: random.Random) -> Draft:
    """Lay out one to three tables, portrait or landscape."""
    width = page_width(rng)
    across = rng.random() < 0.3
    height = width * (rng.uniform(0.66, 0.8) if across else rng.uniform(1.0, 1.36))
    canvas = Canvas(width, height, rng, body_face(rng, width / rng.uniform(56, 90)))
    form = sample_form(rng, canvas)
    # A printed table has one face throughout.
    if rng.random() < 0.7:
        form.value_face, form.lower_baseline = canvas.face, 0.0
    em = canvas.face.size
    y = height * rng.uniform(0.03, 0.08)
    for _ in range(rng.randint(1, 3)):
        title = canvas.face.scale(rng.uniform(1.0, 1.6), bold=rng.random() < 0.6)
        text = phrase(rng, 2, 7)
        written = (
            canvas.write_centre(text, y, face=title, role="heading")
            if rng.random() < 0.5
            else canvas.write(text, form.left, y, face=title, role="heading")
        )
        y = written.top + 2.4 * title.size
        y = grid.table(form, y, most_questions=14, rows=rng.randint(2, 14)) + 2.5 * em
        if rng.random() < 0.3:
            y = fields.paragraph(form, y) + 2.5 * em
        if rng.random() < 0.3:
            y = fields.row_of_fields(form, y, 2, below=False) + 2.5 * em
        if y > height * 0.7:
            break
    ornament(canvas, y)
    ask_for_tables(canvas)
    return Draft(canvas, lambda: absent_question(form))
