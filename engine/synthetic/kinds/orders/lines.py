"""Lines of an order: columns under one or two rows of heads, lines of two rows, groups with subtotals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from engine.synthetic.kinds import ledger
from engine.synthetic.kinds.amounts import cents, drawn_day
from engine.synthetic.kinds.orders.desk import Desk
from engine.synthetic.vocabulary import phrase

_OF_LINE = (
    "What is the {head} of line {line}?", "{head} of line {line}", "line {line} {head}", "{head} in line {line}",
    "What {head} does line {line} have?", "What is the {head} in line {line}?",
)  # fmt: skip
_OF_TEXT = ("What is the {head} of {text}?", "{head} of {text}", "{text} {head}", "{head} for {text}")
_MEDIA_HEADS = ("Start Date", "End Date", "Time", "Length", "Days", "Ch", "Type", "Rating")
_GOODS_HEADS = ("Item #", "UOM", "Due Date", "Tax", "Shipped", "Part No.", "Disc %")
_RIGHT = frozenset(("Length", "Rating", "Shipped", "Disc %"))


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines after layout: their foot, sum in cents and number of spots or goods."""

    foot: float
    net: int
    count: int


def lines(desk: Desk, y: float) -> Lines:
    """Set the lines with their heads; ask for some of their cells."""
    chance, em, form, writing = desk.chance, desk.em, desk.form, desk.writing
    media = desk.trade == "media"
    more = [head for head in (_MEDIA_HEADS if media else _GOODS_HEADS) if chance.random() < 0.5]
    weeks = _weeks(desk) if media and chance.random() < 0.35 else []
    tail = (
        chance.choice(("Spots", "Tot Spots", "# Spots") if media else ("Qty", "Quantity", "Ordered")),
        chance.choice(("Rate", "Price") if media else ("Unit Price", "Price", "Rate")),
        chance.choice(("Amount", "Total $", "Total") if media else ("Amount", "Extended", "Total", "Ext. Price")),
    )
    heads = [
        chance.choice(("Line", "Ln", "#", "Line #")),
        chance.choice(("Description", "Program", "Item", "Details") if media else ("Description", "Item", "Details")),
        *more, *weeks, *tail,
    ]  # fmt: skip
    step = chance.uniform(1.3, 1.8)
    room = int((form.sheet.height - y - 15 * em) / (1.25 * step * em))
    count = max(1, min(chance.choice((chance.randint(1, 6), chance.randint(3, 26))), room))
    second = 0.0 if chance.random() < 0.65 else chance.choice((0.4, 1.0))
    currency = chance.random() < 0.6
    rows: list[ledger.Row] = []
    numbered: list[tuple[int, int]] = []  # (line, row)
    net = spots = group = 0
    grouped = chance.choice((0, 0, 0, 3, 5))
    for line in range(1, count + 1):
        number, rate = chance.randint(0 if weeks else 1, 12), cents(chance, 2500)
        net, spots, group = net + number * rate, spots + number, group + number * rate
        shares = [str(chance.randint(0, 4)) for _ in weeks]
        amounts = (writing.sum(rate, currency=currency), writing.sum(number * rate, currency=currency))
        numbered.append((line, len(rows)))
        rows.append(
            ledger.Row(
                (
                    str(line),
                    phrase(chance, 1, 4),
                    *(_filled(desk, head) for head in more),
                    *shares,
                    str(number),
                    *amounts,
                )
            )
        )
        if chance.random() < second:
            rows.append(ledger.Row(("", _second(desk), *("" for _ in (*more, *weeks)), "", "", "")))
        if grouped and line % grouped == 0:
            said = chance.choice(("Subtotal", "Sub-total", "Week Total"))
            rows.append(
                ledger.Row(
                    ("", said, *("" for _ in (*more, *weeks)), "", "", writing.sum(group, currency=currency)),
                    strong=True,
                )
            )
            group = 0
    columns = [
        ledger.Column(head, "r" if head in _RIGHT or at >= 2 + len(more) else "l", at == 1)
        for at, head in enumerate(heads)
    ]
    two = bool(weeks) or chance.random() < 0.15
    upper = 1.5 * em * two
    table = ledger.set_table(form, columns, rows, y + upper, step=step, above=upper, head_case=False)
    if two:
        _upper(desk, table, len(more), len(weeks), y)
    _ask(desk, table, heads, rows, [(line, row) for line, row in numbered if row < table.rows])
    return Lines(table.foot + 1.4 * em, net, spots)


def _weeks(desk: Desk) -> list[str]:
    first = drawn_day(desk.chance)
    every = desk.chance.choice((1, 7))
    found = [first + timedelta(days=every * at) for at in range(desk.chance.randint(2, 8))]
    return [f"{one.month}/{one.day}" for one in found]


def _upper(desk: Desk, table: ledger.Ledger, more: int, weeks: int, y: float) -> None:
    """Set the upper row of heads, each over a group of columns."""
    chance, sheet, em = desk.chance, desk.sheet, desk.em
    first = 2 + more
    groups = [(first + weeks, first + weeks + 3, chance.choice(("Totals", "Total", "Contract Total", "Order")))]
    if weeks:
        span = f"{table.columns[first].head} - {table.columns[first + weeks - 1].head}"
        groups.append((first, first + weeks, chance.choice((span, span, "Weeks", "Spots per week"))))
    elif more > 1:
        groups.append((2, first, chance.choice(("Schedule", "Details", "Flight", "Specification"))))
    face = desk.form.key_face.scaled(min(1.0, em / desk.form.key_face.size), bold=True)
    framed = chance.random() < 0.5
    for left, right, text in groups:
        x0, x1 = table.edges[left], table.edges[right]
        sheet.write_fitted(text, max(x0, (x0 + x1 - face.width(text)) / 2), y, x1, face=face, role="cell")
        foot = y + 1.12 * em
        if framed:
            sheet.frame((x0, y - 0.3 * em, x1, foot))
        else:
            sheet.rule(x0 + 0.3 * em, foot, x1 - 0.3 * em, foot)


def _second(desk: Desk) -> str:
    chance = desk.chance
    first = drawn_day(chance)
    return chance.choice((
        f"Week: {desk.writing.row_day(first)} - {desk.writing.row_day(first + timedelta(days=6))}", f"({phrase(chance, 1, 3)})",
        f"Class of Time - {phrase(chance, 1, 3)}", f"Your part: {chance.randint(1000, 99999)}", phrase(chance, 2, 5),
    ))  # fmt: skip


def _filled(desk: Desk, head: str) -> str:
    chance = desk.chance
    if chance.random() < 0.06:
        return ""
    if head in ("Start Date", "End Date", "Due Date"):
        return desk.writing.row_day(drawn_day(chance))
    if head == "Time":
        return f"{chance.randint(4, 11)}{chance.choice('ap')}-{chance.randint(4, 11)}:30{chance.choice('ap')}"
    if head in ("Shipped", "Disc %"):
        return str(chance.randint(0, 12))
    if head == "Rating":
        return f"{chance.uniform(0, 12):.1f}"
    choices = {
        "Length": (":30", ":15", ":60", "30", "1:00"), "Days": ("M-F", "MTWTF--", "Sa-Su", "-TWTF--", "Tu-F", "M-Su"), "Ch": ("All", "1", "WXYZ"),
        "Type": ("NM", "BK", "PI", "CM"), "UOM": ("EA", "BX", "LB", "CS", "HR"), "Tax": ("Y", "N", "T"),
    }  # fmt: skip
    return chance.choice(choices[head]) if head in choices else f"{chance.choice('ABKX')}{chance.randint(100, 99999)}"


def _ask(
    desk: Desk, table: ledger.Ledger, heads: list[str], rows: list[ledger.Row], lines: list[tuple[int, int]]
) -> None:
    chance, form = desk.chance, desk.form
    for line, row in chance.sample(lines, min(len(lines), 3)):
        at = chance.randrange(1, len(heads))
        answer = table.cells[row, at]
        named = {
            "head": heads[at].lower() if chance.random() < 0.6 else heads[at],
            "line": str(line),
            "text": rows[row].cells[1],
        }
        if answer and at > 1 and chance.random() < 0.4:
            ledger.ask_cell(form, _OF_TEXT, answer, **named)
        elif answer:
            ledger.ask_cell(form, _OF_LINE, answer, **named)
        else:
            form.sheet.ask(chance.choice(_OF_LINE).format(**named))
