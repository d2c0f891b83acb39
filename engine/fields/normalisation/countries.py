"""Countries, as ISO 3166-1 alpha-2: codes, and names in CLDR's languages."""

from __future__ import annotations

import re
from functools import cache

from engine.fields.normalisation import locales
from engine.fields.normalisation.candidates import Candidate, decide
from engine.fields.normalisation.characters import fold, fold_name
from engine.fields.normalisation.context import COUNTRY, LocaleContext
from engine.fields.normalisation.result import Normalised, unreadable

# Names in use that neither CLDR nor ISO 3166 lists; several codes where a name is shared.
_MORE = {
    "uk": "GB", "u k": "GB", "great britain": "GB", "england": "GB", "scotland": "GB", "wales": "GB",
    "northern ireland": "GB", "großbritannien": "GB", "grande bretagne": "GB", "gran bretaña": "GB",
    "usa": "US", "u s a": "US", "u s": "US", "united states of america": "US", "the united states": "US",
    "etats unis d amerique": "US",
    "vereinigte staaten von amerika": "US", "estados unidos de america": "US", "uae": "AE", "u a e": "AE",
    "holland": "NL", "the netherlands": "NL", "brd": "DE", "bundesrepublik deutschland": "DE",
    "czech republic": "CZ", "tschechische republik": "CZ", "ivory coast": "CI", "burma": "MM", "macedonia": "MK",
    "swaziland": "SZ", "cape verde": "CV", "east timor": "TL", "turkey": "TR", "việt nam": "VN", "hong kong": "HK",
    "macau": "MO", "vatican": "VA",
    "日本国": "JP", "アメリカ": "US", "英国": "GB", "مصر العربيه": "EG", "جمهوريه مصر العربيه": "EG",
    "امريكا": "US", "भारत गणराज्य": "IN",
    "holanda": "NL", "olanda": "NL", "hollande": "NL", "هولندا": "NL", "angleterre": "GB", "inglaterra": "GB",
    "inghilterra": "GB", "schottland": "GB", "anglia": "GB", "gb": "GB", "eua": "US", "ee uu": "US", "eeuu": "US",
    "米国": "US", "大韓民国": "KR", "中華人民共和国": "CN", "豪州": "AU", "美国": "US",
    "estados unidos da america": "US", "انجلترا": "GB", "بريطانيا": "GB",
    "السعوديه": "SA", "الامارات": "AE",
    "अमेरिका": "US", "ब्रिटेन": "GB", "इंग्लैंड": "GB", "rfa": "DE", "etats unis": "US", "vae": "AE", "eau": "AE",
    "korea": "KR KP", "corea": "KR KP", "coree": "KR KP", "congo": "CG CD",
}  # fmt: skip
_SHORTEST = 4  # Latin letters of a name that counts in any language; shorter ones only in the locale's own
_CODE_AND_NAME = re.compile(
    r"(?P<code>[A-Z]{2,3}) ?[-/,:(] ?(?P<name>[^()]+)\)?|(?P<name2>[^()]+?) ?[-/,:(] ?(?P<code2>[A-Z]{2,3})\)?"
)
_REASON = "This is no country, by name or by ISO 3166 code."


def normalise_country(text: str, context: LocaleContext) -> Normalised:
    """Return the ISO 3166-1 alpha-2 code of a printed country.

    Codes count in capitals alone: "to" is a word, "TO" is Tonga.

    Args:
        text: printed text: a name in any of CLDR's larger languages, or a code of two or three letters.
        context: the locale's language goes first; remembered names.
    """
    folded = " ".join(fold(text).split()).strip(" .,;")
    code = _by_code(folded)
    if code:
        return Normalised(value=code, rule="code")
    name = fold_name(folded)
    codes, by_locale = _by_name(name, context.locale)
    if not codes:
        both = _CODE_AND_NAME.fullmatch(folded)
        parts = both.groupdict() if both else {}
        code = _by_code(parts.get("code") or parts.get("code2") or "")
        codes, by_locale = _by_name(fold_name(parts.get("name") or parts.get("name2") or ""), context.locale)
        if code not in codes:
            return unreadable(_REASON)
        codes = (str(code),)
    shared = len(codes) > 1
    return decide(
        [
            Candidate(
                value=code,
                rule="name",
                words=f"{_english(code)}, {code}",
                convention={COUNTRY + name: code} if shared else {},
                by_locale=by_locale,
            )
            for code in codes
        ],
        context,
    )


def _by_code(text: str) -> str | None:
    import pycountry

    if not re.fullmatch("[A-Z]{2,3}", text):
        return None
    country = pycountry.countries.get(alpha_2=text) if len(text) == 2 else pycountry.countries.get(alpha_3=text)
    return str(country.alpha_2) if country else {"UK": "GB"}.get(text)


def _by_name(name: str, locale: str | None) -> tuple[tuple[str, ...], bool]:
    """Return the codes of a folded name, and whether the locale was needed to tell."""
    if name in _shared_and_short():
        return _shared_and_short()[name], False
    own = _names_in(locale).get(name, ()) if locale else ()
    return (own, True) if own else (_names().get(name, ()), False)


@cache
def _shared_and_short() -> dict[str, tuple[str, ...]]:
    return {fold_name(name): tuple(codes.split()) for name, codes in _MORE.items()}


@cache
def _codes() -> frozenset[str]:
    import pycountry

    return frozenset(country.alpha_2 for country in pycountry.countries)


@cache
def _names_in(tag: str) -> dict[str, tuple[str, ...]]:
    names: dict[str, tuple[str, ...]] = {}
    for code, name in locales.locale_of(tag).territories.items():
        if code in _codes():
            folded = fold_name(str(name))
            names[folded] = tuple(sorted({*names.get(folded, ()), code}))
    return names


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """Return folded names of all languages, and the codes that share each."""
    import pycountry

    names: dict[str, set[str]] = {}
    for language in locales.LANGUAGES:
        for name, codes in _names_in(language).items():
            if len(name) >= _SHORTEST or not name.isascii():
                names.setdefault(name, set()).update(codes)
    for country in pycountry.countries:
        for attribute in ("name", "official_name", "common_name"):
            if getattr(country, attribute, None):
                names.setdefault(fold_name(getattr(country, attribute)), set()).add(country.alpha_2)
    return {name: tuple(sorted(codes)) for name, codes in names.items()}


def _english(code: str) -> str:
    return str(locales.locale_of("en").territories[code])
