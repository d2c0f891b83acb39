"""Characters that nobody sees: what names may hold of them, and what is taken out of names that come with files.

A name stands in lists, sentences and the audit trail beside others. One of spaces alone is not there to be seen; one with a
control of the direction of text (U+202E) turns round what stands beside it; a character without width makes two names that
look the same (Unicode Technical Report 36, 2.5 and 2.10). Names in Arabic or Hebrew need none of these: the direction
follows from their letters.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from engine.errors import Refused

# Embeddings, overrides and isolates: they change the order of the text behind them too.
REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Letters, marks and symbols by their category, of which nothing is to be seen.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
_JOINERS = frozenset("\u200c\u200d")
# Scripts in which a joiner between two letters changes the word that is read.
_JOINED = (
    "ARABIC", "SYRIAC", "MONGOLIAN", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA",
    "MALAYALAM", "SINHALA", "KHMER", "MYANMAR", "TIBETAN",
)  # fmt: skip


def is_blank(text: str) -> bool:
    """Return whether there is nothing to see: spaces, fillers, and marks that stand on no letter."""
    return not any(unicodedata.category(each)[0] in "LNPS" and each not in _BLANK for each in text)


def check_name(name: str, what: str, *, longest: int, joiners: bool = True) -> None:
    """Refuse, with a sentence, a name that cannot be seen or misleads. `what`: "A project's name".

    `joiners`: allow those without which a word of Persian or of an Indic script is another one, between its letters.
    """
    for at, each in enumerate(name):
        unseen = each in _BLANK or unicodedata.category(each) in ("Cc", "Cf", "Zl", "Zp")
        if unseen and not (joiners and each in _JOINERS and _joins(name, at)):
            raise Refused(f"{what} must not hold the invisible character {_called(each)}: write it without.")
    printable = all(each.isprintable() or each in _JOINERS for each in name)
    if not printable or is_blank(name) or name != name.strip() or len(name) > longest:
        raise Refused(f"{what} has 1 to {longest} printable characters and no space at its ends.")


def check_question(text: str) -> None:
    """Refuse, with a sentence, a question that says nothing, or that turns the direction of what stands behind it."""
    if is_blank(text):
        raise Refused("Write a question first.")
    for each in text:
        if each in REORDERING:
            raise Refused(f"A question must not hold the invisible character {_called(each)}: write it without.")


def cleaned(name: str, otherwise: str) -> str:
    """Return the name of a file without what nobody sees in it; `otherwise` where nothing is left.

    Files keep coming whatever they are called: nothing is refused here.
    """
    kept = "".join(_seen(name)).strip()
    return otherwise if is_blank(kept) else kept


def _seen(name: str) -> Iterator[str]:
    for at, each in enumerate(name):
        category = unicodedata.category(each)
        if category in ("Zs", "Zl", "Zp") or each in "\t\r\n":
            yield " "
        elif (category not in ("Cc", "Cf", "Cs") and each not in _BLANK) or (each in _JOINERS and _joins(name, at)):
            yield each


def _joins(name: str, at: int) -> bool:
    """Whether a joiner stands between two letters (or marks) of one of the scripts that need it."""
    return 0 < at < len(name) - 1 and all(
        unicodedata.category(each)[0] in "LM" and unicodedata.name(each, "").startswith(_JOINED)
        for each in (name[at - 1], name[at + 1])
    )


def _called(character: str) -> str:
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}" + (f" ({name})" if name else "")


def storable(text: str) -> str:
    """Return `text` without what UTF-8 or PostgreSQL cannot hold: lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def quoted(name: str) -> str:
    """The file's name as one short printable piece of a sentence: names come from strangers, too."""
    shown = "".join(c if c.isprintable() else "?" for c in name)
    if len(shown) > 100:
        shown = f"{shown[:60]}...{shown[-35:]}"
    return f'"{shown}"'


LONGEST_FILE_NAME = 200  # of a name in UTF-8: file systems take 255, and endings are added


_LONGEST_ENDING = 20


def file_name(given: str | None, otherwise: str) -> str:
    """Return the name of a file that somebody sent, without folders and without what nobody sees in it, fit to be stored, shown and
    given to a file: at most LONGEST_FILE_NAME bytes, its ending kept. `otherwise`: where nothing of it is left."""
    name = cleaned(PurePosixPath((given or "").replace("\\", "/")).name, "")
    return _shortened(name) if name.strip(". ") else otherwise


def _shortened(name: str) -> str:
    content = name.encode()
    if len(content) <= LONGEST_FILE_NAME:
        return name
    ending = PurePosixPath(name).suffix
    kept = ending if len(ending.encode()) <= _LONGEST_ENDING else ""
    return content[: LONGEST_FILE_NAME - len(kept.encode()) - 3].decode(errors="ignore") + "..." + kept


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them: Ann, Ben and Cem."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
