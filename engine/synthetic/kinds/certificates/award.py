"""Awards for people: centred lines, a large name, a seal, signatures, a border."""

from __future__ import annotations

import random
import re

from engine.synthetic import questions
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.amounts import Writing, drawn_day
from engine.synthetic.kinds.certificates.words import ASKED, AWARDS, CONCEPTS, TITLES
from engine.synthetic.kinds.entries import known, note, settle
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.sheet import Face, Figure
from engine.synthetic.values import code, company, person
from engine.synthetic.vocabulary import CITIES, sentence, word, words

_SIGNERS = (
    "Director",
    "President",
    "Instructor",
    "Course leader",
    "Registrar",
    "Chairman",
    "Head of training",
    "Secretary",
    "Principal",
    "Dean",
)


def award(chance: random.Random) -> Form:
    """Lay out a certificate of completion, merit or attendance, landscape or portrait."""
    across = chance.random() < 0.65
    form = paper.drawn_paper(chance, ratio=(0.68, 0.78) if across else (1.25, 1.42), signs=(44, 62))
    form.ending = ":" if chance.random() < 0.7 else ""
    sheet, em = form.sheet, form.em
    sheet.face = Face(chance.choice(("serif", "serif", "sans")), em, stretch=chance.uniform(0.92, 1.06))
    form.value_face = sheet.face
    form.left = sheet.width * chance.uniform(0.09, 0.14)
    form.right = sheet.width - form.left
    edge = border(form)
    texts = _texts(form)
    wording = chance.choice(AWARDS)
    aligned = "left" if chance.random() < 0.1 else "centre"
    y = edge + em * chance.uniform(1.5, 3.5) + (0.0 if across else 0.05 * sheet.height)
    if chance.random() < 0.3:
        side = em * chance.uniform(3.4, 4.6)
        box = ((sheet.width - side) / 2, y, (sheet.width + side) / 2, y + side)
        logo = sheet.figure(chance.choice(("logo", "seal")), box, texts["firm"][:2], ink=chance.choice(paper.INKS))
        name = "logo" if logo.kind == "logo" else "seal"
        sheet.ask(
            chance.choice((name, f"Where is the {name}?", f"Mark the {name}.")),
            printed_key=False,
            figures=[logo],
            region_type=name,
        )
        y = box[3] + 1.2 * em
    if all("{firm}" not in part for part in wording.parts) and chance.random() < 0.75:
        y = _line(
            form, texts, "{firm}", y, sheet.face.scaled(chance.uniform(1.2, 1.6), bold=chance.random() < 0.5), aligned
        )
    title = sheet.face.scaled(chance.uniform(2.0, 2.8), bold=chance.random() < 0.7)
    heading = chance.choice(TITLES["award"])
    y = _title(form, heading.upper() if chance.random() < 0.5 else heading, y, title, aligned)
    foot = sheet.height * (0.74 if across else 0.78)
    gap = min(max((foot - y - 12 * em) / (len(wording.parts) + 1), 0.2 * em), 2.6 * em)
    y += gap
    for part in wording.parts:
        if part == "{name}":
            face = Face(
                chance.choice(("hand", "serif", sheet.face.family)),
                em * chance.uniform(1.8, 2.5),
                italic=chance.random() < 0.5,
                bold=chance.random() < 0.4,
            )
        elif part == "{course}":
            face = sheet.face.scaled(chance.uniform(1.3, 1.7), bold=True)
        else:
            face = sheet.face.scaled(chance.uniform(0.95, 1.1))
        y = _line(form, texts, part, y, face, aligned) + gap
    if not across and chance.random() < 0.5 and y < foot - 6 * em:
        text = sentence(chance, 8, 22)
        y = sheet.write(text, form.left + 2 * em, y, right=form.right - 2 * em).top + 2 * em
    _foot(form, max(y + 0.4 * em, min(foot, y + 5 * em)))
    settle(form)
    return form


def border(form: Form, share: float = 0.75) -> float:
    """Draw a frame of up to three lines around some pages; return its depth in pixels."""
    chance, sheet = form.chance, form.sheet
    inset = sheet.width * chance.uniform(0.02, 0.045)
    if chance.random() > share:
        return inset
    for width in chance.choice(((2,), (4, 1), (1, 1), (1, 5, 1), (6,), (3,))):
        sheet.frame((inset, inset, sheet.width - inset, sheet.height - inset), width)
        inset += width + 0.35 * form.em
    return inset


def sealed(form: Form, x: float, y: float, size: float, text: str) -> Figure:
    """Draw a round seal of `size` pixels at (x, y), with its question."""
    chance, sheet = form.chance, form.sheet
    box = (x - size / 2, y - size / 2, x + size / 2, y + size / 2)
    figure = sheet.figure(
        "seal", box, text, ink=chance.choice(((170, 30, 40), (30, 50, 150), (150, 110, 30), (40, 40, 45)))
    )
    shapes = (
        "seal",
        "Where is the seal?",
        "Mark the seal.",
        "Is there a seal?",
        "official seal",
        "Find the seal on this page.",
    )
    sheet.ask(chance.choice(shapes), printed_key=False, figures=[figure], region_type="seal")
    return figure


def _texts(form: Form) -> dict[str, str]:
    chance = form.chance
    writing = Writing.drawn(chance)
    day = drawn_day(chance)
    end = day.replace(day=28)
    start = day.replace(day=min(day.day, 20))
    course = " ".join(words(chance, 2, 5)).title()
    if chance.random() < 0.4:
        course = f"{chance.choice(('Advanced', 'Basic', 'Introduction to', 'Principles of', 'Training in', 'Master of', 'Seminar on'))} {course}"
    return {
        "name": re.sub(r",", "", person(chance)), "course": f'"{course}"' if chance.random() < 0.2 else course, "day": writing.day(start),
        "end": writing.day(end), "place": chance.choice(CITIES), "grade": chance.choice(("A", "Excellent", "Very Good", "Distinction", "B+", "Merit")),
        "hours": str(chance.choice((8, 12, 16, 24, 30, 40, 60, 120))), "firm": chance.choice((company(chance), f"{word(chance, 0.5).title()} {chance.choice(('University', 'Academy', 'College', 'Institute'))}")),
    }  # fmt: skip


def _title(form: Form, text: str, y: float, face: Face, aligned: str) -> float:
    sheet = form.sheet
    room = form.right - form.left
    if face.width(text) > room:
        face = face.scaled(room / face.width(text))
    if aligned == "left":
        written = sheet.write(text, form.left, y, face=face, role="heading")
    else:
        written = sheet.write_centre(text, y, face=face, role="heading")
    if form.chance.random() < 0.3:
        paper.ask(form, ("title", "What kind of certificate is it?", "heading", "type of document"), written.pieces)
    return written.top + 1.5 * face.size


def _line(form: Form, texts: dict[str, str], part: str, y: float, face: Face, aligned: str) -> float:
    """Set one line of the wording, with questions on its names; return where it ends."""
    chance, sheet = form.chance, form.sheet
    words_of: list[tuple[str, str]] = []  # each word with the name of its part
    for token in part.split():
        found = re.match(r"^(.*?)\{(\w+)\}(.*)$", token)
        if found is None:
            words_of.append((token, ""))
        else:
            inside = f"{found[1]}{texts[found[2]]}{found[3]}".split()
            words_of += [(word_, found[2]) for word_ in inside]
    text = " ".join(word_ for word_, _ in words_of)
    room = form.right - form.left
    if face.width(text) > room:
        face = face.scaled(max(0.62, room / face.width(text)))
    pieces: list[int] = []
    line_words = text.split()
    while line_words:
        count = len(line_words)
        while count > 1 and face.width(" ".join(line_words[:count])) > room:
            count -= 1
        line = " ".join(line_words[:count])
        if aligned == "left":
            written = sheet.write_fitted(line, form.left, y, form.right, face=face)
        else:
            written = sheet.write_fitted(
                line, max(form.left, (sheet.width - face.width(line)) / 2), y, form.right, face=face
            )
        pieces += written.pieces
        line_words = line_words[count:]
        y += 1.35 * face.size
    for name in dict.fromkeys(name for _, name in words_of if name):
        answer = [piece for piece, (_, owner) in zip(pieces, words_of, strict=False) if owner == name]
        paper.ask(form, ASKED[name], answer)
        if chance.random() < 0.3:
            paper.ask(form, ASKED[name], answer)
        form.keys.used.update(ASKED[name])
        if name == "day":
            known(form, CONCEPTS["date"])
        elif name == "name":
            known(form, CONCEPTS["name"])
        elif name == "place":
            known(form, CONCEPTS["place of issue"])
    if part == "{name}" and chance.random() < 0.5:
        half = max(face.width(text) / 2 + face.size, 0.3 * room)
        middle = sheet.width / 2 if aligned != "left" else form.left + half
        sheet.rule(middle - half, y - 0.1 * face.size, middle + half, y - 0.1 * face.size)
        y += 0.5 * face.size
    return y + 0.35 * face.size


def _foot(form: Form, y: float) -> None:
    """Draw signatures with a seal between them, and a number."""
    chance, sheet, em = form.chance, form.sheet, form.em
    count = chance.choice((1, 2, 2, 3))
    sealing = chance.random() < 0.6
    width = (form.right - form.left) / 3
    places = {1: (2,) if chance.random() < 0.6 else (0,), 2: (0, 2), 3: (0, 1, 2)}[count]
    line_y = min(y + 3.4 * em, sheet.height - 7.2 * em)
    if line_y < y + 2 * em:
        return
    small = sheet.face.scaled(0.9)
    roles = chance.sample(_SIGNERS, count)
    for role, place in zip(roles, places, strict=True):
        x = form.left + place * width + 0.4 * em
        right = x + width - 1.2 * em
        name = person(chance)
        box = (
            x + 0.5 * em,
            line_y - 2.5 * em,
            min(right, x + 0.5 * em + em * chance.uniform(7, 11)),
            line_y + 0.5 * em,
        )
        figure = sheet.figure("signature", box, name, ink=chance.choice(paper.INKS))
        sheet.ask(
            chance.choice((f"signature of the {role.lower()}", f"Where did the {role.lower()} sign?")),
            printed_key=False,
            figures=[figure],
            region_type="signature",
        )
        sheet.rule(x, line_y, right, line_y)
        middle = (x + right) / 2
        both = [(name, "value"), (role, "key")] if chance.random() < 0.6 else [(role, "key"), (name, "value")]
        at = line_y + 0.7 * em
        for text, kind in both:
            wide = min(small.width(text), right - x)
            written = sheet.write_fitted(
                text, middle - wide / 2, at, right, face=small, role="value" if kind == "value" else "key"
            )
            if kind == "value":
                sheet.ask(
                    questions.about(chance, role) if chance.random() < 0.5 else f"Who is the {role.lower()}?",
                    written.pieces,
                )
            at += 1.3 * em
    if sealing and count < 3:
        empty = 1 if count == 2 or places == (0,) else 1 - places[0] % 2
        size = em * chance.uniform(4.5, 6.5)
        sealed(
            form,
            form.left + (empty + 0.5) * width,
            min(line_y, sheet.height - size / 2 - 3 * em),
            size,
            word(chance).upper(),
        )
    if chance.random() < 0.6:
        key = form.case(chance.choice(CONCEPTS["certificate no."].printed))
        at = sheet.height - 3.6 * em if line_y + 3.6 * em < sheet.height - 3.6 * em else sheet.height
        if at < sheet.height:
            fine = sheet.face.scaled(0.82)
            text = code(chance)
            start = form.left if chance.random() < 0.5 else form.right - fine.width(f"{key}: {text}") - em
            printed = sheet.write(key + form.ending, start, at, face=fine, role="key")
            written = sheet.write(text, printed.right + 0.5 * em, at, face=fine, role="value")
            if written.whole:
                note(form, key, CONCEPTS["certificate no."], written.pieces)
