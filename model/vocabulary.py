"""Encode words for pages and questions alike: wordpieces, hashed character n-grams, and word shape."""

import re
import zlib
from enum import IntEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

TOKENIZER_FILE = Path(__file__).parent / "weights" / "tokenizer.json"
MOST_PIECES = 12
MOST_GRAMS = 40
_CACHE_LIMIT = 200_000


class Shape(IntEnum):
    """Columns of a word's shape; see `shape_of`."""

    ENDS_WITH_COLON = 0
    HAS_DIGITS = 1
    IS_UPPER = 2
    BEGINS_UPPER = 3
    LENGTH = 4
    ONLY_SIGNS = 5
    DIGITS = 6  # share of its characters
    HAS_POINT = 7
    HAS_COMMA = 8
    HAS_SLASH_OR_DASH = 9
    CURRENCY = 10
    OPENS_BRACKET = 11
    IS_MONEY = 12
    IS_TICK = 13


SHAPES = len(Shape)

# Letters of every script with their diacritics, without the blocks of punctuation and symbols.
_LETTERS = (
    r"A-Za-z0-9À-ÖØ-öø-\u1fff\u2c00-\u2dff\u3005-\u3007\u3040-\u30fa\u30fc-\ud7ff\uf900-\ufdff"
    r"\ufe70-\ufefe\uff10-\uff19\uff66-\uffdc\U00010000-\U0001efff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_LETTERS}#$%&'./-]+|[^\s{_LETTERS}]")
_MONEY = re.compile(r"\W*\d+[.,]\d\d\W*")

# Weights of question words that say little about the key.
_HARDLY = (
    "what is the of a an in on for to and s which value are was were does do how much this that be it please who when"
    " where under"
)
_LITTLE = (
    "given listed field document written entered filled find locate extract show me tell highlight mark recorded shown"
    " read can you has been say at receipt issued"
)
WEIGHTS = dict.fromkeys(_LITTLE.split(), 0.35) | dict.fromkeys(_HARDLY.split(), 0.12)


def words_of(question: str, most: int) -> list[str]:
    """Split a question into words and signs.

    A question longer than `most` loses the words that say least about the key, the first of them first, because long
    questions begin with a story and end with the request.

    Args:
        question: text of the question.
        most: number of words to keep.

    Returns:
        At most `most` words; ["?"] for a question without any.
    """
    words = _TOKEN.findall(question)
    if len(words) > most:
        chosen = sorted(range(len(words)), key=lambda place: (-weight_of(words[place]), -place))[:most]
        words = [words[place] for place in sorted(chosen)]
    return words or ["?"]


def bare(text: str) -> str:
    """Return the text in lower case without surrounding punctuation; punctuation alone stays as it is."""
    return text.lower().strip(":.,;()[]\"'*?") or text


def weight_of(token: str) -> float:
    """Return the weight 0..1 of a question's word when keys are matched; punctuation alone weighs 0."""
    return WEIGHTS.get(bare(token).lower(), 1.0) if any(c.isalnum() for c in token) or token in "#$%&" else 0.0


def shape_of(text: str) -> list[float]:
    """Return how a word looks, in the order of `Shape`: digits, case, and signs of money, dates and ticks."""
    length = max(1, len(text))
    digits = sum(c.isdigit() for c in text)
    return [
        text.endswith(":"),
        digits > 0,
        text.isupper(),
        text[:1].isupper(),
        min(length, 24) / 12,
        not any(c.isalnum() for c in text),
        digits / length,
        "." in text,
        "," in text,
        "/" in text or "-" in text,
        text[:1] in tuple("$€£¥") or text[:2] == "RM",
        text[:1] == "(",
        _MONEY.fullmatch(text) is not None,
        length == 1 and text in "Xx☑☒✓☐",
    ]


class Vocabulary:
    """Ids of words, kept in a bounded cache; safe for threads."""

    def __init__(self, buckets: int, tokenizer: Path = TOKENIZER_FILE) -> None:
        self._buckets = buckets
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        unknown = self._tokenizer.token_to_id("[UNK]")
        if unknown is None:
            raise ValueError(f"{tokenizer} has no piece [UNK]; use a BERT tokenizer.")
        self._unknown = unknown
        self._pieces: dict[str, NDArray[np.int64]] = {}
        self._grams: dict[str, NDArray[np.int64]] = {}

    @property
    def ids(self) -> dict[str, int]:
        """Ids of all wordpieces, by piece."""
        return dict(self._tokenizer.get_vocab())

    def pieces(self, words: list[str]) -> list[NDArray[np.int64]]:
        """Return the wordpiece ids of each word, 1 to MOST_PIECES of them; do not change the arrays."""
        known = self._pieces
        fresh = [word for word in dict.fromkeys(words) if word not in known]
        if fresh:
            encodings = self._tokenizer.encode_batch(fresh, add_special_tokens=False)
            added = {
                word: np.array(encoding.ids[:MOST_PIECES] or [self._unknown], np.int64)
                for word, encoding in zip(fresh, encodings, strict=True)
            }
            if len(known) + len(added) > _CACHE_LIMIT:  # a new dict, because another thread may read the old one
                known = self._pieces = {word: known[word] for word in words if word in known}
            known.update(added)
        return [known[word] for word in words]

    def grams(self, words: list[str]) -> list[NDArray[np.int64]]:
        """Return the buckets of each word's character 2-, 3- and 4-grams.

        The word itself and its form with digits replaced by 0 are hashed too. Do not change the arrays.
        """
        if len(self._grams) > _CACHE_LIMIT:
            self._grams = {}
        known = self._grams
        buckets = []
        for word in words:
            ids = known.get(word)
            if ids is None:
                ids = known[word] = self._hash(word)
            buckets.append(ids)
        return buckets

    def _hash(self, word: str) -> NDArray[np.int64]:
        text = f"<{word.lower()[:24]}>"
        grams = [text[i : i + n] for n in (2, 3, 4) for i in range(len(text) - n + 1)]
        digits = re.sub(r"[0-9]", "0", text)
        kinds = [text] if digits == text else [text, digits, digits[:5]]
        # crc32 instead of hash(), because a word needs the same bucket in every process.
        return np.array([zlib.crc32(gram.encode()) % self._buckets for gram in (kinds + grams)[:MOST_GRAMS]], np.int64)
