"""Phone numbers, as E.164, by libphonenumber's plans of numbers.

`phonenumbers.parse` finds a number in any text and takes a date for one; `is_possible_number` checks lengths alone. So
the matcher is used, which checks the plan and the national prefix, and its match has to be the whole text.
"""

from __future__ import annotations

import re

from engine.fields.normalisation.characters import fold
from engine.fields.normalisation.context import PHONE_COUNTRY, LocaleContext
from engine.fields.normalisation.result import Normalised, Reading, unreadable
from engine.fields.types import FieldOptions

_LABEL = re.compile(
    r"^(?:t[eé]l(?:[eé]fono?|[eé]phone|efone)?|phone|fone|ph|fax|mobile?|mobil|mob|cell|handy|電話番号|電話|هاتف|ت|फोन|फ़ोन|[☎✆📞]|[tfmp])"
    r"[.: ]*(?=[+(\d])",
    re.IGNORECASE,
)
# Countries offered for a number without one, the more papers the earlier.
_OFFERED = ("US", "GB", "DE", "FR", "ES", "IT", "CH", "AT", "BR", "MX", "IN", "EG", "JP", "NL", "BE", "PL", "SE", "AU")
_MOST = 9  # a person picks with one key


def normalise_phone(text: str, options: FieldOptions, context: LocaleContext) -> Normalised:
    """Return the E.164 number of a printed phone number; an extension is left out.

    Args:
        text: printed text, with or without "Tel.:".
        options: `country` of numbers without one; a remembered country goes before it, the locale's region after it.
        context: locale and remembered conventions.
    """
    folded = _LABEL.sub("", " ".join(fold(text).split()))
    if folded.startswith("+"):
        folded = folded.replace("/", " ")  # the matcher takes slashes for dates
    remembered = context.conventions.get(PHONE_COUNTRY)
    region = remembered or options.country or context.region
    international = re.match(r"\(?\+|00", folded)
    if region is None and folded.startswith("00"):
        folded = "+" + folded[2:]
    number = _number(folded, region)
    if number:
        if international or region is None:
            return Normalised(value=number, rule="international")
        by_locale = not (remembered or options.country)
        return Normalised(value=number, rule="national", locale=context.locale if by_locale else None)
    if region is None and not international:
        offered = [(country, _number(folded, country)) for country in _OFFERED]
        readings = [
            Reading(value=value, words=f"a number of {country}: {value}", convention={PHONE_COUNTRY: country})
            for country, value in offered
            if value
        ]
        if readings:
            return Normalised(readings=tuple(readings[:_MOST]))
    return unreadable("This is no phone number that exists in its country's plan of numbers.")


def _number(text: str, region: str | None) -> str | None:
    """Return the E.164 number when the whole text is one valid number."""
    import phonenumbers

    if region is not None and region not in phonenumbers.SUPPORTED_REGIONS:
        region = None
    matches = list(phonenumbers.PhoneNumberMatcher(text, region, leniency=phonenumbers.Leniency.VALID, max_tries=10))
    if len(matches) != 1 or (matches[0].start, matches[0].end) != (0, len(text)):
        return None
    return str(phonenumbers.format_number(matches[0].number, phonenumbers.PhoneNumberFormat.E164))
