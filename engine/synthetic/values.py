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
    coined,
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


def person(chance: random.Random) -> str:
    """Return the name of a person."""
    first, last, middle = chance.choice(FIRST_NAMES), chance.choice(LAST_NAMES), chance.choice(ascii_uppercase)
    return chance.choice((
        f"{first} {last}", f"{first} {last}", f"{first} {last}", f"{first} {middle}. {last}", f"{first[0]}. {middle}. {last}",
        f"{first[0]}. {middle}. {last}", f"{chance.choice(('Dr.', 'Mr.', 'Ms.', 'Mrs.', 'Prof.', 'MS', 'Mr'))} {first} {last}",
        f"{last}, {first}", f"{first[0]}. {last}", f"{last} {first} {chance.choice(LAST_NAMES)}", f"{first[0]}.{middle}. {last}",
    ))  # fmt: skip


def company(chance: random.Random) -> str:
    """Return the name of a company."""
    ending, last = chance.choice(COMPANY_ENDINGS), chance.choice(LAST_NAMES)
    form = chance.random()
    if form < 0.25:
        return f"{last} {ending}"
    if form < 0.4:
        return f"{word(chance, 0.5).title()} {chance.choice(SHOPS)} {ending}"
    if form < 0.5:
        return f"{last} & {chance.choice(LAST_NAMES)}"
    if form < 0.6:
        return f"{word(chance).title()} {chance.choice(INSTITUTIONS)}"
    if form < 0.7:
        return f"{chance.choice(CITIES)} {word(chance).title()} {ending}"
    return " ".join(part.title() for part in words(chance, 1, 3)) + f" {ending}"


def shop(chance: random.Random) -> str:
    """Return a shop's trade name."""
    form = chance.random()
    kind = chance.choice(SHOPS)
    if form < 0.25:
        return f"{word(chance, 0.5).title()} {word(chance).title()} {kind}"
    if form < 0.45:
        return f"{kind} {word(chance, 0.5).title()} {chance.choice(LAST_NAMES)}"
    if form < 0.6:
        return f"{chance.choice(LAST_NAMES)} {kind}"
    if form < 0.7:
        return f"{chance.choice(FIRST_NAMES)}'s {kind}"
    if form < 0.8:
        return f"{word(chance, 0.6).title()} {chance.choice(('@', 'At', '-'))} {chance.choice(CITIES)}"
    return " ".join(word(chance, 0.5).title() for _ in range(chance.randint(1, 2)))


def date(chance: random.Random) -> str:
    """Return a date."""
    day, month, year = chance.randint(1, 28), chance.randint(1, 12), chance.randint(1955, 2027)
    mark, name = chance.choice("//-."), MONTHS[month - 1]
    short = f"{year % 100:02d}"
    return chance.choice((
        f"{month}{mark}{day}{mark}{short}", f"{month}{mark}{day}{mark}{short}", f"{month}{mark}{day}{mark}{year}",
        f"{day:02d}{mark}{month:02d}{mark}{year}", f"{day:02d}{mark}{month:02d}{mark}{year}", f"{day:02d}{mark}{month:02d}{mark}{short}",
        f"{year}-{month:02d}-{day:02d}", f"{name} {day}, {year}", f"{name} {day}, {year}", f"{name} {day} {year}",
        f"{day} {name[:3]} {year}", f"{day} {name} {year}", f"{name[:3]}. {day}, {year}", f"{name}, {year}", f"{name} {year}",
        f"{day}-{name[:3].upper()}-{short}", f"'{short} {name}", f"{month}/{short}",
    ))  # fmt: skip


def short_date(chance: random.Random) -> str:
    """Return a date as tills print it."""
    day, month, year, mark = (
        chance.randint(1, 28),
        chance.randint(1, 12),
        chance.randint(2008, 2027),
        chance.choice("//-."),
    )
    long = f"{day:02d}{mark}{month:02d}{mark}{year}"
    return chance.choice((
        long, long, long, f"{day:02d}{mark}{month:02d}{mark}{year % 100}", f"{day}{mark}{month}{mark}{year}",
        f"{day:02d} {MONTHS[month - 1][:3].upper()} {year}", f"{day:02d}-{MONTHS[month - 1][:3]}-{year % 100}",
        f"{month:02d}{mark}{day:02d}{mark}{year}", f"{year}{mark}{month:02d}{mark}{day:02d}", f"{MONTHS[month - 1][:3]} {day}, {year}",
        f"{day:02d} {MONTHS[month - 1][:3].upper()} {year % 100}", f"{day:02d}{MONTHS[month - 1][:3].upper()}{year % 100}",
    ))  # fmt: skip


def clock(chance: random.Random) -> str:
    """Return a time of day."""
    seconds = f":{chance.randint(0, 59):02d}" if chance.random() < 0.5 else ""
    half = chance.choice((" AM", " PM", "PM", " am", " pm", "AM")) if chance.random() < 0.35 else ""
    return f"{chance.randint(0, 23):02d}:{chance.randint(0, 59):02d}{seconds}{half}"


def number(chance: random.Random) -> str:
    """Return a number."""
    value = chance.randint(0, 10 ** chance.randint(1, 6))
    return f"{value:,}" if chance.random() < 0.4 else str(value)


def amount(chance: random.Random) -> str:
    """Return the digits of an amount, without a currency."""
    value = chance.randint(1, 10 ** chance.randint(3, 7)) / 100
    return f"{value:,.2f}" if chance.random() < 0.85 else f"{int(value) + 1:,}"


def money(chance: random.Random) -> str:
    """Return an amount with a currency."""
    return chance.choice(("", "", "$", "$", "$ ", "€", "RM", "RM ", "£", "USD ", "EUR ")) + amount(chance)


def code(chance: random.Random) -> str:
    """Return an identifying number: digits, letters and hyphens."""
    form = chance.random()
    if form < 0.35:
        return "".join(chance.choice(digits) for _ in range(chance.randint(2, 10)))
    if form < 0.6:
        head = "".join(chance.choice(ascii_uppercase) for _ in range(chance.randint(1, 3)))
        return (
            head
            + chance.choice(("", "-", "/", " "))
            + "".join(chance.choice(digits) for _ in range(chance.randint(2, 8)))
        )
    if form < 0.8:
        return f"{chance.randint(1, 99)}-{chance.randint(1, 999)}" + (
            f"-{chance.randint(1, 99):02d}" if chance.random() < 0.5 else ""
        )
    return "".join(
        chance.choice(digits) if chance.random() < 0.7 else chance.choice(ascii_uppercase)
        for _ in range(chance.randint(3, 12))
    )


def till_number(chance: random.Random) -> str:
    """Return a long serial number as on invoices and receipts."""
    head = chance.choice(("", "", "", "INV", "CS-", "TI-", "BAT", "A", "#", "SO", "OR", "CR"))
    return head + "".join(chance.choice(digits) for _ in range(chance.randint(4, 16)))


def phone(chance: random.Random) -> str:
    """Return a telephone number."""
    shape = chance.choice((
        "(###) ###-####", "(###) ###-####", "###-###-####", "0#-########", "0#-#### ####", "+## ### #####", "###/###-####",
        "#######", "01#-### ####", "+60#-########", "### ### ####", "0#-####-####", "(0#) #### ####", "x####",
    ))  # fmt: skip
    return "".join(chance.choice(digits) if sign == "#" else sign for sign in shape)


def email(chance: random.Random) -> str:
    """Return an e-mail address."""
    name = chance.choice(
        (
            f"{chance.choice(FIRST_NAMES)}.{chance.choice(LAST_NAMES)}",
            f"{word(chance)}{chance.randint(1, 99)}",
            "info",
            "sales",
        )
    )
    return f"{name.lower()}@{word(chance, 0.5)}.{chance.choice(('com', 'org', 'net', 'co.uk', 'com.my', 'de'))}"


def website(chance: random.Random) -> str:
    """Return the address of a website."""
    return f"www.{word(chance, 0.5)}{word(chance)}.{chance.choice(('com', 'org', 'net', 'com.my'))}"


def street(chance: random.Random) -> str:
    """Return a street with a house number."""
    form = chance.random()
    if form < 0.4:
        side = chance.choice(("", "", "", "N. ", "S. ", "West "))
        name = chance.choice((chance.choice(LAST_NAMES), word(chance, 0.3).title()))
        return f"{chance.randint(1, 9999)} {side}{name} {chance.choice(ROADS)}"
    if form < 0.5:
        return f"P.{chance.choice((' ', ''))}O. Box {chance.randint(10, 9999)}"
    if form < 0.9:
        head = chance.choice(("No. ", "NO.", "No ", "Lot ", "LOT ", "", "", "No.", "Lot No. ", "G-"))
        tail = chance.choice(
            (
                "",
                "",
                f"-{chance.choice('ABGK')}",
                f", {chance.randint(1, 99)} & {chance.randint(1, 99)}",
                f"-{chance.randint(1, 50)}",
                "G&1",
            )
        )
        road = chance.choice(("Jalan", "Jalan", "Jalan", "Jln", "Rue", "Via", "Lorong", "Calle", "Persiaran"))
        name = chance.choice((chance.choice(LAST_NAMES), word(chance, 0.6).title(), f"{word(chance, 0.6).title()} {chance.randint(1, 40)}/{chance.randint(1, 60)}",
                              f"SS{chance.choice((' ', ''))}{chance.randint(2, 26)}/{chance.randint(1, 70)}", f"{word(chance, 0.6).title()} {chance.randint(1, 19)}"))  # fmt: skip
        return f"{head}{chance.randint(1, 200)}{tail}, {road} {name}"
    return f"Suite {chance.randint(1, 900)}, {chance.randint(1, 999)} {word(chance).title()} {chance.choice(ROADS)}"


def postcode(chance: random.Random) -> str:
    """Return a postcode."""
    return f"{chance.randint(1000, 99999):05d}" + (f"-{chance.randint(1000, 9999)}" if chance.random() < 0.08 else "")


def address_lines(chance: random.Random) -> list[str]:
    """Return a street, sometimes a quarter or building, then town and postcode."""
    lines = [street(chance)]
    if chance.random() < 0.4:
        head = chance.choice(
            ("Taman ", "Bandar ", "Seksyen ", "Kawasan ", "Level 2, ", "Building ", "Bdr ", "Off ", "")
        )
        lines.append(
            head
            + " ".join(part.title() for part in words(chance, 1, 2))
            + chance.choice(("", "", f" {chance.randint(1, 30)}"))
        )
    code_, city, state = postcode(chance), chance.choice(CITIES), chance.choice(STATES)
    lines.append(chance.choice((f"{city}, {state} {code_}", f"{city}, {state} {code_}", f"{code_} {city}", f"{code_} {city}, {state}", f"{city} {code_}", f"{code_}, {city}", f"{city}, {state}")))  # fmt: skip
    if chance.random() < 0.15:
        lines.append(chance.choice((*STATES[-8:], *COUNTRIES)))
    return lines


def address(chance: random.Random) -> str:
    """Return an address on one line."""
    return ", ".join(address_lines(chance))


def mark(chance: random.Random) -> str:
    """Return a mark such as X, Yes or N/A."""
    return chance.choice(
        ("X", "X", "x", "X", "(X)", "[x]", "Yes", "No", "YES", "N/A", "None", "-", "n/a", "NONE", "TBD")
    )


def percentage(chance: random.Random) -> str:
    """Return a percentage."""
    return f"{chance.randint(0, 100)}" + chance.choice(("%", " %", f".{chance.randint(0, 99):02d}%", "%"))


def measure(chance: random.Random) -> str:
    """Return a measurement with its unit."""
    value = chance.choice(
        (str(chance.randint(1, 9999)), f"{chance.uniform(0, 100):.1f}", f"{chance.uniform(0, 10):.2f}")
    )
    return value + chance.choice((" ", " ", "")) + chance.choice(UNITS)


def decimal(chance: random.Random) -> str:
    """Return a decimal number."""
    return f"{chance.uniform(0, 10 ** chance.randint(0, 3)):.{chance.randint(1, 3)}f}"


def text(chance: random.Random) -> str:
    """Return a sentence or two."""
    return " ".join(sentence(chance, 4, 18) for _ in range(chance.randint(1, 2)))


def title(chance: random.Random) -> str:
    """Return the title of a paper or a campaign, often in quotes."""
    inner = phrase(chance, 2, 9)
    return f'"{inner}"' if chance.random() < 0.35 else inner


def people(chance: random.Random) -> str:
    """Return the names of several people."""
    return chance.choice((", ", ", ", "; ", " and ")).join(person(chance) for _ in range(chance.randint(2, 4)))


def span_of_dates(chance: random.Random) -> str:
    """Return a range of dates."""
    return date(chance) + chance.choice((" - ", " to ", " through ")) + date(chance)


def brand(chance: random.Random) -> str:
    """Return a brand, sometimes with a variant in brackets."""
    name = chance.choice(
        (
            coined(chance).upper(),
            word(chance).upper(),
            coined(chance).title(),
            f"{word(chance).title()} {word(chance).title()}",
        )
    )
    if chance.random() < 0.35:
        name += " " + chance.choice(
            (
                f"({word(chance).title()})",
                f"{chance.randint(10, 120)}'s",
                word(chance),
                f"- {chance.randint(1, 20)} mg",
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
    "phrase": lambda chance: phrase(chance, 1, 5),
    "long": lambda chance: phrase(chance, 4, 12),
    "text": text,
    "title": title,
    "mark": mark,
    "percent": percentage,
    "measure": measure,
    "city": lambda chance: chance.choice(CITIES),
    "state": lambda chance: chance.choice(STATES),
    "country": lambda chance: chance.choice(COUNTRIES),
    "postcode": postcode,
    "word": lambda chance: phrase(chance, 1, 1),
    "brand": brand,
}

# Kinds that need the room of a line or more.
LONG_KINDS = frozenset({"people", "address", "text", "title", "dates", "long", "company", "email", "website"})


def value(chance: random.Random, kind: str) -> str:
    """Return a value of the named kind (a key of `KINDS`)."""
    return KINDS[kind](chance)
