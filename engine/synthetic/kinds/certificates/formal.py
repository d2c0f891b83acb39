"""Certificates filled in by offices: origin, insurance, analysis, birth; and licences."""

from __future__ import annotations

import random
from datetime import timedelta

from engine.synthetic.canvas import Figure
from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.amounts import Writing, sample_day
from engine.synthetic.kinds.certificates.award import border, draw_seal
from engine.synthetic.kinds.certificates.words import CONCEPTS, FORMAL, TITLES
from engine.synthetic.kinds.entries import Entry, note, set_in_boxes, set_in_columns
from engine.synthetic.kinds.forms.lists import name_and_address
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.reports import results
from engine.synthetic.kinds.reports.parts import Numbering
from engine.synthetic.values import code, company, date, person, value
from engine.synthetic.vocabulary import CITIES, STATES, phrase, sentence, word

_ISSUER = ("Who issued the certificate?", "issuer", "Which office is it from?", "issuing authority", "organization")
_OFFICES = {"insurance": "insurer", "licence": "issuing authority"}  # role of the office in the heading
_SEX = ("Male", "Female", "Boy", "Girl", "M", "F")
_CARRIED = ("By sea", "By air", "By truck", "Sea freight", "Rail", "m/v {}", "By vessel {}")
_OF_GOODS = ("What is the {head} of {what}?", "{head} of {what}", "{what} {head}", "{head} for {what}")


def formal(rng: random.Random, sort: str) -> Form:
    """Lay out a certificate of the given sort (a key of `FORMAL`)."""
    small = sort == "licence" and rng.random() < 0.4
    form = paper.sample_paper(
        rng, ratio=(0.62, 0.8) if small else (1.2, 1.42), signs=(40, 52) if small else (54, 74), filled_in=0.5
    )
    form.blank = rng.choice((0.0, 0.04, 0.1))
    canvas, em = form.canvas, form.em
    form.left = canvas.width * rng.uniform(0.08, 0.11)
    form.right = canvas.width - form.left
    bordered = rng.random() < 0.6
    y = 0.05 * canvas.width + em * rng.uniform(2.0, 3.0)
    y, office = _head(form, sort, y)
    y += 1.2 * em
    names = [name for name in FORMAL[sort] if rng.random() < 0.85]
    if not office:
        names = [name for name in names if name not in _OFFICES.values()]
    if small:
        names = names[: max(4, int((canvas.height - y - 6 * em) / (1.9 * em)))]
        names = [name for name in names if name != "conditions"]
    entries = [
        Entry(CONCEPTS[name], (office,) if name in _OFFICES.values() else _lines(form, CONCEPTS[name].kinds[0]))
        for name in names
    ]
    if sort in ("birth", "licence") and rng.random() < 0.4:
        rng.shuffle(entries)
    y = _entries(form, sort, entries, y, small) + 2.2 * em
    if sort == "origin":
        y = _goods(form, y) + 2 * em
    elif sort == "analysis":
        y = results.set_measurements(form, Numbering(rng), y) + 2 * em
    elif sort == "insurance" and rng.random() < 0.6:
        y = _covers(form, y) + 2 * em
    if rng.random() < 0.6 and y < canvas.height - 16 * em and not small:
        text = rng.choice(
            (
                "The undersigned certifies that the above is correct.",
                "We certify that the particulars given above are true.",
                sentence(rng, 10, 26),
            )
        )
        y = canvas.write(text, form.left, y, right=form.right).top + 2 * em
    y = _close(form, y, small)
    if bordered:
        # Only the border lies below the text; it encloses the rest of the page.
        canvas.height = min(
            canvas.height, max(y + 0.05 * canvas.width + em * rng.uniform(2.0, 5.0), 0.55 * canvas.width)
        )
        paper.finish(form, canvas.height, cut=0.0, ornaments=0.0)
        border(form, 1.0)
    else:
        paper.finish(form, y, cut=0.8, ornaments=0.25)
    return form


def _head(form: Form, sort: str, y: float) -> tuple[float, str]:
    """Set title, office and number; return where they end, and the office if entries may repeat it."""
    rng, canvas, em = form.rng, form.canvas, form.em
    heading = rng.choice(TITLES[sort])
    heading = heading.upper() if rng.random() < 0.5 else heading
    office = {
        "origin": f"{rng.choice(CITIES)} Chamber of Commerce", "insurance": f"{word(rng).title()} Insurance {rng.choice(('Company', 'plc', 'Ltd'))}",
        "analysis": company(rng), "birth": f"{rng.choice((*STATES[-6:], *CITIES[:20]))} Registry Office", "licence": f"{rng.choice(('City', 'County', 'State'))} of {rng.choice(CITIES)}",
    }[sort]  # fmt: skip
    face = canvas.face.scale(rng.uniform(1.05, 1.4), bold=rng.random() < 0.5)
    first = rng.random() < 0.6
    centred = rng.random() < 0.7
    if centred:
        for text, is_office in ((office, True), (heading, False)) if first else ((heading, False), (office, True)):
            if is_office:
                written = canvas.write_centre(text, y, face=face, role="heading")
                if sort in _OFFICES:
                    note(form, _OFFICES[sort], CONCEPTS[_OFFICES[sort]], written.pieces)
                else:
                    paper.ask(form, _ISSUER, written.pieces)
                y = written.top + 1.6 * face.size
            else:
                y = paper.title(form, text, form.left, y, form.right, align="centre")
    else:
        foot = paper.letterhead(form, office, form.left, y, form.left + 0.45 * (form.right - form.left), _ISSUER)
        y = max(
            foot, paper.title(form, heading, form.left + 0.5 * (form.right - form.left), y, form.right, align="right")
        )
    if rng.random() < 0.7 and sort != "licence":
        concept = CONCEPTS["certificate no."]
        key = form.case(rng.choice(concept.printed)) + form.ending
        text = code(rng)
        wide = form.key_face.width(f"{key} {text}") + 1.4 * em
        printed = canvas.write(key, form.right - wide, y + 0.3 * em, face=form.key_face, role="key")
        written = canvas.write(text, printed.right + 0.6 * em, printed.top, face=form.key_face, role="value")
        note(form, key, concept, written.pieces)
        y = printed.top + 1.5 * em
    return y, office if centred else ""


def _lines(form: Form, kind: str) -> tuple[str, ...]:
    """Return the filled-in lines for a kind of value; none for a blank."""
    rng = form.rng
    if rng.random() < form.blank:
        return ()
    if kind == "party":
        return tuple(name_and_address(rng))
    if kind == "sex":
        return (rng.choice(_SEX),)
    if kind == "transport":
        return (rng.choice(_CARRIED).format(word(rng).title()),)
    if kind == "class":
        return (rng.choice((rng.choice("ABCDEM"), f"Class {rng.randint(1, 5)}", phrase(rng, 1, 3))),)
    if kind == "dates":
        first = sample_day(rng)
        return (
            Writing.sample(rng).span(
                first, first + timedelta(days=rng.choice((364, 365, 181))), rng.choice((" - ", " to "))
            ),
        )
    if kind == "text":
        return (sentence(rng, 6, 18),)
    if kind == "date":
        return (Writing.sample(rng).day(sample_day(rng)) if rng.random() < 0.5 else date(rng),)
    return (value(rng, kind),)


def _entries(form: Form, sort: str, entries: list[Entry], y: float, small: bool) -> float:
    """Set the entries: boxes for trade, lines for registers, columns for all."""
    rng = form.rng
    boxes = {"origin": 0.75, "insurance": 0.4, "analysis": 0.25, "birth": 0.3, "licence": 0.2}[sort]
    if rng.random() < boxes and not small:
        rows: list[list[tuple[Entry, float]]] = []
        for entry in entries:
            if rows and len(rows[-1]) < 2 and rng.random() < 0.75:
                rows[-1].append((entry, rng.choice((1.0, 1.0, 1.3))))
            else:
                rows.append([(entry, 1.0)])
        return set_in_boxes(form, rows, y, tallest=2.6)
    if sort == "birth" or (sort == "licence" and rng.random() < 0.4):
        shape = rng.random()
        if shape < 0.6:
            return set_in_columns(
                form, entries, form.left, y, form.right, "line", 1 if small else rng.choice((1, 2, 2))
            )
    columns = 2 if small else rng.choice((1, 1, 2))
    return set_in_columns(
        form,
        entries,
        form.left,
        y,
        form.right,
        rng.choice(("aligned", "aligned", "right", "below" if columns > 1 else "aligned")),
        columns,
    )


def _goods(form: Form, y: float) -> float:
    """Set marks, packages and weights of the certified goods; return where they end."""
    rng = form.rng
    heads = (
        rng.choice(("Item", "No.", "Item no.")), rng.choice(("Marks and numbers", "Marks", "Shipping marks")),
        rng.choice(("Description of goods", "Goods", "Number and kind of packages; description")), rng.choice(("Quantity", "Packages")), rng.choice(("Gross weight", "Weight", "Net weight (kg)")),
    )  # fmt: skip
    columns = [ledger.Column(head, "lllrr"[at], at == 2) for at, head in enumerate(heads)]
    rows = []
    for at in range(rng.randint(1, 5)):
        count = rng.randint(1, 400)
        goods = f"{count} {rng.choice(('cartons', 'pallets', 'drums', 'bags', 'cases'))} {phrase(rng, 1, 4).lower()}"
        rows.append(
            (
                str(at + 1),
                code(rng),
                goods,
                str(count * rng.randint(1, 40)),
                f"{count * rng.randint(2, 90):,} kg",
            )
        )
    least = form.canvas.height * rng.uniform(0.1, 0.25)
    table = ledger.set_table(
        form,
        columns,
        [ledger.Row(row) for row in rows],
        y,
        least=least,
        ruling=rng.choice(("grid", "columns", "columns", "head")),
    )
    for row in range(table.rows):
        for at in rng.sample((1, 3, 4), 2):
            ledger.ask_cell(
                form, _OF_GOODS, table.cells[row, at], head=heads[at].lower(), what=rows[row][2].split(maxsplit=2)[2]
            )
    ledger.ask_column(form, table, 2, range(table.rows))
    return table.foot


def _covers(form: Form, y: float) -> float:
    """Set the insured items and amounts; return where they end."""
    rng = form.rng
    heads = (
        rng.choice(("Coverage", "Type of cover", "Section")),
        rng.choice(("Limit", "Limits of liability", "Amount")),
        rng.choice(("Deductible", "Excess")),
    )
    names = rng.sample(
        (
            "General liability",
            "Property",
            "Automobile",
            "Cargo",
            "Fire",
            "Theft",
            "Umbrella",
            "Employer's liability",
            "Legal costs",
            "Medical",
            "Glass",
            "Storm",
        ),
        rng.randint(3, 6),
    )
    writing = Writing.sample(rng)
    rows = [
        (
            name,
            writing.sum(rng.randint(1, 200) * 5000000, currency=True),
            writing.sum(rng.randint(1, 40) * 25000, currency=True),
        )
        for name in names
    ]
    columns = [ledger.Column(head, "l" if at == 0 else "r", at == 0) for at, head in enumerate(heads)]
    table = ledger.set_table(form, columns, [ledger.Row(row) for row in rows], y)
    for row in rng.sample(range(table.rows), min(table.rows, 3)):
        at = rng.choice((1, 1, 2))
        ledger.ask_cell(
            form,
            (*_OF_GOODS, "Up to how much is {what} covered?") if at == 1 else _OF_GOODS,
            table.cells[row, at],
            head=heads[at].lower(),
            what=rows[row][0].lower(),
        )
    return table.foot


def _close(form: Form, y: float, small: bool) -> float:
    """Set place and date, a signature, a seal or a stamp; return where they end."""
    rng, canvas, em = form.rng, form.canvas, form.em
    if y > canvas.height - 9 * em:
        return y
    if not small and rng.random() < 0.6:
        free = [name for name in ("date", "place of issue") if CONCEPTS[name] not in form.keys.concepts]
        entries = [Entry(CONCEPTS[name], _lines(form, CONCEPTS[name].kinds[0])) for name in free]
        if entries:
            y = set_in_columns(form, entries, form.left, y, form.right, rng.choice(("right", "line")), 2) + 1.6 * em
    if y > canvas.height - 9 * em:
        return y
    top = y
    width = (form.right - form.left) / 2
    marked: Figure | None = None
    if rng.random() < 0.55:
        size = min(em * rng.uniform(5, 7.5), canvas.height - y - 3 * em)
        marked = draw_seal(form, form.right - 0.45 * width, top + size / 2, size, word(rng).upper())
    roles = ("Authorized signature", "Signature", "Registrar", "For the company", "Authorized officer", "Official")
    role = rng.choice([role for role in roles if role.lower() not in form.keys.used])
    line_right = form.left + width - 1.5 * em
    line_y = y + 3 * em
    name = person(rng)
    if rng.random() < 0.85:
        box = (
            form.left + 0.5 * em,
            y + 0.5 * em,
            min(line_right, form.left + em * rng.uniform(8, 12)),
            y + 3.5 * em,
        )
        figure = canvas.figure("signature", box, name, ink=rng.choice(paper.INKS))
        shapes = ("signature", "Where is the signature?", "Is it signed?", "Mark the signature.", role.lower())
        canvas.ask(rng.choice(shapes), printed_key=False, figures=[figure], region_type="signature")
    canvas.rule(form.left, line_y, line_right, line_y)
    printed = canvas.write(
        form.case(role),
        form.left,
        line_y + 0.7 * em,
        right=line_right,
        face=form.key_face.scale(0.88, bold=False),
        role="key",
    )
    return max(printed.top + em, marked.box[3] if marked else 0.0)
