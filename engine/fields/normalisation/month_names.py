"""Names of months and weekdays in CLDR's languages, whole and abbreviated."""

from __future__ import annotations

from functools import cache

from engine.fields.normalisation import locales
from engine.fields.normalisation.characters import fold_name

# Names that CLDR lacks: other spellings and abbreviations, Austria's January, months of Iraq and the Levant.
_MORE = {
    "en": {"sept": 9}, "de": {"jaen": 1, "jan": 1, "jaenner": 1, "janner": 1, "feber": 2, "maerz": 3, "mrz": 3,
    "sept": 9},
    "es": {"set": 9, "setiembre": 9, "sept": 9}, "nl": {"mrt": 3}, "it": {"sett": 9},
    "fr": {"fev": 2, "juil": 7, "aout": 8},
    "ar": {"نيسان": 4, "ايار": 5, "حزيران": 6, "تموز": 7, "اب": 8, "ايلول": 9, "شباط": 2, "اذار": 3, "ابريل": 4},
}  # fmt: skip
_SHORTEST_PREFIX = 3
_PREFIXED = frozenset({"en", "de", "fr", "es", "pt", "it", "nl", "hi"})


@cache
def months_in(tag: str) -> dict[str, int]:
    """Return the months of a language or locale by their folded names."""
    names: dict[str, int] = {}
    calendar, language = locales.locale_of(tag).months, locales.language_of(tag)
    for style in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in calendar[style][width].items():
                folded = fold_name(str(name))
                if any(map(str.isalpha, folded)):
                    names.setdefault(folded, int(number))
                    if language == "he":
                        names.setdefault("ב" + folded, int(number))
    names.update({fold_name(name): number for name, number in _MORE.get(language, {}).items()})
    return names


@cache
def _prefixes_in(language: str) -> dict[str, int]:
    """Return beginnings of names, from three letters, that belong to one month of the language."""
    owners: dict[str, set[int]] = {}
    for name, number in months_in(language).items():
        for length in range(_SHORTEST_PREFIX, len(name)):
            owners.setdefault(name[:length], set()).add(number)
    return {prefix: numbers.copy().pop() for prefix, numbers in owners.items() if len(numbers) == 1}


def months_named(name: str, locale: str | None) -> set[int]:
    """Return the months that a name may mean; several where it is another month in another language.

    Args:
        name: folded name, whole or abbreviated.
        locale: BCP-47 locale whose names alone count; None looks into all languages.
    """
    if locale:
        return {months_in(locale)[name]} if name in months_in(locale) else set()
    whole = {months_in(language)[name] for language in locales.LANGUAGES if name in months_in(language)}
    return whole or {_prefixes_in(language)[name] for language in _PREFIXED if name in _prefixes_in(language)}


@cache
def weekdays() -> frozenset[str]:
    """Return folded words of the names of weekdays in all languages: "sexta" and "feira" are two."""
    names = set()
    for language in locales.LANGUAGES:
        days = locales.locale_of(language).days
        for style in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                if language == "th":
                    names |= {fold_name(f"{name}ที่") for name in days[style][width].values()}
                names |= {word for name in days[style][width].values() for word in fold_name(str(name)).split()}
    return frozenset(names | {"thur", "thurs", "tues", "weds"})
