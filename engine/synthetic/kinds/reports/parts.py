"""Parts of reports: sections under headings, numbered findings, charts with captions.

Each part is set at `y` under a heading that starts with the next number of `number`, and returns where it ends.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from engine.synthetic import questions
from engine.synthetic.kinds import ledger, paper
from engine.synthetic.kinds.entries import mark_answered
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.reports.words import PARTS
from engine.synthetic.values import MONTHS
from engine.synthetic.vocabulary import phrase, sentence, word

Block = Callable[[Form, "Numbering", float], float]

_BEFORE_RESULTS = 2  # in `PARTS`: summary, purpose and method
_FINDINGS = (
    "Findings",
    "Observations",
    "Deficiencies",
    "Non-conformities",
    "Results",
    "Main findings",
    "Points raised",
    "Defects found",
)
_OF_FINDING = (
    "finding {at}",
    "What is finding {at}?",
    "Which is the {nth} finding?",
    "text of item {at}",
    "item {at}",
    "What does number {at} say?",
)
_NTH = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


class Numbering:
    """Numbering of headings: none, figures or letters; `count` is the number of headings so far."""

    def __init__(self, rng: random.Random) -> None:
        self.shape = rng.choice(("", "", "{}. ", "{} ", "{}) ", "letters", "roman"))
        self.count = 0

    def next(self) -> str:
        """Return the prefix of the next heading."""
        self.count += 1
        if self.shape == "letters":
            return f"{chr(64 + self.count)}. "
        if self.shape == "roman":
            return f"{('I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X')[self.count - 1]}. "
        return self.shape.format(self.count)


def text(form: Form, number: Numbering, y: float) -> float:
    """Set a heading with one or two paragraphs under it, or with text on the same line."""
    rng, canvas, em = form.rng, form.canvas, form.em
    # Parts keep their order: no report states its purpose after its conclusions.
    done = max((at for at, concept in enumerate(PARTS) if concept in form.keys.concepts), default=-1)
    done = max(done, _BEFORE_RESULTS if canvas.tables else -1)
    if done + 1 == len(PARTS):
        return y - 2.2 * em
    concept = rng.choice(PARTS[done + 1 : done + 4])
    key = rng.choice(concept.printed)
    body = [" ".join(sentence(rng, 6, 22) for _ in range(rng.randint(1, 4))) for _ in range(rng.choice((1, 1, 1, 2)))]
    leading = rng.choice((1.3, 1.35, 1.5))
    pieces: list[int] = []
    if rng.random() < 0.2:
        face = form.key_face.scale(1.0, bold=True)
        printed = canvas.write(
            f"{number.next()}{form.case(key)}:", form.left, y, right=form.right, face=face, role="key"
        )
        written = canvas.write(
            body[0], printed.right + 0.6 * em, printed.top, right=form.right, hang=form.left, leading=leading
        )
        pieces, y = written.pieces, written.top
    else:
        y = paper.subtitle(form, number.next() + form.case(key), y)
        indent = rng.choice((0.0, 0.0, 0.0, 1.5 * em))
        for paragraph in body:
            written = canvas.write(paragraph, form.left + indent, y, right=form.right, hang=form.left, leading=leading)
            pieces += written.pieces
            y = written.top + 1.9 * em
        y -= 1.9 * em
    mark_answered(form, concept)
    if written.whole:
        canvas.ask(questions.about(rng, key, concept, synonyms=0.55), pieces)
        if rng.random() < 0.4:
            canvas.ask(questions.of(rng, concept.asked), pieces)
    return y + em


def findings(form: Form, number: Numbering, y: float) -> float:
    """Set numbered or dashed points of one or two sentences."""
    rng, canvas, em = form.rng, form.canvas, form.em
    heading = rng.choice([name for name in _FINDINGS if name not in form.keys.used] or ["Further points"])
    form.keys.used.add(heading)
    y = paper.subtitle(form, number.next() + form.case(heading), y)
    bullet = rng.choice(("{}.", "{}.", "{})", "({})", "-", "*"))
    pieces: list[int] = []
    whole = True
    # With two numbered lists, "item 3" would be ambiguous.
    counted = "{" in bullet and "item" not in form.keys.used
    form.keys.used.add("item")
    for at in range(rng.randint(2, 6)):
        if y > canvas.height - 7 * em:
            break
        canvas.write(bullet.format(at + 1), form.left + 0.3 * em, y)
        written = canvas.write(sentence(rng, 6, 24), form.left + 2.2 * em, y, right=form.right)
        pieces += written.pieces
        whole = whole and written.whole
        if counted and written.whole and rng.random() < 0.35:
            ledger.ask_cell(form, _OF_FINDING, written.pieces, at=str(at + 1), nth=_NTH[at])
        y = written.top + rng.uniform(1.5, 1.9) * em
    if whole:
        shapes = (
            heading,
            f"What are the {heading.lower()}?",
            f"list of {heading.lower()}",
            f"Which {heading.lower()} are listed?",
            f"all {heading.lower()}",
        )
        canvas.ask(questions.mistype(rng, rng.choice(shapes)), pieces)
    return y - 0.6 * em


def chart(form: Form, number: Numbering, y: float) -> float:
    """Set a chart with a caption under or above it."""
    rng, canvas, em = form.rng, form.canvas, form.em
    label = f"{rng.choice(('Figure', 'Fig.', 'Chart', 'Diagram'))} {rng.randint(1, 4)}"
    subject = " ".join(
        (
            phrase(rng, 1, 3).capitalize(),
            rng.choice(("by month", f"of {word(rng)}", "over time", "of all samples")),
        )
    )
    wide = min(form.right - form.left, em * rng.uniform(20, 42))
    high = wide * rng.uniform(0.3, 0.5)
    left = form.left + rng.choice((0.0, (form.right - form.left - wide) / 2))
    above = rng.random() < 0.25
    top = y + 1.9 * em if above else y
    if top + high + 5 * em > canvas.height:
        return y - 1.5 * em
    figure = canvas.figure("chart", (left, top, left + wide, top + high), label)
    fine = canvas.face.scale(0.85)
    months = rng.random() < 0.5
    for at in range(4):
        name = MONTHS[3 * at][:3] if months else str(at * 5)
        canvas.write(name, left + (at + 0.12) * wide / 4, top + high + 0.35 * em, face=fine)
    caption_y = y if above else top + high + 1.9 * em
    face = canvas.face.scale(0.92, bold=rng.random() < 0.3)
    head = canvas.write(f"{label}{rng.choice((':', '.', ''))}", left, caption_y, right=form.right, face=face)
    written = canvas.write(subject, head.right + 0.5 * em, head.top, right=form.right, face=face)
    shapes = (
        f"Where is {label}?",
        label,
        "chart",
        "Where is the chart?",
        f"Show {label}.",
        f"the chart of {subject.lower()}",
    )
    canvas.ask(rng.choice(shapes), printed_key=False, figures=[figure], region_type="chart")
    if written.whole and rng.random() < 0.6:
        ledger.ask_cell(
            form, ("caption of {label}", "What does {label} show?", "title of the chart"), written.pieces, label=label
        )
    return top + high + (1.9 * em if above else 3.4 * em)
