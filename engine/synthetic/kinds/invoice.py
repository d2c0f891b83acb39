"""Invoices, orders and statements: seller, buyer, dates and numbers, a table of goods, sums."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.synthetic import questions
from engine.synthetic.canvas import Canvas, Panel
from engine.synthetic.concepts import CONCEPTS
from engine.synthetic.draft import Draft, body_face, page_width, vary_case
from engine.synthetic.keys import KeySource
from engine.synthetic.kinds.receipts.words import ASKED, tax_key
from engine.synthetic.marks import ask_for_tables, ornament
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
    ("tax", (), 0.7),
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

    canvas: Canvas
    rng: random.Random
    keys: KeySource
    left: float
    right: float
    ending: str

    @property
    def em(self) -> float:
        """Return the size of an em in pixels."""
        return self.canvas.face.size

    def ask(self, choices: tuple[str, ...], *answers: list[int], printed: bool = True) -> None:
        """Ask a question in one of several phrasings."""
        self.canvas.ask(questions.of(self.rng, choices), *answers, printed_key=printed)


def lay_out(rng: random.Random) -> Draft:
    """Lay out an invoice."""
    width = page_width(rng)
    canvas = Canvas(width, width * rng.uniform(1.29, 1.42), rng, body_face(rng, width / rng.uniform(50, 78)))
    margin = width * rng.uniform(0.04, 0.09)
    invoice = Invoice(canvas, rng, KeySource(rng, meant=0.85), margin, width - margin, rng.choice((":", ":", "", " :")))
    em = canvas.face.size
    y = canvas.height * rng.uniform(0.02, 0.06)
    swapped = rng.random() < 0.25
    seller_x, meta_x = (invoice.left, width * rng.uniform(0.52, 0.64)) if not swapped else (width * 0.56, invoice.left)
    seller_foot = _seller(invoice, seller_x, y)
    title = canvas.face.scale(rng.uniform(1.4, 2.4), bold=rng.random() < 0.7)
    canvas.write_fitted(
        rng.choice(_TITLES), meta_x, y, invoice.right if not swapped else width * 0.5, face=title, role="heading"
    )
    meta_foot = _meta(invoice, meta_x, y + title.size + 2 * em, invoice.right if not swapped else width * 0.53)
    y = max(seller_foot, meta_foot) + 2 * em
    y = _parties(invoice, y) + rng.uniform(1.5, 3.5) * em
    y, net = _goods(invoice, y)
    y = _sums(invoice, y + em, net)
    if rng.random() < 0.5 and y + 6 * em < canvas.height:
        _terms(invoice, y + 2 * em)
        y += 6 * em
    ornament(canvas, y + em)
    ask_for_tables(canvas)
    return Draft(canvas, lambda: _absent(invoice))


def _seller(invoice: Invoice, x: float, y: float) -> float:
    rng, canvas, em = invoice.rng, invoice.canvas, invoice.em
    if rng.random() < 0.2:
        logo = canvas.figure("logo", (x, y, x + 6 * em, y + 4 * em), "A", ink=(30, 60, 140))
        canvas.ask(
            rng.choice(("logo", "Where is the logo?", "company logo")),
            printed_key=False,
            figures=[logo],
            region_type="logo",
        )
        y += 4.6 * em
    right = x + canvas.width * 0.42
    name = canvas.write(
        company(rng),
        x,
        y,
        right=right,
        face=canvas.face.scale(rng.uniform(1.0, 1.8), bold=rng.random() < 0.6),
        role="heading",
    )
    y = name.top + rng.uniform(1.6, 2.4) * em
    address: list[int] = []
    for line in address_lines(rng):
        written = canvas.write(line, x, y, right=right)
        address += written.pieces
        y = written.top + 1.3 * em
    for key, text, asked in (
        ("Tel", phone(rng), "phone"),
        ("Email", email(rng), ""),
        ("VAT No", value(rng, "code"), "tax number"),
    ):
        if rng.random() < 0.4:
            printed = canvas.write(key + invoice.ending, x, y, role="key")
            written = canvas.write(text, printed.right + 0.5 * em, y, right=right + 6 * em, role="value")
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
    rng, canvas, em = invoice.rng, invoice.canvas, invoice.em
    above = rng.random() < 0.18
    value_x = x + (right - x) * rng.uniform(0.4, 0.55)
    aligned = rng.choice(("left", "left", "right", "near"))
    face = canvas.face.scale(1.0, bold=rng.random() < 0.35)
    fields = rng.sample([concept for concept in CONCEPTS if concept.kinds[0] in _META_KINDS], rng.randint(2, 7))
    if rng.random() < 0.85:
        fields = [concept for concept in CONCEPTS if concept.printed[0] in ("date", "invoice no")][
            : rng.randint(1, 2)
        ] + fields
    if rng.random() < 0.35:  # a number of the customer beside the customer: only "who" and "which number" tell
        fields.append(next(concept for concept in CONCEPTS if concept.printed[0] == "customer no"))
    for concept in dict.fromkeys(fields):
        key = rng.choice(concept.printed)
        invoice.keys.concepts.add(concept)
        invoice.keys.used.add(key)
        shown = vary_case(rng, key) + invoice.ending
        printed = canvas.write(shown, x, y, face=face, right=right, role="key")
        if rng.random() < 0.08:
            canvas.ask(questions.about(rng, shown, concept))
            y = printed.top + 1.5 * em
            continue
        text = value(rng, concept.kinds[0])
        if above:
            written = canvas.write(text, x, printed.top + 1.3 * em, right=right, role="value")
        elif aligned == "right":
            start = max(printed.right + 0.6 * em, right - canvas.face.width(text))
            written = canvas.write(text, start, printed.top, right=right, role="value")
        else:
            start = max(printed.right + 0.6 * em, value_x if aligned == "left" else 0.0)
            written = canvas.write(text, start, printed.top, right=right, role="value")
        if written.whole:
            canvas.ask(questions.about(rng, shown, concept, synonyms=0.45), written.pieces)
        y = written.top + rng.uniform(1.35, 1.7) * em
    return y


def _parties(invoice: Invoice, y: float) -> float:
    """Set buyer and receiver side by side."""
    rng, canvas, em = invoice.rng, invoice.canvas, invoice.em
    foot = y
    for (keys, role), x in zip(_PARTIES, (invoice.left, canvas.width * 0.52), strict=True):
        if rng.random() < 0.2:
            continue
        key = rng.choice(keys)
        right = x + canvas.width * 0.42
        printed = canvas.write(
            vary_case(rng, key) + rng.choice((":", "", ":")),
            x,
            y,
            face=canvas.face.scale(1.0, bold=rng.random() < 0.5),
            role="key",
        )
        at = printed.top + 1.4 * em
        name = canvas.write(rng.choice((person(rng), company(rng))), x, at, right=right, role="value")
        at = name.top + 1.3 * em
        address: list[int] = []
        for line in address_lines(rng):
            written = canvas.write(line, x, at, right=right, role="value")
            address += written.pieces
            at = written.top + 1.3 * em
        canvas.ask(questions.about(rng, key), name.pieces + address)
        if role == "buyer" and rng.random() < 0.8:
            invoice.ask(_BUYER, name.pieces, printed=False)
        if rng.random() < 0.5:
            asked = rng.choice(
                (f"{key} address", f"address of the {role}", f"What is the {role}'s address?", f"{role} address")
            )
            canvas.ask(questions.around(rng, asked) if asked[-1] != "?" else asked, address, printed_key=False)
        foot = max(foot, at)
    return foot


def _goods(invoice: Invoice, y: float) -> tuple[float, float]:
    """Set the table of goods; return where it ends, and its sum."""
    rng, canvas, em = invoice.rng, invoice.canvas, invoice.em
    width = invoice.right - invoice.left
    xs = [
        invoice.left,
        invoice.left + width * rng.uniform(0.42, 0.5),
        invoice.left + width * rng.uniform(0.6, 0.68),
        invoice.right,
    ]
    heads = [rng.choice(names) for names in _COLUMNS]
    bold = canvas.face.scale(1.0, bold=rng.random() < 0.6)
    framed = rng.choice(("none", "head", "rows"))
    if framed == "head" and rng.random() < 0.4:
        canvas.panels.append(Panel((invoice.left - 4, y - 0.3 * em, invoice.right + 4, y + 1.2 * em), (215, 220, 228)))
    top = y - 0.3 * em
    for head, x in zip(heads[:3], xs[:3], strict=True):
        canvas.write(vary_case(rng, head), x, y, face=bold, role="cell")
    canvas.write_right(vary_case(rng, heads[3]), xs[3], y, face=bold, role="cell")
    y += 1.5 * em
    if framed != "none":
        canvas.rule(invoice.left, y - 0.25 * em, invoice.right, y - 0.25 * em)
    columns: list[list[int]] = [[], [], [], []]
    net = 0.0
    step = rng.uniform(1.4, 2.2) * em
    for _ in range(rng.randint(1, 9)):
        if y > canvas.height - 14 * em:
            break
        name, count, price = phrase(rng, 1, 5), rng.randint(1, 30), rng.randint(100, 99999) / 100
        net += count * price
        written = canvas.write(name, xs[0], y, right=xs[1] - em, role="cell")
        cells = [
            written.pieces,
            canvas.write(str(count), xs[1], y, role="cell").pieces,
            canvas.write(f"{price:,.2f}", xs[2], y, role="cell").pieces,
            canvas.write_right(f"{count * price:,.2f}", xs[3], y, role="cell").pieces,
        ]
        for column, cell in zip(columns, cells, strict=True):
            column += cell
        if rng.random() < 0.35:
            at = rng.randint(1, 3)
            shape = rng.choice(
                ("What is the {column} of {row}?", "{column} of {row}", "{row} {column}", "{column} for {row}")
            )
            canvas.ask(questions.mistype(rng, shape.format(column=heads[at].lower(), row=name)), cells[at])
        y = written.top + step
        if framed == "rows":
            canvas.rule(invoice.left, y - 0.3 * em, invoice.right, y - 0.3 * em)
    for head, column in zip(heads, columns, strict=True):
        if rng.random() < 0.25:
            canvas.ask(questions.about(rng, head + rng.choice((" column", "", ""))), column)
    canvas.table((invoice.left - 0.4 * em, top, invoice.right + 0.4 * em, y - step + 1.2 * em))
    return y, net


def _sums(invoice: Invoice, y: float, net: float) -> float:
    rng, canvas, em = invoice.rng, invoice.canvas, invoice.em
    key_x = canvas.width * rng.uniform(0.52, 0.66)
    currency = rng.choice(("", "$", "€", "£", "RM ", "USD ", "CHF ", "EUR "))
    keys_end = (
        invoice.right - canvas.face.width("CHF 999,999.99") - em * rng.uniform(1, 5) if rng.random() < 0.35 else 0.0
    )
    amounts = {"subtotal": net, "discount": net * 0.05, "tax": net * 0.08, "shipping": rng.randint(100, 9999) / 100}
    asked = {**ASKED, "shipping": ("shipping", "delivery cost", "How much is shipping?", "freight")}
    for name, keys, share in _SUMS:
        if rng.random() > share:
            continue
        shown = f"{currency}{amounts[name]:,.2f}"
        key = vary_case(rng, rng.choice(keys) if keys else tax_key(rng)) + invoice.ending
        if keys_end:
            canvas.write_right(key, keys_end, y, role="key")
        else:
            canvas.write(key, key_x, y, role="key")
        invoice.ask(asked[name], canvas.write_right(shown, invoice.right, y, role="value").pieces)
        y += 1.6 * em
    face = canvas.face.scale(rng.uniform(1.0, 1.3), bold=rng.random() < 0.6)
    total = rng.choice(
        ("Total", "Amount due", "Grand total", "Balance due", "Total due", "TOTAL", "Total amount", "Invoice total")
    )
    text = f"{currency}{net * 1.08:,.2f}"
    total_right = invoice.right - face.width(text) - 0.6 * em
    if keys_end:
        canvas.write_right(total + invoice.ending, min(keys_end, total_right), y, face=face, role="key")
    else:
        canvas.write_fitted(total + invoice.ending, key_x, y, total_right, face=face, role="key")
    written = canvas.write_right(text, invoice.right, y, face=face, role="value")
    invoice.ask(tuple(text.replace("receipt", "invoice") for text in asked["total"]), written.pieces)
    return y + 2 * em


def _terms(invoice: Invoice, y: float) -> None:
    rng, canvas, em = invoice.rng, invoice.canvas, invoice.em
    key = rng.choice(("Terms", "Notes", "Payment instructions", "Bank details", "Remarks", "Terms and conditions"))
    printed = canvas.write(
        key + rng.choice((":", "")), invoice.left, y, face=canvas.face.scale(1.0, bold=True), role="key"
    )
    text = " ".join(sentence(rng, 4, 14) for _ in range(rng.randint(1, 2)))
    written = canvas.write(
        text, invoice.left, printed.top + 1.4 * em, right=invoice.left + canvas.width * 0.55, role="value"
    )
    if written.whole:
        canvas.ask(questions.about(rng, key), written.pieces)


def _absent(invoice: Invoice) -> str:
    key = invoice.keys.absent()
    return questions.about(invoice.rng, key.text, key.concept, synonyms=0.4)
