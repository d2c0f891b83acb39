"""Delivery notes and packing lists: letterhead, addresses, a table of goods, receipt of delivery."""

from __future__ import annotations

from engine.synthetic.draft import cased
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.amounts import Writing
from engine.synthetic.kinds.entries import Entry, boxed, in_columns, put, stacked
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.shipments.goods import bar_code, drawn_goods, entry, goods_table, one_of, received, stamped
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
    chance, sheet, em = form.chance, form.sheet, form.em
    goods = drawn_goods(form, chance.choice((3, 6, 10, 16)))
    y = sheet.height * chance.uniform(0.02, 0.05)
    heading = cased(chance, chance.choice(TITLES[sort]))
    middle = form.left + (form.right - form.left) * chance.uniform(0.52, 0.6)
    names = [name for name in KEYS[sort] if name == KEYS[sort][0] or chance.random() < 0.5]
    entries = [entry(form, writing, name) for name in names]
    centred = chance.random() < 0.25
    coded = chance.random() < 0.25
    if centred:
        y = paper.letterhead(form, company(chance), form.left, y, form.right, _ISSUER, centred=True) + 0.6 * em
        y = paper.title(form, heading, form.left, y, form.right, align="centre") + 0.6 * em
    else:
        foot = paper.letterhead(form, company(chance), form.left, y, middle - em, _ISSUER)
        right_foot = paper.title(form, heading, middle, y, form.right, align=chance.choice(("left", "right")))
        if coded:
            wide = min(form.right - middle, em * 18)
            right_foot = (
                bar_code(form, form.right - wide, right_foot + 0.2 * em, wide, 2.6 * em, till_number(chance)) + 0.4 * em
            )
        y = max(foot, right_foot) + em
    parties = ["consignee"] + [name for name in ("invoice to", "shipper") if chance.random() < 0.4]
    y = _parties_and_keys(form, [entry(form, writing, name) for name in parties[:2]], entries, y, middle) + 2.2 * em
    y = (
        goods_table(
            form, goods, y, chance.choice(_COLUMNS[sort]), least=sheet.height * 0.25 if chance.random() < 0.2 else 0.0
        )
        + 1.6 * em
    )
    if sort == "packing" or chance.random() < 0.3:
        totals = [
            name
            for name in ("total packages", "total net weight", "total gross weight", "total volume")
            if chance.random() < 0.55
        ]
        if totals and y < sheet.height - 12 * em:
            shown = [entry(form, writing, name, goods) for name in totals]
            y = (
                stacked(
                    form,
                    shown,
                    chance.choice((form.left, middle)),
                    y,
                    form.right,
                    chance.choice(("aligned", "far", "right")),
                )
                + 2 * em
            )
    if chance.random() < 0.35 and y < sheet.height - 12 * em:
        y = put(form, entry(form, writing, "special instructions"), form.left, y, form.right, "right") + 2 * em
    if chance.random() < 0.3 and y < sheet.height - 12 * em:
        labels = chance.choice(
            (("Complete", "Partial"), ("Carriage paid", "Carriage forward"), ("Collected", "Delivered", "By courier"))
        )
        y = one_of(form, "Which box is ticked?", labels, form.left, y, form.right) + 2 * em
    if chance.random() < (0.8 if sort == "delivery" else 0.35) and y < sheet.height - 10 * em:
        stamp_y = y
        y = received(form, writing, y)
        if chance.random() < 0.25 and y < sheet.height - 8 * em:
            stamped(form, chance.uniform(form.left, middle), y + 0.5 * em)
            y += 6 * em
        y = max(y, stamp_y)
    return y


def _parties_and_keys(form: Form, parties: list[Entry], entries: list[Entry], y: float, middle: float) -> float:
    """Set addresses and numbers side by side, in boxes, or stacked; return the top of the last line."""
    chance, em = form.chance, form.em
    shape = chance.random()
    if shape < 0.4:
        foot = stacked(form, parties, form.left, y, middle - 1.5 * em, "below")
        return max(foot, stacked(form, entries, middle, y, form.right, chance.choice(("aligned", "far", "right"))))
    if shape < 0.65:
        rows = [[(party, 1.0) for party in parties]]
        shown = [(one, 1.0) for one in entries]
        rows += [shown[at : at + 4] for at in range(0, len(shown), 4)]
        return boxed(form, rows, y)
    y = in_columns(form, parties, form.left, y, form.right, "below", 2) + 1.8 * em
    return in_columns(
        form, entries, form.left, y, form.right, chance.choice(("aligned", "right", "below")), chance.choice((2, 2, 3))
    )
