"""Style of an order, and the keys and values it shows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import capwords

from engine.synthetic.concepts import CONCEPTS, Concept
from engine.synthetic.kinds.amounts import Writing
from engine.synthetic.kinds.entries import known
from engine.synthetic.kinds.forms.style import Form, drawn_form
from engine.synthetic.kinds.orders import words
from engine.synthetic.kinds.orders.fillings import filling
from engine.synthetic.sheet import Face, Sheet

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
class Desk:
    """Order during layout: form with the page's notation, trade and taste for empty cells."""

    form: Form
    writing: Writing
    trade: str
    lean: bool  # faces close together, as from a computer's report

    @property
    def chance(self) -> random.Random:
        """Return the source of chance."""
        return self.form.chance

    @property
    def sheet(self) -> Sheet:
        """Return the sheet."""
        return self.form.sheet

    @property
    def em(self) -> float:
        """Return the size of an em in pixels."""
        return self.form.em


def titled(key: str) -> str:
    """Return a key with capitals as programs print it: "PO Date", "Date of Invoice"."""
    parts = [
        part.upper() if part.strip("()/:") in _CAPITALS else part if part in _SMALL and at else capwords(part, "/")
        for at, part in enumerate(key.split())
    ]
    return " ".join(parts)


def drawn_desk(chance: random.Random, *, across: bool) -> Desk:
    """Return an empty order; `across`: in landscape."""
    signs = chance.uniform(88, 128) if across else chance.uniform(64, 104)
    width = max(chance.randint(760, 1250), round(8.2 * signs))
    em = width / signs
    family = chance.choice(("sans", "sans", "sans", "sans", "serif", "mono"))
    stretch = chance.uniform(0.84, 1.04) if family != "mono" else chance.uniform(0.8, 0.95)
    ratio = chance.uniform(0.7, 0.8) if across else chance.uniform(1.26, 1.42)
    sheet = Sheet(width, width * ratio, chance, Face(family, em, stretch=stretch))
    form = drawn_form(chance, sheet)
    form.left = width * chance.uniform(0.015, 0.07)
    form.right = width - form.left
    form.ending = chance.choice((":", ":", "", "", ""))
    form.case = chance.choice((titled, titled, titled, titled, str.upper, str.capitalize))
    form.leading = chance.uniform(1.3, 1.7)
    form.blank = chance.choice((0.03, 0.08, 0.12, 0.16, 0.25))
    form.lower_baseline = 0.0
    body = sheet.face
    form.key_face = body.scaled(chance.choice((1.0, 1.0, 1.0, 0.86)), bold=chance.random() < 0.3)
    form.value_face = body.scaled(
        chance.choice((1.0, 1.0, 1.0, 1.12)), bold=not form.key_face.bold and chance.random() < 0.2
    )
    if chance.random() < 0.12:
        form.value_face = replace(form.value_face, family=chance.choice(("mono", "serif", "sans")))
    trade = chance.choices(tuple(words.TRADES), (0.34, 0.18, 0.1, 0.07, 0.08, 0.11, 0.05, 0.07))[0]
    return Desk(form, Writing.drawn(chance), trade, chance.random() < 0.5)


def free(form: Form, concept: Concept) -> bool:
    """Return whether no key of the page says what a concept's keys or questions say."""
    return concept not in form.keys.concepts and form.keys.used.isdisjoint((*concept.printed, *concept.asked))


def picked(desk: Desk, count: int, *, own: float = 0.72) -> list[Item]:
    """Return keys that are new on the page with values; a share `own` of them of the trade."""
    chance, form = desk.chance, desk.form
    items: list[Item] = []
    shelves: tuple[Sequence[Concept], ...] = (words.TRADES[desk.trade], words.COMMON, words.EVERY, CONCEPTS)
    for _ in range(6 * count):
        if len(items) == count:
            break
        shelf = chance.choices(shelves, (own, 0.88 - own, 0.06, 0.06))[0]
        concept = chance.choice(shelf)
        if (
            items and chance.random() < 0.35
        ):  # a key that shares a word with the one before: "Billing Type", "Bill Cycle"
            said = set(items[-1].key.lower().split()) - _SMALL
            alike = [one for one in shelf if not said.isdisjoint(one.printed[0].split())]
            concept = chance.choice(alike or [concept])
        if free(form, concept):
            known(form, concept)
            items.append(item(desk, concept))
    while chance.random() < 0.22 and items:  # keys that share a word with others of the page, or mean nothing
        key = form.keys.next()
        meaning = Concept((key.text,), (key.text,), (key.kind,))
        items[chance.randrange(len(items))] = item(desk, meaning)
        if len(key.text) > 30:
            break
    return items


def item(desk: Desk, concept: Concept) -> Item:
    """Return a key of a concept with a value, or with none in a share of cases."""
    chance = desk.chance
    key = desk.form.case(chance.choice(concept.printed))
    if chance.random() < desk.form.blank:
        return Item(key, concept, ())
    return Item(key, concept, tuple(filling(chance, desk.writing, chance.choice(concept.kinds))))
