"""Head of a receipt: the shop's name, its company, numbers and address."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.synthetic.kinds.receipts.sign import print_sign, shop_address
from engine.synthetic.values import COMPANY_ENDINGS, address_lines, company, email, phone, shop, website
from engine.synthetic.vocabulary import CITIES, LAST_NAMES, STATES, word

if TYPE_CHECKING:
    from engine.synthetic.kinds.receipts.layout import ReceiptLayout


_SIGNED = 0.5  # share of receipts with the name as on the shop's sign


@dataclass(slots=True)
class Head:
    """Pieces of the head; `companies` are acceptable answers to who issued the receipt.

    `sign`: the name on the shop's sign, empty without one; `branch`: place named above the address.
    """

    sign: str = ""
    branch: list[int] = field(default_factory=list)

    companies: list[list[int]] = field(default_factory=list)
    brand: list[list[int]] = field(default_factory=list)
    address: list[int] = field(default_factory=list)
    phone: list[int] = field(default_factory=list)
    registration: list[int] = field(default_factory=list)
    tax_number: list[int] = field(default_factory=list)


def print_head(layout: ReceiptLayout) -> Head:
    """Print the head; return the pieces of its parts."""
    rng, head = layout.rng, Head()
    big, bold = rng.uniform(1.0, 1.6), rng.random() < 0.5
    signed = rng.random() < _SIGNED
    branded = rng.random() < 0.22
    if signed:
        sign = print_sign(layout)
        head.sign, head.companies, head.branch = sign.name, sign.readings, sign.branch
    elif branded:
        # A trade name, and the owning company in smaller print: the company issues the receipt.
        head.brand = [layout.line(_brand(layout), big, bold=bold, role="heading")]
        legal = _legal_name(layout)
        shape = rng.choice(("{}", "{}", "({})", "Owned by : {}", "Operated by {}", "{}"))
        pieces = layout.line(shape.format(legal))
        skipped = len(shape.split("{}", maxsplit=1)[0].split()) if shape != "({})" else 0
        head.companies = [pieces[skipped:]]
        head.brand += head.companies
    else:
        name = shop(rng) if rng.random() < 0.3 else _legal_name(layout)
        tail = _registration(layout) if rng.random() < 0.18 else ""
        pieces = layout.line(f"{name} {tail}".strip(), big, bold=bold, role="heading")
        head.companies = [pieces[: len(name.split())]]
        if tail:
            head.registration = pieces[len(name.split()) :]
    late_registration = rng.random() < (0.05 if signed else 0.35)
    if not (signed and rng.random() < 0.85) and not head.registration and not late_registration and rng.random() < 0.65:
        _print_registration(layout, head)
    if not signed and rng.random() < 0.14:
        layout.line(
            rng.choice(
                (
                    f"({rng.choice(CITIES)} branch)",
                    f"{rng.choice(CITIES)} outlet",
                    f"Branch : {rng.choice(CITIES)}",
                    f"(formerly known as {company(rng)})",
                    f"{word(rng)} {word(rng)}",
                )
            )
        )
    if late_registration or rng.random() > 0.25:
        _print_address(layout, head)
        if late_registration and not head.registration and rng.random() < 0.8:
            _print_registration(layout, head)
        _print_contacts(layout, head)
    else:
        _print_contacts(layout, head)
        _print_address(layout, head)
    return head


def _brand(layout: ReceiptLayout) -> str:
    return shop(layout.rng)


def _legal_name(layout: ReceiptLayout) -> str:
    rng = layout.rng
    if rng.random() < 0.45:
        name = rng.choice(
            (
                shop(rng),
                f"{word(rng, 0.6).title()} {word(rng).title()}",
                f"{rng.choice(LAST_NAMES)} {word(rng).title()}",
                word(rng, 0.8),
            )
        )
        return f"{name} {rng.choice(COMPANY_ENDINGS)}"
    return company(rng)


def _registration(layout: ReceiptLayout) -> str:
    rng = layout.rng
    number = f"{rng.randint(10000, 9999999)}-{rng.choice('ADHKMPTUVWX')}"
    return rng.choice((f"({number})", f"({number})", number))


def _print_registration(layout: ReceiptLayout, head: Head) -> None:
    text = _registration(layout)
    shape = layout.rng.choice(
        (
            "{}",
            "{}",
            "Co. Reg No: {}",
            "Company Reg. No. {}",
            "ROC NO: {}",
            "Reg No. : {}",
            "Business No {}",
            "Co No. {}",
            "(Co. Reg. No. {} )",
        )
    )
    pieces = layout.line(shape.format(text))
    head.registration = [
        at for at in pieces if text.strip("()") in layout.canvas.pieces[at].text.strip("()").replace("(", "")
    ]


def _print_address(layout: ReceiptLayout, head: Head) -> None:
    rng = layout.rng
    if rng.random() < 0.04:
        return
    lines = shop_address(rng) if head.sign else address_lines(rng)
    if not head.sign and rng.random() < 0.25:
        lines[-1] += f", {rng.choice(STATES)}"
    if rng.random() < (0.1 if head.sign else 0.35) and len(lines) > 1:
        lines[:2] = [f"{lines[0]}, {lines[1]}"]
    elif rng.random() < (0.08 if head.sign else 0.25):
        # Tills break addresses at the paper's edge, not at meaningful places.
        parts = ", ".join(lines).split()
        size = rng.randint(3, 5)
        lines = [" ".join(parts[at : at + size]) for at in range(0, len(parts), size)]
    key = rng.choice(("Address: ", "Add : ", "ADD: ", "Store: ")) if rng.random() < 0.06 else ""
    comma_less = 0.85 if head.sign else 0.4
    for at, text in enumerate(lines):
        last = at == len(lines) - 1
        end = (
            rng.choice(("", "", ".", ","))
            if last
            else ("" if text.endswith((",", ".")) or rng.random() < comma_less else ",")
        )
        pieces = layout.line((key if at == 0 else "") + text + end)
        head.address += pieces[len(key.split()) if at == 0 else 0 :]
    if rng.random() < 0.1:
        # A second address, of the head office or the owner: the shop's own comes first.
        layout.line(rng.choice(("Head office:", "HQ :", "Mailing address:", "(Branch)", company(rng), "Outlet :")))
        for text in address_lines(rng):
            layout.line(text)


def _print_contacts(layout: ReceiptLayout, head: Head) -> None:
    rng = layout.rng
    if rng.random() < 0.65:
        number = phone(rng)
        fax = rng.choice((" Fax: ", " Fax : ", " FAX:", " F: ")) + phone(rng) if rng.random() < 0.3 else ""
        key = rng.choice(
            (
                "Tel: ",
                "Tel : ",
                "Phone: ",
                "TEL ",
                "Tel. ",
                "H/P: ",
                "Tel:",
                "T: ",
                "Contact : ",
                "Mobile/Whatsapp : ",
                "",
            )
        )
        pieces = layout.line(f"{key}{number}{fax}")
        first = len(key.split()) if key.endswith(" ") else 0
        head.phone = pieces[
            first : first
            + len(f"{key}{number}".split())
            - len(key.split())
            + (0 if key.endswith(" ") or not key else 1)
        ]
    if rng.random() < 0.15:
        layout.line(rng.choice((f"Email: {email(rng)}", website(rng), f"E-mail : {email(rng)}")))
    if rng.random() < 0.6:
        number = "".join(rng.choice("0123456789") for _ in range(rng.randint(9, 12)))
        key = rng.choice(
            (
                "GST ID : {}",
                "GST Reg No: {}",
                "GST No. : {}",
                "VAT No: {}",
                "Tax ID {}",
                "(GST ID NO: {} )",
                "ABN {}",
                "GST ID: {}",
                "GST Reg. No : {}",
                "SST ID : {}",
                "GSTIN: {}",
            )
        )
        pieces = layout.line(key.format(number))
        head.tax_number = [at for at in pieces if number in layout.canvas.pieces[at].text]
