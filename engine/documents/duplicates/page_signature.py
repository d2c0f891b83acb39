"""Page signatures, to find equal pages: perceptual hash of the image and MinHash of the words. Pure.

A page that is scanned, printed or read again counts as equal; a form filled with other values does not. An image of 64
x 64 pixels cannot separate those two, words can. Two receipts of one shop share most words, but look different. So both
must agree. The kind of difference matters more than the number of differing words: a misread word stays similar,
another value does not. Pages with few words are compared by image; an empty page equals none.

Sources: pHash, the signs of the low frequencies of a discrete cosine transform (Zauner 2010, Implementation and
Benchmarking of Perceptual Image Hash Functions, section 3.2.1); MinHash and its bands (Broder 1997; Leskovec, Rajaraman
and Ullman, Mining of Massive Datasets, sections 3.3 and 3.4). Thresholds were fitted with
tests/benchmarks/near_duplicates.py.
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

FEW_WORDS = 8  # with fewer words the image decides, and the words must be equal
PICTURE_BITS = 256
MOST_BITS = 40  # bits of the image hash that may differ when words agree too
MOST_BITS_ALONE = 26  # when there are few words
MOST_OTHER_WORDS = 0.04  # share of letters in words without a similar word on the other page
PARDONED = 0.1  # letters of such words allowed per letter of misread words: poor OCR distorts some beyond recognition
LEAST_LENGTH = 0.7  # shorter text as a share of the longer: a filled form differs from the blank one
MOST_OTHER_NUMBERS = 0.3  # share of the numbers without a similar number
FLAT = 10  # grey levels (of 255) between the darkest and the lightest spot of an empty page
_SIDE = 16  # of the square of frequencies
_PERMUTATIONS, _ROWS = (
    96,
    2,
)  # 48 bands of two: pages that share a quarter of their word pairs meet in 19 of 20 cases
_PICTURE_BAND = 16  # bits
_SHINGLE = 2  # words
_LIKE, _LIKE_NUMBER = 0.5, 0.75  # similarity of two words from which one may be a misreading of the other
_SHORTEST = 3  # letters or digits; shorter words are confused too easily
_THUMB = 256  # pixels; the least side to which a large image is scaled before hashing


@dataclass(frozen=True, slots=True)
class Signature:
    """Signature of a page. `picture`: 256 bits as hexadecimal digits, "" for a visually empty page.

    `words`: MinHash of its word pairs, 96 numbers below 2**32; () below FEW_WORDS. `text`: its words, folded.
    """

    picture: str
    words: tuple[int, ...]
    text: str

    @property
    def empty(self) -> bool:
        """Return whether the page has nothing to recognise."""
        return not self.picture and not self.words


def signature_of(image: Image.Image, words: Iterable[str]) -> Signature:
    """Return the signature of a rendered page and its words in reading order."""
    read = fold_words(words)
    few = len(read) < FEW_WORDS
    return Signature(_picture(image, blank=not read), () if few else _minhash(read), " ".join(read))


def fold_words(words: Iterable[str]) -> list[str]:
    """Fold words for comparison: lower-case letters and digits; words without any are dropped."""
    folded = ("".join(sign for sign in word.casefold() if sign.isalnum()) for word in words)
    return [word for word in folded if word]


def bands_of(signature: Signature, scope: str) -> list[int]:
    """Return the keys by which similar pages are found, as signed 64-bit integers; none for an empty page.

    `scope`: pages of different scopes never meet. Pages meet by words or by image.
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
    """Return whether two pages have equal content."""
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
    """Return the number of the 256 image bits that differ."""
    return (int(one.picture, 16) ^ int(other.picture, 16)).bit_count()


def shared_words(one: Signature, other: Signature) -> float:
    """Return the estimated share of word pairs that two pages have in common (Jaccard), 0..1."""
    return float(np.mean(np.array(one.words) == np.array(other.words)))


def other_words(one: str, other: str) -> float:
    """Return the share of letters, 0..1, in words of one page without a similar word on the other.

    The smaller of both pages' shares: text that OCR lost or invented is on one page only. The more words are misread,
    the more of the remaining ones count as misread.
    """
    first, second = one.split(), other.split()
    left = _find_unmatched(first, second, _LIKE)
    letters = _letters(first) + _letters(second)
    equal = 2 * _letters((Counter(first) & Counter(second)).elements())
    misread = letters - equal - sum(map(_letters, left))
    return max(0.0, 2 * min(_letters(_long(words)) for words in left) - PARDONED * misread) / max(1, letters)


def other_numbers(one: str, other: str) -> float:
    """Return the share of numbers, 0..1, without a similar one on the other page; 0 for under three."""
    first, second = _numbers(one), _numbers(other)
    if min(len(first), len(second)) < _SHORTEST:
        return 0.0
    return min(map(len, _find_unmatched(first, second, _LIKE_NUMBER))) / min(len(first), len(second))


def _find_unmatched(one: Sequence[str], other: Sequence[str], like: float) -> tuple[list[str], list[str]]:
    """Return the words of both without equal and, longest first, without similar counterparts."""
    counts = Counter(one), Counter(other)
    ours, theirs = list((counts[0] - counts[1]).elements()), list((counts[1] - counts[0]).elements())
    unmatched = []
    for word in sorted(ours, key=len, reverse=True):
        match = process.extractOne(word, theirs, scorer=Indel.normalized_similarity, score_cutoff=like)
        if match is None:
            unmatched.append(word)
        else:
            theirs.pop(match[2])
    return unmatched, theirs


def _letters(words: Iterable[str]) -> int:
    return sum(map(len, words))


def _long(words: Iterable[str]) -> list[str]:
    return [word for word in words if len(word) >= _SHORTEST]


def _numbers(text: str) -> list[str]:
    return [word for word in text.split() if sum(sign.isdigit() for sign in word) >= _SHORTEST]


def _picture(image: Image.Image, *, blank: bool) -> str:
    import imagehash  # imports SciPy, a tenth of a second that only readers of documents should wait for

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
    # Numbered, so that repeated words count separately.
    counted = [f"{shingle}#{turn}" for shingle, count in Counter(shingles).items() for turn in range(count)]
    permuted: Any = _permutations().copy()
    permuted.update_batch([shingle.encode() for shingle in counted])
    values: NDArray[np.uint64] = permuted.hashvalues
    return tuple(int(value) for value in values)


@cache
def _permutations() -> Any:
    from datasketch import MinHash  # imports half of SciPy: half a second

    return MinHash(num_perm=_PERMUTATIONS, seed=1)


def _key(scope: str, kind: str, band: int, content: str) -> int:
    digest = hashlib.blake2b(f"{scope} {kind} {band} {content}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
