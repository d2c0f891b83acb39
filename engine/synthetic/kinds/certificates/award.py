"""Awards for people: centred lines, a large name, a seal, signatures, a border."""

from __future__ import annotations

import random
import re

from engine.synthetic import questions
from engine.synthetic.canvas import Face, Figure
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.amounts import Writing, sample_day
from engine.synthetic.kinds.certificates.words import ASKED, AWARDS, CONCEPTS, TITLES
from engine.synthetic.kinds.entries import ask_noted, mark_answered, note
from engine.synthetic.kinds.forms.style import Form
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


def award(rng: random.Random) -> Form:
    """Lay out a certificate of completion, merit or attendance, landscape or portrait."""
    across = rng.random() < 0.65
    form = paper.sample_paper(rng, ratio=(0.68, 0.78) if across else (1.25, 1.42), signs=(44, 62))
    form.ending = ":" if rng.random() < 0.7 else ""
    canvas, em = form.canvas, form.em
    canvas.face = Face(rng.choice(("serif", "serif", "sans")), em, stretch=rng.uniform(0.92, 1.06))
    form.value_face = canvas.face
    form.left = canvas.width * rng.uniform(0.09, 0.14)
    form.right = canvas.width - form.left
    edge = border(form)
    texts = _texts(form)
    wording = rng.choice(AWARDS)
    aligned = "left" if rng.random() < 0.1 else "centre"
    y = edge + em * rng.uniform(1.5, 3.5) + (0.0 if across else 0.05 * canvas.height)
    if rng.random() < 0.3:
        side = em * rng.uniform(3.4, 4.6)
        box = ((canvas.width - side) / 2, y, (canvas.width + side) / 2, y + side)
        logo = canvas.figure(rng.choice(("logo", "seal")), box, texts["firm"][:2], ink=rng.choice(paper.INKS))
        name = "logo" if logo.kind == "logo" else "seal"
        canvas.ask(
            rng.choice((name, f"Where is the {name}?", f"Mark the {name}.")),
            printed_key=False,
            figures=[logo],
            region_type=name,
        )
        y = box[3] + 1.2 * em
    if all("{firm}" not in part for part in wording.parts) and rng.random() < 0.75:
        y = _line(form, texts, "{firm}", y, canvas.face.scale(rng.uniform(1.2, 1.6), bold=rng.random() < 0.5), aligned)
    title = canvas.face.scale(rng.uniform(2.0, 2.8), bold=rng.random() < 0.7)
    heading = rng.choice(TITLES["award"])
    y = _title(form, heading.upper() if rng.random() < 0.5 else heading, y, title, aligned)
    foot = canvas.height * (0.74 if across else 0.78)
    gap = min(max((foot - y - 12 * em) / (len(wording.parts) + 1), 0.2 * em), 2.6 * em)
    y += gap
    for part in wording.parts:
        if part == "{name}":
            face = Face(
                rng.choice(("hand", "serif", canvas.face.family)),
                em * rng.uniform(1.8, 2.5),
                italic=rng.random() < 0.5,
                bold=rng.random() < 0.4,
            )
        elif part == "{course}":
            face = canvas.face.scale(rng.uniform(1.3, 1.7), bold=True)
        else:
            face = canvas.face.scale(rng.uniform(0.95, 1.1))
        y = _line(form, texts, part, y, face, aligned) + gap
    if not across and rng.random() < 0.5 and y < foot - 6 * em:
        text = sentence(rng, 8, 22)
        y = canvas.write(text, form.left + 2 * em, y, right=form.right - 2 * em).top + 2 * em
    _foot(form, max(y + 0.4 * em, min(foot, y + 5 * em)))
    ask_noted(form)
    return form


def border(form: Form, share: float = 0.75) -> float:
    """Draw a frame of up to three lines around some pages; return its depth in pixels."""
    rng, canvas = form.rng, form.canvas
    inset = canvas.width * rng.uniform(0.02, 0.045)
    if rng.random() > share:
        return inset
    for width in rng.choice(((2,), (4, 1), (1, 1), (1, 5, 1), (6,), (3,))):
        canvas.frame((inset, inset, canvas.width - inset, canvas.height - inset), width)
        inset += width + 0.35 * form.em
    return inset


def draw_seal(form: Form, x: float, y: float, size: float, text: str) -> Figure:
    """Draw a round seal of `size` pixels at (x, y), with its question."""
    rng, canvas = form.rng, form.canvas
    box = (x - size / 2, y - size / 2, x + size / 2, y + size / 2)
    figure = canvas.figure(
        "seal", box, text, ink=rng.choice(((170, 30, 40), (30, 50, 150), (150, 110, 30), (40, 40, 45)))
    )
    shapes = (
        "seal",
        "Where is the seal?",
        "Mark the seal.",
        "Is there a seal?",
        "official seal",
        "Find the seal on this page.",
    )
    canvas.ask(rng.choice(shapes), printed_key=False, figures=[figure], region_type="seal")
    return figure


def _texts(form: Form) -> dict[str, str]:
    rng = form.rng
    writing = Writing.sample(rng)
    day = sample_day(rng)
    end = day.replace(day=28)
    start = day.replace(day=min(day.day, 20))
    course = " ".join(words(rng, 2, 5)).title()
    if rng.random() < 0.4:
        course = f"{rng.choice(('Advanced', 'Basic', 'Introduction to', 'Principles of', 'Training in', 'Master of', 'Seminar on'))} {course}"
    return {
        "name": re.sub(r",", "", person(rng)), "course": f'"{course}"' if rng.random() < 0.2 else course, "day": writing.day(start),
        "end": writing.day(end), "place": rng.choice(CITIES), "grade": rng.choice(("A", "Excellent", "Very Good", "Distinction", "B+", "Merit")),
        "hours": str(rng.choice((8, 12, 16, 24, 30, 40, 60, 120))), "firm": rng.choice((company(rng), f"{word(rng, 0.5).title()} {rng.choice(('University', 'Academy', 'College', 'Institute'))}")),
    }  # fmt: skip


def _title(form: Form, text: str, y: float, face: Face, aligned: str) -> float:
    canvas = form.canvas
    room = form.right - form.left
    if face.width(text) > room:
        face = face.scale(room / face.width(text))
    if aligned == "left":
        written = canvas.write(text, form.left, y, face=face, role="heading")
    else:
        written = canvas.write_centre(text, y, face=face, role="heading")
    if form.rng.random() < 0.3:
        paper.ask(form, ("title", "What kind of certificate is it?", "heading", "type of document"), written.pieces)
    return written.top + 1.5 * face.size


def _line(form: Form, texts: dict[str, str], part: str, y: float, face: Face, aligned: str) -> float:
    """Set one line of the wording, with questions on its names; return where it ends."""
    rng, canvas = form.rng, form.canvas
    words_of: list[tuple[str, str]] = []  # each word with the name of its part
    for token in part.split():
        placeholder = re.match(r"^(.*?)\{(\w+)\}(.*)$", token)
        if placeholder is None:
            words_of.append((token, ""))
        else:
            inside = f"{placeholder[1]}{texts[placeholder[2]]}{placeholder[3]}".split()
            words_of += [(word_, placeholder[2]) for word_ in inside]
    text = " ".join(word_ for word_, _ in words_of)
    room = form.right - form.left
    if face.width(text) > room:
        face = face.scale(max(0.62, room / face.width(text)))
    pieces: list[int] = []
    line_words = text.split()
    while line_words:
        count = len(line_words)
        while count > 1 and face.width(" ".join(line_words[:count])) > room:
            count -= 1
        line = " ".join(line_words[:count])
        if aligned == "left":
            written = canvas.write_fitted(line, form.left, y, form.right, face=face)
        else:
            written = canvas.write_fitted(
                line, max(form.left, (canvas.width - face.width(line)) / 2), y, form.right, face=face
            )
        pieces += written.pieces
        line_words = line_words[count:]
        y += 1.35 * face.size
    for name in dict.fromkeys(name for _, name in words_of if name):
        answer = [piece for piece, (_, owner) in zip(pieces, words_of, strict=False) if owner == name]
        paper.ask(form, ASKED[name], answer)
        if rng.random() < 0.3:
            paper.ask(form, ASKED[name], answer)
        form.keys.used.update(ASKED[name])
        if name == "day":
            mark_answered(form, CONCEPTS["date"])
        elif name == "name":
            mark_answered(form, CONCEPTS["name"])
        elif name == "place":
            mark_answered(form, CONCEPTS["place of issue"])
    if part == "{name}" and rng.random() < 0.5:
        half = max(face.width(text) / 2 + face.size, 0.3 * room)
        middle = canvas.width / 2 if aligned != "left" else form.left + half
        canvas.rule(middle - half, y - 0.1 * face.size, middle + half, y - 0.1 * face.size)
        y += 0.5 * face.size
    return y + 0.35 * face.size


def _foot(form: Form, y: float) -> None:
    """Draw signatures with a seal between them, and a number."""
    rng, canvas, em = form.rng, form.canvas, form.em
    count = rng.choice((1, 2, 2, 3))
    sealing = rng.random() < 0.6
    width = (form.right - form.left) / 3
    places = {1: (2,) if rng.random() < 0.6 else (0,), 2: (0, 2), 3: (0, 1, 2)}[count]
    line_y = min(y + 3.4 * em, canvas.height - 7.2 * em)
    if line_y < y + 2 * em:
        return
    small = canvas.face.scale(0.9)
    roles = rng.sample(_SIGNERS, count)
    for role, place in zip(roles, places, strict=True):
        x = form.left + place * width + 0.4 * em
        right = x + width - 1.2 * em
        name = person(rng)
        box = (
            x + 0.5 * em,
            line_y - 2.5 * em,
            min(right, x + 0.5 * em + em * rng.uniform(7, 11)),
            line_y + 0.5 * em,
        )
        figure = canvas.figure("signature", box, name, ink=rng.choice(paper.INKS))
        canvas.ask(
            rng.choice((f"signature of the {role.lower()}", f"Where did the {role.lower()} sign?")),
            printed_key=False,
            figures=[figure],
            region_type="signature",
        )
        canvas.rule(x, line_y, right, line_y)
        middle = (x + right) / 2
        both = [(name, "value"), (role, "key")] if rng.random() < 0.6 else [(role, "key"), (name, "value")]
        at = line_y + 0.7 * em
        for text, kind in both:
            wide = min(small.width(text), right - x)
            written = canvas.write_fitted(
                text, middle - wide / 2, at, right, face=small, role="value" if kind == "value" else "key"
            )
            if kind == "value":
                canvas.ask(
                    questions.about(rng, role) if rng.random() < 0.5 else f"Who is the {role.lower()}?",
                    written.pieces,
                )
            at += 1.3 * em
    if sealing and count < 3:
        empty = 1 if count == 2 or places == (0,) else 1 - places[0] % 2
        size = em * rng.uniform(4.5, 6.5)
        draw_seal(
            form,
            form.left + (empty + 0.5) * width,
            min(line_y, canvas.height - size / 2 - 3 * em),
            size,
            word(rng).upper(),
        )
    if rng.random() < 0.6:
        key = form.case(rng.choice(CONCEPTS["certificate no."].printed))
        at = canvas.height - 3.6 * em if line_y + 3.6 * em < canvas.height - 3.6 * em else canvas.height
        if at < canvas.height:
            fine = canvas.face.scale(0.82)
            text = code(rng)
            start = form.left if rng.random() < 0.5 else form.right - fine.width(f"{key}: {text}") - em
            printed = canvas.write(key + form.ending, start, at, face=fine, role="key")
            written = canvas.write(text, printed.right + 0.5 * em, at, face=fine, role="value")
            if written.whole:
                note(form, key, CONCEPTS["certificate no."], written.pieces)
