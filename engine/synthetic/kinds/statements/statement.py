"""Statements of bank and card accounts, utilities and pay, with consistent sums and balances."""

from __future__ import annotations

import random

from engine.synthetic.draft import Draft
from engine.synthetic.kinds import pay_slip
from engine.synthetic.kinds.amounts import Writing
from engine.synthetic.kinds.entries import absent
from engine.synthetic.kinds.paper import finish, sample_paper
from engine.synthetic.kinds.statements import account, bill, card
from engine.synthetic.kinds.statements.words import CONCEPTS


def lay_out(rng: random.Random) -> Draft:
    """Lay out a statement of one of five sorts."""
    sort = rng.choices(
        (account.bank, card.card, bill.supply, bill.calls, pay_slip.pay),
        (0.32, 0.14, 0.18, 0.12, 0.24),
    )[0]
    form = sample_paper(rng)
    form.blank = 0.0
    y = sort(form, Writing.sample(rng))
    finish(form, y, cut=0.88, ornaments=0.22)
    return Draft(form.canvas, lambda: absent(form, tuple(CONCEPTS.values())))
