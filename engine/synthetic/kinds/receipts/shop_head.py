"""Head of a receipt: the shop's name, its company, numbers and address."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.synthetic.values import COMPANY_ENDINGS, address_lines, company, email, phone, shop, website
from engine.synthetic.vocabulary import CITIES, LAST_NAMES, STATES, word

if TYPE_CHECKING:
    from engine.synthetic.kinds.receipts.till import Till


@dataclass(slots=True)
class Head:
    """Pieces of the head; `companies` are acceptable answers to who issued the receipt."""

    companies: list[list[int]] = field(default_factory=list)
    brand: list[list[int]] = field(default_factory=list)
    address: list[int] = field(default_factory=list)
    phone: list[int] = field(default_factory=list)
    registration: list[int] = field(default_factory=list)
    tax_number: list[int] = field(default_factory=list)


def print_head(till: Till) -> Head:
    """Print the head; return the pieces of its parts."""
    chance, head = till.chance, Head()
    big, bold = chance.uniform(1.0, 1.6), chance.random() < 0.5
    branded = chance.random() < 0.22
    if branded:
        # A trade name, and the owning company in smaller print: the company issues the receipt.
        head.brand = [till.line(_brand(till), big, bold=bold, role="heading")]
        legal = _legal_name(till)
        shape = chance.choice(("{}", "{}", "({})", "Owned by : {}", "Operated by {}", "{}"))
        pieces = till.line(shape.format(legal))
        skipped = len(shape.split("{}", maxsplit=1)[0].split()) if shape != "({})" else 0
        head.companies = [pieces[skipped:]]
        head.brand += head.companies
    else:
        name = shop(chance) if chance.random() < 0.3 else _legal_name(till)
        tail = _registration(till) if chance.random() < 0.18 else ""
        pieces = till.line(f"{name} {tail}".strip(), big, bold=bold, role="heading")
        head.companies = [pieces[: len(name.split())]]
        if tail:
            head.registration = pieces[len(name.split()) :]
    late_registration = chance.random() < 0.35
    if not head.registration and not late_registration and chance.random() < 0.65:
        _print_registration(till, head)
    if chance.random() < 0.14:
        till.line(
            chance.choice(
                (
                    f"({chance.choice(CITIES)} branch)",
                    f"{chance.choice(CITIES)} outlet",
                    f"Branch : {chance.choice(CITIES)}",
                    f"(formerly known as {company(chance)})",
                    f"{word(chance)} {word(chance)}",
                )
            )
        )
    if late_registration or chance.random() > 0.25:
        _print_address(till, head)
        if late_registration and not head.registration and chance.random() < 0.8:
            _print_registration(till, head)
        _print_contacts(till, head)
    else:
        _print_contacts(till, head)
        _print_address(till, head)
    return head


def _brand(till: Till) -> str:
    return shop(till.chance)


def _legal_name(till: Till) -> str:
    chance = till.chance
    if chance.random() < 0.45:
        name = chance.choice(
            (
                shop(chance),
                f"{word(chance, 0.6).title()} {word(chance).title()}",
                f"{chance.choice(LAST_NAMES)} {word(chance).title()}",
                word(chance, 0.8),
            )
        )
        return f"{name} {chance.choice(COMPANY_ENDINGS)}"
    return company(chance)


def _registration(till: Till) -> str:
    chance = till.chance
    number = f"{chance.randint(10000, 9999999)}-{chance.choice('ADHKMPTUVWX')}"
    return chance.choice((f"({number})", f"({number})", number))


def _print_registration(till: Till, head: Head) -> None:
    text = _registration(till)
    shape = till.chance.choice(
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
    pieces = till.line(shape.format(text))
    head.registration = [
        at for at in pieces if text.strip("()") in till.sheet.pieces[at].text.strip("()").replace("(", "")
    ]


def _print_address(till: Till, head: Head) -> None:
    chance = till.chance
    if chance.random() < 0.04:
        return
    lines = address_lines(chance)
    if chance.random() < 0.25:
        lines[-1] += f", {chance.choice(STATES)}"
    if chance.random() < 0.35 and len(lines) > 1:
        lines[:2] = [f"{lines[0]}, {lines[1]}"]
    elif chance.random() < 0.25:
        # Tills break addresses at the paper's edge, not at meaningful places.
        parts = ", ".join(lines).split()
        size = chance.randint(3, 5)
        lines = [" ".join(parts[at : at + size]) for at in range(0, len(parts), size)]
    key = chance.choice(("Address: ", "Add : ", "ADD: ", "Store: ")) if chance.random() < 0.06 else ""
    for at, text in enumerate(lines):
        last = at == len(lines) - 1
        end = (
            chance.choice(("", "", ".", ","))
            if last
            else ("" if text.endswith((",", ".")) or chance.random() < 0.4 else ",")
        )
        pieces = till.line((key if at == 0 else "") + text + end)
        head.address += pieces[len(key.split()) if at == 0 else 0 :]
    if chance.random() < 0.1:
        # A second address, of the head office or the owner: the shop's own comes first.
        till.line(chance.choice(("Head office:", "HQ :", "Mailing address:", "(Branch)", company(chance), "Outlet :")))
        for text in address_lines(chance):
            till.line(text)


def _print_contacts(till: Till, head: Head) -> None:
    chance = till.chance
    if chance.random() < 0.65:
        number = phone(chance)
        fax = chance.choice((" Fax: ", " Fax : ", " FAX:", " F: ")) + phone(chance) if chance.random() < 0.3 else ""
        key = chance.choice(
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
        pieces = till.line(f"{key}{number}{fax}")
        first = len(key.split()) if key.endswith(" ") else 0
        head.phone = pieces[
            first : first
            + len(f"{key}{number}".split())
            - len(key.split())
            + (0 if key.endswith(" ") or not key else 1)
        ]
    if chance.random() < 0.15:
        till.line(chance.choice((f"Email: {email(chance)}", website(chance), f"E-mail : {email(chance)}")))
    if chance.random() < 0.6:
        number = "".join(chance.choice("0123456789") for _ in range(chance.randint(9, 12)))
        key = chance.choice(
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
        pieces = till.line(key.format(number))
        head.tax_number = [at for at in pieces if number in till.sheet.pieces[at].text]
