"""Sections of an order: a label at the left, and its keys with values on lines."""

from __future__ import annotations

from dataclasses import replace

from engine.synthetic.concepts import Concept
from engine.synthetic.kinds.orders.fillings import advertiser, agency
from engine.synthetic.kinds.orders.layout import Item, OrderLayout, choose_items
from engine.synthetic.kinds.orders.panel import Look, pairs
from engine.synthetic.kinds.orders.words import SECTIONS
from engine.synthetic.values import company, person


def sections(layout: OrderLayout, y: float) -> float:
    """Set two or three sections of keys; return where they end."""
    rng, canvas, em, form = layout.rng, layout.canvas, layout.em, layout.form
    look = replace(
        Look.sample(layout, ruling=rng.choice(("underline", "underline", "none", "rows"))), spread=True, flowing=False
    )
    columns = 2 if form.right - form.left > 44 * em else 1
    labels = rng.sample(SECTIONS[layout.trade], rng.randint(2, 3))
    face = form.key_face.scale(1.0, bold=True)
    indent = max(face.width(label) for label in labels) + em * rng.uniform(1.0, 4.0)
    for label in labels:
        if y > canvas.height * 0.55:
            break
        canvas.write(form.case(label), form.left, y + 0.2 * em, face=face, role="heading")
        items = choose_items(layout, rng.randint(4, 9))
        if rng.random() < 0.6 and label not in ("Order", "Orders", "Billing", "Meter"):
            items.insert(0, _name(layout, label))
        y = pairs(layout, items, form.left + indent, y, form.right, columns, look).foot + em * rng.uniform(0.8, 2.0)
    return y


def _name(layout: OrderLayout, label: str) -> Item:
    """Return the key "Name" of a section, which only its label explains."""
    rng = layout.rng
    low = label.lower()
    shown = {"Agency": agency, "Advertiser": advertiser}
    text = shown[label](rng, layout.writing) if label in shown else rng.choice((company, person))(rng)
    concept = Concept(
        (f"{low} name",), (f"{low} name", f"name of the {low}", f"What is the {low} called?"), ("company",)
    )
    return Item(layout.form.case("name"), concept, (text,), f"{label} Name")
