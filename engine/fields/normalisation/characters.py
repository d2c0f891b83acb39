"""Printed characters made comparable: digits of all scripts, widths, spaces, dashes, apostrophes, accents."""

from __future__ import annotations

import re
import unicodedata

_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d")
_LAST_ACCENTED = "\u06ff"  # Latin, Greek, Cyrillic, Hebrew and Arabic lie below; their composed letters are taken apart
_APOSTROPHES = frozenset("'\u2018\u2019\u02bc\u2032\u00b4`\uff07")
# Arabic letters that papers write with and without a sign, and their bare form.
_ARABIC = str.maketrans("أإآٱىة", "اااايه", "\u0640")  # and no stretching


def fold(text: str) -> str:
    """Return a text with ASCII digits, widths, spaces, dashes and apostrophes, stripped at its ends.

    Superscripts and fractions stay, because "12²" is not 122. Lines stay apart.
    """
    return re.sub(r" *\n[ \n]*", "\n", re.sub(r" +", " ", "".join(map(_fold_character, text)))).strip()


def _fold_character(character: str) -> str:
    if character in _DASHES:
        return "-"
    if character in _APOSTROPHES:
        return "'"
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    if "\uff01" <= character <= "\uff5e":
        return chr(ord(character) - 0xFEE0)
    if character == "\uffe5":
        return "¥"
    category = unicodedata.category(character)
    if category in ("Zl", "Zp") or character in "\n\r\v\f":
        return "\n"
    if category == "Zs" or character == "\t":
        return " "
    if category in ("Cf", "Cc", "Cs") or "\ufe00" <= character <= "\ufe0f":  # the latter choose a picture: ✔️
        return ""
    return character


def mixes_digits(text: str) -> bool:
    """Return whether a text has digits of several scripts, as a misread number has. Wide digits are Latin ones."""
    scripts = {
        unicodedata.name(character).rsplit(" DIGIT", 1)[0].replace("FULLWIDTH", "")
        for character in text
        if unicodedata.decimal(character, None) is not None
    }
    return len({script.removesuffix("DIGIT").split("DIGIT")[0].strip() for script in scripts}) > 1


def has_arabic_digits(text: str) -> bool:
    """Return whether a text has digits of the Arabic script."""
    return any("\u0660" <= character <= "\u0669" or "\u06f0" <= character <= "\u06f9" for character in text)


def fold_name(text: str) -> str:
    """Return a name for comparison: no case, no accents of European scripts, no punctuation, single spaces."""
    plain = unicodedata.normalize("NFKD", fold(text)).casefold().translate(_ARABIC)
    letters: list[str] = []
    for character in plain:
        if unicodedata.category(character) == "Mn":
            # Marks of Indic and other scripts are vowels; those of European scripts and Arabic are accents.
            if letters and letters[-1] > _LAST_ACCENTED:
                letters.append(character)
        elif character.isalnum() or unicodedata.category(character) == "Mc":
            letters.append({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"}.get(character, character))
        elif character != "'":
            letters.append(" ")
    return " ".join(unicodedata.normalize("NFC", "".join(letters)).split())
