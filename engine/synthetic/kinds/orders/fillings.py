"""Values of the keys in `words`, in the notation of the page."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from string import ascii_uppercase, digits

from engine.synthetic import values
from engine.synthetic.kinds.amounts import Writing, cents, drawn_day
from engine.synthetic.values import MONTHS
from engine.synthetic.vocabulary import CITIES, LAST_NAMES, STATES, coined, phrase, sentence, word

Filling = Callable[[random.Random, Writing], list[str]]

_OFFICES = ("Telerep", "Katz", "Eagle", "Millennium", "Cox Reps", "HRP", "National", "Continental")
_FOR_OFFICE = ("US Senate", "Congress", "Governor", "President", "Mayor", "State Senate", "Supreme Court", "Sheriff")
_AGE_GROUPS = (
    "Adults 35+",
    "Adults 18-49",
    "A35+",
    "A25-54",
    "Households",
    "Women 25-54",
    "Adults 50+",
    "RA35+",
    "P18+",
)


def day(chance: random.Random, writing: Writing) -> str:
    """Return a date."""
    return writing.day(drawn_day(chance))


def days(chance: random.Random, writing: Writing) -> str:
    """Return a range of dates, close together."""
    first = drawn_day(chance)
    last = first + timedelta(days=chance.randint(1, 60))
    return writing.span(first, last, chance.choice((" - ", " - ", " to ", "-")))


def month(chance: random.Random, writing: Writing) -> str:
    """Return a month."""
    name, year = chance.choice(MONTHS), chance.randint(2008, 2026)
    return chance.choice((f"{name} {year}", f"{name} {year}", f"{name[:3]}. {year}", f"{name[:3]} {year % 100:02}"))


def stamp(chance: random.Random, writing: Writing) -> str:
    """Return a date with a time of day."""
    clock = f"{chance.randint(1, 12)}:{chance.randint(0, 59):02}"
    late = chance.choice(("AM", "PM"))
    shown = day(chance, writing)
    return chance.choice(
        (f"{shown} at {clock} {late}", f"{shown} {clock}:{chance.randint(0, 59):02}", f"{shown} {clock} {late}")
    )


def number_of(chance: random.Random, few: int = 4, most: int = 9) -> str:
    """Return digits."""
    return str(chance.randint(1, 9)) + "".join(chance.choice(digits) for _ in range(chance.randint(few, most) - 1))


def code(chance: random.Random, writing: Writing) -> str:
    """Return a number as computers give it."""
    return chance.choice(
        (number_of(chance), number_of(chance, 3, 7), number_of(chance, 6, 8), f"0{number_of(chance, 7, 7)}")
    )


def mixed_code(chance: random.Random, writing: Writing) -> str:
    """Return letters and digits, with hyphens and strokes."""
    head = "".join(chance.choice(ascii_uppercase) for _ in range(chance.randint(1, 4)))
    return chance.choice((
        f"{head}{number_of(chance, 3, 8)}", f"{head}-{number_of(chance, 3, 6)}", f"{number_of(chance, 7, 7)}-{chance.randint(1, 9)}/{head[0]}",
        f"{number_of(chance, 4, 7)}-{chance.randint(1, 9)}", f"{head}/{head[::-1]}/{number_of(chance, 4, 4)}", f"{number_of(chance, 2, 3)}-{head}-{number_of(chance, 2, 5)}",
        f"{number_of(chance, 3, 4)}/{number_of(chance, 4, 4)}/{number_of(chance, 4, 5)}", f"{head} {number_of(chance, 4, 6)}", values.code(chance),
    ))  # fmt: skip


def code_with_revision(chance: random.Random, writing: Writing) -> str:
    """Return a number with its revision."""
    number = number_of(chance, 5, 8)
    return chance.choice(
        (f"{number} /", f"{number} / {chance.randint(1, 9)}", f"{number}-{chance.randint(1, 9)}", number)
    )


def station(chance: random.Random, writing: Writing) -> str:
    """Return call letters."""
    letters = chance.choice("WK") + "".join(chance.choice(ascii_uppercase) for _ in range(chance.choice((2, 3, 3, 3))))
    return letters + chance.choice(("", "", "", "-TV", "-DT"))


def market(chance: random.Random, writing: Writing) -> str:
    """Return the market of a station."""
    first = chance.choice(CITIES)
    return chance.choice((first, f"{first}-{chance.choice(CITIES)}", f"{first}, {chance.choice(STATES)}"))


def office(chance: random.Random, writing: Writing) -> str:
    """Return an office of sales."""
    house, city = chance.choice(_OFFICES), chance.choice(CITIES)
    return chance.choice(
        (
            f"{house}/{city}",
            f"{house} {city}",
            city,
            f"{house}, {city} ({number_of(chance, 3, 4)})",
            f"{house[:1]}-{city[:2].upper()}",
            city.upper(),
        )
    )


def advertiser(chance: random.Random, writing: Writing) -> str:
    """Return an advertiser."""
    name, seat, state = chance.choice(LAST_NAMES), chance.choice(_FOR_OFFICE), coined(chance)[:2].upper()
    bracket = f" ({number_of(chance, 4, 6)})" if chance.random() < 0.25 else ""
    return chance.choice((
        f"{name} for {seat}", f"Friends of {name}", f"POL/{name}/{seat}/{state}/{chance.choice(('Dem', 'Rep'))}", f"{name}/{chance.choice('RD')}/{seat}",
        f"{name.upper()} FOR {seat.upper()}", f"{word(chance).title()} {chance.choice(('Action', 'Initiatives', 'Action Fund', 'USA', 'PAC'))}",
        values.company(chance), f"{coined(chance).title()} {word(chance).title()}",
    )) + bracket  # fmt: skip


def agency(chance: random.Random, writing: Writing) -> str:
    """Return an agency that buys advertising."""
    head = chance.choice(
        (chance.choice(LAST_NAMES), word(chance).title(), f"{chance.choice(LAST_NAMES)} & {chance.choice(LAST_NAMES)}")
    )
    tail = chance.choice(
        (
            "Media",
            "Media Services",
            "Strategies LLC",
            "Associates",
            "Buying, LLC",
            "Advertising",
            "Partners",
            "Media Placement",
            "Group",
        )
    )
    bracket = f" ({number_of(chance, 4, 5)})" if chance.random() < 0.25 else ""
    return f"{head} {tail}{bracket}"


def money(chance: random.Random, writing: Writing) -> str:
    """Return an amount."""
    return writing.sum(cents(chance, 90000), currency=chance.random() < 0.7)


def percentage(chance: random.Random, writing: Writing) -> str:
    """Return a percentage."""
    whole = chance.choice((0, 2, 5, 6, 8, 10, 15, 15, 20))
    return chance.choice(
        (f"{whole}%", f"{whole}%", f"{whole}.00", f"{whole}.{chance.randint(0, 99):02}%", f"{whole} %")
    )


def cpe(chance: random.Random, writing: Writing) -> str:
    """Return client, product and estimate."""
    parts = [
        "".join(chance.choice(ascii_uppercase) for _ in range(4)) if chance.random() < 0.4 else number_of(chance, 2, 4)
        for _ in range(2)
    ]
    return "/".join((*parts, f"{chance.randint(1, 9999):04}"))


def phone(chance: random.Random, writing: Writing) -> str:
    """Return a telephone number."""
    area, mid, end = chance.randint(201, 989), chance.randint(200, 999), chance.randint(0, 9999)
    shown = chance.choice(
        ("({}) {}-{:04}", "{}-{}-{:04}", "({}){}-{:04}", "{}.{}.{:04}", "{}/{}-{:04}", "{} {} {:04}")
    ).format(area, mid, end)
    return (
        shown
        if chance.random() < 0.85
        else chance.choice((f"{shown} x{chance.randint(10, 999)}", f"1-{shown}", values.phone(chance)))
    )


def hours(chance: random.Random, writing: Writing) -> str:
    """Return hours of a day."""
    first = chance.randint(6, 11)
    return chance.choice(
        (
            f"{first} AM - {first - 3} PM",
            f"{first}:00 AM - {first - 4 if first > 5 else 1}:30 PM",
            f"{first:02}00-{first + 6}00",
            f"{first}am-{first - 2}pm",
        )
    )


def note(chance: random.Random, writing: Writing) -> list[str]:
    """Return a note of one to three lines."""
    shape = chance.random()
    if shape < 0.5:
        return [phrase(chance, 2, 6)]
    if shape < 0.8:
        return [sentence(chance, 6, 16)]
    return [phrase(chance, 2, 5) for _ in range(chance.randint(2, 3))]


def place(chance: random.Random, writing: Writing) -> list[str]:
    """Return an address."""
    return values.address_lines(chance) if chance.random() < 0.6 else [values.address(chance)]


def of_two_lines(first: Callable[[random.Random, Writing], str], share: float) -> Filling:
    """Return a filling that sometimes has a telephone number on a second line."""

    def filled(chance: random.Random, writing: Writing) -> list[str]:
        """Return one line or two."""
        return [first(chance, writing), phone(chance, writing)] if chance.random() < share else [first(chance, writing)]

    return filled


def _person(chance: random.Random, writing: Writing) -> str:
    shown = values.person(chance)
    return shown.upper() if chance.random() < 0.12 else shown


def _one(make: Callable[[random.Random, Writing], str]) -> Filling:
    return lambda chance, writing: [make(chance, writing)]


def _plain(make: Callable[[random.Random], str]) -> Filling:
    return lambda chance, writing: [make(chance)]


def _revised(chance: random.Random, writing: Writing) -> str:
    return _person(chance, writing).replace(", ", ",").upper()


FILLINGS: dict[str, Filling] = {
    "day": _one(day), "days": _one(days), "month": _one(month), "stamp": _one(stamp), "code": _one(code), "ref": _one(mixed_code),
    "coderev": _one(code_with_revision), "altcode": _plain(lambda chance: "WOC" + number_of(chance, 8, 8)), "ext": _plain(lambda chance: "ECR" + number_of(chance, 8, 8)),
    "twodays": lambda chance, writing: [f"{day(chance, writing)} / {day(chance, writing)}"], "advertiser": _one(advertiser), "agency": _one(agency),
    "cpe": _one(cpe), "station": _one(station), "stationmarket": lambda chance, writing: [f"{station(chance, writing)} - {market(chance, writing)}"],
    "market": _one(market), "office": _one(office), "person": _one(_person), "personphone": of_two_lines(_person, 0.8), "personrev": _one(_revised),
    "demo": _plain(lambda chance: chance.choice(_AGE_GROUPS)), "money": _one(money), "percent": _one(percentage), "number": _plain(lambda chance: str(chance.randint(1, 10 ** chance.randint(1, 5)))),
    "decimal": _plain(lambda chance: f"{chance.uniform(0, 200):.{chance.choice((1, 2))}f}"), "phone": _one(phone), "email": _plain(values.email),
    "company": _plain(values.company), "words": _plain(lambda chance: phrase(chance, 1, 4)), "city": _plain(lambda chance: chance.choice(CITIES)),
    "yesno": _plain(lambda chance: chance.choice(("Yes", "No", "No", "Y", "N", "YES", "NO"))), "time": _plain(values.clock), "hours": _one(hours),
    "measure": _plain(values.measure), "taxid": _plain(lambda chance: f"{chance.randint(10, 99)}-{number_of(chance, 7, 7)}"), "note": note, "address": place,
    "pageno": _plain(lambda chance: f"{chance.randint(1, 3)} of {chance.randint(3, 9)}"), "blank": lambda chance, writing: [],
    "vin": _plain(lambda chance: "".join(chance.choice(ascii_uppercase + digits) for _ in range(17))),
}  # fmt: skip


def filling(chance: random.Random, writing: Writing, kind: str) -> list[str]:
    """Return the lines of a value of a kind, or the value that the kind itself is ("=Cash")."""
    if kind.startswith("="):
        return [kind[1:]]
    return FILLINGS[kind](chance, writing) if kind in FILLINGS else [values.value(chance, kind)]
