"""Printed forms of carriers and customs: boxes with small keys, addresses, goods, checkboxes, stamps."""

from __future__ import annotations

from engine.synthetic.draft import cased
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.amounts import Writing
from engine.synthetic.kinds.entries import Entry, boxed
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.shipments.goods import bar_code, drawn_goods, entry, goods_table, one_of, received, stamped
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
    chance, sheet, em = form.chance, form.sheet, form.em
    goods = drawn_goods(form, chance.choice((2, 4, 7)))
    by_air = sort == "air"
    y = _head(form, sort, sheet.height * chance.uniform(0.015, 0.035))
    number = "air waybill no." if by_air else "b/l no."

    def made(name: str) -> Entry:
        """Return one entry of the form."""
        return entry(form, writing, name, goods)

    rows = []
    if chance.random() < 0.6:
        # Addresses on the left side; numbers and agents beside them.
        beside = chance.sample(
            ("booking no.", "export references", "agent", "invoice no.", "terms of delivery", "country of origin"), 3
        )
        beside.insert(0, number)
        for party, other in zip(("shipper", "consignee", "notify party"), beside, strict=False):
            second = [(made(other), 1.0)]
            if chance.random() < 0.3 and other == number:
                second.append((made("date"), 0.7))
            rows.append([(made(party), 1.6), *second])
    else:
        rows.append(
            [(made(number), 1.0), (made("date"), 1.0), (made(chance.choice(("booking no.", "export references"))), 1.0)]
        )
        rows.append([(made("shipper"), 1.0), (made("consignee"), 1.0)])
        if chance.random() < 0.7:
            rows.append([(made("notify party"), 1.0), (made("agent"), 1.0)])
    route = (
        ["airport of departure", "flight/date", "airport of destination", "declared value"]
        if by_air
        else ["vessel", "voyage no.", "port of loading", "port of discharge"]
    )
    if not by_air and chance.random() < 0.6:
        route += chance.sample(["place of receipt", "place of delivery", "container no.", "seal no."], 2)
    if chance.random() < 0.3:
        chance.shuffle(route)
    per_row = chance.choice((2, 3, 4)) if len(route) != 4 else chance.choice((2, 4))
    rows += [[(made(name), 1.0) for name in route[at : at + per_row]] for at in range(0, len(route), per_row)]
    y = boxed(form, rows, y, tallest=2.7)
    wanted = chance.choice(
        (
            ("number", "packages", "name", "gross", "volume"),
            ("packages", "name", "gross"),
            ("number", "name", "packages", "net", "gross"),
        )
    )
    y += 0.8 * em
    table_room = min(sheet.height * chance.uniform(0.14, 0.26), sheet.height - y - 22 * em)
    y = goods_table(form, goods, y, wanted, least=max(0.0, table_room)) + 1.4 * em
    if chance.random() < 0.75 and y < sheet.height - 10 * em:
        y = (
            one_of(
                form,
                "How is the freight paid?",
                chance.choice(_FREIGHT),
                form.left,
                y,
                form.right,
                key=chance.choice(("", "Freight", "Charges")),
            )
            + 1.8 * em
        )
    if y < sheet.height - 12 * em:
        names = chance.sample(
            [
                "freight charges",
                "declared value",
                "total packages",
                "total gross weight",
                "terms of delivery",
                "special instructions",
            ],
            chance.randint(2, 4),
        )
        free = [made(name) for name in names if CONCEPTS[name] not in form.keys.concepts or name.startswith("total")]
        if free:
            y = boxed(form, [[(one, 1.0) for one in free]], y, tallest=2.7) + 1.4 * em
    return _close(form, writing, y)


def _head(form: Form, sort: str, y: float) -> float:
    """Set carrier and title on a line, sometimes with a bar code."""
    chance, sheet, em = form.chance, form.sheet, form.em
    name = chance.choice(
        (
            company(chance),
            f"{word(chance, 0.6).title()} {chance.choice(('Line', 'Lines', 'Shipping', 'Logistics', 'Cargo', 'Airways' if sort == 'air' else 'Marine'))}",
        )
    )
    face = sheet.face.scaled(chance.uniform(1.1, 1.6), bold=True)
    middle = form.left + 0.5 * (form.right - form.left)
    room = middle - form.left - em
    if face.width(name) > room:
        face = face.scaled(max(0.6, room / face.width(name)))
    written = sheet.write(name, form.left, y, right=middle - em, face=face, role="heading")
    paper.ask(form, _CARRIER, written.pieces)
    foot = written.top + 1.5 * face.size
    heading = cased(chance, chance.choice(TITLES[sort]))
    y = paper.title(form, heading, middle, y, form.right, align=chance.choice(("left", "right")))
    if chance.random() < 0.35:
        wide = min(form.right - middle, 16 * em)
        y = bar_code(form, form.right - wide, y, wide, 2.4 * em, till_number(chance))
    if chance.random() < 0.4:
        fine = sheet.face.scaled(0.75)
        text = chance.choice(
            (
                "Not negotiable",
                "Non-negotiable unless consigned to order",
                "Original",
                "Copy - not negotiable",
                "Shipper's copy",
            )
        )
        foot = sheet.write(text, form.left, foot, right=middle - em, face=fine).top + 1.3 * em
    return max(foot, y) + 0.4 * em


def customs(form: Form, writing: Writing) -> float:
    """Lay out a customs declaration with numbered boxes; return where it ends."""
    chance, sheet, em = form.chance, form.sheet, form.em
    goods = drawn_goods(form, chance.choice((2, 4, 6)))
    y = sheet.height * chance.uniform(0.02, 0.04)
    office = sheet.write(
        f"{word(chance).title()} {chance.choice(('Post', 'Parcel Service', 'Customs Office', 'Express'))}",
        form.left,
        y,
        face=sheet.face.scaled(1.2, bold=True),
        role="heading",
    )
    paper.ask(form, ("office", "Which office issued the form?", "postal service", "Whose form is it?"), office.pieces)
    y = paper.title(
        form,
        cased(chance, chance.choice(TITLES["customs"])),
        form.left + 0.45 * (form.right - form.left),
        y,
        form.right,
        align="right",
    )
    if chance.random() < 0.6:
        wide = 18 * em
        y = bar_code(form, form.right - wide, y, wide, 2.6 * em, till_number(chance)) + 0.6 * em
    rows = [[(entry(form, writing, "shipper"), 1.0), (entry(form, writing, "consignee"), 1.0)]]
    if chance.random() < 0.5:
        rows = [
            [rows[0][0], (entry(form, writing, "tracking no."), 0.7)],
            [rows[0][1], (entry(form, writing, "telephone"), 0.7)],
        ]
    rows.append(
        [
            (entry(form, writing, name), 1.0)
            for name in chance.sample(
                ("country of origin", "hs code", "postage", "invoice no.", "date", "terms of delivery"),
                chance.randint(2, 4),
            )
        ]
    )
    y = boxed(form, rows, y + 0.3 * em, tallest=2.7) + 0.9 * em
    y = (
        one_of(
            form,
            "What kind of shipment is it?",
            chance.choice(_SENT_AS),
            form.left + 0.4 * em,
            y,
            form.right,
            key=chance.choice(("Category of item", "Reason for export", "Type of shipment")),
        )
        + 1.9 * em
    )
    wanted = chance.choice(
        (("name", "count", "net", "number"), ("count", "name", "net"), ("at", "name", "count", "net", "gross"))
    )
    y = goods_table(form, goods, y, wanted, least=sheet.height * chance.uniform(0.1, 0.2)) + 1.2 * em
    shown = [
        (entry(form, writing, name, goods), 1.0)
        for name in chance.sample(("total gross weight", "declared value", "total quantity", "contents"), 3)
    ]
    y = boxed(form, [shown], y, tallest=2.7) + 1.6 * em
    if y < sheet.height - 12 * em:
        text = (
            "I certify that the particulars given in this declaration are correct."
            if chance.random() < 0.6
            else "The undersigned declares that nothing dangerous is inside."
        )
        y = sheet.write(text, form.left, y, right=form.right).top + 2 * em
    return _close(form, writing, y)


def _close(form: Form, writing: Writing, y: float) -> float:
    """Draw signatures and a stamp; return where they end."""
    chance, sheet, em = form.chance, form.sheet, form.em
    if y > sheet.height - 10 * em:
        return y
    shape = chance.random()
    if shape < 0.4:
        y = received(form, writing, y)
    elif shape < 0.85:
        role = chance.choice(
            (
                "Signature of shipper",
                "For the carrier",
                "Signed for the master",
                "Signature of sender",
                "Signature of carrier or agent",
            )
        )
        top = y
        y = paper.signed(form, y, (role,), (company(chance),)) + em
        if chance.random() < 0.5 and y < sheet.height - 4 * em:
            free = form.left if _signed_right(form, top) else form.left + 0.55 * (form.right - form.left)
            stamped(form, free + em, top)
            y = max(y, top + 5.5 * em)
    return y


def _signed_right(form: Form, top: float) -> bool:
    """Return whether a figure below `top` lies on the right half of the page."""
    rules = [rule for rule in form.sheet.rules if rule.y0 >= top]
    return bool(rules) and min(rule.x0 for rule in rules) > form.sheet.width * 0.4
