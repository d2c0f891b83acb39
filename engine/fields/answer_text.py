"""Comparison of an answer's text with acceptable texts: exact, and ANLS. Pure."""

from collections.abc import Iterable
from unicodedata import category, normalize

from rapidfuzz.distance import Levenshtein

_ANLS_THRESHOLD = 0.5  # normalised distance from which an answer counts as wrong, as in the paper


def normalise(text: str) -> str:
    """Return a text without regard to case and white space, and nothing else; accents are composed (NFC).

    White space is left out, not merged: sets cut dates as "9/ 3/ 92", and OCR does not.
    """
    return "".join(normalize("NFC", text).lower().split())


def without_punctuation(text: str) -> str:
    """Return the normalised text without punctuation and symbols (Unicode categories P and S)."""
    return "".join(c for c in normalise(text) if category(c)[0] not in "PS")


def is_exact(text: str, acceptable: Iterable[str]) -> bool:
    """Return whether a text equals an acceptable one after `normalise`."""
    ours = normalise(text)
    return any(normalise(candidate) == ours for candidate in acceptable)


def anls(text: str, acceptable: Iterable[str]) -> float:
    """Return the normalised Levenshtein similarity to the nearest acceptable text, 0..1; 0 when below one half.

    Source: Biten et al. 2019, "Scene Text Visual Question Answering", section 4: the term of one question, with
    threshold 0.5. Texts are compared after `normalise`.
    """
    ours = normalise(text)
    return max((similarity(ours, normalise(candidate)) for candidate in acceptable), default=0.0)


def similarity(ours: str, theirs: str) -> float:
    """Return the normalised Levenshtein similarity of two normalised texts, 0..1; 0 when below one half."""
    distance = Levenshtein.normalized_distance(ours, theirs)
    return 1 - distance if distance < _ANLS_THRESHOLD else 0.0
