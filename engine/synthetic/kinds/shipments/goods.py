"""Goods in tables with consistent counts and weights, their entries, stamps, bar codes, receipts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.synthetic import questions
from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.amounts import Writing, sample_day
from engine.synthetic.kinds.entries import Entry, note
from engine.synthetic.kinds.forms.choices import READ_AS, mark_box
from engine.synthetic.kinds.forms.lists import name_and_address
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.shipments.words import CONCEPTS
from engine.synthetic.values import code, date, person, phone, value
from engine.synthetic.vocabulary import CITIES, phrase, sentence, word

_PACKING = ("cartons", "pallets", "boxes", "drums", "cases", "bags", "crates", "rolls", "packages")
_OF_GOODS = (
    "What is the {head} of {what}?", "{head} of {what}", "{what} {head}", "{head} for {what}", "What {head} does {what} have?",
    "Find the {head} of {what}.",
)  # fmt: skip
_OF_NUMBER = ("What is article {what}?", "description of {what}", "Which goods have the number {what}?")
_HOW_MANY = ("How many {what} are shipped?", "quantity of {what}", "How many {what}?", "number of {what}")


@dataclass(frozen=True, slots=True)
class Goods:
    """Line of goods; weights in tenths of a kilogram, volume in thousandths of a cubic metre."""

    number: str
    name: str
    count: int
    packages: int
    net: int
    gross: int
    volume: int


def sample_goods(form: Form, most: int) -> list[Goods]:
    """Return random goods with different names."""
    rng = form.rng
    goods_by_name: dict[str, Goods] = {}
    case = rng.choice((str.title, str.capitalize, str.upper, str.lower))
    for _ in range(rng.randint(1, most)):
        name = case(phrase(rng, 1, 4))
        packages = rng.randint(1, 40)
        net = rng.randint(5, 900) * packages
        volume = packages * rng.randint(5, 400)
        goods_by_name[name] = Goods(
            code(rng),
            name,
            packages * rng.choice((1, 4, 6, 10, 12, 24)),
            packages,
            net,
            net + packages * rng.randint(2, 30),
            volume,
        )
    return list(goods_by_name.values())


def kilos(tenths: int) -> str:
    """Format a weight given in tenths of a kilogram."""
    return f"{tenths / 10:,.1f}"


def goods_table(form: Form, goods: Sequence[Goods], y: float, wanted: Sequence[str], least: float = 0.0) -> float:
    """Set the goods with the wanted columns, sometimes with sums; return the foot.

    `wanted`: of "at", "number", "name", "count", "unit", "packages", "net", "gross", "volume".
    """
    rng = form.rng
    heads = {
        "at": ("No.", "Pos.", "Item", "#", "Line"), "number": ("Article", "Part no.", "Item code", "SKU", "Marks & nos.", "Product code"),
        "name": ("Description", "Description of goods", "Product", "Goods", "Contents"), "count": ("Quantity", "Qty", "Units", "Pcs", "Qty shipped"),
        "unit": ("Unit", "UoM"), "packages": ("Packages", "Cartons", "No. of pkgs", "Colli"), "net": ("Net weight", "N.W. (kg)", "Net kg"),
        "gross": ("Gross weight", "G.W. (kg)", "Gross kg", "Weight"), "volume": ("Volume", "CBM", "Measurement (m3)"),
    }  # fmt: skip
    names = {name: rng.choice(heads[name]) for name in wanted}
    columns = [
        ledger.Column(names[name], {"at": "c", "number": "l", "name": "l", "unit": "c"}.get(name, "r"), name == "name")
        for name in wanted
    ]
    unit = rng.choice(("pcs", "ea", "set", "box", "kg"))
    packing = rng.choice(_PACKING) if rng.random() < 0.4 else ""

    def make_row(at: int, item: Goods) -> ledger.Row:
        """Return one row of goods."""
        texts = {
            "at": str(at), "number": item.number, "name": item.name, "count": f"{item.count:,}", "unit": unit,
            "packages": f"{item.packages} {packing}".strip(), "net": kilos(item.net), "gross": kilos(item.gross), "volume": f"{item.volume / 1000:.3f}",
        }  # fmt: skip
        return ledger.Row(tuple(texts[name] for name in wanted))

    rows = [make_row(at, item) for at, item in enumerate(goods, 1)]
    sums = {
        "count": ("total quantity", f"{sum(item.count for item in goods):,}"), "packages": ("total packages", f"{sum(item.packages for item in goods)} {packing}".strip()),
        "net": ("total net weight", kilos(sum(item.net for item in goods))), "gross": ("total gross weight", kilos(sum(item.gross for item in goods))),
        "volume": ("total volume", f"{sum(item.volume for item in goods) / 1000:.3f}"),
    }  # fmt: skip
    summed = rng.random() < 0.7 and any(name in sums for name in wanted)
    if summed:
        total = [sums[name][1] if name in sums else "" for name in wanted]
        total[wanted.index("name")] = form.case(rng.choice(("Total", "Totals", "Sum", "Grand total")))
        rows.append(ledger.Row(tuple(total), strong=True))
    ruling: ledger.Ruling | None = rng.choice(("grid", "columns")) if least else None
    table = ledger.set_table(form, columns, rows, y, least=least, ruling=ruling)
    figures = [at for at, name in enumerate(wanted) if name not in ("at", "name", "unit")]
    for row in rng.sample(range(len(goods)), min(len(goods), 5)):
        at = rng.choice(figures)
        shapes = _OF_GOODS + _HOW_MANY if wanted[at] == "count" else _OF_GOODS
        ledger.ask_cell(
            form, shapes, table.cells.get((row, at), []), head=columns[at].head.lower(), what=goods[row].name
        )
        if "number" in wanted and rng.random() < 0.25:
            ledger.ask_cell(form, _OF_NUMBER, table.cells.get((row, wanted.index("name")), []), what=goods[row].number)
    for at, name in enumerate(wanted):
        if summed and name in sums:
            note(form, sums[name][0], CONCEPTS[sums[name][0]], table.cells.get((len(goods), at), []))
        if rng.random() < 0.12 and name != "at":
            ledger.ask_column(form, table, at, range(min(table.rows, len(goods))))
    return table.foot


def entry(form: Form, writing: Writing, name: str, goods: Sequence[Goods] = ()) -> Entry:
    """Return the entry of a concept with a value, or blank."""
    rng = form.rng
    concept = CONCEPTS[name]
    if name.startswith("total"):
        texts = {
            "total gross weight": f"{kilos(sum(item.gross for item in goods))} kg", "total net weight": f"{kilos(sum(item.net for item in goods))} kg",
            "total packages": str(sum(item.packages for item in goods)), "total quantity": f"{sum(item.count for item in goods):,}",
            "total volume": f"{sum(item.volume for item in goods) / 1000:.3f} m3",
        }  # fmt: skip
        return Entry(concept, (texts[name],))
    kind = concept.kinds[0]
    if kind != "party" and rng.random() < form.blank:
        return Entry(concept, ())
    if kind == "party":
        lines = name_and_address(rng)
        if rng.random() < 0.2:
            lines.append(f"{rng.choice(('Tel', 'Phone', 'T'))}: {phone(rng)}")
        return Entry(concept, tuple(lines))
    text = {
        "awb": lambda: f"{rng.randint(1, 999):03}-{rng.randint(1000, 9999)} {rng.randint(1000, 9999)}",
        "day": lambda: writing.day(sample_day(rng)) if rng.random() < 0.7 else date(rng),
        "vessel": lambda: f"{rng.choice(('M/V ', 'MV ', '', 'S.S. '))}{word(rng).title()} {word(rng).title()}",
        "voyage": lambda: f"{rng.randint(1, 999):03}{rng.choice('ENSW')}",
        "flight": lambda: f"{rng.choice('ABCDEFKLMNQS')}{rng.choice('ABCDEFHKLQRXY')} {rng.randint(10, 9999)} / {rng.randint(1, 28)}",
        "airport": lambda: f"{rng.choice(CITIES)}{rng.choice(('', ' Airport', ' Intl.'))}",
        "terms": lambda: f"{rng.choice(('FOB', 'CIF', 'EXW', 'DAP', 'CFR', 'FCA', 'DDP', 'CPT'))}{rng.choice(('', ' ' + rng.choice(CITIES)))}",
        "container": lambda: "".join(rng.choice("ABCGHLMNOSTU") for _ in range(3)) + f"U {rng.randint(100000, 999999)}-{rng.randint(0, 9)}",
        "plate": lambda: f"{rng.choice('ABCDHJKMW')}{rng.choice('ABCDEKLMS')}{rng.choice(' -')}{rng.randint(10, 9999)}",
        "hs": lambda: f"{rng.randint(1000, 9999)}.{rng.randint(10, 99)}",
        "text": lambda: sentence(rng, 4, 14),
        "phrase": lambda: phrase(rng, 1, 4),
    }.get(kind, lambda: value(rng, kind))()  # fmt: skip
    return Entry(concept, (text,))


def one_of(
    form: Form, question: str, labels: Sequence[str], x: float, y: float, right: float, *, key: str = ""
) -> float:
    """Set checkboxes side by side, one of them ticked; return the top of the last line."""
    rng, canvas, em = form.rng, form.canvas, form.em
    read_as = rng.choice(READ_AS)
    shape = rng.choice(("box", "box", "round")) if read_as[0] else "box"
    picked = rng.randrange(len(labels))
    home = x
    if key:
        printed = canvas.write(key, x, y, right=right, face=form.key_face, role="key")
        x, y = printed.right + em, printed.top
    for at, label in enumerate(labels):
        if x + form.key_face.width(label) + 1.3 * em > right and x > home:
            x, y = home, y + 1.6 * em
        figure, mark, edge = mark_box(form, x, y, shape, at == picked, read_as)
        written = canvas.write(label, edge + 0.4 * em, y, right=right, face=form.key_face)
        if at == picked:
            shapes = (
                (question, question, f"Is {label.lower()} ticked?", f"{label} checkbox")
                if len(labels) < 4
                else (question, f"{label} checkbox")
            )
            canvas.ask(
                questions.mistype(rng, rng.choice(shapes)),
                mark + written.pieces,
                written.pieces,
                figures=[figure],
                region_type="checkbox",
            )
        x = written.right + 1.6 * em
    return y


def bar_code(form: Form, x: float, y: float, width: float, height: float, number: str = "") -> float:
    """Draw a bar code with its number under it; return its foot."""
    rng, canvas = form.rng, form.canvas
    figure = canvas.figure("barcode", (x, y, x + width, y + height), number)
    shapes = ("bar code", "Where is the bar code?", "Mark the bar code.", "barcode", "Find the bar code on this page.")
    canvas.ask(rng.choice(shapes), printed_key=False, figures=[figure], region_type="barcode")
    if number and rng.random() < 0.7:
        face = canvas.face.scale(0.85)
        written = canvas.write_centre(number, y + height + 0.25 * form.em, centre=x + width / 2, face=face)
        paper.ask(
            form,
            ("number under the bar code", "bar code number", "What number does the bar code have?"),
            written.pieces,
        )
        return y + height + 1.5 * form.em
    return y + height


def set_reception(form: Form, writing: Writing, y: float) -> float:
    """Set who received the goods, when, and in which state, sometimes stamped; return where it ends."""
    rng, canvas, em = form.rng, form.canvas, form.em
    texts = (
        rng.choice(("Received by", "Goods received by", "Accepted by", "Taken over by", "Name of receiver")), rng.choice(("Date received", "Received on", "Date of receipt")),
        rng.choice(("Signature", "Signature of receiver", "Signed")),
    )  # fmt: skip
    if rng.random() < 0.4:
        y = (
            canvas.write(
                rng.choice(
                    (
                        "Received in good order and condition.",
                        "The goods were received complete and undamaged.",
                        sentence(rng, 5, 14),
                    )
                ),
                form.left,
                y,
                right=form.right,
            ).top
            + 1.6 * em
        )
    width = (form.right - form.left) / 3
    line_y, bottom = y + 2.6 * em, y
    filled = rng.random() < 0.8
    for at, key in enumerate(texts):
        x, right = form.left + at * width, form.left + (at + 1) * width - em
        canvas.rule(x, line_y, right, line_y)
        printed = canvas.write(
            form.case(key), x, line_y + 0.5 * em, right=right, face=form.key_face.scale(0.88, bold=False), role="key"
        )
        bottom = max(bottom, printed.top)
        if not filled:
            canvas.ask(questions.about(rng, key))
        elif at == 2:
            box = (x + 0.3 * em, line_y - 2.5 * em, min(right, x + 0.3 * em + 9 * em), line_y + 0.4 * em)
            figure = canvas.figure("signature", box, "x", ink=rng.choice(paper.INKS))
            shapes = (
                "signature",
                "Where is the signature?",
                "signature of the receiver",
                "Mark the signature.",
                "Is it signed?",
            )
            canvas.ask(rng.choice(shapes), printed_key=False, figures=[figure], region_type="signature")
        else:
            text = person(rng) if at == 0 else writing.day(sample_day(rng))
            written = form.write_value(text, x + 0.3 * em, line_y - 1.25 * max(em, form.value_face.size), right)
            asked = (
                ("Who received the goods?", "receiver", "Who took the goods?"),
                ("When were they received?", "When did the goods arrive?"),
            )[at]
            canvas.ask(questions.about(rng, key) if rng.random() < 0.6 else questions.of(rng, asked), written.pieces)
    form.keys.used.update(("received by", "date received", "received", "received on", "signature"))
    return bottom + em


def draw_stamp(form: Form, x: float, y: float) -> None:
    """Draw a stamp with a word and a date around (x, y)."""
    rng, canvas, em = form.rng, form.canvas, form.em
    width, height = em * rng.uniform(9, 13), em * rng.uniform(3.6, 5)
    text = f"{rng.choice(('RECEIVED', 'SHIPPED ON BOARD', 'CUSTOMS', 'CLEARED', 'INSPECTED', 'ORIGINAL'))}|{date(rng)}"
    figure = canvas.figure(
        "stamp", (x, y, x + width, y + height), text, ink=rng.choice(((170, 30, 40), (30, 50, 150), (110, 40, 120)))
    )
    canvas.ask(
        rng.choice(("stamp", "Where is the stamp?", "Mark the stamp.", "Is it stamped?")),
        printed_key=False,
        figures=[figure],
        region_type="stamp",
    )
