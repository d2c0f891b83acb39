"""Receipts: shop, place, time, items and sums, mostly printed without keys."""

from __future__ import annotations

import random
from dataclasses import replace

from engine.synthetic import questions
from engine.synthetic.draft import Draft, body_face
from engine.synthetic.kinds.receipts import shop_head, sums
from engine.synthetic.kinds.receipts.till import Till
from engine.synthetic.kinds.receipts.words import ABSENT, ASKED, CLOSINGS, META, TITLES
from engine.synthetic.marks import ornament
from engine.synthetic.ocr import Reading
from engine.synthetic.sheet import Panel, Sheet
from engine.synthetic.values import clock, company, person, phone, short_date, till_number
from engine.synthetic.vocabulary import FIRST_NAMES, phrase, word


def lay_out(chance: random.Random) -> Draft:
    """Lay out a receipt, on paper of its own size or on a larger scan."""
    paper = chance.randint(420, 1100)
    spare = chance.choice((0.0, 0.0, 0.0, chance.uniform(0.05, 0.8)))  # of the scan left empty beside it
    width = min(1500.0, paper * (1 + spare))
    sheet = Sheet(width, width * 6, chance, body_face(chance, paper / chance.uniform(20, 36)))
    em = sheet.face.size
    inset = (width - paper) * chance.random()
    till = Till(
        sheet=sheet,
        chance=chance,
        y=em * chance.uniform(0.5, 4) + width * spare * chance.uniform(0, 0.4),
        left=inset + paper * chance.uniform(0.015, 0.11),
        right=inset + paper * chance.uniform(0.9, 0.985),
        leading=chance.uniform(1.12, 1.65),
        case=str.upper if chance.random() < 0.72 else str,
        ending=chance.choice((":", ":", " :", "", ".", "")),
        value_x=None,
        centred=chance.random() < 0.75,
    )
    if chance.random() < 0.5:
        till.value_x = till.left + paper * chance.uniform(0.22, 0.4)
    if chance.random() < 0.12:
        till.line(
            chance.choice(
                (person(chance), "*** COPY ***", "WELCOME", "RECEIPT", till_number(chance), phrase(chance, 1, 3))
            )
        )
    if chance.random() < 0.15:
        side = em * chance.uniform(3, 6)
        middle = (till.left + till.right) / 2
        logo = sheet.figure("logo", (middle - side, till.y, middle + side, till.y + side), word(chance).upper())
        sheet.ask(
            chance.choice(("logo", "Where is the logo?", "Mark the logo.")),
            printed_key=False,
            figures=[logo],
            region_type="logo",
        )
        till.y += side + em
    head = shop_head.print_head(till)
    if chance.random() < 0.75:
        till.line(chance.choice(TITLES), chance.choice((1.0, 1.0, 1.3)), bold=chance.random() < 0.5, role="heading")
    till.dashes()
    late_meta = chance.random() < 0.22
    if not late_meta:
        print_meta(till)
        till.dashes()
    printed = sums.print_items_and_sums(till)
    if late_meta:
        print_meta(till)
    if chance.random() < 0.08:
        till.line(
            chance.choice(
                ("Valid until {}", "Exchange before {}", "Offer ends {}", "Next draw: {}", "Expiry date : {}")
            ).format(short_date(chance))
        )
    for _ in range(chance.randint(0, 5)):
        till.line(chance.choice(CLOSINGS) if chance.random() < 0.8 else phrase(chance, 2, 6))
    if chance.random() < 0.12:
        till.pair("", [(till.dates and _text(sheet, till.dates[0])) or short_date(chance), clock(chance)])
    ornament(sheet, till.y, share=0.0)
    sheet.height = min(max(till.y + em * chance.uniform(1, 6), width * 1.1), width * 4)
    if chance.random() < 0.12:
        sheet.height = min(sheet.height * chance.uniform(1.1, 1.7), width * 4)
    if spare and chance.random() < 0.5:
        # A slip of paper on a table or under the lid of a scanner.
        ground = chance.choice(((38, 36, 34), (120, 92, 66), (150, 152, 156), (205, 205, 208), (70, 84, 100)))
        paper_box = (inset, 0.25 * em, inset + paper, sheet.height - 0.3 * em)
        sheet.panels[:0] = [Panel((0, 0, width, sheet.height), ground), Panel(paper_box, (252, 252, 250))]
    _ask(till, head, printed)
    absent = [
        asked for name, asked in ABSENT.items() if name not in till.numbers and not (name == "phone" and head.phone)
    ]
    reading = Reading.drawn(chance)
    if chance.random() < 0.75:
        # Most receipt datasets have boxes of lines, divided evenly among the words, and no words split at signs.
        reading = replace(reading, even=chance.random() < 0.7, splits=0.0, tight=False)
    return Draft(sheet, lambda: questions.of(chance, chance.choice(absent)), reading)


def print_meta(till: Till) -> None:
    """Print date, time, numbers and cashier in random order, the date nearly always."""
    chance = till.chance
    names = ["date"] + [name for name in META if name != "date" and chance.random() < META[name].share]
    chance.shuffle(names)
    for name in names:
        if name == "date":
            _print_date(till, with_time="time" not in names)
            continue
        if name == "time" and till.times:
            continue
        key = chance.choice(META[name].keys)
        text = {
            "time": lambda: clock(chance),
            "number": lambda: till_number(chance),
            "cashier": lambda: chance.choice((chance.choice(FIRST_NAMES), person(chance), till_number(chance)[-3:])),
            "customer": lambda: chance.choice((person(chance), company(chance), "Cash", "WALK-IN")),
            "table": lambda: str(chance.randint(1, 99)),
            "terminal": lambda: till_number(chance)[-6:],
            "member": lambda: till_number(chance),
            "telephone": lambda: phone(chance),
        }.get(name, lambda: till_number(chance))()
        half = (till.left + till.right) / 2
        beside = chance.random() < 0.2 and len(names) > 2
        pieces = till.pair(key, [text], feed=not beside)[0]
        if beside:
            other = chance.choice(("Pax", "Counter", "Page", "POS", "Qty"))
            end = till.sheet.pieces[pieces[-1]]
            if end.x + end.width < half - till.em:
                till.pair(other, [str(chance.randint(1, 30))], x=half, feed=False)
            till.feed()
        if name == "time":
            till.times.append(pieces)
        till.numbers[name] = pieces


def _print_date(till: Till, with_time: bool) -> None:
    chance = till.chance
    day = short_date(chance)
    hour = [clock(chance)] if with_time and chance.random() < 0.6 else []
    form = chance.random()
    if form < 0.45:
        found = till.pair(chance.choice(META["date"].keys), [day, *hour])
        till.numbers["date"] = found[0]
    elif form < 0.8:
        x = till.left if chance.random() < 0.6 else till.left + (till.right - till.left) * chance.uniform(0.3, 0.45)
        found = till.pair("", [day, *hour], x=x)
    else:
        # On one line with a number at its other end.
        if chance.random() < 0.5:
            till.pair("", [till_number(chance)[:9]], feed=False)
        found = [till.sheet.write_right(till.case(day), till.right, till.y, role="value").pieces]
        till.feed()
    till.dates.append(found[0])
    if len(found) > 1:
        till.times.append(found[1])


def _text(sheet: Sheet, pieces: list[int]) -> str:
    return " ".join(sheet.pieces[at].text for at in pieces)


def _same_text(sheet: Sheet, pieces: list[int]) -> list[list[int]]:
    """Return every place with the same words."""
    wanted = [sheet.pieces[at].text for at in pieces]
    found = []
    for start in range(len(sheet.pieces) - len(wanted) + 1):
        if [piece.text for piece in sheet.pieces[start : start + len(wanted)]] == wanted:
            found.append(list(range(start, start + len(wanted))))
    return found


def _ask(till: Till, head: shop_head.Head, printed: sums.Sums) -> None:
    chance, sheet = till.chance, till.sheet

    def ask(name: str, *answers: list[int], printed: bool = True) -> None:
        """Ask a question in one of its phrasings."""
        sheet.ask(questions.of(chance, ASKED[name]), *answers, printed_key=printed)

    # Four standard questions of every receipt, twice each: they have few printed keys.
    for _ in range(2):
        ask("total", *printed.totals[:4])
        ask("date", *(_same_text(sheet, till.dates[0])[:3] if till.dates else []), printed="date" in till.numbers)
        ask("address", head.address, printed=False)
        ask("company", *head.companies, printed=False)
    if head.brand and chance.random() < 0.5:
        ask("brand", *head.brand, printed=False)
    if till.times and chance.random() < 0.5:
        ask("time", *till.times[:2], printed="time" in till.numbers)
    if head.phone and chance.random() < 0.5:
        ask("phone", head.phone)
    if head.registration and chance.random() < 0.3:
        ask("registration", head.registration, printed=False)
    if head.tax_number and chance.random() < 0.3:
        ask("tax number", head.tax_number)
    for name in ("number", "cashier", "customer", "table", "terminal", "member"):
        if name in till.numbers and chance.random() < 0.35:
            ask(name, till.numbers[name])
    for name, pieces in printed.named.items():
        if chance.random() < 0.35:
            ask(name, pieces)
    for name, key, pieces in printed.keyed:
        if chance.random() < 0.15 and name != "total":
            sheet.ask(questions.about(chance, key), pieces)
    for item in chance.sample(printed.items, min(len(printed.items), chance.randint(0, 2))):
        shape = chance.choice(
            ("{}", "price of {}", "How much is {}?", "What does {} cost?", "What is the price of {}?", "amount for {}")
        )
        sheet.ask(questions.mistyped(chance, shape.format(item.name)), item.amount)
