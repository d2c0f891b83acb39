"""Find printed keys on a page, and the value that a plain layout puts beside each."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from model.layout import Layout

LONGEST_KEY = 8  # words
_LONGEST_BARE = 5  # words of a key without a colon
_FARTHEST = 30.0  # line heights between a key and its value on one line
_EDGE = 0.5  # line heights between left edges that count as one column
_ALIGNED = 2  # other values of the column that make a value plain


@dataclass(frozen=True, slots=True)
class Key:
    """A printed key and the words right of it on its line, both as indices of words in reading order."""

    words: tuple[int, ...]
    value: tuple[int, ...]  # empty where nothing stands there
    text: str  # without its colon
    has_colon: bool
    plain: bool  # key and value stand in a column of keys and a column of values


def find_keys(layout: Layout) -> list[Key]:
    """Find the keys of a page that occur once on it.

    A key is a short segment of letters that ends with a colon, or one with another segment right of it.

    Args:
        layout: layout of the page's words.

    Returns:
        Keys in reading order.
    """
    found = [key for segment in range(len(layout.segment_boxes)) if (key := _key_at(layout, segment)) is not None]
    often = Counter(_bare(key.text) for key in found)
    single = [key for key in found if often[_bare(key.text)] == 1]
    return [_with_evidence(layout, key, found) for key in single]


def _key_at(layout: Layout, segment: int) -> Key | None:
    words = _members(layout, segment)
    text = " ".join(layout.texts[word] for word in words).strip(" :.…_-")
    letters = sum(c.isalpha() for c in text)
    colon = bool(layout.segment_colon[segment])
    value = _right_of(layout, segment)
    if not letters >= 2 or letters < 0.6 * len(text.replace(" ", "")):
        return None
    if len(words) > (LONGEST_KEY if colon else _LONGEST_BARE) or not (colon or value):
        return None
    return Key(tuple(words), tuple(value), text, colon, False)


def _right_of(layout: Layout, segment: int) -> list[int]:
    """Return the words of the next segment on the line, unless it is a key or far away."""
    following = segment + 1
    boxes = layout.segment_boxes
    if following >= len(boxes) or layout.segment_line[following] != layout.segment_line[segment]:
        return []
    if layout.segment_colon[following] or boxes[following, 0] - boxes[segment, 2] > _FARTHEST:
        return []
    return _members(layout, following)


def _with_evidence(layout: Layout, key: Key, others: Sequence[Key]) -> Key:
    """Mark a key as plain where other keys and values share its two left edges."""
    if not key.value:
        return key
    boxes = layout.boxes
    alike = sum(
        bool(other.value)
        and other.has_colon == key.has_colon
        and other.words != key.words
        and abs(boxes[other.value[0], 0] - boxes[key.value[0], 0]) < _EDGE
        and (
            abs(boxes[other.words[0], 0] - boxes[key.words[0], 0]) < _EDGE
            or abs(boxes[other.words[-1], 2] - boxes[key.words[-1], 2]) < _EDGE
        )
        for other in others
    )
    return Key(key.words, key.value, key.text, key.has_colon, alike >= _ALIGNED)


def _members(layout: Layout, segment: int) -> list[int]:
    return [int(word) for word in layout.order if layout.segment[word] == segment]


def _bare(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()
