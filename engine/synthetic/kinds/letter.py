"""Letters, memos and faxes: sender, receiver, date, subject, text and a signature."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.synthetic import questions
from engine.synthetic.canvas import Canvas
from engine.synthetic.draft import Draft, body_face, page_width
from engine.synthetic.keys import KeySource
from engine.synthetic.marks import ornament
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


def lay_out(rng: random.Random) -> Draft:
    """Lay out a letter, a memo or the cover of a fax."""
    width = page_width(rng)
    canvas = Canvas(width, width * rng.uniform(1.27, 1.42), rng, body_face(rng, width / rng.uniform(52, 78)))
    em = canvas.face.size
    left, right = width * rng.uniform(0.06, 0.14), width * rng.uniform(0.86, 0.94)
    keys = KeySource(rng, meant=0.8)
    y = canvas.height * rng.uniform(0.02, 0.08)
    if rng.random() < 0.65:
        y = _letterhead(canvas, y)
    y += rng.uniform(1, 3) * em
    y = _memo_head(canvas, left, right, y) if rng.random() < 0.65 else _letter_head(canvas, left, right, y)
    y += 2 * em
    indent = rng.choice((0.0, 0.0, 2.5 * em))
    for _ in range(rng.randint(1, 7)):
        text = " ".join(sentence(rng) for _ in range(rng.randint(1, 4)))
        if y > canvas.height * 0.8:
            break
        y = (
            canvas.write(text, left + indent, y, right=right, hang=left, leading=rng.choice((1.3, 1.3, 1.6))).top
            + 2 * em
        )
    if rng.random() < 0.7 and y < canvas.height - 10 * em:
        y = _close(canvas, rng.choice((left, left, width * 0.55)), y)
    ornament(canvas, y + em)

    def absent() -> str:
        """Return a negative question."""
        if rng.random() < 0.5:
            return questions.of(rng, (rng.choice(_ABSENT),))
        key = keys.absent()
        return questions.about(rng, key.text, key.concept)

    return Draft(canvas, absent)


def _letterhead(canvas: Canvas, y: float) -> float:
    rng, em = canvas.rng, canvas.face.size
    face = canvas.face.scale(rng.uniform(1.1, 1.9), bold=rng.random() < 0.6)
    name = canvas.write_centre(company(rng), y, face=face, role="heading")
    canvas.ask(
        questions.of(
            rng,
            ("Which company wrote this letter?", "organization", "letterhead", "company", "Which firm is it from?"),
        ),
        name.pieces,
        printed_key=False,
    )
    y = name.top + face.size * 1.5
    if rng.random() < 0.5:
        where = canvas.write_centre(address(rng), y)
        if rng.random() < 0.6:
            canvas.ask(
                questions.of(
                    rng, ("address of the company", "Where is the company located?", "address", "sender's address")
                ),
                where.pieces,
                printed_key=False,
            )
        y = where.top + 1.4 * em
    if rng.random() < 0.3:
        y = canvas.write_centre(f"Telephone {phone(rng)}   Fax {phone(rng)}", y).top + 1.4 * em
    if rng.random() < 0.4:
        canvas.rule(em * 3, y, canvas.width - 3 * em, y)
    return y + em


def _memo_head(canvas: Canvas, left: float, right: float, y: float) -> float:
    """Set to, from, date and subject, one under the other or in two columns."""
    rng, em = canvas.rng, canvas.face.size
    if rng.random() < 0.4:
        title = rng.choice(
            ("MEMORANDUM", "INTER-OFFICE MEMORANDUM", "FACSIMILE TRANSMISSION", "FAX", "Memo", "TELECOPY COVER SHEET")
        )
        y = canvas.write_centre(title, y, face=canvas.face.scale(1.3, bold=True), role="heading").top + 3 * em
    lines = [line for line in _HEAD if rng.random() < line.share]
    if rng.random() < 0.5:
        rng.shuffle(lines)
    face = canvas.face.scale(1.0, bold=rng.random() < 0.4)
    ending = rng.choice((":", ":", ":", "", " :"))
    two = rng.random() < 0.25
    value_x = (right - left) * rng.uniform(0.12, 0.24) if rng.random() < 0.6 else 0.0
    leading = rng.uniform(1.5, 2.6) * em
    foot = y
    for at, line in enumerate(lines):
        x = left + (right - left) * 0.5 if two and at % 2 else left
        limit = left + (right - left) * 0.48 if two and not at % 2 else right
        key = rng.choice(line.keys)
        printed = canvas.write(key + ending, x, y, face=face, right=limit, role="key")
        question = questions.about(rng, key) if rng.random() < 0.55 else questions.of(rng, line.asked)
        bottom = printed.top
        if rng.random() < 0.06:
            canvas.ask(question)
        else:
            start = max(printed.right + 0.7 * em, x + value_x)
            pieces: list[int] = []
            whole = True
            for text in _lines_of(rng, line):
                written = canvas.write(text, start, bottom, right=limit, role="value")
                pieces += written.pieces
                whole = whole and written.whole
                bottom = written.top + 1.3 * em
            bottom -= 1.3 * em
            if whole:
                canvas.ask(question, pieces)
        foot = max(foot, bottom)
        if not two or at % 2:
            y = foot + leading
    return foot + em


def _lines_of(rng: random.Random, line: Line) -> list[str]:
    """Return the lines after a key of the head: often a person with a place or firm below."""
    if line.kind != "person":
        return [value(rng, line.kind)]
    count = rng.choice((1, 2, 3, 6)) if line.keys[0] == "cc" else rng.choice((1, 1, 1, 2))
    tail = f", {phrase(rng, 1, 2)}" if rng.random() < 0.2 else ""
    lines = [person(rng) + tail for _ in range(count)]
    if rng.random() < 0.12 and line.keys[0] == "To":
        lines += address_lines(rng)
    return lines


def _letter_head(canvas: Canvas, left: float, right: float, y: float) -> float:
    """Set date, address of the receiver, and salutation."""
    rng, em = canvas.rng, canvas.face.size
    day = canvas.write(date(rng), rng.choice((left, left, canvas.width * 0.6)), y)
    canvas.ask(questions.of(rng, _HEAD[2].asked), day.pieces, printed_key=False)
    y += 3 * em
    to = canvas.write(person(rng), left, y)
    firm = canvas.write(company(rng), left, to.top + 1.35 * em) if rng.random() < 0.5 else None
    y = (firm or to).top + 1.35 * em
    where: list[int] = []
    for text in address_lines(rng):
        written = canvas.write(text, left, y)
        where += written.pieces
        y = written.top + 1.35 * em
    canvas.ask(
        questions.of(rng, ("Who is it addressed to?", "recipient", "Who receives the letter?", "addressee")),
        to.pieces,
        printed_key=False,
    )
    canvas.ask(
        questions.of(rng, ("address of the recipient", "Where is it sent?", "recipient's address")),
        where,
        printed_key=False,
    )
    y += em
    if rng.random() < 0.6:
        key = canvas.write(rng.choice(("Re:", "Subject:", "RE:", "Ref:")), left, y, role="key")
        about = canvas.write(phrase(rng, 2, 9), key.right + 2 * em, y, right=right, role="value")
        canvas.ask(questions.of(rng, _HEAD[3].asked), about.pieces)
        y = about.top + 2 * em
    return canvas.write(f"Dear {person(rng)}{rng.choice(',:')}", left, y).top + em


def _close(canvas: Canvas, x: float, y: float) -> float:
    """Set greeting, signature and name."""
    rng, em = canvas.rng, canvas.face.size
    canvas.write(
        rng.choice(("Sincerely,", "Yours truly,", "Best regards,", "Very truly yours,", "Respectfully,")), x, y
    )
    name = person(rng)
    if rng.random() < 0.7:
        ink = rng.choice(((15, 15, 20), (20, 30, 120)))
        box = (x, y + 1.3 * em, x + em * rng.uniform(7, 13), y + em * rng.uniform(3.6, 4.4))
        figure = canvas.figure("signature", box, name, ink=ink)
        canvas.ask(
            rng.choice(
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
    written = canvas.write(name, x, y + 4.8 * em)
    canvas.ask(
        questions.of(rng, ("Who signed the letter?", "signed by", "name of the signer", "Who is the writer?")),
        written.pieces,
        printed_key=False,
    )
    if rng.random() < 0.5:
        post = canvas.write(phrase(rng, 1, 3), x, written.top + 1.3 * em)
        canvas.ask(
            questions.of(rng, ("title of the signer", "What is the position of the writer?")),
            post.pieces,
            printed_key=False,
        )
        return post.top + em
    return written.top + em
