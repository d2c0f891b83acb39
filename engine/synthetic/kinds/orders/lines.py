"""Lines of an order: columns under one or two rows of heads, lines of two rows, groups with subtotals."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from engine.synthetic.kinds import ledger
from engine.synthetic.kinds.amounts import cents, sample_day
from engine.synthetic.kinds.orders.layout import OrderLayout
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


def lines(layout: OrderLayout, y: float) -> Lines:
    """Set the lines with their heads; ask for some of their cells."""
    rng, em, form, writing = layout.rng, layout.em, layout.form, layout.writing
    media = layout.trade == "media"
    more = [head for head in (_MEDIA_HEADS if media else _GOODS_HEADS) if rng.random() < 0.5]
    weeks = _weeks(layout) if media and rng.random() < 0.35 else []
    tail = (
        rng.choice(("Spots", "Tot Spots", "# Spots") if media else ("Qty", "Quantity", "Ordered")),
        rng.choice(("Rate", "Price") if media else ("Unit Price", "Price", "Rate")),
        rng.choice(("Amount", "Total $", "Total") if media else ("Amount", "Extended", "Total", "Ext. Price")),
    )
    heads = [
        rng.choice(("Line", "Ln", "#", "Line #")),
        rng.choice(("Description", "Program", "Item", "Details") if media else ("Description", "Item", "Details")),
        *more, *weeks, *tail,
    ]  # fmt: skip
    step = rng.uniform(1.3, 1.8)
    room = int((form.canvas.height - y - 15 * em) / (1.25 * step * em))
    count = max(1, min(rng.choice((rng.randint(1, 6), rng.randint(3, 26))), room))
    second = 0.0 if rng.random() < 0.65 else rng.choice((0.4, 1.0))
    currency = rng.random() < 0.6
    rows: list[ledger.Row] = []
    numbered: list[tuple[int, int]] = []  # (line, row)
    net = spots = group = 0
    grouped = rng.choice((0, 0, 0, 3, 5))
    for line in range(1, count + 1):
        number, rate = rng.randint(0 if weeks else 1, 12), cents(rng, 2500)
        net, spots, group = net + number * rate, spots + number, group + number * rate
        shares = [str(rng.randint(0, 4)) for _ in weeks]
        amounts = (writing.sum(rate, currency=currency), writing.sum(number * rate, currency=currency))
        numbered.append((line, len(rows)))
        rows.append(
            ledger.Row(
                (
                    str(line),
                    phrase(rng, 1, 4),
                    *(_fill_cell(layout, head) for head in more),
                    *shares,
                    str(number),
                    *amounts,
                )
            )
        )
        if rng.random() < second:
            rows.append(ledger.Row(("", _second(layout), *("" for _ in (*more, *weeks)), "", "", "")))
        if grouped and line % grouped == 0:
            label = rng.choice(("Subtotal", "Sub-total", "Week Total"))
            rows.append(
                ledger.Row(
                    ("", label, *("" for _ in (*more, *weeks)), "", "", writing.sum(group, currency=currency)),
                    strong=True,
                )
            )
            group = 0
    columns = [
        ledger.Column(head, "r" if head in _RIGHT or at >= 2 + len(more) else "l", at == 1)
        for at, head in enumerate(heads)
    ]
    two = bool(weeks) or rng.random() < 0.15
    upper = 1.5 * em * two
    table = ledger.set_table(form, columns, rows, y + upper, step=step, above=upper, head_case=False)
    if two:
        _upper(layout, table, len(more), len(weeks), y)
    _ask(layout, table, heads, rows, [(line, row) for line, row in numbered if row < table.rows])
    return Lines(table.foot + 1.4 * em, net, spots)


def _weeks(layout: OrderLayout) -> list[str]:
    first = sample_day(layout.rng)
    every = layout.rng.choice((1, 7))
    days = [first + timedelta(days=every * at) for at in range(layout.rng.randint(2, 8))]
    return [f"{day.month}/{day.day}" for day in days]


def _upper(layout: OrderLayout, table: ledger.Ledger, more: int, weeks: int, y: float) -> None:
    """Set the upper row of heads, each over a group of columns."""
    rng, canvas, em = layout.rng, layout.canvas, layout.em
    first = 2 + more
    groups = [(first + weeks, first + weeks + 3, rng.choice(("Totals", "Total", "Contract Total", "Order")))]
    if weeks:
        span = f"{table.columns[first].head} - {table.columns[first + weeks - 1].head}"
        groups.append((first, first + weeks, rng.choice((span, span, "Weeks", "Spots per week"))))
    elif more > 1:
        groups.append((2, first, rng.choice(("Schedule", "Details", "Flight", "Specification"))))
    face = layout.form.key_face.scale(min(1.0, em / layout.form.key_face.size), bold=True)
    framed = rng.random() < 0.5
    for left, right, text in groups:
        x0, x1 = table.edges[left], table.edges[right]
        canvas.write_fitted(text, max(x0, (x0 + x1 - face.width(text)) / 2), y, x1, face=face, role="cell")
        foot = y + 1.12 * em
        if framed:
            canvas.frame((x0, y - 0.3 * em, x1, foot))
        else:
            canvas.rule(x0 + 0.3 * em, foot, x1 - 0.3 * em, foot)


def _second(layout: OrderLayout) -> str:
    rng = layout.rng
    first = sample_day(rng)
    return rng.choice((
        f"Week: {layout.writing.row_day(first)} - {layout.writing.row_day(first + timedelta(days=6))}", f"({phrase(rng, 1, 3)})",
        f"Class of Time - {phrase(rng, 1, 3)}", f"Your part: {rng.randint(1000, 99999)}", phrase(rng, 2, 5),
    ))  # fmt: skip


def _fill_cell(layout: OrderLayout, head: str) -> str:
    rng = layout.rng
    if rng.random() < 0.06:
        return ""
    if head in ("Start Date", "End Date", "Due Date"):
        return layout.writing.row_day(sample_day(rng))
    if head == "Time":
        return f"{rng.randint(4, 11)}{rng.choice('ap')}-{rng.randint(4, 11)}:30{rng.choice('ap')}"
    if head in ("Shipped", "Disc %"):
        return str(rng.randint(0, 12))
    if head == "Rating":
        return f"{rng.uniform(0, 12):.1f}"
    choices = {
        "Length": (":30", ":15", ":60", "30", "1:00"), "Days": ("M-F", "MTWTF--", "Sa-Su", "-TWTF--", "Tu-F", "M-Su"), "Ch": ("All", "1", "WXYZ"),
        "Type": ("NM", "BK", "PI", "CM"), "UOM": ("EA", "BX", "LB", "CS", "HR"), "Tax": ("Y", "N", "T"),
    }  # fmt: skip
    return rng.choice(choices[head]) if head in choices else f"{rng.choice('ABKX')}{rng.randint(100, 99999)}"


def _ask(
    layout: OrderLayout, table: ledger.Ledger, heads: list[str], rows: list[ledger.Row], lines: list[tuple[int, int]]
) -> None:
    rng, form = layout.rng, layout.form
    for line, row in rng.sample(lines, min(len(lines), 3)):
        at = rng.randrange(1, len(heads))
        answer = table.cells[row, at]
        named = {
            "head": heads[at].lower() if rng.random() < 0.6 else heads[at],
            "line": str(line),
            "text": rows[row].cells[1],
        }
        if answer and at > 1 and rng.random() < 0.4:
            ledger.ask_cell(form, _OF_TEXT, answer, **named)
        elif answer:
            ledger.ask_cell(form, _OF_LINE, answer, **named)
        else:
            form.canvas.ask(rng.choice(_OF_LINE).format(**named))
