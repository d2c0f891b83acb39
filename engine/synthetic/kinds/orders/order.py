"""Orders, contracts, invoices and confirmations: firm and parties, dense panels, lines and sums."""

from __future__ import annotations

import random

from engine.synthetic.draft import Draft
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.entries import absent, ask_noted
from engine.synthetic.kinds.orders import blocks, words
from engine.synthetic.kinds.orders.layout import OrderLayout, choose_items, sample_layout
from engine.synthetic.kinds.orders.panel import panel
from engine.synthetic.kinds.orders.sections import sections
from engine.synthetic.kinds.orders.totals import body
from engine.synthetic.ocr import Reading


def lay_out(rng: random.Random) -> Draft:
    """Lay out an order."""
    across = rng.random() < 0.28
    layout = sample_layout(rng, across=across)
    form = layout.form
    y = form.canvas.height * rng.uniform(0.015, 0.05)
    y = _beside(layout, y) if across or rng.random() < 0.65 else _below(layout, y)
    y = body(layout, y + layout.em * rng.uniform(1.0, 2.5))
    ask_noted(form, synonyms=0.2)
    paper.finish(form, y, cut=0.15, ornaments=0.12)
    concepts = (*words.TRADES[layout.trade], *words.COMMON)
    reading = Reading(looseness=rng.uniform(-0.02, 0.15), tight=rng.random() < 0.2) if rng.random() < 0.75 else None
    return Draft(form.canvas, lambda: absent(form, concepts), reading)


def _title(layout: OrderLayout, x: float, y: float, right: float) -> float:
    rng = layout.rng
    text = rng.choice(words.TITLES[layout.trade])
    return paper.title(layout.form, text, x, y, right, align=rng.choice(("left", "centre", "right")))


def _parties(layout: OrderLayout, x: float, y: float, right: float, count: int) -> float:
    for keys in layout.rng.sample((words.BILLED, words.SHIPPED, words.REMITTED, words.FROM), count):
        y = blocks.party(layout, keys, x, y, right) + layout.em * layout.rng.uniform(0.5, 1.5)
    return y


def _beside(layout: OrderLayout, y: float) -> float:
    """Set firm and parties left, panels right of them; return where they end."""
    rng, em, form = layout.rng, layout.em, layout.form
    wide = form.right - form.left
    middle = form.left + wide * (rng.uniform(0.22, 0.36) if wide > 80 * em else rng.uniform(0.34, 0.48))
    left_foot = blocks.head(layout, form.left, y, middle - 1.5 * em)
    left_foot = _parties(layout, form.left, left_foot + em, middle - 1.5 * em, rng.choice((1, 1, 2, 2)))
    if rng.random() < 0.75:
        y = _title(layout, middle, y, form.right)
    for count in _counts(layout, form.right - middle):
        if y > form.canvas.height * 0.5:
            break
        y = panel(layout, choose_items(layout, count), middle, y, form.right).foot + em * rng.choice((0.0, 0.6, 1.2))
    return max(left_foot, y)


def _below(layout: OrderLayout, y: float) -> float:
    """Set the firm at the top, parties side by side, and panels across the page; return where they end."""
    rng, em, form = layout.rng, layout.em, layout.form
    middle = (form.left + form.right) / 2
    foot = blocks.head(layout, form.left, y, middle - em)
    y = max(foot, _title(layout, middle, y, form.right)) + 0.8 * em
    if rng.random() < 0.7:
        y = (
            max(
                _parties(layout, form.left, y, middle - em, 1),
                _parties(layout, middle, y, form.right, rng.choice((0, 1, 1))),
            )
            + 0.5 * em
        )
    if rng.random() < 0.3:
        return sections(layout, y)
    for count in _counts(layout, form.right - form.left):
        if y > form.canvas.height * 0.55:
            break
        y = panel(layout, choose_items(layout, count), form.left, y, form.right).foot + em * rng.choice((0.0, 0.8, 1.5))
    return y


def _counts(layout: OrderLayout, room: float) -> list[int]:
    """Return how many keys each panel has."""
    rng = layout.rng
    most = max(10, min(30, int(room / layout.em / 2.6)))
    total = rng.randint(8, most)
    if rng.random() < 0.4:
        return [total]
    first = rng.randint(3, max(4, total - 4))
    return [first, max(3, total - first)]
