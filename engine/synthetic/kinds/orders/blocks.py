"""Blocks of an order: letterhead of the firm with its numbers, and parties with their addresses."""

from __future__ import annotations

from collections.abc import Sequence

from engine.synthetic import questions
from engine.synthetic.canvas import Panel
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.orders.fillings import agency, phone, station
from engine.synthetic.kinds.orders.layout import OrderLayout
from engine.synthetic.values import address_lines, company, person, website

_FIRM = ("Who issued this?", "company name", "name of the company", "Which company sent it?", "Who sent this document?")
_WHERE = ("company address", "address of the company", "Where is the company located?", "address of the sender")
_LINES = ("Main", "Billing", "Phone", "Fax", "Tel", "Sales", "Toll Free", "Accounting", "Ph", "Telephone", "Traffic")


def head(layout: OrderLayout, x: float, y: float, right: float) -> float:
    """Set the firm's name and address, often beside a logo, with lines of numbers; return where it ends."""
    rng, canvas, em, form = layout.rng, layout.canvas, layout.em, layout.form
    name = station(rng, layout.writing) if layout.trade == "media" and rng.random() < 0.7 else company(rng)
    foot = y
    if rng.random() < 0.65:
        tall, wide = em * rng.uniform(4, 7.5), em * rng.uniform(5, 11)
        logo = canvas.figure(
            "logo",
            (x, y, x + wide, y + tall),
            name[:6],
            ink=rng.choice(((30, 60, 140), (150, 30, 40), (20, 120, 100), (20, 20, 25))),
        )
        canvas.ask(
            rng.choice(("logo", "Where is the logo?", "company logo")),
            printed_key=False,
            figures=[logo],
            region_type="logo",
        )
        foot = y + tall + 0.4 * em
        if rng.random() < 0.75 and right - x - wide > 14 * em:
            x += wide + 0.8 * em
        else:
            y = foot
    bold = rng.random() < 0.5
    face = canvas.face.scale(rng.choice((1.0, 1.0, 1.25)), bold=bold)
    first = canvas.write(
        name, x, y, right=right, face=face.scale(rng.choice((1.0, 1.0, 1.3)), bold=True), role="heading"
    )
    paper.ask(form, _FIRM, first.pieces)
    y = first.top + 1.45 * face.size
    address: list[int] = []
    for text in address_lines(rng):
        written = canvas.write(text, x, y, right=right, face=face)
        address += written.pieces
        y = written.top + 1.25 * face.size
    if rng.random() < 0.6:
        paper.ask(form, _WHERE, address)
    for key in rng.sample(_LINES, rng.choice((0, 0, 1, 2, 3))):
        text = phone(rng, layout.writing)
        printed = canvas.write(key + ":", x, y, right=right, face=face, role="key")
        value = canvas.write(
            text,
            printed.right + em * rng.choice((0.5, 0.5, 2.0)),
            printed.top,
            right=right + 8 * em,
            face=face,
            role="value",
        )
        shown = key if key in ("Phone", "Tel", "Fax", "Ph", "Telephone") else f"{key} phone"
        if value.whole:
            canvas.ask(questions.about(rng, rng.choice((key, shown))), value.pieces)
        form.keys.used.update((key.lower(), "phone", "telephone", "fax", "phone number", "phone no.", "fax number"))
        y = value.top + 1.25 * face.size
    if rng.random() < 0.2:
        y = canvas.write(website(rng), x, y, right=right, face=face).top + 1.3 * em
    return max(foot, y)


def party(layout: OrderLayout, keys: Sequence[str], x: float, y: float, right: float) -> float:
    """Set a party: key, name and address of several lines; return where it ends."""
    rng, canvas, em, form = layout.rng, layout.canvas, layout.em, layout.form
    key = rng.choice([key for key in keys if key.lower() not in form.keys.used] or keys)
    if key.lower() in form.keys.used:
        return y
    form.keys.used.update((key.lower(), f"{key.lower()} address"))
    framed = rng.random() < 0.25
    beside = not framed and rng.random() < 0.2
    bold = rng.random() < 0.45
    face = form.value_face.scale(1.0, bold=bold)
    top = y
    printed = canvas.write(key + rng.choice((":", ":", "")), x, y, right=right, face=form.key_face, role="key")
    start = x + em * rng.choice((0.0, 0.0, 1.0, 3.0, 6.0))
    y = printed.top + em * rng.uniform(1.35, 2.0)
    if beside:
        start, y = max(printed.right + 0.8 * em, x + 6 * em), printed.top
    if right - start < 12 * em:
        start = x
        y = max(y, printed.top + 1.35 * em)
    name = agency(rng, layout.writing) if layout.trade == "media" else rng.choice((company, company, person))(rng)
    lines = [name]
    attention = rng.random() < 0.35
    if attention:
        lines.append(
            f"{rng.choice(('Attention:', 'Attn:', 'ATTN:', 'c/o', 'Attention'))} {rng.choice(('Accounts Payable', person(rng), 'Billing Dept', person(rng)))}"
        )
    lines += address_lines(rng)
    if rng.random() < 0.15:
        lines = [line.upper() for line in lines]
    every: list[int] = []
    first: list[int] = []
    for at, text in enumerate(lines):
        written = canvas.write(text, start, y, right=right, face=face, role="value")
        every += written.pieces
        first = first or list(written.pieces)
        if at == 1 and attention and rng.random() < 0.5:
            paper.ask(
                form,
                (f"{key} attention", f"For whose attention is the {key.lower()} address?"),
                written.pieces[1:],
                printed=True,
            )
        y = written.top + 1.25 * face.size
    _ask_party(layout, key, first, every)
    if framed:
        canvas.frame((x - 0.4 * em, top - 0.4 * em, right, y + 0.3 * em))
        if rng.random() < 0.5:
            canvas.panels.append(Panel((x, y + 0.3 * em, right + 0.3 * em, y + 0.6 * em), (150, 150, 150)))
    return y + 0.4 * em


def _ask_party(layout: OrderLayout, key: str, first: list[int], every: list[int]) -> None:
    rng, canvas = layout.rng, layout.canvas
    low = key.lower()
    canvas.ask(questions.about(rng, key), every)
    asked = low if low.endswith("address") else f"{low} address"
    if asked != low and rng.random() < 0.7:
        canvas.ask(questions.about(rng, asked), every)
    if rng.random() < 0.7:
        stem = low.removesuffix(" address")
        canvas.ask(questions.about(rng, f"{stem} name"), first)
