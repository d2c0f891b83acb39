"""Kinds of values of real forms, by the words of a key and the room of its field."""

from __future__ import annotations

import random
import re
from string import ascii_uppercase

from engine.synthetic import values
from engine.synthetic.blank_forms.template import FormField
from engine.synthetic.values import Value
from engine.synthetic.vocabulary import CITIES, COUNTRIES, FIRST_NAMES, LAST_NAMES, STATES, phrase, word

_RELATIVES = (
    "son",
    "daughter",
    "mother",
    "father",
    "sister",
    "brother",
    "spouse",
    "niece",
    "nephew",
    "grandchild",
    "parent",
)
_JOBS = (
    "teacher",
    "nurse",
    "engineer",
    "driver",
    "clerk",
    "manager",
    "cook",
    "electrician",
    "accountant",
    "student",
    "retired",
)
_SHORT_STATES = [state for state in STATES if len(state) == 2]


def _figures(shape: str) -> Value:
    """Return a maker of values whose "#" are digits."""
    return lambda rng: "".join(rng.choice("0123456789") if sign == "#" else sign for sign in shape)


def _sum(rng: random.Random) -> str:
    """Return an amount as people enter it into a form."""
    value = rng.randint(1, 10 ** rng.choice((2, 3, 4, 4, 5, 5, 6)))
    form = rng.random()
    if form < 0.03:
        return rng.choice(("-0-", "0", "0.00", "NONE"))
    if form < 0.45:
        return f"{value:,}"
    if form < 0.6:
        return str(value)
    if form < 0.65:
        return f"({value:,})"
    return f"{value:,}.{rng.choice((0, 0, rng.randint(0, 99))):02d}" if form < 0.95 else f"{value:,}."


def _plain_date(rng: random.Random) -> str:
    """Return a date as forms ask for it."""
    month, day, year = rng.randint(1, 12), rng.randint(1, 28), rng.randint(1950, 2027)
    return rng.choice(
        (
            f"{month:02d}/{day:02d}/{year}",
            f"{month:02d}/{day:02d}/{year}",
            f"{month}/{day}/{year % 100:02d}",
            values.date(rng),
        )
    )


def _address(rng: random.Random) -> str:
    return rng.choice((values.street, values.address))(rng)


def _party(rng: random.Random) -> str:
    return rng.choice((values.person, values.company, values.company))(rng)


def _join_choices(*parts: list[str]) -> Value:
    return lambda rng: " ".join(rng.choice(part) for part in parts)


# Pattern of the key -> maker of values; the first that is found counts.
_TABLE: tuple[tuple[str, Value], ...] = (
    (r"last 4 digits|last four digits", _figures("####")),
    (r"social security n|\bssn\b|taxpayer id|\bitin\b|identifying number", lambda c: c.choice((_figures("###-##-####"), _figures("###-##-####"), _figures("#########")))(c)),
    (r"\bein\b|employer identification", _figures("##-#######")),
    (r"a-number|alien registration", lambda c: c.choice((_figures("#########"), _figures("A#########")))(c)),
    (r"case number|docket", lambda c: f"{c.randint(9, 27):02d}-{c.randint(10000, 99999)}"),
    (r"routing", _figures("#########")),
    (r"e-?mail", values.email),
    (r"web ?site|internet", values.website),
    (r"phone|fax|telephone", values.phone),
    (r"postal code", values.postcode),
    (r"city.*state.*zip|city, town|town.*state", lambda c: f"{c.choice(CITIES)}, {c.choice(_SHORT_STATES)} {values.postcode(c)}"),
    (r"zip", values.postcode),
    (r"mailing address|home address|\baddress\b", _address),
    (r"\bstreet\b", values.street),
    (r"^(apt|suite|unit|ste|flr)|apt\. no", lambda c: c.choice((str(c.randint(1, 60)), f"{c.randint(1, 30)}{c.choice('ABCD')}"))),
    (r"^state\b|\bstate$|state or province|province", lambda c: c.choice(_SHORT_STATES)),
    (r"\bcity\b|\btown\b|\bcounty\b|place of birth", lambda c: c.choice(CITIES)),
    (r"country|nationality|citizenship", lambda c: c.choice(COUNTRIES)),
    (r"date|\(mm|mo\., day|expires|^when\b|\bwhen$|when (was|did)|day, yr", _plain_date),
    (r"time of day|\btime\b.*(am|pm)", values.clock),
    (r"middle (name|initial)", lambda c: c.choice((c.choice(FIRST_NAMES), c.choice(ascii_uppercase), f"{c.choice(ascii_uppercase)}."))),
    (r"(first|given) name.*(initial|middle)", lambda c: f"{c.choice(FIRST_NAMES)} {c.choice(ascii_uppercase)}"),
    (r"(first|given) name", _join_choices(FIRST_NAMES)),
    (r"(last|family) name|surname", _join_choices(LAST_NAMES)),
    (r"^(multiply|subtract|add lines?|combine|copy|enter the (amount|smaller|larger|total))", _sum),
    (r"percent|\brate\b|%", values.percentage),
    (r"how long", lambda c: f"{c.randint(1, 30)} {c.choice(('years', 'months', 'yrs', 'weeks'))}"),
    (r"^page\b", lambda c: str(c.randint(1, 9))),
    (r"number of|how many|how old|\bage\b|\bdays\b|\bmonths\b", lambda c: str(c.randint(0, c.choice((9, 31, 365))))),
    (r"creditor|employer|\bbank\b|payer|company|firm|organization|institution|lender|landlord", _party),
    (r"account number|policy number|serial|receipt|certificate number|passport|\bvin\b|number \(|license", values.code),
    (r"signature|preparer|debtor|spouse|dependent|\bname", values.person),
    (r"relationship", lambda c: c.choice(_RELATIVES)),
    (r"occupation|job title|position|\btitle\b", lambda c: c.choice((c.choice(_JOBS), c.choice(_JOBS).title(), phrase(c, 1, 3)))),
    (r"\byear\b", lambda c: str(c.randint(1990, 2027))),
    (r"explain|describe|description|reason|statement|list (the|all)|additional information", lambda c: c.choice((lambda c: phrase(c, 2, 6), values.text))(c)),
    (r"\$|\b(amounts?|total|income|value|wages|tax(es)?|payments?|costs?|basis|gains?|loss(es)?|expenses?|interest|dividends?|credits?|enter|line|price|proceeds|rents?|fees?|owe|claim|balance)\b|deduct", _sum),
    (r"\bcode\b", lambda c: c.choice((c.choice(ascii_uppercase), values.code(c)[:4]))),
    (r"number|\bno\.", values.code),
    (r"other|specify|type", lambda c: phrase(c, 1, 3)),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern), make) for pattern, make in _TABLE)


def maker(field: FormField, key: str, column: str) -> Value:
    """Return the maker of values for a field by its printed names."""
    if field.money:
        return _sum
    for text in (column.lower(), key.lower()):
        matching = next((make for pattern, make in _COMPILED if text and pattern.search(text)), None)
        if matching is not None and not (matching is values.person and text is column.lower() and "dependent" in text):
            return matching
    width = field.box[2] - field.box[0]
    if field.line[:1].isdigit() and width < 110:
        return _sum
    if width < 45:
        return lambda rng: rng.choice((str(rng.randint(0, 999)), values.code(rng)[:4], word(rng)[:6]))
    if field.kind == "multiline":
        return lambda rng: rng.choice((values.text, lambda c: phrase(c, 3, 9)))(rng)
    return lambda rng: rng.choice((lambda c: phrase(c, 1, 4), values.person, values.code, _sum))(rng)
