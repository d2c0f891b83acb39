"""Orders, contracts, invoices and confirmations: firm and parties, dense panels, lines and sums."""

from __future__ import annotations

import random

from engine.synthetic.draft import Draft
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.entries import absent, settle
from engine.synthetic.kinds.orders import blocks, words
from engine.synthetic.kinds.orders.desk import Desk, drawn_desk, picked
from engine.synthetic.kinds.orders.panel import panel
from engine.synthetic.kinds.orders.sections import sections
from engine.synthetic.kinds.orders.totals import body
from engine.synthetic.ocr import Reading


def lay_out(chance: random.Random) -> Draft:
    """Lay out an order."""
    across = chance.random() < 0.28
    desk = drawn_desk(chance, across=across)
    form = desk.form
    y = form.sheet.height * chance.uniform(0.015, 0.05)
    y = _beside(desk, y) if across or chance.random() < 0.65 else _below(desk, y)
    y = body(desk, y + desk.em * chance.uniform(1.0, 2.5))
    settle(form, synonyms=0.2)
    paper.finish(form, y, cut=0.15, ornaments=0.12)
    concepts = (*words.TRADES[desk.trade], *words.COMMON)
    reading = (
        Reading(looseness=chance.uniform(-0.02, 0.15), tight=chance.random() < 0.2) if chance.random() < 0.75 else None
    )
    return Draft(form.sheet, lambda: absent(form, concepts), reading)


def _title(desk: Desk, x: float, y: float, right: float) -> float:
    chance = desk.chance
    text = chance.choice(words.TITLES[desk.trade])
    return paper.title(desk.form, text, x, y, right, align=chance.choice(("left", "centre", "right")))


def _parties(desk: Desk, x: float, y: float, right: float, count: int) -> float:
    for keys in desk.chance.sample((words.BILLED, words.SHIPPED, words.REMITTED, words.FROM), count):
        y = blocks.party(desk, keys, x, y, right) + desk.em * desk.chance.uniform(0.5, 1.5)
    return y


def _beside(desk: Desk, y: float) -> float:
    """Set firm and parties left, panels right of them; return where they end."""
    chance, em, form = desk.chance, desk.em, desk.form
    wide = form.right - form.left
    middle = form.left + wide * (chance.uniform(0.22, 0.36) if wide > 80 * em else chance.uniform(0.34, 0.48))
    left_foot = blocks.head(desk, form.left, y, middle - 1.5 * em)
    left_foot = _parties(desk, form.left, left_foot + em, middle - 1.5 * em, chance.choice((1, 1, 2, 2)))
    if chance.random() < 0.75:
        y = _title(desk, middle, y, form.right)
    for count in _counts(desk, form.right - middle):
        if y > form.sheet.height * 0.5:
            break
        y = panel(desk, picked(desk, count), middle, y, form.right).foot + em * chance.choice((0.0, 0.6, 1.2))
    return max(left_foot, y)


def _below(desk: Desk, y: float) -> float:
    """Set the firm at the top, parties side by side, and panels across the page; return where they end."""
    chance, em, form = desk.chance, desk.em, desk.form
    middle = (form.left + form.right) / 2
    foot = blocks.head(desk, form.left, y, middle - em)
    y = max(foot, _title(desk, middle, y, form.right)) + 0.8 * em
    if chance.random() < 0.7:
        y = (
            max(
                _parties(desk, form.left, y, middle - em, 1),
                _parties(desk, middle, y, form.right, chance.choice((0, 1, 1))),
            )
            + 0.5 * em
        )
    if chance.random() < 0.3:
        return sections(desk, y)
    for count in _counts(desk, form.right - form.left):
        if y > form.sheet.height * 0.55:
            break
        y = panel(desk, picked(desk, count), form.left, y, form.right).foot + em * chance.choice((0.0, 0.8, 1.5))
    return y


def _counts(desk: Desk, room: float) -> list[int]:
    """Return how many keys each panel has."""
    chance = desk.chance
    most = max(10, min(30, int(room / desk.em / 2.6)))
    total = chance.randint(8, most)
    if chance.random() < 0.4:
        return [total]
    first = chance.randint(3, max(4, total - 4))
    return [first, max(3, total - first)]
