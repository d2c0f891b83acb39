"""Name and place of a shop as on its sign: large type, no key, glued branch numbers, addresses of one to four lines."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.synthetic.values import postcode, shop, street
from engine.synthetic.vocabulary import CITIES, COUNTRIES, LAST_NAMES, STATES, coin_word, phrase, word

if TYPE_CHECKING:
    from engine.synthetic.kinds.receipts.layout import ReceiptLayout

_GREETINGS = ("Welcome to", "Welcome", "Thank you for visiting", "Thank you for shopping at", "You are at")
_HOUSES = ("Mall", "Plaza", "Shopping Centre", "Shopping Mall", "Galleria", "Outlet", "Square", "Tower", "Airport", "Station", "Center",
           "Arcade", "Food Court", "Village", "City", "Point")  # fmt: skip
_UNITS = (
    "Shop {}",
    "Unit {}",
    "Lot {}",
    "Level {}",
    "Suite {}",
    "Floor {}",
    "Kiosk {}",
    "#{}",
    "Terminal {}",
    "Stall {}",
    "Gate {}",
)
_GLUE = ("", "", "#", "#", "-", "/", "_", ".")


@dataclass(slots=True)
class Sign:
    """Printed sign: `name` as a person would say it, the pieces of all readings of it, the pieces of its branch."""

    name: str
    readings: list[list[int]]
    branch: list[int] = field(default_factory=list)  # a place; a number is none


def print_sign(layout: ReceiptLayout) -> Sign:
    """Print the name in large type, with a branch or its number beside, glued to or below it."""
    rng = layout.rng
    name = sign_name(rng)
    if rng.random() < 0.12:
        layout.line(rng.choice((*_GREETINGS[:2], phrase(rng, 1, 4), "*" * rng.randint(3, 12))))
    bold, number, form = rng.random() < 0.5, branch_number(rng), rng.random()
    if form < 0.22:  # over several lines
        parts = name.split()
        cut = rng.randint(1, max(1, len(parts) - 1))
        rows = parts if rng.random() < 0.4 else [" ".join(parts[:cut]), " ".join(parts[cut:])]
        pieces = [piece for row in rows if row for piece in _large(layout, row, bold)]
        readings = [pieces]
    elif form < 0.42:  # glued to the number of the branch
        stem = name if rng.random() < 0.6 else name.replace(" ", "")
        pieces = _large(layout, f"{stem}{rng.choice(_GLUE)}{number}", bold)
        readings = [pieces]
    elif form < 0.54:  # beside that number
        shape = rng.choice(("{} #{}", "{} {}", "{} Store {}", "{} - {}", "{} No. {}", "{} Store# {}", "{} ({})"))
        pieces = _large(layout, shape.format(name, number), bold)
        readings = [pieces[: len(name.split())], pieces]
    elif form < 0.62:  # in a sentence
        greeting = rng.choice(_GREETINGS)
        readings = [layout.line(f"{greeting} {name}", rng.uniform(1.0, 1.6), bold=bold)[len(greeting.split()) :]]
    else:
        readings = [_large(layout, name, bold)]
    sign = Sign(name, readings)
    if rng.random() < 0.2:
        layout.line(phrase(rng, 2, 6))
    if rng.random() < 0.4:
        place = branch(rng)
        pieces = layout.line(place or f"{rng.choice(('Store', 'Branch', 'Store #', 'Shop', 'Unit'))} {number}")
        sign.branch = pieces if place else []
    return sign


def sign_name(rng: random.Random) -> str:
    """Return a trade name of one to four words."""
    form = rng.random()
    if form < 0.3:
        return shop(rng)
    if form < 0.5:
        return (coin_word(rng) if rng.random() < 0.6 else word(rng)).title()
    if form < 0.62:
        return f"The {word(rng, 0.3).title()} {word(rng).title()}"
    if form < 0.72:
        return f"{word(rng, 0.5).title()} & {word(rng, 0.3).title()}"
    if form < 0.8:
        return f"{rng.choice(LAST_NAMES)}'s"
    return " ".join(word(rng, 0.4).title() for _ in range(rng.randint(2, 4)))


def branch_number(rng: random.Random) -> str:
    """Return the number of a branch, of two to five digits."""
    digits = rng.randint(2, 5)
    return f"{rng.randrange(10**digits):0{digits}d}"


def branch(rng: random.Random) -> str:
    """Return the place that a branch is called after; empty for one that has a number alone."""
    city, house = rng.choice(CITIES), f"{word(rng, 0.4).title()} {rng.choice(_HOUSES)}"
    return rng.choice(
        ("", "", city, house, house, f"{city} branch", f"({house})", f"{city} - {house}", f"Downtown {city}")
    )


def shop_address(rng: random.Random) -> list[str]:
    """Return the address of a shop on one to four lines, some with the mall and the unit in it."""
    city, state, code = rng.choice(CITIES), rng.choice(STATES), postcode(rng)
    town = rng.choice(
        (f"{city}, {state} {code}", f"{city}, {state} {code}", f"{city} {state} {code}", f"{city}, {state}", city, f"{code} {city}",
         f"{city} {code}", f"{city},{state} {code}")
    )  # fmt: skip
    house = f"{word(rng, 0.4).title()} {rng.choice(_HOUSES)}"
    unit = rng.choice(_UNITS).format(rng.choice((rng.randint(1, 400), f"{rng.choice('ABGLU')}{rng.randint(1, 60)}",
                                                 f"{rng.randint(1, 9):02d}-{rng.randint(1, 99):02d}")))  # fmt: skip
    road = street(rng)
    form = rng.random()
    if form < 0.28:
        return [rng.choice((f"{road}, {town}", f"{road}, {town}", road, town, f"{house}, {town}", f"{unit}, {house}"))]
    if form < 0.65:
        return rng.choice(
            ([road, town], [road, town], [road, town], [house, town], [f"{unit} {house}", f"{road}, {town}"])
        )
    if form < 0.88:
        return rng.choice(
            ([house, road, town], [road, f"{unit} {house}", town], [unit, road, town], [road, town, code])
        )
    return rng.choice(
        ([house, unit, road, town], [unit, house, road, town], [house, road, town, rng.choice(COUNTRIES)])
    )


def _large(layout: ReceiptLayout, text: str, bold: bool) -> list[int]:
    """Print a line in large type, as large as its longest word allows."""
    face = layout.canvas.face.scale(1.0, bold=bold)
    longest = max(face.width(layout.case(part)) for part in text.split())
    factor = min(layout.rng.uniform(1.2, 3.4), 0.95 * (layout.right - layout.left) / longest)
    return layout.line(text, max(0.9, factor), bold=bold, role="heading")
