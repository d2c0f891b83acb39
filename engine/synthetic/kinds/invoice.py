"""Invoices, orders and statements: seller, buyer, dates and numbers, a table of goods, sums."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.synthetic import questions
from engine.synthetic.concepts import CONCEPTS
from engine.synthetic.draft import Draft, body_face, cased, page_width
from engine.synthetic.keys import KeySource
from engine.synthetic.kinds.receipts.words import ASKED
from engine.synthetic.marks import ask_for_tables, ornament
from engine.synthetic.sheet import Panel, Sheet
from engine.synthetic.values import address_lines, company, email, person, phone, value
from engine.synthetic.vocabulary import phrase, sentence

_TITLES = (
    "INVOICE",
    "Invoice",
    "TAX INVOICE",
    "Bill",
    "Statement",
    "Purchase Order",
    "Credit Note",
    "Quotation",
    "Delivery Note",
    "Order Confirmation",
)
_PARTIES = (
    (("Bill To", "Billed to", "Sold to", "Customer", "Invoice to", "Buyer", "Client"), "buyer"),
    (("Ship To", "Deliver to", "Delivery address", "Ship-to", "Consignee", "Shipping address"), "receiver"),
)
_COLUMNS = (
    ("Item", "Description", "Product", "Article", "Details", "Service"), ("Qty", "Quantity", "Units", "Hours"),
    ("Unit price", "Price", "Rate", "Unit cost", "Price each"), ("Amount", "Total", "Line total", "Net", "Sum"),
)  # fmt: skip
_SUMS = (
    ("subtotal", ("Subtotal", "Net", "Sub total", "Net amount", "Total net"), 0.7),
    ("discount", ("Discount", "Less discount", "Rebate"), 0.2),
    ("tax", ("Tax", "VAT", "Sales tax", "GST", "VAT 20%", "Tax (8%)", "GST 6%"), 0.7),
    ("shipping", ("Shipping", "Freight", "Delivery", "Shipping & handling"), 0.3),
)
_SELLER = (
    "Which company issued this invoice?", "Who is the seller?", "vendor", "seller", "supplier", "company name", "Who sent the invoice?",
    "Who issued the invoice?", "What is the name of the company?", "vendor name", "Who is the supplier?",
)  # fmt: skip
_BUYER = (
    "Who is the customer?",
    "Who is billed?",
    "name of the customer",
    "Who has to pay the invoice?",
    "customer",
    "client",
    "buyer",
    "bill to name",
)
_META_KINDS = frozenset({"date", "code", "person", "money", "phone", "phrase", "percent"})


@dataclass(slots=True)
class Invoice:
    """Invoice during layout."""

    sheet: Sheet
    chance: random.Random
    keys: KeySource
    left: float
    right: float
    ending: str

    @property
    def em(self) -> float:
        """Return the size of an em in pixels."""
        return self.sheet.face.size

    def ask(self, choices: tuple[str, ...], *answers: list[int], printed: bool = True) -> None:
        """Ask a question in one of several phrasings."""
        self.sheet.ask(questions.of(self.chance, choices), *answers, printed_key=printed)


def lay_out(chance: random.Random) -> Draft:
    """Lay out an invoice."""
    width = page_width(chance)
    sheet = Sheet(width, width * chance.uniform(1.29, 1.42), chance, body_face(chance, width / chance.uniform(50, 78)))
    margin = width * chance.uniform(0.04, 0.09)
    invoice = Invoice(
        sheet, chance, KeySource(chance, meant=0.85), margin, width - margin, chance.choice((":", ":", "", " :"))
    )
    em = sheet.face.size
    y = sheet.height * chance.uniform(0.02, 0.06)
    swapped = chance.random() < 0.25
    seller_x, meta_x = (
        (invoice.left, width * chance.uniform(0.52, 0.64)) if not swapped else (width * 0.56, invoice.left)
    )
    seller_foot = _seller(invoice, seller_x, y)
    title = sheet.face.scaled(chance.uniform(1.4, 2.4), bold=chance.random() < 0.7)
    sheet.write_fitted(
        chance.choice(_TITLES), meta_x, y, invoice.right if not swapped else width * 0.5, face=title, role="heading"
    )
    meta_foot = _meta(invoice, meta_x, y + title.size + 2 * em, invoice.right if not swapped else width * 0.53)
    y = max(seller_foot, meta_foot) + 2 * em
    y = _parties(invoice, y) + chance.uniform(1.5, 3.5) * em
    y, net = _goods(invoice, y)
    y = _sums(invoice, y + em, net)
    if chance.random() < 0.5 and y + 6 * em < sheet.height:
        _terms(invoice, y + 2 * em)
        y += 6 * em
    ornament(sheet, y + em)
    ask_for_tables(sheet)
    return Draft(sheet, lambda: _absent(invoice))


def _seller(invoice: Invoice, x: float, y: float) -> float:
    chance, sheet, em = invoice.chance, invoice.sheet, invoice.em
    if chance.random() < 0.2:
        logo = sheet.figure("logo", (x, y, x + 6 * em, y + 4 * em), "A", ink=(30, 60, 140))
        sheet.ask(
            chance.choice(("logo", "Where is the logo?", "company logo")),
            printed_key=False,
            figures=[logo],
            region_type="logo",
        )
        y += 4.6 * em
    right = x + sheet.width * 0.42
    name = sheet.write(
        company(chance),
        x,
        y,
        right=right,
        face=sheet.face.scaled(chance.uniform(1.0, 1.8), bold=chance.random() < 0.6),
        role="heading",
    )
    y = name.top + chance.uniform(1.6, 2.4) * em
    address: list[int] = []
    for line in address_lines(chance):
        written = sheet.write(line, x, y, right=right)
        address += written.pieces
        y = written.top + 1.3 * em
    for key, text, asked in (
        ("Tel", phone(chance), "phone"),
        ("Email", email(chance), ""),
        ("VAT No", value(chance, "code"), "tax number"),
    ):
        if chance.random() < 0.4:
            printed = sheet.write(key + invoice.ending, x, y, role="key")
            written = sheet.write(text, printed.right + 0.5 * em, y, right=right + 6 * em, role="value")
            choices = ASKED.get(asked) or ("email", "e-mail address", "What is the e-mail address?")
            invoice.ask(choices, written.pieces)
            y = written.top + 1.3 * em
    invoice.ask(_SELLER, name.pieces, printed=False)
    invoice.ask(
        (
            "address of the seller",
            "What is the address of the company?",
            "company address",
            "seller address",
            "Where is the seller located?",
            "address of the vendor",
        ),
        address,
        printed=False,
    )
    return y


def _meta(invoice: Invoice, x: float, y: float, right: float) -> float:
    """Set dates and numbers, with keys left of or above their values."""
    chance, sheet, em = invoice.chance, invoice.sheet, invoice.em
    above = chance.random() < 0.18
    value_x = x + (right - x) * chance.uniform(0.4, 0.55)
    aligned = chance.choice(("left", "left", "right", "near"))
    face = sheet.face.scaled(1.0, bold=chance.random() < 0.35)
    fields = chance.sample([concept for concept in CONCEPTS if concept.kinds[0] in _META_KINDS], chance.randint(2, 7))
    if chance.random() < 0.85:
        fields = [concept for concept in CONCEPTS if concept.printed[0] in ("date", "invoice no")][
            : chance.randint(1, 2)
        ] + fields
    for concept in dict.fromkeys(fields):
        key = chance.choice(concept.printed)
        invoice.keys.concepts.add(concept)
        invoice.keys.used.add(key)
        shown = cased(chance, key) + invoice.ending
        printed = sheet.write(shown, x, y, face=face, right=right, role="key")
        if chance.random() < 0.08:
            sheet.ask(questions.about(chance, shown, concept))
            y = printed.top + 1.5 * em
            continue
        text = value(chance, concept.kinds[0])
        if above:
            written = sheet.write(text, x, printed.top + 1.3 * em, right=right, role="value")
        elif aligned == "right":
            start = max(printed.right + 0.6 * em, right - sheet.face.width(text))
            written = sheet.write(text, start, printed.top, right=right, role="value")
        else:
            start = max(printed.right + 0.6 * em, value_x if aligned == "left" else 0.0)
            written = sheet.write(text, start, printed.top, right=right, role="value")
        if written.whole:
            sheet.ask(questions.about(chance, shown, concept, synonyms=0.45), written.pieces)
        y = written.top + chance.uniform(1.35, 1.7) * em
    return y


def _parties(invoice: Invoice, y: float) -> float:
    """Set buyer and receiver side by side."""
    chance, sheet, em = invoice.chance, invoice.sheet, invoice.em
    foot = y
    for (keys, role), x in zip(_PARTIES, (invoice.left, sheet.width * 0.52), strict=True):
        if chance.random() < 0.2:
            continue
        key = chance.choice(keys)
        right = x + sheet.width * 0.42
        printed = sheet.write(
            cased(chance, key) + chance.choice((":", "", ":")),
            x,
            y,
            face=sheet.face.scaled(1.0, bold=chance.random() < 0.5),
            role="key",
        )
        at = printed.top + 1.4 * em
        name = sheet.write(chance.choice((person(chance), company(chance))), x, at, right=right, role="value")
        at = name.top + 1.3 * em
        address: list[int] = []
        for line in address_lines(chance):
            written = sheet.write(line, x, at, right=right, role="value")
            address += written.pieces
            at = written.top + 1.3 * em
        sheet.ask(questions.about(chance, key), name.pieces + address)
        if role == "buyer" and chance.random() < 0.8:
            invoice.ask(_BUYER, name.pieces, printed=False)
        if chance.random() < 0.5:
            asked = chance.choice(
                (f"{key} address", f"address of the {role}", f"What is the {role}'s address?", f"{role} address")
            )
            sheet.ask(questions.around(chance, asked) if asked[-1] != "?" else asked, address, printed_key=False)
        foot = max(foot, at)
    return foot


def _goods(invoice: Invoice, y: float) -> tuple[float, float]:
    """Set the table of goods; return where it ends, and its sum."""
    chance, sheet, em = invoice.chance, invoice.sheet, invoice.em
    width = invoice.right - invoice.left
    xs = [
        invoice.left,
        invoice.left + width * chance.uniform(0.42, 0.5),
        invoice.left + width * chance.uniform(0.6, 0.68),
        invoice.right,
    ]
    heads = [chance.choice(names) for names in _COLUMNS]
    bold = sheet.face.scaled(1.0, bold=chance.random() < 0.6)
    framed = chance.choice(("none", "head", "rows"))
    if framed == "head" and chance.random() < 0.4:
        sheet.panels.append(Panel((invoice.left - 4, y - 0.3 * em, invoice.right + 4, y + 1.2 * em), (215, 220, 228)))
    top = y - 0.3 * em
    for head, x in zip(heads[:3], xs[:3], strict=True):
        sheet.write(cased(chance, head), x, y, face=bold, role="cell")
    sheet.write_right(cased(chance, heads[3]), xs[3], y, face=bold, role="cell")
    y += 1.5 * em
    if framed != "none":
        sheet.rule(invoice.left, y - 0.25 * em, invoice.right, y - 0.25 * em)
    columns: list[list[int]] = [[], [], [], []]
    net = 0.0
    step = chance.uniform(1.4, 2.2) * em
    for _ in range(chance.randint(1, 9)):
        if y > sheet.height - 14 * em:
            break
        name, count, price = phrase(chance, 1, 5), chance.randint(1, 30), chance.randint(100, 99999) / 100
        net += count * price
        written = sheet.write(name, xs[0], y, right=xs[1] - em, role="cell")
        cells = [
            written.pieces,
            sheet.write(str(count), xs[1], y, role="cell").pieces,
            sheet.write(f"{price:,.2f}", xs[2], y, role="cell").pieces,
            sheet.write_right(f"{count * price:,.2f}", xs[3], y, role="cell").pieces,
        ]
        for column, cell in zip(columns, cells, strict=True):
            column += cell
        if chance.random() < 0.35:
            at = chance.randint(1, 3)
            shape = chance.choice(
                ("What is the {column} of {row}?", "{column} of {row}", "{row} {column}", "{column} for {row}")
            )
            sheet.ask(questions.mistyped(chance, shape.format(column=heads[at].lower(), row=name)), cells[at])
        y = written.top + step
        if framed == "rows":
            sheet.rule(invoice.left, y - 0.3 * em, invoice.right, y - 0.3 * em)
    for head, column in zip(heads, columns, strict=True):
        if chance.random() < 0.25:
            sheet.ask(questions.about(chance, head + chance.choice((" column", "", ""))), column)
    sheet.table((invoice.left - 0.4 * em, top, invoice.right + 0.4 * em, y - step + 1.2 * em))
    return y, net


def _sums(invoice: Invoice, y: float, net: float) -> float:
    chance, sheet, em = invoice.chance, invoice.sheet, invoice.em
    key_x = sheet.width * chance.uniform(0.52, 0.66)
    currency = chance.choice(("", "$", "€", "£", "RM ", "USD "))
    amounts = {"subtotal": net, "discount": net * 0.05, "tax": net * 0.08, "shipping": chance.randint(100, 9999) / 100}
    asked = {**ASKED, "shipping": ("shipping", "delivery cost", "How much is shipping?", "freight")}
    for name, keys, share in _SUMS:
        if chance.random() > share:
            continue
        sheet.write(cased(chance, chance.choice(keys)) + invoice.ending, key_x, y, role="key")
        invoice.ask(
            asked[name], sheet.write_right(f"{currency}{amounts[name]:,.2f}", invoice.right, y, role="value").pieces
        )
        y += 1.6 * em
    face = sheet.face.scaled(chance.uniform(1.0, 1.3), bold=chance.random() < 0.6)
    total = chance.choice(
        ("Total", "Amount due", "Grand total", "Balance due", "Total due", "TOTAL", "Total amount", "Invoice total")
    )
    text = f"{currency}{net * 1.08:,.2f}"
    sheet.write_fitted(
        total + invoice.ending, key_x, y, invoice.right - face.width(text) - 0.6 * em, face=face, role="key"
    )
    written = sheet.write_right(text, invoice.right, y, face=face, role="value")
    invoice.ask(tuple(text.replace("receipt", "invoice") for text in asked["total"]), written.pieces)
    return y + 2 * em


def _terms(invoice: Invoice, y: float) -> None:
    chance, sheet, em = invoice.chance, invoice.sheet, invoice.em
    key = chance.choice(("Terms", "Notes", "Payment instructions", "Bank details", "Remarks", "Terms and conditions"))
    printed = sheet.write(
        key + chance.choice((":", "")), invoice.left, y, face=sheet.face.scaled(1.0, bold=True), role="key"
    )
    text = " ".join(sentence(chance, 4, 14) for _ in range(chance.randint(1, 2)))
    written = sheet.write(
        text, invoice.left, printed.top + 1.4 * em, right=invoice.left + sheet.width * 0.55, role="value"
    )
    if written.whole:
        sheet.ask(questions.about(chance, key), written.pieces)


def _absent(invoice: Invoice) -> str:
    key = invoice.keys.absent()
    return questions.about(invoice.chance, key.text, key.concept, synonyms=0.4)
