"""Find the places of a page at which the key of a question is printed, equally well matched."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from model.boxes import FloatBox
from model.layout import Layout
from model.vocabulary import weight_of

MOST_PLACES = 9  # of a key that are told apart: as many as there are digits to choose by
_ALIKE = 85.0  # similarity 0..100 of printed text and key
_EQUALLY = 10.0  # a place may match worse than the best one by this much
_SPACE = 0.6  # line heights; a wider space ends a phrase
_LONGEST = 12  # words of a printed key
_NEAR_RIGHT, _NEAR_BELOW = 25.0, 4.0  # line heights from a key to its value
_WIDER, _OVER = 6.0, 1.0  # line heights that a column is wider than its heading, and a cell wider than its column
_COLUMN_GAP = 3.5  # line heights between two rows of a table, at most


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """One place at which a key is printed."""

    words: tuple[int, ...]  # indices, in reading order
    box: FloatBox  # of these words, in line heights
    line: int  # of its first word
    high: int  # place of its last word in reading order


def key_places(layout: Layout, question: Sequence[str]) -> list[KeyPlace]:
    """Find where the page prints the key of a question.

    Words are compared without case, spaces and signs, so that "No. (s)" matches "NO.(S)". A key may be broken over two
    lines. Places in running text are left out where others stand like keys: at the beginning of a segment.

    Args:
        layout: layout of the page, N words.
        question: words of the question, as `model.vocabulary.words_of` splits them.

    Returns:
        Places that match about as well as the best one, from the top; empty where none does.
    """
    key = _key_of(question)
    if not key:
        return []
    order = layout.order.tolist()
    texts = [_squash(layout.texts[index]) for index in order]
    lines = layout.line[layout.order].tolist()
    matches = _on_one_line(key, texts, lines) or _on_two_lines(key, texts, lines, layout)
    best = max((likeness for likeness, _ in matches), default=0.0)
    taken: set[int] = set()
    places = []
    for likeness, ranks in sorted(matches, key=lambda match: (-match[0], match[1])):
        if likeness >= best - _EQUALLY and not taken.intersection(ranks):
            taken.update(ranks)
            places.append(_place(layout, ranks))
    like_keys = [place for place in places if _begins(layout, place)]
    return sorted(like_keys or places, key=lambda place: (place.line, place.box[0]))


def words_near(layout: Layout, place: KeyPlace) -> NDArray[np.bool_]:
    """Return which words may begin the value of a key, [N]: right of it on its line, or below it."""
    x0, y0, x1, y1 = place.box
    boxes = layout.boxes
    centre = (boxes[:, 1] + boxes[:, 3]) / 2
    right = (np.abs(centre - (y0 + y1) / 2) < 0.8) & (boxes[:, 0] > x1 - 0.5) & (boxes[:, 0] < x1 + _NEAR_RIGHT)
    under = np.minimum(boxes[:, 2], x1 + 2) > np.maximum(boxes[:, 0], x0 - 2)
    near: NDArray[np.bool_] = right | under & (boxes[:, 1] > y1 - 0.5) & (boxes[:, 1] < y1 + _NEAR_BELOW)
    return near


def column_below(layout: Layout, place: KeyPlace, barred: NDArray[np.bool_]) -> list[int]:
    """Return the words of the table's column whose heading this key is.

    A key is a heading where other segments stand beside it on its line, and one segment a line stands below it.

    Args:
        layout: layout of the page, N words.
        place: the key.
        barred: words that end a column, [N]: the keys themselves.

    Returns:
        Indices in reading order; empty where fewer than two lines stand below.
    """
    x0, _, x1, y1 = place.box
    low, high = int(layout.rank[place.words[0]]), place.high
    beside = [int(layout.order[at]) for at in (low - 1, high + 1) if 0 <= at < len(layout.order)]
    beside = [index for index in beside if layout.line[index] == place.line]
    if not beside:
        return []
    left = max((float(layout.boxes[at, 2]) + x0) / 2 if layout.boxes[at, 2] < x1 else x0 - _WIDER for at in beside)
    right = min((float(layout.boxes[at, 0]) + x1) / 2 if layout.boxes[at, 0] > x0 else x1 + _WIDER for at in beside)
    left, right = max(left, x0 - _WIDER), min(right, x1 + _WIDER)
    boxes, down = layout.boxes, y1
    centres = (boxes[:, 0] + boxes[:, 2]) / 2
    inside = (centres > left) & (centres < right) & (boxes[:, 1] > y1 - 0.5)
    column: list[int] = []
    rows = 0
    for line in np.unique(layout.line[inside]).tolist():
        if line == place.line:
            continue
        words = np.flatnonzero(inside & (layout.line == line))
        top = float(boxes[words, 1].min())
        if top - down > _COLUMN_GAP or barred[words].any():
            break
        if boxes[words, 0].min() < left - _OVER or boxes[words, 2].max() > right + _OVER or _in_a_phrase(layout, words):
            break  # a line of text, not a cell
        column += words[np.argsort(layout.rank[words])].tolist()
        down, rows = float(boxes[words, 3].max()), rows + 1
    return column if rows > 1 else []


def _key_of(question: Sequence[str]) -> str:
    """Return the key that a question names: from its first word of weight to its last; else its signs."""
    for weight in (0.9, 0.3):
        heavy = [at for at, token in enumerate(question) if weight_of(token) >= weight]
        if heavy:
            return _squash("".join(question[heavy[0] : heavy[-1] + 1]))
    return "".join(token for token in question if weight_of(token) == 0).rstrip("?.:!")


@lru_cache(maxsize=50_000)
def _squash(text: str) -> str:
    """Return the letters and digits of a text in lower case; its signs where it has neither."""
    return "".join(c for c in text.casefold() if c.isalnum()) or text.strip(":.,")


def _on_one_line(key: str, texts: Sequence[str], lines: Sequence[int]) -> list[tuple[float, tuple[int, ...]]]:
    """Find runs of words on one line that spell the key: likeness 0..100, and places in reading order."""
    matches: list[tuple[float, tuple[int, ...]]] = []
    for low, first in enumerate(texts):
        if not _may_begin(first, key):
            continue
        spelled = ""
        best: tuple[float, tuple[int, ...]] = (0.0, (low,))
        for high in range(low, min(len(texts), low + _LONGEST)):
            spelled += texts[high]
            if lines[high] != lines[low] or len(spelled) > 1.2 * len(key) + 1:
                break
            likeness = fuzz.ratio(spelled, key) if texts[high] else 0.0
            if likeness > best[0]:
                best = (likeness, tuple(range(low, high + 1)))
        if best[0] >= _ALIKE:
            matches.append(best)
    return matches


def _on_two_lines(
    key: str, texts: Sequence[str], lines: Sequence[int], layout: Layout
) -> list[tuple[float, tuple[int, ...]]]:
    """Find keys broken over two lines: a beginning on one, and the rest in a segment right below it."""
    matches: list[tuple[float, tuple[int, ...]]] = []
    boxes, segments = layout.boxes[layout.order], layout.segment[layout.order].tolist()
    for low, first in enumerate(texts):
        if not _may_begin(first, key):
            continue
        spelled = ""
        for high in range(low, min(len(texts), low + _LONGEST)):
            spelled += texts[high]
            if lines[high] != lines[low] or len(spelled) >= len(key):
                break
            if fuzz.ratio(spelled, key[: len(spelled)]) < _ALIKE:
                continue
            x0, x1, y1 = float(boxes[low, 0]), float(boxes[high, 2]), float(boxes[low : high + 1, 3].max())
            for at in range(high + 1, len(texts)):
                top = float(boxes[at, 1])
                if top > y1 + 1.2:
                    break
                overlaps = min(float(boxes[at, 2]), x1 + 1) > max(float(boxes[at, 0]), x0 - 1)
                if lines[at] == lines[low] or not overlaps or not texts[at]:
                    continue
                continuation, end = "", at
                while end < len(texts) and segments[end] == segments[at] and len(spelled + continuation) < len(key):
                    continuation += texts[end]
                    end += 1
                likeness = fuzz.ratio(spelled + continuation, key)
                if likeness >= _ALIKE:
                    matches.append((likeness, (*range(low, high + 1), *range(at, end))))
                    break
    return matches


def _may_begin(word: str, key: str) -> bool:
    return bool(word) and (word[0] == key[0] or len(key) > 4) and fuzz.ratio(word, key[: len(word)]) > 60


def _place(layout: Layout, ranks: Sequence[int]) -> KeyPlace:
    words = tuple(layout.order[list(ranks)].tolist())
    boxes = layout.boxes[list(words)]
    x0, y0 = boxes[:, :2].min(0).tolist()
    x1, y1 = boxes[:, 2:].max(0).tolist()
    return KeyPlace(words, (x0, y0, x1, y1), int(layout.line[words[0]]), max(ranks))


def _begins(layout: Layout, place: KeyPlace) -> bool:
    """Return whether a key stands like a key: no word of a sentence stands right before it."""
    first = place.words[0]
    low = int(layout.rank[first])
    if low == 0:
        return True
    before = int(layout.order[low - 1])
    if layout.segment[before] != layout.segment[first] or layout.boxes[first, 0] - layout.boxes[before, 2] > _SPACE:
        return True
    text = layout.texts[before]
    return sum(c.isalpha() for c in text) < 2 or not text[-1].isalnum()


def _in_a_phrase(layout: Layout, words: NDArray[np.int64]) -> bool:
    """Return whether a word of the same text stands beside these words of one line, closer than a wide space."""
    ranks = layout.rank[words]
    for inner, outer in ((int(ranks.min()), int(ranks.min()) - 1), (int(ranks.max()), int(ranks.max()) + 1)):
        if not 0 <= outer < len(layout.order):
            continue
        inner_word, outer_word = int(layout.order[inner]), int(layout.order[outer])
        gap = max(layout.boxes[inner_word, 0], layout.boxes[outer_word, 0]) - min(
            layout.boxes[inner_word, 2], layout.boxes[outer_word, 2]
        )
        letters = all(any(c.isalpha() for c in layout.texts[index]) for index in (inner_word, outer_word))
        if layout.line[inner_word] == layout.line[outer_word] and gap < _SPACE and letters:
            return True
    return False
