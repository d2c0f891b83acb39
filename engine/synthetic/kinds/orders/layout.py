"""Style of an order, and the keys and values it shows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import capwords

from engine.synthetic.canvas import Canvas, Face
from engine.synthetic.concepts import CONCEPTS, Concept
from engine.synthetic.kinds.amounts import Writing
from engine.synthetic.kinds.entries import mark_answered
from engine.synthetic.kinds.forms.style import Form, sample_form
from engine.synthetic.kinds.orders import words
from engine.synthetic.kinds.orders.fillings import filling

_CAPITALS = frozenset(
    [
        "po",
        "p.o.",
        "cpe",
        "id",
        "vat",
        "iban",
        "ein",
        "gl",
        "b/l",
        "bol",
        "rfq",
        "moq",
        "scac",
        "kwh",
        "gb",
        "imei",
        "sim",
        "aba",
        "a/r",
        "dma",
        "vin",
        "po#",
        "fy",
        "w.o.",
        "d/n",
        "pr",
        "co",
        "fob",
        "f.o.b.",
        "ae",
        "a/e",
        "crp",
        "so",
        "s.o.",
        "s/n",
        "awb",
        "cpp",
        "grp",
        "grps",
        "edi",
        "tv",
    ]
)
_SMALL = frozenset(("of", "for", "by", "with", "as", "from", "in", "on", "per", "if", "the"))


@dataclass(frozen=True, slots=True)
class Item:
    """Key as printed (without its ending) with its concept; `lines` of its value, none for an empty cell.

    `asked`: the key in questions, where the printed one ("Name") needs its section.
    """

    key: str
    concept: Concept
    lines: tuple[str, ...]
    asked: str = ""


@dataclass(slots=True)
class OrderLayout:
    """Order during layout: form with the page's notation, trade and taste for empty cells."""

    form: Form
    writing: Writing
    trade: str
    lean: bool  # faces close together, as from a computer's report

    @property
    def rng(self) -> random.Random:
        """Return the random generator of the page."""
        return self.form.rng

    @property
    def canvas(self) -> Canvas:
        """Return the canvas."""
        return self.form.canvas

    @property
    def em(self) -> float:
        """Return the size of an em in pixels."""
        return self.form.em


def title_case(key: str) -> str:
    """Return a key with capitals as programs print it: "PO Date", "Date of Invoice"."""
    parts = [
        part.upper() if part.strip("()/:") in _CAPITALS else part if part in _SMALL and at else capwords(part, "/")
        for at, part in enumerate(key.split())
    ]
    return " ".join(parts)


def sample_layout(rng: random.Random, *, across: bool) -> OrderLayout:
    """Return an empty order; `across`: in landscape."""
    signs = rng.uniform(88, 128) if across else rng.uniform(64, 104)
    width = max(rng.randint(760, 1250), round(8.2 * signs))
    em = width / signs
    family = rng.choice(("sans", "sans", "sans", "sans", "serif", "mono"))
    stretch = rng.uniform(0.84, 1.04) if family != "mono" else rng.uniform(0.8, 0.95)
    ratio = rng.uniform(0.7, 0.8) if across else rng.uniform(1.26, 1.42)
    canvas = Canvas(width, width * ratio, rng, Face(family, em, stretch=stretch))
    form = sample_form(rng, canvas)
    form.left = width * rng.uniform(0.015, 0.07)
    form.right = width - form.left
    form.ending = rng.choice((":", ":", "", "", ""))
    form.case = rng.choice((title_case, title_case, title_case, title_case, str.upper, str.capitalize))
    form.leading = rng.uniform(1.3, 1.7)
    form.blank = rng.choice((0.03, 0.08, 0.12, 0.16, 0.25))
    form.lower_baseline = 0.0
    body = canvas.face
    form.key_face = body.scale(rng.choice((1.0, 1.0, 1.0, 0.86)), bold=rng.random() < 0.3)
    form.value_face = body.scale(rng.choice((1.0, 1.0, 1.0, 1.12)), bold=not form.key_face.bold and rng.random() < 0.2)
    if rng.random() < 0.12:
        form.value_face = replace(form.value_face, family=rng.choice(("mono", "serif", "sans")))
    trade = rng.choices(tuple(words.TRADES), (0.34, 0.18, 0.1, 0.07, 0.08, 0.11, 0.05, 0.07))[0]
    return OrderLayout(form, Writing.sample(rng), trade, rng.random() < 0.5)


def free(form: Form, concept: Concept) -> bool:
    """Return whether no key of the page says what a concept's keys or questions say."""
    return concept not in form.keys.concepts and form.keys.used.isdisjoint((*concept.printed, *concept.asked))


def choose_items(layout: OrderLayout, count: int, *, own: float = 0.72) -> list[Item]:
    """Return keys that are new on the page with values; a share `own` of them of the trade."""
    rng, form = layout.rng, layout.form
    items: list[Item] = []
    shelves: tuple[Sequence[Concept], ...] = (words.TRADES[layout.trade], words.COMMON, words.EVERY, CONCEPTS)
    for _ in range(6 * count):
        if len(items) == count:
            break
        shelf = rng.choices(shelves, (own, 0.88 - own, 0.06, 0.06))[0]
        concept = rng.choice(shelf)
        if items and rng.random() < 0.35:  # a key that shares a word with the one before: "Billing Type", "Bill Cycle"
            previous_words = set(items[-1].key.lower().split()) - _SMALL
            alike = [candidate for candidate in shelf if not previous_words.isdisjoint(candidate.printed[0].split())]
            concept = rng.choice(alike or [concept])
        if free(form, concept):
            mark_answered(form, concept)
            items.append(item(layout, concept))
    while rng.random() < 0.22 and items:  # keys that share a word with others of the page, or mean nothing
        key = form.keys.next()
        meaning = Concept((key.text,), (key.text,), (key.kind,))
        items[rng.randrange(len(items))] = item(layout, meaning)
        if len(key.text) > 30:
            break
    return items


def item(layout: OrderLayout, concept: Concept) -> Item:
    """Return a key of a concept with a value, or with none in a share of cases."""
    rng = layout.rng
    key = layout.form.case(rng.choice(concept.printed))
    if rng.random() < layout.form.blank:
        return Item(key, concept, ())
    return Item(key, concept, tuple(filling(rng, layout.writing, rng.choice(concept.kinds))))
