"""Shipping papers: delivery notes, packing lists, bills of lading, air waybills, customs declarations."""

from __future__ import annotations

import random

from engine.synthetic.draft import Draft
from engine.synthetic.kinds.amounts import Writing
from engine.synthetic.kinds.entries import absent
from engine.synthetic.kinds.paper import finish, sample_paper
from engine.synthetic.kinds.shipments import boxes, notes
from engine.synthetic.kinds.shipments.words import CONCEPTS


def lay_out(rng: random.Random) -> Draft:
    """Lay out a shipping paper of one of five sorts."""
    sort = rng.choices(("delivery", "packing", "lading", "air", "customs"), (0.28, 0.24, 0.2, 0.13, 0.15))[0]
    form = sample_paper(rng, signs=(58, 80), filled_in=0.25 if sort in ("delivery", "packing") else 0.65)
    form.blank = rng.choice((0.0, 0.03, 0.1)) if sort in ("delivery", "packing") else rng.choice((0.03, 0.1, 0.2))
    if sort not in ("delivery", "packing"):
        form.left = form.canvas.width * rng.uniform(0.03, 0.06)
        form.right = form.canvas.width - form.left
    writing = Writing.sample(rng)
    if sort in ("delivery", "packing"):
        y = notes.note_of(form, writing, sort)
    elif sort == "customs":
        y = boxes.customs(form, writing)
    else:
        y = boxes.waybill(form, writing, sort)
    finish(form, y, cut=0.88, ornaments=0.25)
    return Draft(form.canvas, lambda: absent(form, tuple(CONCEPTS.values())))
