"""Lines of an order with their sums, terms and signatures."""

from __future__ import annotations

from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.amounts import cents, drawn_day
from engine.synthetic.kinds.entries import known, note
from engine.synthetic.kinds.orders.desk import Desk, free
from engine.synthetic.kinds.orders.words import SUMS
from engine.synthetic.values import person
from engine.synthetic.vocabulary import phrase

_OF_LINE = (
    "What is the {head} of line {line}?",
    "{head} of line {line}",
    "line {line} {head}",
    "{head} in line {line}",
    "What {head} does line {line} have?",
)


def body(desk: Desk, y: float) -> float:
    """Set lines, sums and what stands below them; return where it ends."""
    chance, em, form = desk.chance, desk.em, desk.form
    y, net = _lines(desk, y)
    y = _sums(desk, y, net)
    if y < form.sheet.height - 12 * em and chance.random() < 0.35:
        y = paper.signed(form, y + em, ("Signature",), (person(chance),)) + 1.5 * em
    if y < form.sheet.height - 8 * em and chance.random() < 0.5:
        y = paper.small_print(form, max(y + em, form.sheet.height - em * chance.uniform(8, 12)), 3) + 1.5 * em
    return y


def _lines(desk: Desk, y: float) -> tuple[float, int]:
    chance, em, form, writing = desk.chance, desk.em, desk.form, desk.writing
    heads = [chance.choice(("Line", "Ln", "#", "Line #")), chance.choice(("Description", "Item", "Program", "Details"))]
    aligns = ["l", "l"]
    media = desk.trade == "media"
    more = (
        (("Start Date", "l"), ("End Date", "l"), ("Time", "l"), ("Length", "r"), ("Days", "l"))
        if media
        else (("Item #", "l"), ("UOM", "l"), ("Due Date", "l"))
    )
    chosen = [one for one in more if chance.random() < 0.6]
    heads += [head for head, _ in chosen] + [
        chance.choice(("Spots", "Qty") if media else ("Qty", "Quantity", "Ordered")),
        chance.choice(("Rate", "Unit Price", "Price")),
        chance.choice(("Amount", "Total", "Extended")),
    ]
    aligns += [align for _, align in chosen] + ["r", "r", "r"]
    count = chance.randint(1, 14)
    step = chance.uniform(1.35, 1.9)
    count = max(1, min(count, int((form.sheet.height - y - 16 * em) / (1.5 * step * em))))
    rows, net = [], 0
    for line in range(1, count + 1):
        number, rate = chance.randint(1, 12), cents(chance, 2500)
        net += number * rate
        cells = [str(line), phrase(chance, 1, 4)]
        cells += [_filled(desk, head) for head, _ in chosen]
        rows.append(
            ledger.Row(
                (*cells, str(number), writing.sum(rate, currency=True), writing.sum(number * rate, currency=True))
            )
        )
    columns = [ledger.Column(head, align, at == 1) for at, (head, align) in enumerate(zip(heads, aligns, strict=True))]
    table = ledger.set_table(form, columns, rows, y, step=step, head_case=False)
    for _ in range(min(4, table.rows)):
        row, at = chance.randrange(table.rows), chance.randrange(1, len(heads))
        ledger.ask_cell(form, _OF_LINE, table.cells[row, at], head=heads[at].lower(), line=str(row + 1))
    return table.foot + 1.6 * em, net


def _filled(desk: Desk, head: str) -> str:
    chance = desk.chance
    if head in ("Start Date", "End Date", "Due Date"):
        return desk.writing.row_day(drawn_day(chance))
    if head == "Length":
        return chance.choice((":30", ":15", ":60", "30", "1:00"))
    if head == "Days":
        return chance.choice(("M-F", "MTWTF--", "Sa-Su", "-TWTF--", "Tu-F"))
    if head == "Time":
        return f"{chance.randint(4, 11)}{chance.choice('ap')}-{chance.randint(4, 11)}:30{chance.choice('ap')}"
    return (
        chance.choice(("EA", "BX", "LB", "CS", "HR"))
        if head == "UOM"
        else f"{chance.choice('ABKX')}{chance.randint(100, 99999)}"
    )


def _sums(desk: Desk, y: float, net: int) -> float:
    chance, sheet, em, form, writing = desk.chance, desk.sheet, desk.em, desk.form, desk.writing
    kept = net * 15 // 100
    tax = net * chance.choice((5, 6, 8)) // 100
    found = (
        [("gross amount", net), ("less commission", kept), ("net amount", net - kept)]
        if desk.trade == "media"
        else [("subtotal", net), ("sales tax", tax), ("total", net + tax)]
    )
    key_x = form.left + (form.right - form.left) * chance.uniform(0.55, 0.72)
    face = form.key_face.scaled(1.0, bold=chance.random() < 0.5)
    for name, amount in found:
        concept = SUMS[name]
        if not free(form, concept) or y > sheet.height - 4 * em:
            continue
        known(form, concept)
        key = form.case(chance.choice(concept.printed))
        printed = sheet.write_fitted(key + form.ending, key_x, y, form.right - 8 * em, face=face, role="key")
        written = sheet.write_right(
            writing.sum(amount, currency=True), form.right, printed.top, face=form.value_face, role="value"
        )
        note(form, key, concept, written.pieces)
        y += em * form.leading
    return y + 0.5 * em
