"""Values of the keys in `words`, in the notation of the page."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from string import ascii_uppercase, digits

from engine.synthetic import values
from engine.synthetic.kinds.amounts import Writing, cents, sample_day
from engine.synthetic.values import MONTHS
from engine.synthetic.vocabulary import CITIES, LAST_NAMES, STATES, coin_word, phrase, sentence, word

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


def day(rng: random.Random, writing: Writing) -> str:
    """Return a date."""
    return writing.day(sample_day(rng))


def days(rng: random.Random, writing: Writing) -> str:
    """Return a range of dates, close together."""
    first = sample_day(rng)
    last = first + timedelta(days=rng.randint(1, 60))
    return writing.span(first, last, rng.choice((" - ", " - ", " to ", "-")))


def month(rng: random.Random, writing: Writing) -> str:
    """Return a month."""
    name, year = rng.choice(MONTHS), rng.randint(2008, 2026)
    return rng.choice((f"{name} {year}", f"{name} {year}", f"{name[:3]}. {year}", f"{name[:3]} {year % 100:02}"))


def stamp(rng: random.Random, writing: Writing) -> str:
    """Return a date with a time of day."""
    clock = f"{rng.randint(1, 12)}:{rng.randint(0, 59):02}"
    late = rng.choice(("AM", "PM"))
    shown = day(rng, writing)
    return rng.choice(
        (f"{shown} at {clock} {late}", f"{shown} {clock}:{rng.randint(0, 59):02}", f"{shown} {clock} {late}")
    )


def number_of(rng: random.Random, few: int = 4, most: int = 9) -> str:
    """Return digits."""
    return str(rng.randint(1, 9)) + "".join(rng.choice(digits) for _ in range(rng.randint(few, most) - 1))


def code(rng: random.Random, writing: Writing) -> str:
    """Return a number as computers give it."""
    return rng.choice((number_of(rng), number_of(rng, 3, 7), number_of(rng, 6, 8), f"0{number_of(rng, 7, 7)}"))


def mixed_code(rng: random.Random, writing: Writing) -> str:
    """Return letters and digits, with hyphens and strokes."""
    head = "".join(rng.choice(ascii_uppercase) for _ in range(rng.randint(1, 4)))
    return rng.choice((
        f"{head}{number_of(rng, 3, 8)}", f"{head}-{number_of(rng, 3, 6)}", f"{number_of(rng, 7, 7)}-{rng.randint(1, 9)}/{head[0]}",
        f"{number_of(rng, 4, 7)}-{rng.randint(1, 9)}", f"{head}/{head[::-1]}/{number_of(rng, 4, 4)}", f"{number_of(rng, 2, 3)}-{head}-{number_of(rng, 2, 5)}",
        f"{number_of(rng, 3, 4)}/{number_of(rng, 4, 4)}/{number_of(rng, 4, 5)}", f"{head} {number_of(rng, 4, 6)}", values.code(rng),
    ))  # fmt: skip


def code_with_revision(rng: random.Random, writing: Writing) -> str:
    """Return a number with its revision."""
    number = number_of(rng, 5, 8)
    return rng.choice((f"{number} /", f"{number} / {rng.randint(1, 9)}", f"{number}-{rng.randint(1, 9)}", number))


def station(rng: random.Random, writing: Writing) -> str:
    """Return call letters."""
    letters = rng.choice("WK") + "".join(rng.choice(ascii_uppercase) for _ in range(rng.choice((2, 3, 3, 3))))
    return letters + rng.choice(("", "", "", "-TV", "-DT"))


def market(rng: random.Random, writing: Writing) -> str:
    """Return the market of a station."""
    first = rng.choice(CITIES)
    return rng.choice((first, f"{first}-{rng.choice(CITIES)}", f"{first}, {rng.choice(STATES)}"))


def office(rng: random.Random, writing: Writing) -> str:
    """Return an office of sales."""
    house, city = rng.choice(_OFFICES), rng.choice(CITIES)
    return rng.choice(
        (
            f"{house}/{city}",
            f"{house} {city}",
            city,
            f"{house}, {city} ({number_of(rng, 3, 4)})",
            f"{house[:1]}-{city[:2].upper()}",
            city.upper(),
        )
    )


def advertiser(rng: random.Random, writing: Writing) -> str:
    """Return an advertiser."""
    name, seat, state = rng.choice(LAST_NAMES), rng.choice(_FOR_OFFICE), coin_word(rng)[:2].upper()
    bracket = f" ({number_of(rng, 4, 6)})" if rng.random() < 0.25 else ""
    return rng.choice((
        f"{name} for {seat}", f"Friends of {name}", f"POL/{name}/{seat}/{state}/{rng.choice(('Dem', 'Rep'))}", f"{name}/{rng.choice('RD')}/{seat}",
        f"{name.upper()} FOR {seat.upper()}", f"{word(rng).title()} {rng.choice(('Action', 'Initiatives', 'Action Fund', 'USA', 'PAC'))}",
        values.company(rng), f"{coin_word(rng).title()} {word(rng).title()}",
    )) + bracket  # fmt: skip


def agency(rng: random.Random, writing: Writing) -> str:
    """Return an agency that buys advertising."""
    head = rng.choice(
        (rng.choice(LAST_NAMES), word(rng).title(), f"{rng.choice(LAST_NAMES)} & {rng.choice(LAST_NAMES)}")
    )
    tail = rng.choice(
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
    bracket = f" ({number_of(rng, 4, 5)})" if rng.random() < 0.25 else ""
    return f"{head} {tail}{bracket}"


def money(rng: random.Random, writing: Writing) -> str:
    """Return an amount."""
    return writing.sum(cents(rng, 90000), currency=rng.random() < 0.7)


def percentage(rng: random.Random, writing: Writing) -> str:
    """Return a percentage."""
    whole = rng.choice((0, 2, 5, 6, 8, 10, 15, 15, 20))
    return rng.choice((f"{whole}%", f"{whole}%", f"{whole}.00", f"{whole}.{rng.randint(0, 99):02}%", f"{whole} %"))


def cpe(rng: random.Random, writing: Writing) -> str:
    """Return client, product and estimate."""
    parts = [
        "".join(rng.choice(ascii_uppercase) for _ in range(4)) if rng.random() < 0.4 else number_of(rng, 2, 4)
        for _ in range(2)
    ]
    return "/".join((*parts, f"{rng.randint(1, 9999):04}"))


def phone(rng: random.Random, writing: Writing) -> str:
    """Return a telephone number."""
    area, mid, end = rng.randint(201, 989), rng.randint(200, 999), rng.randint(0, 9999)
    shown = rng.choice(
        ("({}) {}-{:04}", "{}-{}-{:04}", "({}){}-{:04}", "{}.{}.{:04}", "{}/{}-{:04}", "{} {} {:04}")
    ).format(area, mid, end)
    return (
        shown
        if rng.random() < 0.85
        else rng.choice((f"{shown} x{rng.randint(10, 999)}", f"1-{shown}", values.phone(rng)))
    )


def hours(rng: random.Random, writing: Writing) -> str:
    """Return hours of a day."""
    first = rng.randint(6, 11)
    return rng.choice(
        (
            f"{first} AM - {first - 3} PM",
            f"{first}:00 AM - {first - 4 if first > 5 else 1}:30 PM",
            f"{first:02}00-{first + 6}00",
            f"{first}am-{first - 2}pm",
        )
    )


def note(rng: random.Random, writing: Writing) -> list[str]:
    """Return a note of one to three lines."""
    shape = rng.random()
    if shape < 0.5:
        return [phrase(rng, 2, 6)]
    if shape < 0.8:
        return [sentence(rng, 6, 16)]
    return [phrase(rng, 2, 5) for _ in range(rng.randint(2, 3))]


def place(rng: random.Random, writing: Writing) -> list[str]:
    """Return an address."""
    return values.address_lines(rng) if rng.random() < 0.6 else [values.address(rng)]


def of_two_lines(first: Callable[[random.Random, Writing], str], share: float) -> Filling:
    """Return a filling that sometimes has a telephone number on a second line."""

    def fill_lines(rng: random.Random, writing: Writing) -> list[str]:
        """Return one line or two."""
        return [first(rng, writing), phone(rng, writing)] if rng.random() < share else [first(rng, writing)]

    return fill_lines


def _person(rng: random.Random, writing: Writing) -> str:
    shown = values.person(rng)
    return shown.upper() if rng.random() < 0.12 else shown


def _one(make: Callable[[random.Random, Writing], str]) -> Filling:
    return lambda rng, writing: [make(rng, writing)]


def _plain(make: Callable[[random.Random], str]) -> Filling:
    return lambda rng, writing: [make(rng)]


def _upper_case_person(rng: random.Random, writing: Writing) -> str:
    return _person(rng, writing).replace(", ", ",").upper()


FILLINGS: dict[str, Filling] = {
    "day": _one(day), "days": _one(days), "month": _one(month), "stamp": _one(stamp), "code": _one(code), "ref": _one(mixed_code),
    "coderev": _one(code_with_revision), "altcode": _plain(lambda rng: "WOC" + number_of(rng, 8, 8)), "ext": _plain(lambda rng: "ECR" + number_of(rng, 8, 8)),
    "twodays": lambda rng, writing: [f"{day(rng, writing)} / {day(rng, writing)}"], "advertiser": _one(advertiser), "agency": _one(agency),
    "cpe": _one(cpe), "station": _one(station), "stationmarket": lambda rng, writing: [f"{station(rng, writing)} - {market(rng, writing)}"],
    "market": _one(market), "office": _one(office), "person": _one(_person), "personphone": of_two_lines(_person, 0.8), "personrev": _one(_upper_case_person),
    "demo": _plain(lambda rng: rng.choice(_AGE_GROUPS)), "money": _one(money), "percent": _one(percentage), "number": _plain(lambda rng: str(rng.randint(1, 10 ** rng.randint(1, 5)))),
    "decimal": _plain(lambda rng: f"{rng.uniform(0, 200):.{rng.choice((1, 2))}f}"), "phone": _one(phone), "email": _plain(values.email),
    "company": _plain(values.company), "words": _plain(lambda rng: phrase(rng, 1, 4)), "city": _plain(lambda rng: rng.choice(CITIES)),
    "yesno": _plain(lambda rng: rng.choice(("Yes", "No", "No", "Y", "N", "YES", "NO"))), "time": _plain(values.clock), "hours": _one(hours),
    "measure": _plain(values.measure), "taxid": _plain(lambda rng: f"{rng.randint(10, 99)}-{number_of(rng, 7, 7)}"), "note": note, "address": place,
    "pageno": _plain(lambda rng: f"{rng.randint(1, 3)} of {rng.randint(3, 9)}"), "blank": lambda rng, writing: [],
    "vin": _plain(lambda rng: "".join(rng.choice(ascii_uppercase + digits) for _ in range(17))),
}  # fmt: skip


def filling(rng: random.Random, writing: Writing, kind: str) -> list[str]:
    """Return the lines of a value of a kind, or the value that the kind itself is ("=Cash")."""
    if kind.startswith("="):
        return [kind[1:]]
    return FILLINGS[kind](rng, writing) if kind in FILLINGS else [values.value(rng, kind)]
