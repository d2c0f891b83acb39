"""Tokens of the search in documents: what is stored of a name and of printed words, and what a search asks for.

A word of a search finds a document where it is part of the name, or the beginning of a printed word. Both are prefixes
of tokens: each end of a name is one, and each end of a printed word that begins a word there. The words of one project
are told from those of others by a key in front, so that a search costs what its own project holds.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest

from db.tables.documents import search_key

LONGEST = 255  # characters of a word that are compared; as long as a name
LONGEST_UNSPACED = 32  # characters of a part of a word in a script without spaces
SHORT = 2  # letters of a word of a search up to which its documents are noted by themselves: very many begin so
_SHORT_SIGN = "="  # in front of such a token; no key begins with it
_KEY_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_KEY_LENGTH = 6
_BEGINNING = re.compile(r"(?<![a-z0-9])[a-z0-9]")  # of a word within ASCII
_SEPARATORS = {"\u066b": ".", "\u066c": ","}  # between Arabic-Indic digits
_EASTERN = ((0x2E80, 0x30FF), (0x31F0, 0x9FFF), (0xF900, 0xFAFF), (0xFF00, 0xFFEF), (0x20000, 0x3FFFF))
_LONGEST_RUN = 160  # characters of words that are joined, before the last
_CONTROLS = dict.fromkeys((*range(32), *range(127, 160)), " ")
# Scripts that put no spaces between words: Thai to Myanmar, Khmer, Kana and Han, and Han beyond the first plane.
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x3400, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)


def words_of(text: str) -> list[str]:
    """Return the words of a text as searches compare them: folded, divided at spaces, at most 255 letters each.

    Digits of all scripts are as 0 to 9, so that a search finds a number however it is printed.
    """
    folded = search_key(text)
    if not folded.isascii():
        folded = "".join(_plain_digit(letter) for letter in folded)
    if not folded.isprintable():
        folded = folded.translate(_CONTROLS)
    return [word[:LONGEST] for word in folded.split()]


def joined_texts(words: Iterable[tuple[int, int, str]]) -> list[str]:
    """Return printed words as texts to search in: single characters of Chinese and Japanese joined with what is beside.

    Such a character is a word by itself. What reads on in the next line is found, too.

    Args:
        words: Number of the page, position on it, and text of each word, in any order.
    """
    words = list(words)
    if not any(_is_character(text) for _, _, text in words):
        return [text for _, _, text in words]
    texts: list[str] = []
    run, last, before = "", -1, ""
    for page, _, text in sorted(words):
        joins = page == last and (_is_character(before) or _is_character(text))
        if joins and len(run) < _LONGEST_RUN:
            run += text
        else:
            texts.append(run)
            # A run that is cut goes on with its own end: what begins there is found whole.
            run = (run[-LONGEST_UNSPACED:] if joins else "") + text
        last, before = page, text
    return [*texts, run]


def name_tokens(key: str, name: str) -> set[str]:
    """Return the tokens of a document's name.

    Args:
        key: of the project (`key_of`).
        name: as its owner gave it.
    """
    ends = (word[at:] for word in words_of(name) for at in range(len(word)))
    return set(_prefix_key(key, ends))


def printed_tokens(key: str, texts: Iterable[str]) -> set[str]:
    """Return the tokens of printed words.

    Args:
        key: of the project (`key_of`).
        texts: of the words.
    """
    return set(_prefix_key(key, {end for text in texts for end in _ends(text)}))


def key_of(project_id: str) -> str:
    """Return the key in front of the tokens of a project."""
    number = int.from_bytes(hashlib.blake2b(project_id.encode(), digest_size=8).digest(), "big")
    letters = []
    for _ in range(_KEY_LENGTH):
        number, letter = divmod(number, len(_KEY_LETTERS))
        letters.append(_KEY_LETTERS[letter])
    return "".join(letters)


def query_tokens(key: str, query: str) -> list[tuple[str, bool]]:
    """Return what a search asks for, each with whether it is the beginning of a token or the whole.

    What another word of the search begins with is left out, because the other one implies it.

    Args:
        key: of the project (`key_of`).
        query: as somebody typed it.
    """
    words = sorted(set(words_of(query)))
    needed = [word for word, after in zip_longest(words, words[1:], fillvalue="") if not after.startswith(word)]
    return [(f"{_SHORT_SIGN}{key}{word}", False) if len(word) <= SHORT else (f"{key}{word}", True) for word in needed]


def _prefix_key(key: str, ends: Iterable[str]) -> Iterator[str]:
    short = _SHORT_SIGN + key
    for end in ends:
        yield key + end
        for length in range(1, SHORT + 1):
            yield short + end[:length]


@lru_cache(maxsize=20_000)
def _ends(text: str) -> tuple[str, ...]:
    """Return the ends of a printed text that a search may ask for: from the start, and from each word in it."""
    ends = []
    for word in words_of(text):
        ends.append(word)
        if word.isascii():
            ends += [word[beginning.start() :] for beginning in _BEGINNING.finditer(word, 1)]
        else:
            ends += _ends_of_letters(word)
    return tuple(ends)


def _ends_of_letters(word: str) -> Iterator[str]:
    before = _is_letter(word[0])
    for at in range(1, len(word)):
        if _is_unspaced(word[at]):
            before = True
            if not unicodedata.category(word[at]).startswith("M"):
                yield word[at : at + LONGEST_UNSPACED]
            continue
        letter = _is_letter(word[at])
        if letter and (not before or _is_unspaced(word[at - 1])):
            yield word[at:]
        before = letter


def _plain_digit(letter: str) -> str:
    digit = unicodedata.decimal(letter, None)
    return str(digit) if digit is not None else _SEPARATORS.get(letter, letter)


def _is_character(text: str) -> bool:
    """Return whether a word is one character of Chinese or Japanese."""
    return len(text) == 1 and any(first <= ord(text) <= last for first, last in _EASTERN)


def _is_letter(letter: str) -> bool:
    """Return whether a character is a letter, a digit, or a mark on one."""
    return unicodedata.category(letter)[0] in "LNM"


def _is_unspaced(letter: str) -> bool:
    code = ord(letter)
    return any(first <= code <= last for first, last in _UNSPACED)
