"""Random values of keys: names, dates, amounts, addresses, marks and texts, in many notations."""

from __future__ import annotations

import random
from collections.abc import Callable
from string import ascii_uppercase, digits

from engine.synthetic.vocabulary import (
    CITIES,
    COUNTRIES,
    FIRST_NAMES,
    LAST_NAMES,
    STATES,
    coin_word,
    phrase,
    sentence,
    word,
    words,
)

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
COMPANY_ENDINGS = (
    "Inc.", "Ltd", "LLC", "Corp.", "Company", "Co.", "GmbH", "PLC", "Group", "Trading", "Enterprise", "Holdings", "& Sons",
    "Sdn Bhd", "SDN. BHD.", "S/B", "Pte Ltd", "Pty Ltd", "(M) Sdn Bhd", "Corporation", "Associates", "Industries", "B.V.",
    "Enterprise Sdn Bhd", "Marketing Sdn Bhd", "& Company", "Partners", "S.A.", "S.r.l.", "Limited",
)  # fmt: skip
INSTITUTIONS = (
    "Bureau", "Laboratories", "University", "Institute", "Department", "Division", "Council", "Foundation", "Agency",
    "Association", "Research Center", "Commission", "Hospital", "Committee", "Society", "College", "Bank",
)  # fmt: skip
SHOPS = (
    "Restaurant", "Cafe", "Store", "Mart", "Supermarket", "Hardware", "Stationery", "Pharmacy", "Bakery", "Bookstore",
    "Electrical", "Machinery", "Motor", "Trading", "Kitchen", "Bistro", "Market", "Grocery", "Hotel", "Petrol Station",
    "Restoran", "Kedai", "Enterprise", "Shop", "Gift & Deco", "Foods", "Noodle House", "Grill", "Coffee", "Boutique",
    "Minimarket", "Optical", "Clinic", "Pizza", "Bar", "Tyre & Auto", "Furniture", "Book Centre", "Seafood", "Parking",
)  # fmt: skip
ROADS = (
    "Street", "St.", "Avenue", "Ave", "Ave.", "Road", "Rd", "Rd.", "Drive", "Lane", "Blvd", "Way", "Court", "Square",
    "Highway", "Plaza", "Park", "Place", "Terrace",
)  # fmt: skip
UNITS = "mm cm kg g mg lbs ml pcs pages M hrs days units gal oz m psi ppm % C F mg/kg min rpm kW".split()  # noqa: SIM905

Value = Callable[[random.Random], str]


def person(rng: random.Random) -> str:
    """Return the name of a person."""
    first, last, middle = rng.choice(FIRST_NAMES), rng.choice(LAST_NAMES), rng.choice(ascii_uppercase)
    return rng.choice((
        f"{first} {last}", f"{first} {last}", f"{first} {last}", f"{first} {middle}. {last}", f"{first[0]}. {middle}. {last}",
        f"{first[0]}. {middle}. {last}", f"{rng.choice(('Dr.', 'Mr.', 'Ms.', 'Mrs.', 'Prof.', 'MS', 'Mr'))} {first} {last}",
        f"{last}, {first}", f"{first[0]}. {last}", f"{last} {first} {rng.choice(LAST_NAMES)}", f"{first[0]}.{middle}. {last}",
    ))  # fmt: skip


def company(rng: random.Random) -> str:
    """Return the name of a company."""
    ending, last = rng.choice(COMPANY_ENDINGS), rng.choice(LAST_NAMES)
    form = rng.random()
    if form < 0.25:
        return f"{last} {ending}"
    if form < 0.4:
        return f"{word(rng, 0.5).title()} {rng.choice(SHOPS)} {ending}"
    if form < 0.5:
        return f"{last} & {rng.choice(LAST_NAMES)}"
    if form < 0.6:
        return f"{word(rng).title()} {rng.choice(INSTITUTIONS)}"
    if form < 0.7:
        return f"{rng.choice(CITIES)} {word(rng).title()} {ending}"
    return " ".join(part.title() for part in words(rng, 1, 3)) + f" {ending}"


def shop(rng: random.Random) -> str:
    """Return a shop's trade name."""
    form = rng.random()
    kind = rng.choice(SHOPS)
    if form < 0.25:
        return f"{word(rng, 0.5).title()} {word(rng).title()} {kind}"
    if form < 0.45:
        return f"{kind} {word(rng, 0.5).title()} {rng.choice(LAST_NAMES)}"
    if form < 0.6:
        return f"{rng.choice(LAST_NAMES)} {kind}"
    if form < 0.7:
        return f"{rng.choice(FIRST_NAMES)}'s {kind}"
    if form < 0.8:
        return f"{word(rng, 0.6).title()} {rng.choice(('@', 'At', '-'))} {rng.choice(CITIES)}"
    return " ".join(word(rng, 0.5).title() for _ in range(rng.randint(1, 2)))


def date(rng: random.Random) -> str:
    """Return a date."""
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1955, 2027)
    mark, name = rng.choice("//-."), MONTHS[month - 1]
    short = f"{year % 100:02d}"
    return rng.choice((
        f"{month}{mark}{day}{mark}{short}", f"{month}{mark}{day}{mark}{short}", f"{month}{mark}{day}{mark}{year}",
        f"{day:02d}{mark}{month:02d}{mark}{year}", f"{day:02d}{mark}{month:02d}{mark}{year}", f"{day:02d}{mark}{month:02d}{mark}{short}",
        f"{year}-{month:02d}-{day:02d}", f"{name} {day}, {year}", f"{name} {day}, {year}", f"{name} {day} {year}",
        f"{day} {name[:3]} {year}", f"{day} {name} {year}", f"{name[:3]}. {day}, {year}", f"{name}, {year}", f"{name} {year}",
        f"{day}-{name[:3].upper()}-{short}", f"'{short} {name}", f"{month}/{short}",
    ))  # fmt: skip


def short_date(rng: random.Random) -> str:
    """Return a date as tills print it."""
    day, month, year, mark = (
        rng.randint(1, 28),
        rng.randint(1, 12),
        rng.randint(2008, 2027),
        rng.choice("//-."),
    )
    long = f"{day:02d}{mark}{month:02d}{mark}{year}"
    return rng.choice((
        long, long, long, f"{day:02d}{mark}{month:02d}{mark}{year % 100}", f"{day}{mark}{month}{mark}{year}",
        f"{day:02d} {MONTHS[month - 1][:3].upper()} {year}", f"{day:02d}-{MONTHS[month - 1][:3]}-{year % 100}",
        f"{month:02d}{mark}{day:02d}{mark}{year}", f"{year}{mark}{month:02d}{mark}{day:02d}", f"{MONTHS[month - 1][:3]} {day}, {year}",
        f"{day:02d} {MONTHS[month - 1][:3].upper()} {year % 100}", f"{day:02d}{MONTHS[month - 1][:3].upper()}{year % 100}",
    ))  # fmt: skip


def clock(rng: random.Random) -> str:
    """Return a time of day."""
    seconds = f":{rng.randint(0, 59):02d}" if rng.random() < 0.5 else ""
    half = rng.choice((" AM", " PM", "PM", " am", " pm", "AM")) if rng.random() < 0.35 else ""
    return f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}{seconds}{half}"


def number(rng: random.Random) -> str:
    """Return a number."""
    value = rng.randint(0, 10 ** rng.randint(1, 6))
    return f"{value:,}" if rng.random() < 0.4 else str(value)


def amount(rng: random.Random) -> str:
    """Return the digits of an amount, without a currency."""
    value = rng.randint(1, 10 ** rng.randint(3, 7)) / 100
    return f"{value:,.2f}" if rng.random() < 0.85 else f"{int(value) + 1:,}"


def money(rng: random.Random) -> str:
    """Return an amount with a currency."""
    return rng.choice(("", "", "$", "$", "$ ", "€", "RM", "RM ", "£", "USD ", "EUR ")) + amount(rng)


def code(rng: random.Random) -> str:
    """Return an identifying number: digits, letters and hyphens."""
    form = rng.random()
    if form < 0.35:
        return "".join(rng.choice(digits) for _ in range(rng.randint(2, 10)))
    if form < 0.6:
        head = "".join(rng.choice(ascii_uppercase) for _ in range(rng.randint(1, 3)))
        return head + rng.choice(("", "-", "/", " ")) + "".join(rng.choice(digits) for _ in range(rng.randint(2, 8)))
    if form < 0.8:
        return f"{rng.randint(1, 99)}-{rng.randint(1, 999)}" + (
            f"-{rng.randint(1, 99):02d}" if rng.random() < 0.5 else ""
        )
    return "".join(
        rng.choice(digits) if rng.random() < 0.7 else rng.choice(ascii_uppercase) for _ in range(rng.randint(3, 12))
    )


def till_number(rng: random.Random) -> str:
    """Return a long serial number as on invoices and receipts."""
    head = rng.choice(("", "", "", "INV", "CS-", "TI-", "BAT", "A", "#", "SO", "OR", "CR"))
    return head + "".join(rng.choice(digits) for _ in range(rng.randint(4, 16)))


def phone(rng: random.Random) -> str:
    """Return a telephone number."""
    shape = rng.choice((
        "(###) ###-####", "(###) ###-####", "###-###-####", "0#-########", "0#-#### ####", "+## ### #####", "###/###-####",
        "#######", "01#-### ####", "+60#-########", "### ### ####", "0#-####-####", "(0#) #### ####", "x####",
    ))  # fmt: skip
    return "".join(rng.choice(digits) if sign == "#" else sign for sign in shape)


def email(rng: random.Random) -> str:
    """Return an e-mail address."""
    name = rng.choice(
        (
            f"{rng.choice(FIRST_NAMES)}.{rng.choice(LAST_NAMES)}",
            f"{word(rng)}{rng.randint(1, 99)}",
            "info",
            "sales",
        )
    )
    return f"{name.lower()}@{word(rng, 0.5)}.{rng.choice(('com', 'org', 'net', 'co.uk', 'com.my', 'de'))}"


def website(rng: random.Random) -> str:
    """Return the address of a website."""
    return f"www.{word(rng, 0.5)}{word(rng)}.{rng.choice(('com', 'org', 'net', 'com.my'))}"


def street(rng: random.Random) -> str:
    """Return a street with a house number."""
    form = rng.random()
    if form < 0.4:
        side = rng.choice(("", "", "", "N. ", "S. ", "West "))
        name = rng.choice((rng.choice(LAST_NAMES), word(rng, 0.3).title()))
        return f"{rng.randint(1, 9999)} {side}{name} {rng.choice(ROADS)}"
    if form < 0.5:
        return f"P.{rng.choice((' ', ''))}O. Box {rng.randint(10, 9999)}"
    if form < 0.9:
        head = rng.choice(("No. ", "NO.", "No ", "Lot ", "LOT ", "", "", "No.", "Lot No. ", "G-"))
        tail = rng.choice(
            (
                "",
                "",
                f"-{rng.choice('ABGK')}",
                f", {rng.randint(1, 99)} & {rng.randint(1, 99)}",
                f"-{rng.randint(1, 50)}",
                "G&1",
            )
        )
        road = rng.choice(("Jalan", "Jalan", "Jalan", "Jln", "Rue", "Via", "Lorong", "Calle", "Persiaran"))
        name = rng.choice((rng.choice(LAST_NAMES), word(rng, 0.6).title(), f"{word(rng, 0.6).title()} {rng.randint(1, 40)}/{rng.randint(1, 60)}",
                              f"SS{rng.choice((' ', ''))}{rng.randint(2, 26)}/{rng.randint(1, 70)}", f"{word(rng, 0.6).title()} {rng.randint(1, 19)}"))  # fmt: skip
        return f"{head}{rng.randint(1, 200)}{tail}, {road} {name}"
    return f"Suite {rng.randint(1, 900)}, {rng.randint(1, 999)} {word(rng).title()} {rng.choice(ROADS)}"


def postcode(rng: random.Random) -> str:
    """Return a postcode."""
    return f"{rng.randint(1000, 99999):05d}" + (f"-{rng.randint(1000, 9999)}" if rng.random() < 0.08 else "")


def address_lines(rng: random.Random) -> list[str]:
    """Return a street, sometimes a quarter or building, then town and postcode."""
    lines = [street(rng)]
    if rng.random() < 0.4:
        head = rng.choice(("Taman ", "Bandar ", "Seksyen ", "Kawasan ", "Level 2, ", "Building ", "Bdr ", "Off ", ""))
        lines.append(
            head + " ".join(part.title() for part in words(rng, 1, 2)) + rng.choice(("", "", f" {rng.randint(1, 30)}"))
        )
    code_, city, state = postcode(rng), rng.choice(CITIES), rng.choice(STATES)
    lines.append(rng.choice((f"{city}, {state} {code_}", f"{city}, {state} {code_}", f"{code_} {city}", f"{code_} {city}, {state}", f"{city} {code_}", f"{code_}, {city}", f"{city}, {state}")))  # fmt: skip
    if rng.random() < 0.15:
        lines.append(rng.choice((*STATES[-8:], *COUNTRIES)))
    return lines


def address(rng: random.Random) -> str:
    """Return an address on one line."""
    return ", ".join(address_lines(rng))


def mark(rng: random.Random) -> str:
    """Return a mark such as X, Yes or N/A."""
    return rng.choice(("X", "X", "x", "X", "(X)", "[x]", "Yes", "No", "YES", "N/A", "None", "-", "n/a", "NONE", "TBD"))


def percentage(rng: random.Random) -> str:
    """Return a percentage."""
    return f"{rng.randint(0, 100)}" + rng.choice(("%", " %", f".{rng.randint(0, 99):02d}%", "%"))


def measure(rng: random.Random) -> str:
    """Return a measurement with its unit."""
    value = rng.choice((str(rng.randint(1, 9999)), f"{rng.uniform(0, 100):.1f}", f"{rng.uniform(0, 10):.2f}"))
    return value + rng.choice((" ", " ", "")) + rng.choice(UNITS)


def decimal(rng: random.Random) -> str:
    """Return a decimal number."""
    return f"{rng.uniform(0, 10 ** rng.randint(0, 3)):.{rng.randint(1, 3)}f}"


def text(rng: random.Random) -> str:
    """Return a sentence or two."""
    return " ".join(sentence(rng, 4, 18) for _ in range(rng.randint(1, 2)))


def title(rng: random.Random) -> str:
    """Return the title of a paper or a campaign, often in quotes."""
    inner = phrase(rng, 2, 9)
    return f'"{inner}"' if rng.random() < 0.35 else inner


def people(rng: random.Random) -> str:
    """Return the names of several people."""
    return rng.choice((", ", ", ", "; ", " and ")).join(person(rng) for _ in range(rng.randint(2, 4)))


def span_of_dates(rng: random.Random) -> str:
    """Return a range of dates."""
    return date(rng) + rng.choice((" - ", " to ", " through ")) + date(rng)


def brand(rng: random.Random) -> str:
    """Return a brand, sometimes with a variant in brackets."""
    name = rng.choice(
        (
            coin_word(rng).upper(),
            word(rng).upper(),
            coin_word(rng).title(),
            f"{word(rng).title()} {word(rng).title()}",
        )
    )
    if rng.random() < 0.35:
        name += " " + rng.choice(
            (
                f"({word(rng).title()})",
                f"{rng.randint(10, 120)}'s",
                word(rng),
                f"- {rng.randint(1, 20)} mg",
                "Kings",
            )
        )
    return name


KINDS: dict[str, Value] = {
    "person": person,
    "people": people,
    "company": company,
    "date": date,
    "dates": span_of_dates,
    "time": clock,
    "number": number,
    "decimal": decimal,
    "money": money,
    "code": code,
    "phone": phone,
    "email": email,
    "website": website,
    "address": address,
    "phrase": lambda rng: phrase(rng, 1, 5),
    "long": lambda rng: phrase(rng, 4, 12),
    "text": text,
    "title": title,
    "mark": mark,
    "percent": percentage,
    "measure": measure,
    "city": lambda rng: rng.choice(CITIES),
    "state": lambda rng: rng.choice(STATES),
    "country": lambda rng: rng.choice(COUNTRIES),
    "postcode": postcode,
    "word": lambda rng: phrase(rng, 1, 1),
    "brand": brand,
}

# Kinds that need the room of a line or more.
LONG_KINDS = frozenset({"people", "address", "text", "title", "dates", "long", "company", "email", "website"})


def value(rng: random.Random, kind: str) -> str:
    """Return a value of the named kind (a key of `KINDS`)."""
    return KINDS[kind](rng)
