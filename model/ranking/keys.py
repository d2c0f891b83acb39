"""Find printed keys on a page, and the value that a plain layout puts beside each."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from model.layout import Layout
from model.vocabulary import bare, weight_of, words_of

LONGEST_KEY = 8  # words
_LONGEST_BARE = 5  # words of a key without a colon
_FARTHEST = 30.0  # line heights between a key and its value on one line
_EDGE = 0.5  # line heights between left edges that count as one column
_TELLING = 0.5  # weight of a word that says what is asked
_MOST_TOKENS = 40
_ALIGNED = 2  # other values of the column that make a value plain


@dataclass(frozen=True, slots=True)
class Key:
    """A printed key and the words right of it on its line, both as indices of words in reading order."""

    words: tuple[int, ...]
    value: tuple[int, ...]  # empty where nothing stands there
    text: str  # without its colon
    has_colon: bool
    plain: bool  # key and value stand in a column of keys and a column of values

    @property
    def tokens(self) -> frozenset[str]:
        """What a question must ask for to mean this key: its telling words."""
        return telling(words_of(self.text, _MOST_TOKENS))


def telling(tokens: Sequence[str]) -> frozenset[str]:
    """Return the words of a question or key that say what is asked, in lower case; all words where none does."""
    content_words = frozenset(bare(token) for token in tokens if weight_of(token) >= _TELLING)
    return content_words or frozenset(bare(token) for token in tokens)


def named_keys(keys: Sequence[Key], tokens: Sequence[str]) -> list[Key]:
    """Return the keys that a question, given by its words, asks for word for word."""
    asked = telling(tokens)
    return [key for key in keys if key.tokens == asked]


def plain_cell(keys: Sequence[Key], question: str) -> tuple[int, ...] | None:
    """Return the words of the plain cell beside the key that a question names; None without one."""
    plain = [key.value for key in named_keys(keys, words_of(question, _MOST_TOKENS)) if key.plain]
    return plain[0] if plain else None


def find_keys(layout: Layout) -> list[Key]:
    """Find the keys of a page that occur once on it.

    A key is a short segment of letters that ends with a colon, or one with another segment right of it.

    Args:
        layout: layout of the page's words.

    Returns:
        Keys in reading order.
    """
    members: dict[int, list[int]] = defaultdict(list)
    for word in layout.order.tolist():
        members[int(layout.segment[word])].append(word)
    keys = [key for segment in sorted(members) if (key := _key_at(layout, members, segment)) is not None]
    often = Counter(key.tokens for key in keys)
    single = [key for key in keys if often[key.tokens] == 1]
    return _with_evidence(layout, single, keys)


def _key_at(layout: Layout, members: dict[int, list[int]], segment: int) -> Key | None:
    words = members[segment]
    text = " ".join(layout.texts[word] for word in words).strip(" :.…_-")
    letters = sum(c.isalpha() for c in text)
    colon = bool(layout.segment_colon[segment])
    value = _right_of(layout, members, segment)
    if not letters >= 2 or letters < 0.6 * len(text.replace(" ", "")):
        return None
    if len(words) > (LONGEST_KEY if colon else _LONGEST_BARE) or not (colon or value):
        return None
    return Key(tuple(words), tuple(value), text, colon, False)


def _right_of(layout: Layout, members: dict[int, list[int]], segment: int) -> list[int]:
    """Return the words of the next segment on the line, unless it is a key or far away."""
    following = segment + 1
    boxes = layout.segment_boxes
    if following >= len(boxes) or layout.segment_line[following] != layout.segment_line[segment]:
        return []
    if layout.segment_colon[following] or boxes[following, 0] - boxes[segment, 2] > _FARTHEST:
        return []
    return members[following]


def _with_evidence(layout: Layout, keys: Sequence[Key], others: Sequence[Key]) -> list[Key]:
    """Mark a key as plain where at least two others stand alike.

    Their values begin at the same left edge, and their keys at the same left edge or before the same right one.
    """
    valued = [neighbour for neighbour in others if neighbour.value]
    if not valued:
        return list(keys)
    edges = np.array([_edges(layout, neighbour) for neighbour in valued])  # [V, 3]
    colons = np.array([neighbour.has_colon for neighbour in valued])
    marked = []
    for key in keys:
        if key.value:
            near = np.abs(edges - np.array(_edges(layout, key))) < _EDGE
            alike = int((near[:, 0] & (near[:, 1] | near[:, 2]) & (colons == key.has_colon)).sum()) - 1  # not itself
            key = replace(key, plain=alike >= _ALIGNED)
        marked.append(key)
    return marked


def _edges(layout: Layout, key: Key) -> tuple[float, float, float]:
    """Return the left edge of a key's value, and the left and right edges of the key."""
    boxes = layout.boxes
    return float(boxes[key.value[0], 0]), float(boxes[key.words[0], 0]), float(boxes[key.words[-1], 2])
