"""Below the lines of an order: sums, sums by month, terms, signatures."""

from __future__ import annotations

from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.entries import known, note
from engine.synthetic.kinds.orders.desk import Desk, free
from engine.synthetic.kinds.orders.fillings import month
from engine.synthetic.kinds.orders.lines import Lines, lines
from engine.synthetic.kinds.orders.words import SUMS
from engine.synthetic.values import person
from engine.synthetic.vocabulary import sentence

_OF_MONTH = ("What is the {head} of {month}?", "{head} for {month}", "{month} {head}", "{head} in {month}")


def body(desk: Desk, y: float) -> float:
    """Set lines, sums and what stands below them; return where it ends."""
    chance, em, form = desk.chance, desk.em, desk.form
    made = lines(desk, y)
    y = made.foot
    if desk.trade == "media" and chance.random() < 0.45 and y < form.sheet.height - 16 * em:
        y = months(desk, made, y)
    y = sums(desk, made, y)
    if chance.random() < 0.3 and y < form.sheet.height - 12 * em:
        y = _terms(desk, y)
    if chance.random() < 0.35 and y < form.sheet.height - 12 * em:
        keys = chance.choice(
            (
                ("Signature",),
                ("Accepted by",),
                ("Authorized Signature",),
                ("Accepted-Agency", "Accepted-Station"),
            )
        )
        y = paper.signed(form, y + em, keys, tuple(person(chance) for _ in keys)) + 1.5 * em
    if chance.random() < 0.5 and y < form.sheet.height - 8 * em:
        y = paper.small_print(form, max(y + em, form.sheet.height - em * chance.uniform(7, 11)), 3) + 1.5 * em
    return y


def sums(desk: Desk, made: Lines, y: float) -> float:
    """Set the sums at the right; return where they end."""
    chance, sheet, em, form, writing = desk.chance, desk.sheet, desk.em, desk.form, desk.writing
    kept = made.net * 15 // 100
    tax = made.net * chance.choice((5, 6, 8)) // 100
    found = [("gross amount", made.net), ("less commission", kept), ("net amount", made.net - kept)]
    if desk.trade != "media":
        found = [("subtotal", made.net), ("sales tax", tax), ("total", made.net + tax)]
    elif chance.random() < 0.4:
        found.insert(0, ("total spots", made.count))
    key_x = form.left + (form.right - form.left) * chance.uniform(0.5, 0.74)
    face = form.key_face.scaled(1.0, bold=chance.random() < 0.5)
    underlined, keys_right = chance.random() < 0.2, chance.random() < 0.25
    step = form.leading * em * chance.choice((1.0, 1.0, 1.5))
    for name, amount in found:
        concept = SUMS[name]
        if y > sheet.height - 4 * em:
            break
        if not free(form, concept) and not any(one.concept == concept for one in form.noted):
            continue
        known(form, concept)
        key = form.case(chance.choice(concept.printed))
        text = str(amount) if name == "total spots" else writing.sum(amount, currency=True)
        limit = form.right - form.value_face.width(text) - em
        wide = face.width(key + form.ending)
        x = max(key_x, min(limit, key_x + 12 * em) - wide) if keys_right else key_x
        printed = sheet.write_fitted(key + form.ending, x, y, limit, face=face, role="key")
        if underlined:
            sheet.rule(x, y + 1.1 * em, printed.right, y + 1.1 * em)
        written = sheet.write_right(text, form.right, printed.top, face=form.value_face, role="value")
        note(form, key, concept, written.pieces)
        y += step
    return y + 0.5 * em


def months(desk: Desk, made: Lines, y: float) -> float:
    """Set the sums by month; return where they end."""
    chance, em, form, writing = desk.chance, desk.em, desk.form, desk.writing
    names = list(dict.fromkeys(month(chance, writing) for _ in range(chance.randint(1, 4))))
    parts = [made.net // len(names)] * len(names)
    parts[-1] += made.net - sum(parts)
    counts = [made.count // len(names)] * len(names)
    counts[-1] += made.count - sum(counts)
    kept = [part * 15 // 100 for part in parts]
    kept[-1] += made.net * 15 // 100 - sum(kept)
    heads = (
        chance.choice(("Month", "Time Period", "By Broadcast Month")),
        "# Spots",
        "Gross Amount",
        "Agency Comm.",
        "Net Amount",
    )
    rows = [
        ledger.Row((name, str(count), *(writing.sum(amount, currency=True) for amount in (part, less, part - less))))
        for name, count, part, less in zip(names, counts, parts, kept, strict=True)
    ]
    every = (made.net, made.net * 15 // 100, made.net - made.net * 15 // 100)
    rows.append(
        ledger.Row(
            (
                chance.choice(("Totals", "Total", "Grand Total")),
                str(made.count),
                *(writing.sum(one, currency=True) for one in every),
            ),
            strong=True,
        )
    )
    columns = [ledger.Column(head, "l" if at == 0 else "r", at == 0) for at, head in enumerate(heads)]
    right = form.left + (form.right - form.left) * chance.uniform(0.5, 0.8)
    table = ledger.set_table(form, columns, rows, y, right=right, head_case=False)
    for at, name in ((2, "gross amount"), (3, "less commission"), (4, "net amount")):
        if free(form, SUMS[name]) and table.rows == len(rows):
            known(form, SUMS[name])
            note(form, heads[at], SUMS[name], table.cells[len(names), at])
    for row in range(min(len(names), table.rows, 2)):
        at = chance.randint(1, 4)
        ledger.ask_cell(form, _OF_MONTH, table.cells[row, at], head=heads[at].lower(), month=names[row])
    return table.foot + 1.4 * em


def _terms(desk: Desk, y: float) -> float:
    chance, sheet, em, form = desk.chance, desk.sheet, desk.em, desk.form
    text = chance.choice(
        (
            f"Payment Terms {chance.choice((10, 15, 30, 45))} Days",
            "Payment is due within 30 days from invoice date.",
            sentence(chance, 5, 14),
        )
    )
    face = sheet.face.scaled(chance.choice((1.0, 1.0, 1.3)), bold=chance.random() < 0.6)
    return sheet.write(text, form.left, y, right=form.left + (form.right - form.left) * 0.5, face=face).top + 2 * em
