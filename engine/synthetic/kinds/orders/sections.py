"""Sections of an order: a label at the left, and its keys with values on lines."""

from __future__ import annotations

from dataclasses import replace

from engine.synthetic.concepts import Concept
from engine.synthetic.kinds.orders.desk import Desk, Item, picked
from engine.synthetic.kinds.orders.fillings import advertiser, agency
from engine.synthetic.kinds.orders.panel import Look, pairs
from engine.synthetic.kinds.orders.words import SECTIONS
from engine.synthetic.values import company, person


def sections(desk: Desk, y: float) -> float:
    """Set two or three sections of keys; return where they end."""
    chance, sheet, em, form = desk.chance, desk.sheet, desk.em, desk.form
    look = replace(
        Look.drawn(desk, ruling=chance.choice(("underline", "underline", "none", "rows"))), spread=True, flowing=False
    )
    columns = 2 if form.right - form.left > 44 * em else 1
    labels = chance.sample(SECTIONS[desk.trade], chance.randint(2, 3))
    face = form.key_face.scaled(1.0, bold=True)
    indent = max(face.width(label) for label in labels) + em * chance.uniform(1.0, 4.0)
    for label in labels:
        if y > sheet.height * 0.55:
            break
        sheet.write(form.case(label), form.left, y + 0.2 * em, face=face, role="heading")
        items = picked(desk, chance.randint(4, 9))
        if chance.random() < 0.6 and label not in ("Order", "Orders", "Billing", "Meter"):
            items.insert(0, _name(desk, label))
        y = pairs(desk, items, form.left + indent, y, form.right, columns, look).foot + em * chance.uniform(0.8, 2.0)
    return y


def _name(desk: Desk, label: str) -> Item:
    """Return the key "Name" of a section, which only its label explains."""
    chance = desk.chance
    low = label.lower()
    shown = {"Agency": agency, "Advertiser": advertiser}
    text = shown[label](chance, desk.writing) if label in shown else chance.choice((company, person))(chance)
    concept = Concept(
        (f"{low} name",), (f"{low} name", f"name of the {low}", f"What is the {low} called?"), ("company",)
    )
    return Item(desk.form.case("name"), concept, (text,), f"{label} Name")
