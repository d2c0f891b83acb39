"""Receipts: shop, place, time, items and sums, mostly printed without keys."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from engine.synthetic import questions
from engine.synthetic.canvas import Canvas, Panel
from engine.synthetic.draft import Draft, body_face
from engine.synthetic.kinds.receipts import shop_head, sums
from engine.synthetic.kinds.receipts.layout import ReceiptLayout
from engine.synthetic.kinds.receipts.words import ABSENT, ASKED, CLOSINGS, META, TITLES
from engine.synthetic.marks import ornament
from engine.synthetic.ocr import Reading
from engine.synthetic.values import clock, company, person, phone, short_date, till_number
from engine.synthetic.vocabulary import FIRST_NAMES, phrase, word

_GLUED = 0.15  # share of receipts whose words OCR mostly glues together


def lay_out(rng: random.Random, phrasings: Mapping[str, tuple[str, ...]] = ASKED) -> Draft:
    """Lay out a receipt, on paper of its own size or on a larger scan; `phrasings` of its questions by name."""
    paper = rng.randint(420, 1100)
    spare = rng.choice((0.0, 0.0, 0.0, rng.uniform(0.05, 0.8)))  # of the scan left empty beside it
    width = min(1500.0, paper * (1 + spare))
    canvas = Canvas(width, width * 6, rng, body_face(rng, paper / rng.uniform(20, 36)))
    em = canvas.face.size
    inset = (width - paper) * rng.random()
    layout = ReceiptLayout(
        canvas=canvas,
        rng=rng,
        y=em * rng.uniform(0.5, 4) + width * spare * rng.uniform(0, 0.4),
        left=inset + paper * rng.uniform(0.015, 0.11),
        right=inset + paper * rng.uniform(0.9, 0.985),
        leading=rng.uniform(1.12, 1.65),
        case=str.upper if rng.random() < 0.72 else str,
        ending=rng.choice((":", ":", " :", "", ".", "")),
        value_x=None,
        centred=rng.random() < 0.75,
    )
    if rng.random() < 0.5:
        layout.value_x = layout.left + paper * rng.uniform(0.22, 0.4)
    if rng.random() < 0.12:
        layout.line(
            rng.choice((person(rng), "*** COPY ***", "WELCOME", "RECEIPT", till_number(rng), phrase(rng, 1, 3)))
        )
    if rng.random() < 0.15:
        side = em * rng.uniform(3, 6)
        middle = (layout.left + layout.right) / 2
        logo = canvas.figure("logo", (middle - side, layout.y, middle + side, layout.y + side), word(rng).upper())
        canvas.ask(
            rng.choice(("logo", "Where is the logo?", "Mark the logo.")),
            printed_key=False,
            figures=[logo],
            region_type="logo",
        )
        layout.y += side + em
    head = shop_head.print_head(layout)
    if rng.random() < 0.75:
        layout.line(rng.choice(TITLES), rng.choice((1.0, 1.0, 1.3)), bold=rng.random() < 0.5, role="heading")
    layout.dashes()
    late_meta = rng.random() < 0.22
    if not late_meta:
        print_meta(layout)
        layout.dashes()
    printed = sums.print_items_and_sums(layout)
    if late_meta:
        print_meta(layout)
    if rng.random() < 0.08:
        layout.line(
            rng.choice(
                ("Valid until {}", "Exchange before {}", "Offer ends {}", "Next draw: {}", "Expiry date : {}")
            ).format(short_date(rng))
        )
    if head.sign and rng.random() < 0.15:
        thanks = rng.choice(("Thank you for visiting", "Thank you for shopping at", "See you again at"))
        head.companies.append(layout.line(f"{thanks} {head.sign}")[len(thanks.split()) :])
    for _ in range(rng.randint(0, 5)):
        layout.line(rng.choice(CLOSINGS) if rng.random() < 0.8 else phrase(rng, 2, 6))
    if rng.random() < 0.12:
        layout.pair("", [(layout.dates and _text(canvas, layout.dates[0])) or short_date(rng), clock(rng)])
    ornament(canvas, layout.y, share=0.0)
    canvas.height = min(max(layout.y + em * rng.uniform(1, 6), width * 1.1), width * 4)
    if rng.random() < 0.12:
        canvas.height = min(canvas.height * rng.uniform(1.1, 1.7), width * 4)
    if spare and rng.random() < 0.5:
        # A slip of paper on a table or under the lid of a scanner.
        ground = rng.choice(((38, 36, 34), (120, 92, 66), (150, 152, 156), (205, 205, 208), (70, 84, 100)))
        paper_box = (inset, 0.25 * em, inset + paper, canvas.height - 0.3 * em)
        canvas.panels[:0] = [Panel((0, 0, width, canvas.height), ground), Panel(paper_box, (252, 252, 250))]
    _ask(layout, head, printed, phrasings)
    absent = [
        asked for name, asked in ABSENT.items() if name not in layout.numbers and not (name == "phone" and head.phone)
    ]
    reading = Reading.sample(rng)
    if rng.random() < 0.75:
        # Most receipt datasets have boxes of lines, divided evenly among the words, and no words split at signs.
        reading = replace(reading, even=rng.random() < 0.7, splits=0.0, tight=False)
    if rng.random() < _GLUED:
        reading = replace(reading, merges=rng.uniform(0.1, 0.7))
    return Draft(canvas, lambda: questions.of(rng, rng.choice(absent)), reading)


def print_meta(layout: ReceiptLayout) -> None:
    """Print date, time, numbers and cashier in random order, the date nearly always."""
    rng = layout.rng
    names = ["date"] + [name for name in META if name != "date" and rng.random() < META[name].share]
    rng.shuffle(names)
    for name in names:
        if name == "date":
            _print_date(layout, with_time="time" not in names)
            continue
        if name == "time" and layout.times:
            continue
        key = rng.choice(META[name].keys)
        text = {
            "time": lambda: clock(rng),
            "number": lambda: till_number(rng),
            "cashier": lambda: rng.choice((rng.choice(FIRST_NAMES), person(rng), till_number(rng)[-3:])),
            "customer": lambda: rng.choice((person(rng), company(rng), "Cash", "WALK-IN")),
            "table": lambda: str(rng.randint(1, 99)),
            "terminal": lambda: till_number(rng)[-6:],
            "member": lambda: till_number(rng),
            "telephone": lambda: phone(rng),
        }.get(name, lambda: till_number(rng))()
        half = (layout.left + layout.right) / 2
        beside = rng.random() < 0.2 and len(names) > 2
        pieces = layout.pair(key, [text], feed=not beside)[0]
        if beside:
            other_key = rng.choice(("Pax", "Counter", "Page", "POS", "Qty"))
            end = layout.canvas.pieces[pieces[-1]]
            if end.x + end.width < half - layout.em:
                layout.pair(other_key, [str(rng.randint(1, 30))], x=half, feed=False)
            layout.feed()
        if name == "time":
            layout.times.append(pieces)
        layout.numbers[name] = pieces


def _print_date(layout: ReceiptLayout, with_time: bool) -> None:
    rng = layout.rng
    day = short_date(rng)
    hour = [clock(rng)] if with_time and rng.random() < 0.6 else []
    form = rng.random()
    if form < 0.45:
        value_pieces = layout.pair(rng.choice(META["date"].keys), [day, *hour])
        layout.numbers["date"] = value_pieces[0]
    elif form < 0.8:
        x = layout.left if rng.random() < 0.6 else layout.left + (layout.right - layout.left) * rng.uniform(0.3, 0.45)
        value_pieces = layout.pair("", [day, *hour], x=x)
    else:
        # On one line with a number at its other end.
        if rng.random() < 0.5:
            layout.pair("", [till_number(rng)[:9]], feed=False)
        value_pieces = [layout.canvas.write_right(layout.case(day), layout.right, layout.y, role="value").pieces]
        layout.feed()
    layout.dates.append(value_pieces[0])
    if len(value_pieces) > 1:
        layout.times.append(value_pieces[1])


def _text(canvas: Canvas, pieces: list[int]) -> str:
    return " ".join(canvas.pieces[at].text for at in pieces)


def _same_text(canvas: Canvas, pieces: list[int]) -> list[list[int]]:
    """Return every place with the same words."""
    wanted = [canvas.pieces[at].text for at in pieces]
    places = []
    for start in range(len(canvas.pieces) - len(wanted) + 1):
        if [piece.text for piece in canvas.pieces[start : start + len(wanted)]] == wanted:
            places.append(list(range(start, start + len(wanted))))
    return places


def _ask(
    layout: ReceiptLayout, head: shop_head.Head, printed: sums.Sums, phrasings: Mapping[str, tuple[str, ...]]
) -> None:
    rng, canvas = layout.rng, layout.canvas

    def ask(name: str, *answers: list[int], printed: bool = True) -> None:
        """Ask a question in one of its phrasings."""
        canvas.ask(questions.of(rng, phrasings[name]), *answers, printed_key=printed)

    # Four standard questions of every receipt, twice each: they have few printed keys.
    for _ in range(2):
        ask("total", *printed.totals[:4])
        ask(
            "date", *(_same_text(canvas, layout.dates[0])[:3] if layout.dates else []), printed="date" in layout.numbers
        )
        ask("address", head.address, head.branch and head.branch + head.address, printed=False)
        ask("company", *head.companies, printed=False)
    if head.brand and rng.random() < 0.5:
        ask("brand", *head.brand, printed=False)
    if layout.times and rng.random() < 0.5:
        ask("time", *layout.times[:2], printed="time" in layout.numbers)
    if head.phone and rng.random() < 0.5:
        ask("phone", head.phone)
    if head.registration and rng.random() < 0.3:
        ask("registration", head.registration, printed=False)
    if head.tax_number and rng.random() < 0.3:
        ask("tax number", head.tax_number)
    for name in ("number", "cashier", "customer", "table", "terminal", "member"):
        if name in layout.numbers and rng.random() < 0.35:
            ask(name, layout.numbers[name])
    for name, pieces in printed.named.items():
        if rng.random() < 0.35:
            ask(name, pieces)
    for name, key, pieces in printed.keyed:
        if rng.random() < 0.15 and name != "total":
            canvas.ask(questions.about(rng, key), pieces)
    for item in rng.sample(printed.items, min(len(printed.items), rng.randint(0, 2))):
        shape = rng.choice(
            ("{}", "price of {}", "How much is {}?", "What does {} cost?", "What is the price of {}?", "amount for {}")
        )
        canvas.ask(questions.mistype(rng, shape.format(item.name)), item.amount)
