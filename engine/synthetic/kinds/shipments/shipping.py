"""Shipping papers: delivery notes, packing lists, bills of lading, air waybills, customs declarations."""

from __future__ import annotations

import random

from engine.synthetic.draft import Draft
from engine.synthetic.kinds.amounts import Writing
from engine.synthetic.kinds.entries import absent
from engine.synthetic.kinds.paper import drawn_paper, finish
from engine.synthetic.kinds.shipments import boxes, notes
from engine.synthetic.kinds.shipments.words import CONCEPTS


def lay_out(chance: random.Random) -> Draft:
    """Lay out a shipping paper of one of five sorts."""
    sort = chance.choices(("delivery", "packing", "lading", "air", "customs"), (0.28, 0.24, 0.2, 0.13, 0.15))[0]
    form = drawn_paper(chance, signs=(58, 80), filled_in=0.25 if sort in ("delivery", "packing") else 0.65)
    form.blank = chance.choice((0.0, 0.03, 0.1)) if sort in ("delivery", "packing") else chance.choice((0.03, 0.1, 0.2))
    if sort not in ("delivery", "packing"):
        form.left = form.sheet.width * chance.uniform(0.03, 0.06)
        form.right = form.sheet.width - form.left
    writing = Writing.drawn(chance)
    if sort in ("delivery", "packing"):
        y = notes.note_of(form, writing, sort)
    elif sort == "customs":
        y = boxes.customs(form, writing)
    else:
        y = boxes.waybill(form, writing, sort)
    finish(form, y, cut=0.88, ornaments=0.25)
    return Draft(form.sheet, lambda: absent(form, tuple(CONCEPTS.values())))
