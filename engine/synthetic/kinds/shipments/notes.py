"""Delivery notes and packing lists: letterhead, addresses, a table of goods, receipt of delivery."""

from __future__ import annotations

from engine.synthetic.draft import vary_case
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.amounts import Writing
from engine.synthetic.kinds.entries import Entry, set_entry, set_in_boxes, set_in_columns, set_in_one_column
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.shipments.goods import (
    bar_code,
    draw_stamp,
    entry,
    goods_table,
    one_of,
    sample_goods,
    set_reception,
)
from engine.synthetic.kinds.shipments.words import KEYS, TITLES
from engine.synthetic.values import company, till_number

_ISSUER = ("supplier", "Who sends the goods?", "Which company issued it?", "name of the company", "seller", "vendor")
_COLUMNS = {
    "delivery": (("at", "number", "name", "count", "unit"), ("number", "name", "count"), ("at", "name", "count", "unit"), ("name", "count", "packages", "gross"),
                 ("at", "number", "name", "count", "gross")),
    "packing": (("at", "number", "name", "packages", "count", "net", "gross"), ("name", "packages", "net", "gross", "volume"),
                ("number", "name", "count", "packages", "gross"), ("packages", "name", "count", "net", "gross"), ("at", "name", "count", "net", "gross", "volume")),
}  # fmt: skip


def note_of(form: Form, writing: Writing, sort: str) -> float:
    """Lay out a delivery note or a packing list; return where it ends."""
    rng, canvas, em = form.rng, form.canvas, form.em
    goods = sample_goods(form, rng.choice((3, 6, 10, 16)))
    y = canvas.height * rng.uniform(0.02, 0.05)
    heading = vary_case(rng, rng.choice(TITLES[sort]))
    middle = form.left + (form.right - form.left) * rng.uniform(0.52, 0.6)
    names = [name for name in KEYS[sort] if name == KEYS[sort][0] or rng.random() < 0.5]
    entries = [entry(form, writing, name) for name in names]
    centred = rng.random() < 0.25
    coded = rng.random() < 0.25
    if centred:
        y = paper.letterhead(form, company(rng), form.left, y, form.right, _ISSUER, centred=True) + 0.6 * em
        y = paper.title(form, heading, form.left, y, form.right, align="centre") + 0.6 * em
    else:
        foot = paper.letterhead(form, company(rng), form.left, y, middle - em, _ISSUER)
        right_foot = paper.title(form, heading, middle, y, form.right, align=rng.choice(("left", "right")))
        if coded:
            wide = min(form.right - middle, em * 18)
            right_foot = (
                bar_code(form, form.right - wide, right_foot + 0.2 * em, wide, 2.6 * em, till_number(rng)) + 0.4 * em
            )
        y = max(foot, right_foot) + em
    parties = ["consignee"] + [name for name in ("invoice to", "shipper") if rng.random() < 0.4]
    y = _parties_and_keys(form, [entry(form, writing, name) for name in parties[:2]], entries, y, middle) + 2.2 * em
    y = (
        goods_table(
            form, goods, y, rng.choice(_COLUMNS[sort]), least=canvas.height * 0.25 if rng.random() < 0.2 else 0.0
        )
        + 1.6 * em
    )
    if sort == "packing" or rng.random() < 0.3:
        totals = [
            name
            for name in ("total packages", "total net weight", "total gross weight", "total volume")
            if rng.random() < 0.55
        ]
        if totals and y < canvas.height - 12 * em:
            shown = [entry(form, writing, name, goods) for name in totals]
            y = (
                set_in_one_column(
                    form,
                    shown,
                    rng.choice((form.left, middle)),
                    y,
                    form.right,
                    rng.choice(("aligned", "far", "right")),
                )
                + 2 * em
            )
    if rng.random() < 0.35 and y < canvas.height - 12 * em:
        y = set_entry(form, entry(form, writing, "special instructions"), form.left, y, form.right, "right") + 2 * em
    if rng.random() < 0.3 and y < canvas.height - 12 * em:
        labels = rng.choice(
            (("Complete", "Partial"), ("Carriage paid", "Carriage forward"), ("Collected", "Delivered", "By courier"))
        )
        y = one_of(form, "Which box is ticked?", labels, form.left, y, form.right) + 2 * em
    if rng.random() < (0.8 if sort == "delivery" else 0.35) and y < canvas.height - 10 * em:
        stamp_y = y
        y = set_reception(form, writing, y)
        if rng.random() < 0.25 and y < canvas.height - 8 * em:
            draw_stamp(form, rng.uniform(form.left, middle), y + 0.5 * em)
            y += 6 * em
        y = max(y, stamp_y)
    return y


def _parties_and_keys(form: Form, parties: list[Entry], entries: list[Entry], y: float, middle: float) -> float:
    """Set addresses and numbers side by side, in boxes, or stacked; return the top of the last line."""
    rng, em = form.rng, form.em
    shape = rng.random()
    if shape < 0.4:
        foot = set_in_one_column(form, parties, form.left, y, middle - 1.5 * em, "below")
        return max(
            foot, set_in_one_column(form, entries, middle, y, form.right, rng.choice(("aligned", "far", "right")))
        )
    if shape < 0.65:
        rows = [[(party, 1.0) for party in parties]]
        shown = [(entry, 1.0) for entry in entries]
        rows += [shown[at : at + 4] for at in range(0, len(shown), 4)]
        return set_in_boxes(form, rows, y)
    y = set_in_columns(form, parties, form.left, y, form.right, "below", 2) + 1.8 * em
    return set_in_columns(
        form, entries, form.left, y, form.right, rng.choice(("aligned", "right", "below")), rng.choice((2, 2, 3))
    )
