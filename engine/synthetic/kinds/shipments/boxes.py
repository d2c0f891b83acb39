"""Printed forms of carriers and customs: boxes with small keys, addresses, goods, checkboxes, stamps."""

from __future__ import annotations

from engine.synthetic.draft import vary_case
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.amounts import Writing
from engine.synthetic.kinds.entries import Entry, set_in_boxes
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
from engine.synthetic.kinds.shipments.words import CONCEPTS, TITLES
from engine.synthetic.values import company, till_number
from engine.synthetic.vocabulary import word

_CARRIER = ("carrier", "Which carrier issued it?", "name of the carrier", "Who carries the goods?", "shipping company")
_FREIGHT = (
    ("Freight prepaid", "Freight collect"),
    ("Prepaid", "Collect"),
    ("PREPAID", "COLLECT"),
    ("Freight paid", "Freight to be paid at destination"),
)
_SENT_AS = (("Gift", "Documents", "Commercial sample", "Other"), ("Gift", "Sale of goods", "Returned goods", "Commercial sample", "Documents", "Other"),
            ("Sale", "Gift", "Sample", "Repair"))  # fmt: skip


def waybill(form: Form, writing: Writing, sort: str) -> float:
    """Lay out a bill of lading or an air waybill; return where it ends."""
    rng, canvas, em = form.rng, form.canvas, form.em
    goods = sample_goods(form, rng.choice((2, 4, 7)))
    by_air = sort == "air"
    y = _head(form, sort, canvas.height * rng.uniform(0.015, 0.035))
    number = "air waybill no." if by_air else "b/l no."

    def make_entry(name: str) -> Entry:
        """Return one entry of the form."""
        return entry(form, writing, name, goods)

    rows = []
    if rng.random() < 0.6:
        # Addresses on the left side; numbers and agents beside them.
        beside = rng.sample(
            ("booking no.", "export references", "agent", "invoice no.", "terms of delivery", "country of origin"), 3
        )
        beside.insert(0, number)
        for party, name_beside in zip(("shipper", "consignee", "notify party"), beside, strict=False):
            second = [(make_entry(name_beside), 1.0)]
            if rng.random() < 0.3 and name_beside == number:
                second.append((make_entry("date"), 0.7))
            rows.append([(make_entry(party), 1.6), *second])
    else:
        rows.append(
            [
                (make_entry(number), 1.0),
                (make_entry("date"), 1.0),
                (make_entry(rng.choice(("booking no.", "export references"))), 1.0),
            ]
        )
        rows.append([(make_entry("shipper"), 1.0), (make_entry("consignee"), 1.0)])
        if rng.random() < 0.7:
            rows.append([(make_entry("notify party"), 1.0), (make_entry("agent"), 1.0)])
    route = (
        ["airport of departure", "flight/date", "airport of destination", "declared value"]
        if by_air
        else ["vessel", "voyage no.", "port of loading", "port of discharge"]
    )
    if not by_air and rng.random() < 0.6:
        route += rng.sample(["place of receipt", "place of delivery", "container no.", "seal no."], 2)
    if rng.random() < 0.3:
        rng.shuffle(route)
    per_row = rng.choice((2, 3, 4)) if len(route) != 4 else rng.choice((2, 4))
    rows += [[(make_entry(name), 1.0) for name in route[at : at + per_row]] for at in range(0, len(route), per_row)]
    y = set_in_boxes(form, rows, y, tallest=2.7)
    wanted = rng.choice(
        (
            ("number", "packages", "name", "gross", "volume"),
            ("packages", "name", "gross"),
            ("number", "name", "packages", "net", "gross"),
        )
    )
    y += 0.8 * em
    table_room = min(canvas.height * rng.uniform(0.14, 0.26), canvas.height - y - 22 * em)
    y = goods_table(form, goods, y, wanted, least=max(0.0, table_room)) + 1.4 * em
    if rng.random() < 0.75 and y < canvas.height - 10 * em:
        y = (
            one_of(
                form,
                "How is the freight paid?",
                rng.choice(_FREIGHT),
                form.left,
                y,
                form.right,
                key=rng.choice(("", "Freight", "Charges")),
            )
            + 1.8 * em
        )
    if y < canvas.height - 12 * em:
        names = rng.sample(
            [
                "freight charges",
                "declared value",
                "total packages",
                "total gross weight",
                "terms of delivery",
                "special instructions",
            ],
            rng.randint(2, 4),
        )
        free = [
            make_entry(name) for name in names if CONCEPTS[name] not in form.keys.concepts or name.startswith("total")
        ]
        if free:
            y = set_in_boxes(form, [[(field, 1.0) for field in free]], y, tallest=2.7) + 1.4 * em
    return _close(form, writing, y)


def _head(form: Form, sort: str, y: float) -> float:
    """Set carrier and title on a line, sometimes with a bar code."""
    rng, canvas, em = form.rng, form.canvas, form.em
    name = rng.choice(
        (
            company(rng),
            f"{word(rng, 0.6).title()} {rng.choice(('Line', 'Lines', 'Shipping', 'Logistics', 'Cargo', 'Airways' if sort == 'air' else 'Marine'))}",
        )
    )
    face = canvas.face.scale(rng.uniform(1.1, 1.6), bold=True)
    middle = form.left + 0.5 * (form.right - form.left)
    room = middle - form.left - em
    if face.width(name) > room:
        face = face.scale(max(0.6, room / face.width(name)))
    written = canvas.write(name, form.left, y, right=middle - em, face=face, role="heading")
    paper.ask(form, _CARRIER, written.pieces)
    foot = written.top + 1.5 * face.size
    heading = vary_case(rng, rng.choice(TITLES[sort]))
    y = paper.title(form, heading, middle, y, form.right, align=rng.choice(("left", "right")))
    if rng.random() < 0.35:
        wide = min(form.right - middle, 16 * em)
        y = bar_code(form, form.right - wide, y, wide, 2.4 * em, till_number(rng))
    if rng.random() < 0.4:
        fine = canvas.face.scale(0.75)
        text = rng.choice(
            (
                "Not negotiable",
                "Non-negotiable unless consigned to order",
                "Original",
                "Copy - not negotiable",
                "Shipper's copy",
            )
        )
        foot = canvas.write(text, form.left, foot, right=middle - em, face=fine).top + 1.3 * em
    return max(foot, y) + 0.4 * em


def customs(form: Form, writing: Writing) -> float:
    """Lay out a customs declaration with numbered boxes; return where it ends."""
    rng, canvas, em = form.rng, form.canvas, form.em
    goods = sample_goods(form, rng.choice((2, 4, 6)))
    y = canvas.height * rng.uniform(0.02, 0.04)
    office = canvas.write(
        f"{word(rng).title()} {rng.choice(('Post', 'Parcel Service', 'Customs Office', 'Express'))}",
        form.left,
        y,
        face=canvas.face.scale(1.2, bold=True),
        role="heading",
    )
    paper.ask(form, ("office", "Which office issued the form?", "postal service", "Whose form is it?"), office.pieces)
    y = paper.title(
        form,
        vary_case(rng, rng.choice(TITLES["customs"])),
        form.left + 0.45 * (form.right - form.left),
        y,
        form.right,
        align="right",
    )
    if rng.random() < 0.6:
        wide = 18 * em
        y = bar_code(form, form.right - wide, y, wide, 2.6 * em, till_number(rng)) + 0.6 * em
    rows = [[(entry(form, writing, "shipper"), 1.0), (entry(form, writing, "consignee"), 1.0)]]
    if rng.random() < 0.5:
        rows = [
            [rows[0][0], (entry(form, writing, "tracking no."), 0.7)],
            [rows[0][1], (entry(form, writing, "telephone"), 0.7)],
        ]
    rows.append(
        [
            (entry(form, writing, name), 1.0)
            for name in rng.sample(
                ("country of origin", "hs code", "postage", "invoice no.", "date", "terms of delivery"),
                rng.randint(2, 4),
            )
        ]
    )
    y = set_in_boxes(form, rows, y + 0.3 * em, tallest=2.7) + 0.9 * em
    y = (
        one_of(
            form,
            "What kind of shipment is it?",
            rng.choice(_SENT_AS),
            form.left + 0.4 * em,
            y,
            form.right,
            key=rng.choice(("Category of item", "Reason for export", "Type of shipment")),
        )
        + 1.9 * em
    )
    wanted = rng.choice(
        (("name", "count", "net", "number"), ("count", "name", "net"), ("at", "name", "count", "net", "gross"))
    )
    y = goods_table(form, goods, y, wanted, least=canvas.height * rng.uniform(0.1, 0.2)) + 1.2 * em
    shown = [
        (entry(form, writing, name, goods), 1.0)
        for name in rng.sample(("total gross weight", "declared value", "total quantity", "contents"), 3)
    ]
    y = set_in_boxes(form, [shown], y, tallest=2.7) + 1.6 * em
    if y < canvas.height - 12 * em:
        text = (
            "I certify that the particulars given in this declaration are correct."
            if rng.random() < 0.6
            else "The undersigned declares that nothing dangerous is inside."
        )
        y = canvas.write(text, form.left, y, right=form.right).top + 2 * em
    return _close(form, writing, y)


def _close(form: Form, writing: Writing, y: float) -> float:
    """Draw signatures and a stamp; return where they end."""
    rng, canvas, em = form.rng, form.canvas, form.em
    if y > canvas.height - 10 * em:
        return y
    shape = rng.random()
    if shape < 0.4:
        y = set_reception(form, writing, y)
    elif shape < 0.85:
        role = rng.choice(
            (
                "Signature of shipper",
                "For the carrier",
                "Signed for the master",
                "Signature of sender",
                "Signature of carrier or agent",
            )
        )
        top = y
        y = paper.write_signatures(form, y, (role,), (company(rng),)) + em
        if rng.random() < 0.5 and y < canvas.height - 4 * em:
            free = form.left if _signed_right(form, top) else form.left + 0.55 * (form.right - form.left)
            draw_stamp(form, free + em, top)
            y = max(y, top + 5.5 * em)
    return y


def _signed_right(form: Form, top: float) -> bool:
    """Return whether a figure below `top` lies on the right half of the page."""
    rules = [rule for rule in form.canvas.rules if rule.y0 >= top]
    return bool(rules) and min(rule.x0 for rule in rules) > form.canvas.width * 0.4
