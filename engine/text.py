"""Checks of names and questions for invisible characters, and cleaning of file names.

Names appear in lists, sentences and the audit trail. A name of spaces is invisible; a direction control (U+202E)
reverses the text beside it; a zero-width character makes two names look the same (Unicode Technical Report 36, 2.5 and
2.10). Names in Arabic or Hebrew need none of these: their letters set the direction.
"""

import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from engine.errors import Refused

# Embeddings, overrides and isolates: they reorder the text behind them.
REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Letters, marks and symbols by category that are invisible.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_JOINERS = frozenset("\u200c\u200d")
# Scripts in which a joiner between two letters changes the word.
_JOINED = (
    "ARABIC", "SYRIAC", "MONGOLIAN", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU",
    "KANNADA", "MALAYALAM", "SINHALA", "KHMER", "MYANMAR", "TIBETAN",
)  # fmt: skip


def is_blank(text: str) -> bool:
    """Return whether a text has nothing visible: only spaces, fillers, and marks without letters."""
    return not any(unicodedata.category(character)[0] in "LNPS" and character not in _BLANK for character in text)


def check_name(name: str, what: str, *, longest: int, joiners: bool = True) -> None:
    """Check a name for invisible and misleading characters.

    Args:
        name: the name.
        what: subject of the sentence, as "A project's name".
        longest: maximum number of characters.
        joiners: allow joiners between letters of scripts that need them, as Persian and Indic ones.

    Raises:
        Refused: the name is invalid.
    """
    for at, character in enumerate(name):
        unseen = character in _BLANK or unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")
        if unseen and not (joiners and character in _JOINERS and _joins(name, at)):
            raise Refused(f"{what} must not contain the invisible character {_name_character(character)}. Remove it.")
    printable = all(character.isprintable() or character in _JOINERS for character in name)
    if not printable or is_blank(name) or name != name.strip() or len(name) > longest:
        raise Refused(f"{what} must have 1 to {longest} printable characters, without spaces at its ends.")


def check_question(text: str) -> None:
    """Check a question.

    Raises:
        Refused: the question is empty, or contains a direction control.
    """
    if is_blank(text):
        raise Refused("The question is empty. Write one first.")
    for character in text:
        if character in REORDERING:
            raise Refused(
                f"A question must not contain the invisible character {_name_character(character)}. Remove it."
            )


def clean_file_name(name: str, otherwise: str) -> str:
    """Return a file name without invisible characters.

    Nothing is refused, because the file itself may be fine.

    Args:
        name: name of the file.
        otherwise: returned when nothing is left.
    """
    visible = "".join(_visible_characters(name)).strip()
    return otherwise if is_blank(visible) else visible


def _visible_characters(name: str) -> Iterator[str]:
    for at, character in enumerate(name):
        category = unicodedata.category(character)
        if category in ("Zs", "Zl", "Zp") or character in "\t\r\n":
            yield " "
        elif (category not in ("Cc", "Cf", "Cs") and character not in _BLANK) or (
            character in _JOINERS and _joins(name, at)
        ):
            yield character


def _joins(name: str, at: int) -> bool:
    """Return whether a joiner stands between two letters (or marks) of a script that needs it."""
    return 0 < at < len(name) - 1 and all(
        unicodedata.category(character)[0] in "LM" and unicodedata.name(character, "").startswith(_JOINED)
        for character in (name[at - 1], name[at + 1])
    )


def _name_character(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}" + (f" ({name})" if name else "")


def storable(text: str) -> str:
    """Return a text without lone surrogates and NUL, which UTF-8 or PostgreSQL cannot store."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def quote_file_name(name: str) -> str:
    """Return a file name in quotes, printable and at most 100 characters, for use in a sentence."""
    shown = "".join(c if c.isprintable() else "?" for c in name)
    if len(shown) > 100:
        shown = f"{shown[:60]}...{shown[-35:]}"
    return f'"{shown}"'


LONGEST_FILE_NAME = 200  # bytes in UTF-8: file systems allow 255, and extensions are added


_LONGEST_ENDING = 20


_LONE_LETTER = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")


def name_of_path(path: str) -> str:
    """Return a path of this machine as text, although its bytes may be no UTF-8.

    Single bytes between plain letters are read as Windows-1252 has them, as in names of older Western systems. Nothing
    says what several in a row are; each of these becomes U+FFFD.
    """
    content = os.fsencode(path)
    try:
        return content.decode()
    except UnicodeDecodeError:
        western = _LONE_LETTER.sub(lambda letter: letter[0].decode("cp1252", "replace").encode(), content)
        return western.decode(errors="replace")


def file_name(given: str | None, otherwise: str) -> str:
    """Return a safe name of an upload: without folders and invisible characters, with its extension.

    Args:
        given: name as sent, or None.
        otherwise: returned when nothing is left.

    Returns:
        At most LONGEST_FILE_NAME bytes in UTF-8.
    """
    name = clean_file_name(PurePosixPath((given or "").replace("\\", "/")).name, "")
    return _shorten_name(name) if name.strip(". ") else otherwise


def _shorten_name(name: str) -> str:
    content = name.encode()
    if len(content) <= LONGEST_FILE_NAME:
        return name
    ending = PurePosixPath(name).suffix
    suffix = ending if len(ending.encode()) <= _LONGEST_ENDING else ""
    return content[: LONGEST_FILE_NAME - len(suffix.encode()) - 3].decode(errors="ignore") + "..." + suffix


def join_names(names: Sequence[str], last: str = "and") -> str:
    """Return names as a list in a sentence: Ann, Ben and Cem."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
