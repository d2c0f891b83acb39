"""Style of a form: choices of type, handwriting and layout that hold for a whole form."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.synthetic import questions
from engine.synthetic.canvas import Canvas, Face, Figure, Written
from engine.synthetic.concepts import Concept
from engine.synthetic.draft import vary_case
from engine.synthetic.keys import Key, KeySource
from engine.synthetic.values import LONG_KINDS, value
from engine.synthetic.vocabulary import words

_ENDINGS = (*[":"] * 7, *[""] * 7, " :", ".", "....", "#:", "?", " _", " -")
_SYNONYMS = 0.14  # share of questions with synonyms; most people read out the form's keys
_SHORT_KINDS = ("number", "date", "code", "word", "percent", "measure")


@dataclass(frozen=True, slots=True)
class NotedValue:
    """Value set for a key, and the key's concept; no pieces for a blank."""

    key: str
    concept: Concept
    pieces: list[int]


@dataclass(slots=True)
class Form:
    """Form during layout; lengths in pixels, `leading` in ems between lines of fields."""

    canvas: Canvas
    rng: random.Random
    keys: KeySource
    left: float
    right: float
    key_face: Face
    value_face: Face
    case: Callable[[str], str]
    ending: str
    blank: float  # share of fields left empty
    leading: float
    underlined: bool  # values are set on printed lines
    lower_baseline: float  # drop of typed values below their keys, in ems
    spread: float  # share of values with wide spaces, as by a typewriter's tab stops
    noted: list[NotedValue] = field(default_factory=list)  # asked when the page is complete; see `entries`

    @property
    def em(self) -> float:
        """Return the size of an em in pixels."""
        return self.canvas.face.size

    @property
    def step(self) -> float:
        """Return the distance between lines of fields."""
        return self.leading * max(self.em, self.value_face.size * 0.9)

    @property
    def value_drop(self) -> float:
        """Return the drop of a value relative to its key, so that both share a base line."""
        return 0.74 * (self.key_face.size - self.value_face.size) + self.lower_baseline * self.em

    def key_text(self, key: Key) -> str:
        """Return the printed text of a key."""
        case = vary_case(self.rng, key.text) if self.rng.random() < 0.3 else self.case(key.text)
        return case + (self.ending if self.rng.random() < 0.85 else self.rng.choice((":", "", ".")))

    def value_text(self, kind: str, room: float) -> str:
        """Return a value that is likely to fit into `room` pixels, within a few lines."""
        if room < 8 * self.em and kind in LONG_KINDS:
            kind = self.rng.choice(_SHORT_KINDS)
        elif room > 8 * self.em and self.rng.random() < 0.13:
            kind = self.rng.choice(("long", "text", "title", "people") if room > 18 * self.em else ("long", "title"))
        text = value(self.rng, kind)
        if self.rng.random() < 0.04:
            text += " " + value(self.rng, self.rng.choice(("date", "person", "phrase", "code")))
        return text

    def write_value(self, text: str, x: float, y: float, right: float, hang: float | None = None) -> Written:
        """Set a value; return the result of the layout."""
        y += self.value_drop
        leading = self.rng.uniform(1.15, 1.5)
        loose = 0.4 if self.rng.random() < self.spread else 0.0
        return self.canvas.write(
            text, x, y, right=right, face=self.value_face, hang=hang, leading=leading, loose=loose, role="value"
        )

    def ask(
        self, key: str, answer: list[int], concept_key: Key | None = None, figures: list[Figure] | None = None
    ) -> None:
        """Ask for the value of a key."""
        concept = concept_key.concept if concept_key else None
        question = questions.about(self.rng, key, concept, synonyms=_SYNONYMS)
        self.canvas.ask(question, answer, figures=figures)


def sample_form(rng: random.Random, canvas: Canvas) -> Form:
    """Draw a form's style at random."""
    em = canvas.face.size
    by_hand = rng.random() < 0.25
    if by_hand:
        size = em * rng.choice((rng.uniform(1.1, 1.5), rng.uniform(1.3, 2.2)))
        value_face = Face(
            "hand",
            size,
            italic=True,
            stretch=rng.uniform(0.8, 1.1),
            ink=rng.choice(((20, 20, 30), (25, 35, 110))),
            shake=0.12,
        )
    else:
        family = rng.choice(("mono", "mono", "sans", "serif", canvas.face.family))
        value_face = Face(
            family,
            em * rng.uniform(0.92, 1.12),
            stretch=rng.uniform(0.82, 1.0),
            shake=rng.choice((0.0, 0.0, 0.04)),
        )
    margin = canvas.width * rng.uniform(0.03, 0.1)
    return Form(
        canvas=canvas,
        rng=rng,
        keys=KeySource(rng, meant=rng.uniform(0.35, 0.75)),
        left=margin,
        right=canvas.width - canvas.width * rng.uniform(0.03, 0.09),
        key_face=canvas.face.scale(rng.choice((1.0, 1.0, 1.0, 0.8)), bold=rng.random() < 0.25),
        value_face=value_face,
        case=rng.choice((str.upper, str.upper, str.title, str.capitalize, str)),
        ending=rng.choice(_ENDINGS),
        blank=rng.choice((0.05, 0.1, 0.12, 0.3, 0.5)),
        leading=rng.uniform(1.45, 2.6),
        underlined=rng.random() < 0.4,
        lower_baseline=rng.choice((0.0, 0.0, rng.uniform(-0.3, 0.3))),
        spread=rng.choice((0.0, 0.0, 0.05, 0.15)),
    )


def absent_question(form: Form) -> str:
    """Return a question for a key that the form does not have."""
    rng = form.rng
    key = form.keys.absent()
    text = vary_case(rng, key.text) if rng.random() < 0.7 else " ".join(words(rng, 1, 4))
    return questions.about(rng, text, key.concept)
