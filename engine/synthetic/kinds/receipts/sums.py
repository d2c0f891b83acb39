"""Items and sums of a receipt."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.synthetic.values import till_number
from engine.synthetic.vocabulary import coined, phrase

if TYPE_CHECKING:
    from engine.synthetic.kinds.receipts.till import Till

_TOTAL_KEYS = (
    "Total", "TOTAL", "TOTAL", "Total", "Grand Total", "Total Amount", "Amount Due", "Net Total", "Total Payable", "Total Due",
    "Nett Total", "Balance Due", "Total Amt", "Total Incl GST", "Total Amount Payable", "Final Total", "Total Amt Rounded",
    "Total Sales", "Total Inclusive GST", "Amount Payable", "Bill Total", "Total After Rounding", "Total Rounded", "To Pay",
    "To Be Paid", "Sales Total", "TTL", "Total To Pay", "Round Total", "Total Bill", "Nett Amount", "Total (Inclusive of GST)",
)  # fmt: skip
# Sums called totals that are not the amount to pay.
_NOT_THE_TOTAL = (
    "Total Saving", "Total 0% supplies", "Total 6% supplies", "Total GST(I)", "Total GST (S)", "Total Points", "Total Discount",
    "Total Item Discount", "Total Deposit", "Total Tax Amt", "Total Zero Rated", "Total Exempt", "Points earned", "Total Members Savings",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """Item with the pieces of its amount."""

    name: str
    amount: list[int]


@dataclass(slots=True)
class Sums:
    """Printed sums: `totals` to pay, other sums by name, and (name, key, pieces) of `keyed` ones."""

    totals: list[list[int]] = field(default_factory=list)
    named: dict[str, list[int]] = field(default_factory=dict)
    keyed: list[tuple[str, str, list[int]]] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)


def print_items_and_sums(till: Till) -> Sums:
    """Print the items and the sums below them."""
    chance, sums = till.chance, Sums()
    currency = chance.choice(("", "", "", "", "$", "RM", "€", "RM "))
    net = _print_items(till, sums, currency)
    till.dashes()
    _print_sums(till, sums, net, currency)
    return sums


def _print_items(till: Till, sums: Sums, currency: str) -> float:
    chance, sheet, em = till.chance, till.sheet, till.em
    amount_right = till.right - em * chance.uniform(0, 2)
    # Columns are as far from the right edge as the widest sums need; on narrow paper counts get a line of their own.
    price_right = amount_right - sheet.face.width(f"{currency}9,999.99 ZRL") - em * chance.uniform(0.3, 1.2)
    quantity_right = price_right - sheet.face.width("999.99") - em * chance.uniform(0.6, 1.8)
    columned = chance.random() < 0.75 and quantity_right - till.left > 12 * em
    coded = chance.random() < 0.3
    tax_code = chance.choice(("", "", "", " SR", " S", " ZRL", " Z", "S"))
    if chance.random() < 0.65:
        heading = chance.choice(("Item", "Description", "Item Description", "Product", "Code / Desc", "Item Name"))
        sheet.write_fitted(
            till.case(heading), till.left, till.y, (quantity_right if columned else amount_right) - 5 * em, role="cell"
        )
        if columned:
            sheet.write_right(till.case("Qty"), quantity_right, till.y, role="cell")
            sheet.write_right(till.case(chance.choice(("Price", "U/P", "U/P", "RM"))), price_right, till.y, role="cell")
        sheet.write_right(
            till.case(chance.choice(("Amount", "Total", "RM", "Amt", "Total(RM)", "Amt(RM)", "Price"))),
            amount_right,
            till.y,
            role="cell",
        )
        till.feed()
        till.dashes(0.3)
    net = 0.0
    for _ in range(chance.choice((1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10, 13))):
        count = chance.choice((1, 1, 1, 2, 3, chance.randint(1, 20)))
        price = chance.randint(50, 9999) / 100 if chance.random() < 0.9 else chance.randint(100, 90000) / 100
        amount = round(count * price, 2)
        net += amount
        name = phrase(chance, 1, 4)
        if chance.random() < 0.35:
            size = f"{chance.randint(1, 900)}{chance.choice(('g', 'ml', 'kg', 'pcs', 'M', 'mm', 'CM', '%'))}"
            part = chance.choice(
                (
                    size,
                    size,
                    f"{chance.randint(2, 30)}/{chance.randint(10, 250)}",
                    f"{chance.randint(2, 60)}*{size}",
                    f"{coined(chance)[:2]}{chance.randint(1, 99)}-{chance.randint(1, 99):02d}",
                )
            )
            name = f"{name} {part}" if chance.random() < 0.6 else f"{coined(chance)} {part}"
        if coded and chance.random() < 0.8:
            sheet.write(till.case(till_number(chance)), till.left, till.y, role="cell")
            till.feed()
        limit = quantity_right - 3.2 * em if columned else amount_right - em * 5
        written = sheet.write(till.case(name), till.left, till.y, right=limit, role="cell")
        till.y = written.top
        if columned or chance.random() < 0.5:
            if not columned or chance.random() < 0.25:
                till.feed()
            shown_count = f"{count}{chance.choice(('', '', '.00', 'x', 'X', ''))}"
            if columned:
                sheet.write_right(shown_count, quantity_right, till.y, role="cell")
                sheet.write_right(f"{price:.2f}", price_right, till.y, role="cell")
            else:
                sign = chance.choice(("x", "@", "X", "*"))
                sheet.write(f"{count} {sign} {price:.2f}", till.left + em * chance.choice((0, 2)), till.y, role="cell")
        shown = f"{currency.strip() if chance.random() < 0.5 else ''}{amount:,.2f}"
        amount_pieces = sheet.write_right(
            shown + (tax_code if chance.random() < 0.9 else ""), amount_right, till.y, role="cell"
        ).pieces
        sums.items.append(Item(name, amount_pieces[:1]))
        till.feed()
    return net


def _print_sums(till: Till, sums: Sums, net: float, currency: str) -> None:
    chance, sheet, em = till.chance, till.sheet, till.em
    tax = round(net * chance.choice((0, 0, 0.06, 0.06, 0.1, 0.2)), 2)
    rounding = chance.choice((-0.02, -0.01, 0.0, 0.01, 0.02)) if chance.random() < 0.45 else 0.0
    total = round(net + tax + rounding, 2)
    width = till.right - till.left
    key_x = till.left if chance.random() < 0.5 else till.left + width * chance.uniform(0.1, 0.4)
    amount_right = till.right - em * chance.uniform(0, 2)
    ending = chance.choice((":", "", "", " :"))

    def row(name: str, key: str, text: str, factor: float = 1.0, money: bool = True) -> list[int]:
        """Print one sum; return its pieces."""
        face = sheet.face.scaled(factor, bold=factor > 1.2)
        shown_currency = currency if money else ""
        if shown_currency and chance.random() < 0.4:
            key, shown_currency = (
                f"{key} ({shown_currency.strip()})" if chance.random() < 0.6 else f"{key} {shown_currency.strip()}",
                "",
            )
        currency_x = amount_right - face.width("99,999.99") - 2.2 * em
        apart = shown_currency.endswith(" ")  # the currency has a column of its own
        limit = currency_x if apart else amount_right - face.width(shown_currency + text)
        shown_key = till.case(key) + ending
        x = key_x if limit - key_x > 0.7 * face.width(shown_key) else till.left
        sheet.write_fitted(shown_key, x, till.y, limit - 0.5 * em, face=face, role="key")
        if apart:
            sheet.write(shown_currency.strip(), currency_x, till.y, face=face, role="value")
            shown_currency = ""
        pieces = sheet.write_right(shown_currency + text, amount_right, till.y, face=face, role="value").pieces
        till.y += till.leading * face.size
        sums.keyed.append((name, key, pieces))
        if name not in ("total", "other"):
            sums.named.setdefault(name, pieces)
        return pieces

    if chance.random() < 0.6:
        row(
            "subtotal",
            chance.choice(
                (
                    "Subtotal",
                    "Sub Total",
                    "SUB-TOTAL",
                    "Total Excl. GST",
                    "Total (Excluding GST)",
                    "Net Total",
                    "Total Sales (Excl GST)",
                    "Amount",
                )
            ),
            f"{net:,.2f}",
        )
    if chance.random() < 0.3:
        row(
            "discount",
            chance.choice(("Discount", "Total Discount", "Disc", "Less", "Total Saving")),
            chance.choice(("0.00", "-0.00", f"{chance.randint(1, 300) / 100:.2f}")),
        )
    if chance.random() < 0.25:
        row(
            "service",
            chance.choice(("Service Charge", "Serv. Chg 10%", "10% SVC CHG")),
            f"{chance.randint(0, 500) / 100:.2f}",
        )
    if tax or chance.random() < 0.35:
        row(
            "tax",
            chance.choice(
                ("GST", "Tax", "VAT", "Total GST", "GST 6%", "Sales Tax", "GST @6%", "Total Tax", "Add GST", "6% GST")
            ),
            f"{tax:,.2f}",
        )
    if chance.random() < 0.3:
        row(
            "total",
            chance.choice(
                (
                    "Total Incl. GST",
                    "Total Sales (Inclusive of GST)",
                    "Total Inclusive",
                    "Total Amount Incl GST",
                    "Total With GST @ 6%",
                )
            ),
            f"{net + tax:,.2f}",
        )
    if rounding or chance.random() < 0.3:
        row(
            "rounding",
            chance.choice(("Rounding", "Rounding Adj", "Round Adj", "Rounding Adjustment", "Rounding Adjustments")),
            f"{rounding:.2f}",
        )
    if chance.random() < 0.2:
        row(
            "count",
            chance.choice(("Total Qty", "Items", "Item Count", "Total Item(s)", "No. of items", "Qty")),
            str(len(sums.items)),
            money=False,
        )
    while chance.random() < 0.22:
        other = chance.choice(
            (f"{net * chance.random():,.2f}", f"{tax:,.2f}", "0.00", str(chance.randint(1, 300)), f"-{net * 0.1:,.2f}")
        )
        row("other", chance.choice(_NOT_THE_TOTAL), other, money=chance.random() < 0.5)
    row("total", chance.choice(_TOTAL_KEYS), f"{total:,.2f}", factor=chance.choice((1.0, 1.0, 1.0, 1.2, 1.5)))
    if chance.random() < 0.75:
        given = total if chance.random() < 0.4 else math.ceil(total / 10) * 10.0
        row(
            "cash",
            chance.choice(
                (
                    "Cash",
                    "CASH",
                    "Payment",
                    "VISA",
                    "Paid",
                    "Cash Tendered",
                    "Amount Paid",
                    "Credit Card",
                    "Tender",
                    "Cash Received",
                    "Tender Cash",
                    "Master Card",
                )
            ),
            f"{given:,.2f}",
        )
        if chance.random() < 0.75:
            row(
                "change",
                chance.choice(("Change", "CHANGE", "Change Due", "Balance", "Cash Change", "Change Amt")),
                f"{given - total:,.2f}",
            )
    if chance.random() < 0.12:
        row("other", chance.choice(_NOT_THE_TOTAL), f"{chance.randint(0, 90000) / 100:,.2f}", money=False)
    if chance.random() < 0.3:
        _print_tax_summary(till, net, tax)
    till.dashes(0.25)
    wanted = f"{total:,.2f}"
    sums.totals = [[at] for at, piece in enumerate(sheet.pieces) if piece.text.lstrip("$€RM") == wanted]


def _print_tax_summary(till: Till, net: float, tax: float) -> None:
    chance, sheet = till.chance, till.sheet
    middle = till.left + (till.right - till.left) * 0.42
    heading = till.case(chance.choice(("GST Summary", "Tax Summary", "GST Analysis")))
    sheet.write_fitted(heading, till.left, till.y, middle - 0.5 * till.em, role="heading")
    if chance.random() < 0.7:
        sheet.write_fitted(
            till.case("Amount(RM)"), middle, till.y, middle + till.sheet.face.width("AMOUNT(RM"), role="cell"
        )
        sheet.write_right(till.case("Tax(RM)"), till.right, till.y, role="cell")
    till.feed()
    for key in (chance.choice(("SR @ 6%", "SR (6%)", "S = 6%", "SR")), *(["Total"] if chance.random() < 0.4 else [])):
        sheet.write(till.case(key), till.left, till.y, role="cell")
        sheet.write(f"{net:,.2f}", middle, till.y, role="cell")
        sheet.write_right(f"{tax:.2f}", till.right, till.y, role="cell")
        till.feed()
