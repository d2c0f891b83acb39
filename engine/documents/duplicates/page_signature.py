"""Whether two pages show the same thing: a perceptual hash of the picture and a MinHash of the words. Pure: no database.

The same page scanned, printed or read again is the same; a form with the same print and other values is not. A picture of 64 x 64
pixels cannot tell those two apart, words can; and two receipts of one shop have most words in common, and look different. So both have
to agree. Which words differ tells more than how many: a misread word stays like itself, and another value does not. Where a page has
hardly any words its picture speaks; an empty page is like nothing.

Sources: pHash, the signs of the low frequencies of a discrete cosine transform (Zauner 2010, Implementation and Benchmarking of
Perceptual Image Hash Functions, section 3.2.1); MinHash and its bands (Broder 1997; Leskovec, Rajaraman and Ullman, Mining of
Massive Datasets, sections 3.3 and 3.4). Thresholds as measured by tests/benchmarks/near_duplicates.py; see the README.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from rapidfuzz import process
from rapidfuzz.distance import Indel

FEW_WORDS = 8  # below it, the picture speaks, and the few words there are must be equal
PICTURE_BITS = 256
MOST_BITS = 40  # bits of the picture that may differ where words agree too
MOST_BITS_ALONE = 26  # where there are hardly any
MOST_OTHER_WORDS = 0.04  # share of the letters that stand in words which the other page has nothing like
PARDONED = 0.1  # letters of such words for each letter of misread ones: a bad reader makes some beyond recognition
LEAST_LENGTH = 0.7  # of the shorter text, as a share of the longer: a form filled in is another page than the blank one
MOST_OTHER_NUMBERS = 0.3  # share of the numbers, likewise
FLAT = 10  # levels of grey (of 255) between the darkest and the lightest spot of an empty page
_SIDE = 16  # of the square of frequencies
_PERMUTATIONS, _ROWS = (
    96,
    2,
)  # 48 bands of two: pages with a quarter of their pairs of words in common meet in 19 of 20 cases
_PICTURE_BAND = 16  # bits
_SHINGLE = 2  # words
_LIKE, _LIKE_NUMBER = 0.5, 0.75  # likeness of two words from which on one may be the other one misread
_SHORTEST = 3  # letters, digits: shorter words are too easily taken for each other
_THUMB = 256  # pixels, the least side that a large picture is shrunk to before it is looked at


@dataclass(frozen=True, slots=True)
class Signature:
    """What is remembered of a page. `picture`: 256 bits as hexadecimal digits, "" for a page that is empty to the eye.

    `words`: the MinHash of its pairs of words, of 96 numbers below 2**32; () below FEW_WORDS. `text`: its words, folded.
    """

    picture: str
    words: tuple[int, ...]
    text: str

    @property
    def empty(self) -> bool:
        """Return whether the page shows nothing that could be recognised again."""
        return not self.picture and not self.words


def signature_of(image: Image.Image, words: Iterable[str]) -> Signature:
    """Return the signature of a page as it was rendered, and its words in reading order."""
    read = folded(words)
    few = len(read) < FEW_WORDS
    return Signature(_picture(image, blank=not read), () if few else _minhash(read), " ".join(read))


def folded(words: Iterable[str]) -> list[str]:
    """Return words as they are compared: letters and digits alone, capitals folded; those without any are left out."""
    kept = ("".join(sign for sign in word.casefold() if sign.isalnum()) for word in words)
    return [word for word in kept if word]


def bands_of(signature: Signature, scope: str) -> list[int]:
    """Return the keys under which a page is found by one like it, as signed numbers of 64 bits. None for an empty page.

    `scope`: pages of different ones never meet. Pages meet by their words or by their pictures.
    """
    if not signature.picture:
        return []
    rows = [signature.words[at : at + _ROWS] for at in range(0, len(signature.words), _ROWS)]
    digits = _PICTURE_BAND // 4
    parts = [signature.picture[at : at + digits] for at in range(0, len(signature.picture), digits)]
    return [
        *(_key(scope, "words", at, repr(row)) for at, row in enumerate(rows)),
        *(_key(scope, "picture", at, part) for at, part in enumerate(parts)),
    ]


def alike(one: Signature, other: Signature) -> bool:
    """Return whether two pages show the same thing."""
    if not one.picture or not other.picture or bool(one.words) != bool(other.words):
        return False
    if not one.words:
        return one.text == other.text and bits_apart(one, other) <= MOST_BITS_ALONE
    return (
        bits_apart(one, other) <= MOST_BITS
        and min(len(one.text), len(other.text)) >= LEAST_LENGTH * max(len(one.text), len(other.text))
        and other_numbers(one.text, other.text) <= MOST_OTHER_NUMBERS
        and other_words(one.text, other.text) <= MOST_OTHER_WORDS
    )


def bits_apart(one: Signature, other: Signature) -> int:
    """Return in how many of 256 bits two pictures differ."""
    return (int(one.picture, 16) ^ int(other.picture, 16)).bit_count()


def shared_words(one: Signature, other: Signature) -> float:
    """Return the estimated share of all pairs of words that two pages have in common (Jaccard), 0..1."""
    return float(np.mean(np.array(one.words) == np.array(other.words)))


def other_words(one: str, other: str) -> float:
    """Return the share of letters, 0..1, in words that stand on one page and are like none of the other's, in whatever order.

    Of the two pages the one with fewer of them counts: what a reader lost or made up stands on one page alone. Where many words are
    misread, some of the others are taken for misread too.
    """
    first, second = one.split(), other.split()
    left = _unmatched(first, second, _LIKE)
    letters = _letters(first) + _letters(second)
    equal = 2 * _letters((Counter(first) & Counter(second)).elements())
    misread = letters - equal - sum(map(_letters, left))
    return max(0.0, 2 * min(_letters(_long(rest)) for rest in left) - PARDONED * misread) / max(1, letters)


def other_numbers(one: str, other: str) -> float:
    """Return the share of numbers, 0..1, that are like none of the other page's; 0 where a page has fewer than three."""
    first, second = _numbers(one), _numbers(other)
    if min(len(first), len(second)) < _SHORTEST:
        return 0.0
    return min(map(len, _unmatched(first, second, _LIKE_NUMBER))) / min(len(first), len(second))


def _unmatched(one: Sequence[str], other: Sequence[str], like: float) -> tuple[list[str], list[str]]:
    """What is left of both when equal words are struck out, and then, the longest first, words that are like each other."""
    counts = Counter(one), Counter(other)
    ours, theirs = list((counts[0] - counts[1]).elements()), list((counts[1] - counts[0]).elements())
    rest = []
    for word in sorted(ours, key=len, reverse=True):
        found = process.extractOne(word, theirs, scorer=Indel.normalized_similarity, score_cutoff=like)
        if found is None:
            rest.append(word)
        else:
            theirs.pop(found[2])
    return rest, theirs


def _letters(words: Iterable[str]) -> int:
    return sum(map(len, words))


def _long(words: Iterable[str]) -> list[str]:
    return [word for word in words if len(word) >= _SHORTEST]


def _numbers(text: str) -> list[str]:
    return [word for word in text.split() if sum(sign.isdigit() for sign in word) >= _SHORTEST]


def _picture(image: Image.Image, *, blank: bool) -> str:
    import imagehash  # with SciPy, a tenth of a second that only who reads documents should wait

    image.draft("L", (_THUMB, _THUMB))  # of a JPEG, an eighth is decoded
    grey = image.convert("L")
    grey = grey.reduce(max(1, min(grey.size) // _THUMB))
    if blank and _flat(grey):
        return ""
    return str(imagehash.phash(grey, hash_size=_SIDE))


def _flat(grey: Image.Image) -> bool:
    darkest, lightest = grey.resize((_SIDE * 4, _SIDE * 4), Image.Resampling.BOX).getextrema()
    return float(lightest) - float(darkest) < FLAT  # type: ignore[arg-type]  # of a grey picture they are numbers


def _minhash(words: Sequence[str]) -> tuple[int, ...]:
    shingles = [" ".join(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)]
    # Counted, so that a table of the same word is not one word.
    counted = [f"{shingle}#{turn}" for shingle, count in Counter(shingles).items() for turn in range(count)]
    permuted: Any = _permutations().copy()
    permuted.update_batch([shingle.encode() for shingle in counted])
    values: NDArray[np.uint64] = permuted.hashvalues
    return tuple(int(value) for value in values)


@cache
def _permutations() -> Any:
    from datasketch import MinHash  # brings half of SciPy: half a second

    return MinHash(num_perm=_PERMUTATIONS, seed=1)


def _key(scope: str, kind: str, band: int, content: str) -> int:
    digest = hashlib.blake2b(f"{scope} {kind} {band} {content}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
