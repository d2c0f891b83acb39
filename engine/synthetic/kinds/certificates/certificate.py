"""Certificates and licences: awards, origin, insurance, analysis, birth."""

from __future__ import annotations

import random

from engine.synthetic.draft import Draft
from engine.synthetic.kinds.certificates import award, formal
from engine.synthetic.kinds.certificates.words import CONCEPTS
from engine.synthetic.kinds.entries import absent


def lay_out(rng: random.Random) -> Draft:
    """Lay out a certificate of one of six sorts."""
    sort = rng.choices(
        ("award", "origin", "insurance", "analysis", "birth", "licence"), (0.32, 0.13, 0.14, 0.13, 0.14, 0.14)
    )[0]
    if sort == "award":
        form = award.award(rng)
    else:
        form = formal.formal(rng, sort)
    return Draft(form.canvas, lambda: absent(form, tuple(CONCEPTS.values())))
