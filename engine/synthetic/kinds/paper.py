"""Common parts of business papers: style, letterhead, address window, small print, footer."""

from __future__ import annotations

import random
from collections.abc import Sequence
from string import capwords

from engine.synthetic import questions
from engine.synthetic.canvas import Canvas, Face, Role
from engine.synthetic.draft import body_face, page_width
from engine.synthetic.kinds.entries import ask_noted
from engine.synthetic.kinds.forms.style import Form, sample_form
from engine.synthetic.marks import ask_for_tables, ornament
from engine.synthetic.values import address_lines, email, phone, website
from engine.synthetic.vocabulary import sentence, word

INKS = ((15, 15, 20), (20, 30, 120), (40, 40, 45))
_LOGO_INKS = ((30, 60, 140), (150, 30, 40), (20, 100, 70), (60, 60, 65), (190, 110, 20))


def sample_paper(
    rng: random.Random,
    *,
    ratio: tuple[float, float] = (1.28, 1.42),
    signs: tuple[float, float] = (58, 84),
    filled_in: float = 0.0,
) -> Form:
    """Return an empty page with its style.

    `ratio`: height by width; `signs`: ems across; `filled_in`: share of papers with values typed or written later.
    """
    width = page_width(rng)
    em = width / rng.uniform(*signs)
    canvas = Canvas(width, width * rng.uniform(*ratio), rng, body_face(rng, em))
    form = sample_form(rng, canvas)
    if rng.random() >= filled_in:
        form.value_face, form.lower_baseline = canvas.face, 0.0
    elif form.value_face.size > 1.3 * em:
        form.value_face = form.value_face.scale(1.3 * em / form.value_face.size)
    form.left = width * rng.uniform(0.04, 0.09)
    form.right = width - form.left
    form.ending = rng.choice((":", ":", ":", "", "", " :"))
    form.case = rng.choice((str.upper, capwords, str.capitalize, str.capitalize))  # avoids "Shipper'S"
    form.leading = rng.uniform(1.4, 1.85)
    form.blank = rng.choice((0.0, 0.02, 0.06))
    return form


def ask(form: Form, choices: tuple[str, ...], *answers: list[int], printed: bool = False) -> None:
    """Ask in one of the given phrasings; `printed` when a key is printed."""
    if any(answers):
        form.canvas.ask(questions.of(form.rng, choices), *answers, printed_key=printed)


def letterhead(
    form: Form, name: str, x: float, y: float, right: float, asked: tuple[str, ...], *, centred: bool = False
) -> float:
    """Set a firm's name with address and numbers, sometimes beside a logo; return where it ends."""
    rng, canvas, em = form.rng, form.canvas, form.em
    face = canvas.face.scale(rng.uniform(1.2, 1.9), bold=rng.random() < 0.7)
    fine = canvas.face.scale(rng.uniform(0.82, 1.0))
    top, foot = y, y
    if rng.random() < 0.35 and not centred:
        side = em * rng.uniform(3.2, 4.6)
        box = (x, y, x + side * rng.choice((1.0, 1.0, 1.4)), y + side)
        logo = canvas.figure("logo", box, name[:1].upper() + word(rng), ink=rng.choice(_LOGO_INKS))
        shapes = ("logo", "Where is the logo?", "company logo", "Mark the logo.")
        canvas.ask(rng.choice(shapes), printed_key=False, figures=[logo], region_type="logo")
        x, foot = box[2] + 0.9 * em, box[3]
    middle = (x + right) / 2
    room = max(right - x, 6 * em)
    if face.width(name) > room:
        face = face.scale(max(0.55, room / face.width(name)))

    def line(text: str, chosen: Face = fine, role: Role = "text") -> list[int]:
        """Set one line of the letterhead."""
        nonlocal y
        if centred:
            written = canvas.write_centre(text, y, centre=middle, face=chosen, role=role)
        else:
            written = canvas.write(text, x, y, right=right, face=chosen, role=role)
        y = written.top + 1.35 * chosen.size
        return written.pieces

    ask(form, asked, line(name, face, "heading"))
    address = address_lines(rng)
    if rng.random() < 0.35 or centred:
        address = [", ".join(address)]
    where = [piece for text in address for piece in line(text)]
    if rng.random() < 0.4:
        shapes = (
            "address of the company",
            "company address",
            "Where is the company located?",
            "What is the address of the company?",
        )
        ask(form, shapes, where)
    if rng.random() < 0.5:
        number = phone(rng)
        key = rng.choice(("Tel:", "Phone:", "Tel.", "T:", "Telephone", "Call"))
        pieces = line(f"{key} {number}")
        ask(
            form,
            (
                "phone number of the company",
                "telephone of the company",
                "company phone",
                "Under which number is the company reached?",
            ),
            pieces[1:],
            printed=True,
        )
        form.keys.used.update(("phone", "telephone", "tel"))
    if rng.random() < 0.3:
        line(rng.choice((website, email))(rng))
    return max(y, foot + 0.3 * em, top)


def title(form: Form, text: str, x: float, y: float, right: float, *, align: str = "left") -> float:
    """Set the title of the paper; return where it ends."""
    rng, canvas = form.rng, form.canvas
    face = canvas.face.scale(rng.uniform(1.3, 1.9), bold=rng.random() < 0.75)
    if face.width(text) > right - x:
        face = face.scale(max(0.6, (right - x) / face.width(text)))
    if align == "centre":
        written = canvas.write_centre(text, y, centre=(x + right) / 2, face=face, role="heading")
    elif align == "right" and face.width(text) <= right - x:
        written = canvas.write_right(text, right, y, face=face, role="heading")
    else:
        written = canvas.write(text, x, y, right=right, face=face, role="heading")
    return written.top + 1.5 * face.size


def subtitle(form: Form, text: str, y: float, x: float | None = None) -> float:
    """Set the heading of a part; return where its text begins."""
    canvas, em = form.canvas, form.em
    face = form.key_face.scale(form.rng.uniform(1.0, 1.2), bold=True)
    written = canvas.write(text, form.left if x is None else x, y, right=form.right, face=face, role="heading")
    return written.top + 1.9 * em


def addressee(
    form: Form, name: str, x: float, y: float, right: float, who: tuple[str, ...], where: tuple[str, ...], key: str = ""
) -> float:
    """Set a name and an address as in an envelope's window, with an optional key; return where it ends."""
    rng, canvas, em = form.rng, form.canvas, form.em
    if key:
        printed = canvas.write(form.case(key) + form.ending, x, y, right=right, face=form.key_face, role="key")
        y = printed.top + 1.4 * em
    pieces: list[int] = []
    first: list[int] = []
    for text in (name, *address_lines(rng)):
        written = canvas.write(text, x, y, right=right, face=form.value_face, role="value")
        pieces += written.pieces
        first = first or list(written.pieces)
        y = written.top + 1.3 * form.value_face.size
    ask(form, who, first)
    if rng.random() < 0.7:
        ask(form, where, pieces[len(first) :])
    if key and rng.random() < 0.6:
        canvas.ask(questions.about(rng, key), pieces)
    return y


def small_print(form: Form, y: float, most: int = 3) -> float:
    """Set sentences of small print; return the top of the last line."""
    rng, canvas = form.rng, form.canvas
    face = canvas.face.scale(rng.uniform(0.75, 0.92))
    text = " ".join(sentence(rng, 6, 20) for _ in range(rng.randint(1, most)))
    return canvas.write(text, form.left, y, right=form.right, face=face).top


def write_signatures(form: Form, y: float, keys: Sequence[str], names: Sequence[str]) -> float:
    """Set signatures side by side on lines, with keys and names below; return the top of the last line."""
    rng, canvas, em = form.rng, form.canvas, form.em
    width = (form.right - form.left) / max(2, len(keys))
    shift = 0.0 if len(keys) > 1 or rng.random() < 0.5 else width
    small = form.key_face.scale(0.9, bold=False)
    bottom = y
    for at, (key, name) in enumerate(zip(keys, names, strict=True)):
        x = form.left + at * width + shift
        right = x + width - 1.5 * em
        line_y = y + 3 * em
        if rng.random() > form.blank:
            wide = min(right - x, em * rng.uniform(7, 12))
            box = (x + 0.3 * em, line_y - 2.6 * em, x + 0.3 * em + wide, line_y + 0.5 * em)
            figure = canvas.figure("signature", box, name, ink=rng.choice(INKS))
            shapes: tuple[str, ...] = (f"signature of {name}", f"{key} signature", f"Where did {name} sign?")
            if len(keys) == 1:
                shapes += ("signature", "Where is the signature?", "Is it signed?", "Mark the signature.")
            canvas.ask(rng.choice(shapes), printed_key=False, figures=[figure], region_type="signature")
        canvas.rule(x, line_y, right, line_y)
        printed = canvas.write(form.case(key), x, line_y + 0.7 * em, right=right, face=small, role="key")
        bottom = max(bottom, printed.top)
        if rng.random() < 0.75:
            written = canvas.write(name, x, printed.top + 1.25 * em, right=right, face=small, role="value")
            bottom = max(bottom, written.top)
            if written.whole and printed.whole:
                canvas.ask(questions.about(rng, key), written.pieces)
    return bottom


def finish(form: Form, y: float, *, cut: float = 0.5, ornaments: float = 0.3) -> None:
    """Finish a page: sometimes crop it below `y`, and add marks, a page number and a question."""
    rng, canvas, em = form.rng, form.canvas, form.em
    ask_noted(form)
    if y < 0.72 * canvas.height and rng.random() < cut:
        canvas.height = max(y + em * rng.uniform(2, 9), 0.5 * canvas.width)
    ornament(canvas, y + 1.5 * em, ornaments)
    if (
        canvas.height - y > 6 * em
        and rng.random() < 0.3
        and not any(figure.box[3] > canvas.height - 3 * em for figure in canvas.figures)
    ):
        text = rng.choice(("Page 1 of 1", "Page 1 of 2", "Page 1", "1/1", "- 1 -", f"Form {rng.randint(10, 999)}"))
        fine = canvas.face.scale(0.85)
        at = canvas.height - 2 * em
        rng.choice(
            (
                lambda: canvas.write_centre(text, at, face=fine),
                lambda: canvas.write_right(text, form.right, at, face=fine),
            )
        )()
    ask_for_tables(canvas)
