"""Items and sums of a receipt."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.synthetic.kinds.receipts.words import tax_key
from engine.synthetic.values import till_number
from engine.synthetic.vocabulary import coin_word, phrase

if TYPE_CHECKING:
    from engine.synthetic.kinds.receipts.layout import ReceiptLayout

_TOTAL_KEYS = (
    "Total", "TOTAL", "TOTAL", "Total", "Grand Total", "Total Amount", "Amount Due", "Net Total", "Total Payable", "Total Due",
    "Nett Total", "Balance Due", "Total Amt", "Total Incl GST", "Total Amount Payable", "Final Total", "Total Amt Rounded",
    "Total Sales", "Total Inclusive GST", "Amount Payable", "Bill Total", "Total After Rounding", "Total Rounded", "To Pay",
    "To Be Paid", "Sales Total", "TTL", "Total To Pay", "Round Total", "Total Bill", "Nett Amount", "Total (Inclusive of GST)",
)  # fmt: skip
# Sums called totals that are not the amount to pay.
_NOT_THE_TOTAL = (
    "Total Saving", "Total 0% supplies", "Total 6% supplies", "Total GST(I)", "Total GST (S)", "Total Points", "Total Discount",
    "Total Item Discount", "Total Deposit", "Total Tax Amt", "Total Zero Rated", "Total Exempt", "Points earned", "Total Members Savings", "Taxable", "Taxable Amount", "Non Taxable", "Before Tax",
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


def print_items_and_sums(layout: ReceiptLayout) -> Sums:
    """Print the items and the sums below them."""
    rng, sums = layout.rng, Sums()
    currency = rng.choice(("", "", "", "", "$", "RM", "€", "RM "))
    net = _print_items(layout, sums, currency)
    layout.dashes()
    _print_sums(layout, sums, net, currency)
    return sums


def _print_items(layout: ReceiptLayout, sums: Sums, currency: str) -> float:
    rng, canvas, em = layout.rng, layout.canvas, layout.em
    amount_right = layout.right - em * rng.uniform(0, 2)
    # Columns are as far from the right edge as the widest sums need; on narrow paper counts get a line of their own.
    price_right = amount_right - canvas.face.width(f"{currency}9,999.99 ZRL") - em * rng.uniform(0.3, 1.2)
    quantity_right = price_right - canvas.face.width("999.99") - em * rng.uniform(0.6, 1.8)
    columned = rng.random() < 0.75 and quantity_right - layout.left > 12 * em
    coded = rng.random() < 0.3
    tax_code = rng.choice(("", "", "", " SR", " S", " ZRL", " Z", "S"))
    if rng.random() < 0.65:
        heading = rng.choice(("Item", "Description", "Item Description", "Product", "Code / Desc", "Item Name"))
        canvas.write_fitted(
            layout.case(heading),
            layout.left,
            layout.y,
            (quantity_right if columned else amount_right) - 5 * em,
            role="cell",
        )
        if columned:
            canvas.write_right(layout.case("Qty"), quantity_right, layout.y, role="cell")
            canvas.write_right(
                layout.case(rng.choice(("Price", "U/P", "U/P", "RM"))), price_right, layout.y, role="cell"
            )
        canvas.write_right(
            layout.case(rng.choice(("Amount", "Total", "RM", "Amt", "Total(RM)", "Amt(RM)", "Price"))),
            amount_right,
            layout.y,
            role="cell",
        )
        layout.feed()
        layout.dashes(0.3)
    net = 0.0
    for _ in range(rng.choice((1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 10, 13))):
        count = rng.choice((1, 1, 1, 2, 3, rng.randint(1, 20)))
        price = rng.randint(50, 9999) / 100 if rng.random() < 0.9 else rng.randint(100, 90000) / 100
        amount = round(count * price, 2)
        net += amount
        name = phrase(rng, 1, 4)
        if rng.random() < 0.35:
            size = f"{rng.randint(1, 900)}{rng.choice(('g', 'ml', 'kg', 'pcs', 'M', 'mm', 'CM', '%'))}"
            part = rng.choice(
                (
                    size,
                    size,
                    f"{rng.randint(2, 30)}/{rng.randint(10, 250)}",
                    f"{rng.randint(2, 60)}*{size}",
                    f"{coin_word(rng)[:2]}{rng.randint(1, 99)}-{rng.randint(1, 99):02d}",
                )
            )
            name = f"{name} {part}" if rng.random() < 0.6 else f"{coin_word(rng)} {part}"
        if coded and rng.random() < 0.8:
            canvas.write(layout.case(till_number(rng)), layout.left, layout.y, role="cell")
            layout.feed()
        limit = quantity_right - 3.2 * em if columned else amount_right - em * 5
        written = canvas.write(layout.case(name), layout.left, layout.y, right=limit, role="cell")
        layout.y = written.top
        if columned or rng.random() < 0.5:
            if not columned or rng.random() < 0.25:
                layout.feed()
            shown_count = f"{count}{rng.choice(('', '', '.00', 'x', 'X', ''))}"
            if columned:
                canvas.write_right(shown_count, quantity_right, layout.y, role="cell")
                canvas.write_right(f"{price:.2f}", price_right, layout.y, role="cell")
            else:
                sign = rng.choice(("x", "@", "X", "*"))
                canvas.write(
                    f"{count} {sign} {price:.2f}", layout.left + em * rng.choice((0, 2)), layout.y, role="cell"
                )
        shown = f"{currency.strip() if rng.random() < 0.5 else ''}{amount:,.2f}"
        amount_pieces = canvas.write_right(
            shown + (tax_code if rng.random() < 0.9 else ""), amount_right, layout.y, role="cell"
        ).pieces
        sums.items.append(Item(name, amount_pieces[:1]))
        layout.feed()
    return net


def _print_sums(layout: ReceiptLayout, sums: Sums, net: float, currency: str) -> None:
    rng, canvas, em = layout.rng, layout.canvas, layout.em
    tax = round(net * rng.choice((0, 0, 0.06, 0.06, 0.1, 0.2)), 2)
    rounding = rng.choice((-0.02, -0.01, 0.0, 0.01, 0.02)) if rng.random() < 0.45 else 0.0
    total = round(net + tax + rounding, 2)
    width = layout.right - layout.left
    key_x = layout.left if rng.random() < 0.5 else layout.left + width * rng.uniform(0.1, 0.4)
    amount_right = layout.right - em * rng.uniform(0, 2)
    ending = rng.choice((":", "", "", " :"))

    def row(name: str, key: str, text: str, factor: float = 1.0, money: bool = True) -> list[int]:
        """Print one sum; return its pieces."""
        face = canvas.face.scale(factor, bold=factor > 1.2)
        shown_currency = currency if money else ""
        if shown_currency and rng.random() < 0.4:
            key, shown_currency = (
                f"{key} ({shown_currency.strip()})" if rng.random() < 0.6 else f"{key} {shown_currency.strip()}",
                "",
            )
        currency_x = amount_right - face.width("99,999.99") - 2.2 * em
        apart = shown_currency.endswith(" ")  # the currency has a column of its own
        limit = currency_x if apart else amount_right - face.width(shown_currency + text)
        shown_key = layout.case(key) + ending
        x = key_x if limit - key_x > 0.7 * face.width(shown_key) else layout.left
        canvas.write_fitted(shown_key, x, layout.y, limit - 0.5 * em, face=face, role="key")
        if apart:
            canvas.write(shown_currency.strip(), currency_x, layout.y, face=face, role="value")
            shown_currency = ""
        pieces = canvas.write_right(shown_currency + text, amount_right, layout.y, face=face, role="value").pieces
        layout.y += layout.leading * face.size
        sums.keyed.append((name, key, pieces))
        if name not in ("total", "other"):
            sums.named.setdefault(name, pieces)
        return pieces

    if rng.random() < 0.6:
        row(
            "subtotal",
            rng.choice(
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
    if rng.random() < 0.3:
        row(
            "discount",
            rng.choice(("Discount", "Total Discount", "Disc", "Less", "Total Saving")),
            rng.choice(("0.00", "-0.00", f"{rng.randint(1, 300) / 100:.2f}")),
        )
    if rng.random() < 0.25:
        row(
            "service",
            rng.choice(("Service Charge", "Serv. Chg 10%", "10% SVC CHG")),
            f"{rng.randint(0, 500) / 100:.2f}",
        )
    if tax or rng.random() < 0.35:
        row(
            "tax",
            tax_key(rng),
            f"{tax:,.2f}",
        )
    if rng.random() < 0.3:
        row(
            "total",
            rng.choice(
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
    if rounding or rng.random() < 0.3:
        row(
            "rounding",
            rng.choice(("Rounding", "Rounding Adj", "Round Adj", "Rounding Adjustment", "Rounding Adjustments")),
            f"{rounding:.2f}",
        )
    if rng.random() < 0.2:
        row(
            "count",
            rng.choice(("Total Qty", "Items", "Item Count", "Total Item(s)", "No. of items", "Qty")),
            str(len(sums.items)),
            money=False,
        )
    while rng.random() < 0.22:
        amount = rng.choice(
            (f"{net * rng.random():,.2f}", f"{tax:,.2f}", "0.00", str(rng.randint(1, 300)), f"-{net * 0.1:,.2f}")
        )
        row("other", rng.choice(_NOT_THE_TOTAL), amount, money=rng.random() < 0.5)
    row("total", rng.choice(_TOTAL_KEYS), f"{total:,.2f}", factor=rng.choice((1.0, 1.0, 1.0, 1.2, 1.5)))
    if rng.random() < 0.75:
        tendered = total if rng.random() < 0.4 else math.ceil(total / 10) * 10.0
        row(
            "cash",
            rng.choice(
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
            f"{tendered:,.2f}",
        )
        if rng.random() < 0.75:
            row(
                "change",
                rng.choice(("Change", "CHANGE", "Change Due", "Balance", "Cash Change", "Change Amt")),
                f"{tendered - total:,.2f}",
            )
    if rng.random() < 0.12:
        row("other", rng.choice(_NOT_THE_TOTAL), f"{rng.randint(0, 90000) / 100:,.2f}", money=False)
    if rng.random() < 0.3:
        _print_tax_summary(layout, net, tax)
    layout.dashes(0.25)
    wanted = f"{total:,.2f}"
    sums.totals = [[at] for at, piece in enumerate(canvas.pieces) if piece.text.lstrip("$€RM") == wanted]


def _print_tax_summary(layout: ReceiptLayout, net: float, tax: float) -> None:
    rng, canvas = layout.rng, layout.canvas
    middle = layout.left + (layout.right - layout.left) * 0.42
    heading = layout.case(rng.choice(("GST Summary", "Tax Summary", "GST Analysis")))
    canvas.write_fitted(heading, layout.left, layout.y, middle - 0.5 * layout.em, role="heading")
    if rng.random() < 0.7:
        canvas.write_fitted(
            layout.case("Amount(RM)"), middle, layout.y, middle + layout.canvas.face.width("AMOUNT(RM"), role="cell"
        )
        canvas.write_right(layout.case("Tax(RM)"), layout.right, layout.y, role="cell")
    layout.feed()
    for key in (rng.choice(("SR @ 6%", "SR (6%)", "S = 6%", "SR")), *(["Total"] if rng.random() < 0.4 else [])):
        canvas.write(layout.case(key), layout.left, layout.y, role="cell")
        canvas.write(f"{net:,.2f}", middle, layout.y, role="cell")
        canvas.write_right(f"{tax:.2f}", layout.right, layout.y, role="cell")
        layout.feed()
