"""Below the lines of an order: sums, sums by month, terms, signatures."""

from __future__ import annotations

from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.entries import mark_answered, note
from engine.synthetic.kinds.orders.fillings import month
from engine.synthetic.kinds.orders.layout import OrderLayout, free
from engine.synthetic.kinds.orders.lines import Lines, lines
from engine.synthetic.kinds.orders.words import SUMS
from engine.synthetic.values import person
from engine.synthetic.vocabulary import sentence

_OF_MONTH = ("What is the {head} of {month}?", "{head} for {month}", "{month} {head}", "{head} in {month}")


def body(layout: OrderLayout, y: float) -> float:
    """Set lines, sums and what stands below them; return where it ends."""
    rng, em, form = layout.rng, layout.em, layout.form
    made = lines(layout, y)
    y = made.foot
    if layout.trade == "media" and rng.random() < 0.45 and y < form.canvas.height - 16 * em:
        y = months(layout, made, y)
    y = sums(layout, made, y)
    if rng.random() < 0.3 and y < form.canvas.height - 12 * em:
        y = _terms(layout, y)
    if rng.random() < 0.35 and y < form.canvas.height - 12 * em:
        keys = rng.choice(
            (
                ("Signature",),
                ("Accepted by",),
                ("Authorized Signature",),
                ("Accepted-Agency", "Accepted-Station"),
            )
        )
        y = paper.write_signatures(form, y + em, keys, tuple(person(rng) for _ in keys)) + 1.5 * em
    if rng.random() < 0.5 and y < form.canvas.height - 8 * em:
        y = paper.small_print(form, max(y + em, form.canvas.height - em * rng.uniform(7, 11)), 3) + 1.5 * em
    return y


def sums(layout: OrderLayout, made: Lines, y: float) -> float:
    """Set the sums at the right; return where they end."""
    rng, canvas, em, form, writing = layout.rng, layout.canvas, layout.em, layout.form, layout.writing
    commission = made.net * 15 // 100
    tax = made.net * rng.choice((5, 6, 8)) // 100
    amounts = [("gross amount", made.net), ("less commission", commission), ("net amount", made.net - commission)]
    if layout.trade != "media":
        amounts = [("subtotal", made.net), ("sales tax", tax), ("total", made.net + tax)]
    elif rng.random() < 0.4:
        amounts.insert(0, ("total spots", made.count))
    key_x = form.left + (form.right - form.left) * rng.uniform(0.5, 0.74)
    face = form.key_face.scale(1.0, bold=rng.random() < 0.5)
    underlined, keys_right = rng.random() < 0.2, rng.random() < 0.25
    step = form.leading * em * rng.choice((1.0, 1.0, 1.5))
    for name, amount in amounts:
        concept = SUMS[name]
        if y > canvas.height - 4 * em:
            break
        if not free(form, concept) and not any(record.concept == concept for record in form.noted):
            continue
        mark_answered(form, concept)
        key = form.case(rng.choice(concept.printed))
        text = str(amount) if name == "total spots" else writing.sum(amount, currency=True)
        limit = form.right - form.value_face.width(text) - em
        wide = face.width(key + form.ending)
        x = max(key_x, min(limit, key_x + 12 * em) - wide) if keys_right else key_x
        printed = canvas.write_fitted(key + form.ending, x, y, limit, face=face, role="key")
        if underlined:
            canvas.rule(x, y + 1.1 * em, printed.right, y + 1.1 * em)
        written = canvas.write_right(text, form.right, printed.top, face=form.value_face, role="value")
        note(form, key, concept, written.pieces)
        y += step
    return y + 0.5 * em


def months(layout: OrderLayout, made: Lines, y: float) -> float:
    """Set the sums by month; return where they end."""
    rng, em, form, writing = layout.rng, layout.em, layout.form, layout.writing
    names = list(dict.fromkeys(month(rng, writing) for _ in range(rng.randint(1, 4))))
    parts = [made.net // len(names)] * len(names)
    parts[-1] += made.net - sum(parts)
    counts = [made.count // len(names)] * len(names)
    counts[-1] += made.count - sum(counts)
    commissions = [part * 15 // 100 for part in parts]
    commissions[-1] += made.net * 15 // 100 - sum(commissions)
    heads = (
        rng.choice(("Month", "Time Period", "By Broadcast Month")),
        "# Spots",
        "Gross Amount",
        "Agency Comm.",
        "Net Amount",
    )
    rows = [
        ledger.Row((name, str(count), *(writing.sum(amount, currency=True) for amount in (part, less, part - less))))
        for name, count, part, less in zip(names, counts, parts, commissions, strict=True)
    ]
    every = (made.net, made.net * 15 // 100, made.net - made.net * 15 // 100)
    rows.append(
        ledger.Row(
            (
                rng.choice(("Totals", "Total", "Grand Total")),
                str(made.count),
                *(writing.sum(amount, currency=True) for amount in every),
            ),
            strong=True,
        )
    )
    columns = [ledger.Column(head, "l" if at == 0 else "r", at == 0) for at, head in enumerate(heads)]
    right = form.left + (form.right - form.left) * rng.uniform(0.5, 0.8)
    table = ledger.set_table(form, columns, rows, y, right=right, head_case=False)
    for at, name in ((2, "gross amount"), (3, "less commission"), (4, "net amount")):
        if free(form, SUMS[name]) and table.rows == len(rows):
            mark_answered(form, SUMS[name])
            note(form, heads[at], SUMS[name], table.cells[len(names), at])
    for row in range(min(len(names), table.rows, 2)):
        at = rng.randint(1, 4)
        ledger.ask_cell(form, _OF_MONTH, table.cells[row, at], head=heads[at].lower(), month=names[row])
    return table.foot + 1.4 * em


def _terms(layout: OrderLayout, y: float) -> float:
    rng, canvas, em, form = layout.rng, layout.canvas, layout.em, layout.form
    text = rng.choice(
        (
            f"Payment Terms {rng.choice((10, 15, 30, 45))} Days",
            "Payment is due within 30 days from invoice date.",
            sentence(rng, 5, 14),
        )
    )
    face = canvas.face.scale(rng.choice((1.0, 1.0, 1.3)), bold=rng.random() < 0.6)
    return canvas.write(text, form.left, y, right=form.left + (form.right - form.left) * 0.5, face=face).top + 2 * em
