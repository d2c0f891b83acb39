"""Letters, memos and faxes: sender, receiver, date, subject, text and a signature."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.synthetic import questions
from engine.synthetic.draft import Draft, body_face, page_width
from engine.synthetic.keys import KeySource
from engine.synthetic.marks import ornament
from engine.synthetic.sheet import Sheet
from engine.synthetic.values import address, address_lines, company, date, person, phone, value
from engine.synthetic.vocabulary import phrase, sentence


@dataclass(frozen=True, slots=True)
class Line:
    """Line of a memo's head: printed keys, phrasings, and kind of value."""

    keys: tuple[str, ...]
    asked: tuple[str, ...]
    kind: str
    share: float


_HEAD = (
    Line(("To", "TO", "Attention", "ATTN", "Memo to"), ("to", "Who is it addressed to?", "recipient", "Who receives this?", "addressee"), "person", 0.92),
    Line(("From", "FROM", "Sender"), ("from", "Who sent this?", "sender", "Who wrote this?", "author"), "person", 0.92),
    Line(("Date", "DATE", "Sent"), ("date", "When was it issued?", "When was it sent?", "When was this written?", "date of the letter"), "date", 0.92),
    Line(("Subject", "RE", "Re", "SUBJECT"), ("subject", "What is it about?", "topic", "What is the subject?", "regarding"), "long", 0.85),
    Line(("cc", "CC", "Copies", "Copies to"), ("cc", "Who gets a copy?", "copies to"), "person", 0.35),
    Line(("Phone", "Telephone", "Phone number"), ("phone", "telephone number", "phone number"), "phone", 0.3),
    Line(("Fax", "FAX NO.", "Fax number"), ("fax", "fax number"), "phone", 0.3),
    Line(("Pages", "No. of pages", "Number of pages including cover"), ("pages", "How many pages?", "number of pages"), "number", 0.25),
    Line(("Company", "Firm", "Organization"), ("company", "Which firm?", "organization"), "company", 0.3),
    Line(("Location", "Room", "City"), ("location", "Where?", "city"), "city", 0.15),
)  # fmt: skip
_ABSENT = (
    "total", "invoice number", "cashier", "due date", "What is the tax?", "quantity", "date of birth", "account number", "deadline",
    "price", "brand", "serial number", "How much is due?", "Who approved it?", "e-mail address", "meeting room", "contract number",
)  # fmt: skip


def lay_out(chance: random.Random) -> Draft:
    """Lay out a letter, a memo or the cover of a fax."""
    width = page_width(chance)
    sheet = Sheet(width, width * chance.uniform(1.27, 1.42), chance, body_face(chance, width / chance.uniform(52, 78)))
    em = sheet.face.size
    left, right = width * chance.uniform(0.06, 0.14), width * chance.uniform(0.86, 0.94)
    keys = KeySource(chance, meant=0.8)
    y = sheet.height * chance.uniform(0.02, 0.08)
    if chance.random() < 0.65:
        y = _letterhead(sheet, y)
    y += chance.uniform(1, 3) * em
    y = _memo_head(sheet, left, right, y) if chance.random() < 0.65 else _letter_head(sheet, left, right, y)
    y += 2 * em
    indent = chance.choice((0.0, 0.0, 2.5 * em))
    for _ in range(chance.randint(1, 7)):
        text = " ".join(sentence(chance) for _ in range(chance.randint(1, 4)))
        if y > sheet.height * 0.8:
            break
        y = (
            sheet.write(text, left + indent, y, right=right, hang=left, leading=chance.choice((1.3, 1.3, 1.6))).top
            + 2 * em
        )
    if chance.random() < 0.7 and y < sheet.height - 10 * em:
        y = _close(sheet, chance.choice((left, left, width * 0.55)), y)
    ornament(sheet, y + em)

    def absent() -> str:
        """Return a negative question."""
        if chance.random() < 0.5:
            return questions.of(chance, (chance.choice(_ABSENT),))
        key = keys.absent()
        return questions.about(chance, key.text, key.concept)

    return Draft(sheet, absent)


def _letterhead(sheet: Sheet, y: float) -> float:
    chance, em = sheet.chance, sheet.face.size
    face = sheet.face.scaled(chance.uniform(1.1, 1.9), bold=chance.random() < 0.6)
    name = sheet.write_centre(company(chance), y, face=face, role="heading")
    sheet.ask(
        questions.of(
            chance,
            ("Which company wrote this letter?", "organization", "letterhead", "company", "Which firm is it from?"),
        ),
        name.pieces,
        printed_key=False,
    )
    y = name.top + face.size * 1.5
    if chance.random() < 0.5:
        where = sheet.write_centre(address(chance), y)
        if chance.random() < 0.6:
            sheet.ask(
                questions.of(
                    chance, ("address of the company", "Where is the company located?", "address", "sender's address")
                ),
                where.pieces,
                printed_key=False,
            )
        y = where.top + 1.4 * em
    if chance.random() < 0.3:
        y = sheet.write_centre(f"Telephone {phone(chance)}   Fax {phone(chance)}", y).top + 1.4 * em
    if chance.random() < 0.4:
        sheet.rule(em * 3, y, sheet.width - 3 * em, y)
    return y + em


def _memo_head(sheet: Sheet, left: float, right: float, y: float) -> float:
    """Set to, from, date and subject, one under the other or in two columns."""
    chance, em = sheet.chance, sheet.face.size
    if chance.random() < 0.4:
        title = chance.choice(
            ("MEMORANDUM", "INTER-OFFICE MEMORANDUM", "FACSIMILE TRANSMISSION", "FAX", "Memo", "TELECOPY COVER SHEET")
        )
        y = sheet.write_centre(title, y, face=sheet.face.scaled(1.3, bold=True), role="heading").top + 3 * em
    lines = [line for line in _HEAD if chance.random() < line.share]
    if chance.random() < 0.5:
        chance.shuffle(lines)
    face = sheet.face.scaled(1.0, bold=chance.random() < 0.4)
    ending = chance.choice((":", ":", ":", "", " :"))
    two = chance.random() < 0.25
    value_x = (right - left) * chance.uniform(0.12, 0.24) if chance.random() < 0.6 else 0.0
    leading = chance.uniform(1.5, 2.6) * em
    foot = y
    for at, line in enumerate(lines):
        x = left + (right - left) * 0.5 if two and at % 2 else left
        limit = left + (right - left) * 0.48 if two and not at % 2 else right
        key = chance.choice(line.keys)
        printed = sheet.write(key + ending, x, y, face=face, right=limit, role="key")
        question = questions.about(chance, key) if chance.random() < 0.55 else questions.of(chance, line.asked)
        bottom = printed.top
        if chance.random() < 0.06:
            sheet.ask(question)
        else:
            start = max(printed.right + 0.7 * em, x + value_x)
            pieces: list[int] = []
            whole = True
            for text in _lines_of(chance, line):
                written = sheet.write(text, start, bottom, right=limit, role="value")
                pieces += written.pieces
                whole = whole and written.whole
                bottom = written.top + 1.3 * em
            bottom -= 1.3 * em
            if whole:
                sheet.ask(question, pieces)
        foot = max(foot, bottom)
        if not two or at % 2:
            y = foot + leading
    return foot + em


def _lines_of(chance: random.Random, line: Line) -> list[str]:
    """Return the lines after a key of the head: often a person with a place or firm below."""
    if line.kind != "person":
        return [value(chance, line.kind)]
    count = chance.choice((1, 2, 3, 6)) if line.keys[0] == "cc" else chance.choice((1, 1, 1, 2))
    tail = f", {phrase(chance, 1, 2)}" if chance.random() < 0.2 else ""
    lines = [person(chance) + tail for _ in range(count)]
    if chance.random() < 0.12 and line.keys[0] == "To":
        lines += address_lines(chance)
    return lines


def _letter_head(sheet: Sheet, left: float, right: float, y: float) -> float:
    """Set date, address of the receiver, and salutation."""
    chance, em = sheet.chance, sheet.face.size
    day = sheet.write(date(chance), chance.choice((left, left, sheet.width * 0.6)), y)
    sheet.ask(questions.of(chance, _HEAD[2].asked), day.pieces, printed_key=False)
    y += 3 * em
    to = sheet.write(person(chance), left, y)
    firm = sheet.write(company(chance), left, to.top + 1.35 * em) if chance.random() < 0.5 else None
    y = (firm or to).top + 1.35 * em
    where: list[int] = []
    for text in address_lines(chance):
        written = sheet.write(text, left, y)
        where += written.pieces
        y = written.top + 1.35 * em
    sheet.ask(
        questions.of(chance, ("Who is it addressed to?", "recipient", "Who receives the letter?", "addressee")),
        to.pieces,
        printed_key=False,
    )
    sheet.ask(
        questions.of(chance, ("address of the recipient", "Where is it sent?", "recipient's address")),
        where,
        printed_key=False,
    )
    y += em
    if chance.random() < 0.6:
        key = sheet.write(chance.choice(("Re:", "Subject:", "RE:", "Ref:")), left, y, role="key")
        about = sheet.write(phrase(chance, 2, 9), key.right + 2 * em, y, right=right, role="value")
        sheet.ask(questions.of(chance, _HEAD[3].asked), about.pieces)
        y = about.top + 2 * em
    return sheet.write(f"Dear {person(chance)}{chance.choice(',:')}", left, y).top + em


def _close(sheet: Sheet, x: float, y: float) -> float:
    """Set greeting, signature and name."""
    chance, em = sheet.chance, sheet.face.size
    sheet.write(
        chance.choice(("Sincerely,", "Yours truly,", "Best regards,", "Very truly yours,", "Respectfully,")), x, y
    )
    name = person(chance)
    if chance.random() < 0.7:
        ink = chance.choice(((15, 15, 20), (20, 30, 120)))
        box = (x, y + 1.3 * em, x + em * chance.uniform(7, 13), y + em * chance.uniform(3.6, 4.4))
        figure = sheet.figure("signature", box, name, ink=ink)
        sheet.ask(
            chance.choice(
                (
                    "Where is the signature?",
                    "signature",
                    "Mark the signature.",
                    "What is the signature?",
                    "Is the letter signed?",
                )
            ),
            printed_key=False,
            figures=[figure],
            region_type="signature",
        )
    written = sheet.write(name, x, y + 4.8 * em)
    sheet.ask(
        questions.of(chance, ("Who signed the letter?", "signed by", "name of the signer", "Who is the writer?")),
        written.pieces,
        printed_key=False,
    )
    if chance.random() < 0.5:
        post = sheet.write(phrase(chance, 1, 3), x, written.top + 1.3 * em)
        sheet.ask(
            questions.of(chance, ("title of the signer", "What is the position of the writer?")),
            post.pieces,
            printed_key=False,
        )
        return post.top + em
    return written.top + em
