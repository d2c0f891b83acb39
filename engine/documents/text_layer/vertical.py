"""Vertical writing whose characters stand by themselves: columns from right to left, each read downwards.

MuPDF calls a line vertical where the font says so. Many programs place each character of a column by itself, in a font
for horizontal writing. There, the distances tell: a character is nearer to the one below it than to the one beside it.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from engine.documents.reading.source_words import FoundLine, FoundWord

_ALIGNED = 0.3  # of a character's size: how far the middles of a column's characters may lie apart
_LEVEL = 0.3  # sizes, that two pieces share in height or overlap below each other
_LIKE = 1.4  # times as large is the larger of two characters of a column, at most
_NEAR = 0.6  # sizes: the widest gap between two characters of a column
_CLEARLY = 1.4  # times as wide as the gap below is the gap beside it
_AIR = 0.1  # sizes, that count as no gap
_TOUCHING = 0.15  # sizes between two characters that are written across
_LEAST = 4  # characters of the column that shows a text to be vertical
_REACH = 3.0  # sizes between two columns of one text
_SHORT = 3  # characters of a piece that stands in a column: a number, written across
_EASTERN = (
    (0x3000, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),
    (0x20000, 0x3FFFF),
)
_MOST = 6_000  # characters that are looked at; a page with more is no vertical writing of single glyphs


def with_columns(lines: Sequence[FoundLine]) -> list[FoundLine]:
    """Return the lines, with those of vertical writing in single characters as columns: lines of heading 90.

    Args:
        lines: Of a layer, in pixels of the upright page.
    """
    level = [word for line in lines if line.heading == 0 for word in line.words]
    written_across = {id(word) for line in lines if line.heading == 0 for word in _touching(line.words)}
    pieces = [word for word in level if len(word.text) <= _SHORT and id(word) not in written_across]
    eastern = np.array([_is_eastern(word.text) for word in pieces], dtype=bool)
    if not _LEAST <= int(eastern.sum()) <= _MOST:
        return list(lines)
    boxes = np.array([word.box for word in pieces])
    below = _below(boxes, np.array([word.box for word in level]))
    across = [word.box for word in level if len(word.text) > _SHORT or id(word) in written_across]
    columns = [
        column for column in _columns(boxes, below) if not _is_of_table(boxes[column], np.array(across).reshape(-1, 4))
    ]
    vertical = _vertical_texts(columns, boxes, eastern)
    if not vertical:
        return list(lines)
    moved = {id(pieces[at]) for column in vertical for at in column}
    kept = []
    for line in lines:
        words = tuple(word for word in line.words if id(word) not in moved)
        if words:
            kept.append(FoundLine(words, line.heading))
    downwards: list[tuple[FoundWord, ...]] = [tuple(pieces[at] for at in column) for column in vertical]
    return [*kept, *(FoundLine(words, 90) for words in downwards)]


def _is_eastern(text: str) -> bool:
    """Return whether a piece is one character of Chinese, Japanese or Korean, or a sign among them."""
    return len(text) == 1 and any(first <= ord(text) <= last for first, last in _EASTERN)


def _touching(words: Sequence[FoundWord]) -> Iterator[FoundWord]:
    """Yield the words of a line that touch the word before or behind them: they are written across."""
    for before, after in pairwise(sorted(words, key=lambda word: word.box[0])):
        if -_LEVEL < (after.box[0] - before.box[2]) / max(1e-6, before.box[3] - before.box[1]) < _TOUCHING:
            yield before
            yield after


def _below(boxes: NDArray[np.float64], everything: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each piece the one that follows it in its column, int64 [N]; -1 where there is none.

    A piece follows if it is the nearest one below, and anything beside the upper one is clearly farther away.

    Args:
        boxes: Of pieces, [N, 4].
        everything: Boxes of all level words, [M, 4].
    """
    following = np.full(len(boxes), -1, dtype=np.int64)
    size = np.maximum(1e-6, boxes[:, 3] - boxes[:, 1])
    middle = (boxes[:, 0] + boxes[:, 2]) / 2
    for at, (x0, y0, x1, y1) in enumerate(boxes):
        gap = (boxes[:, 1] - y1) / size[at]
        near = (np.abs(middle - middle[at]) <= _ALIGNED * size[at]) & (gap > -_LEVEL) & (gap <= _NEAR)
        near &= (boxes[:, 1] > y0) & (size < _LIKE * size[at]) & (size * _LIKE > size[at])
        if not near.any():
            continue
        next_at = int(np.argmin(np.where(near, gap, np.inf)))
        level = np.minimum(everything[:, 3], y1) - np.maximum(everything[:, 1], y0) > _LEVEL * size[at]
        apart = np.maximum(everything[:, 0] - x1, x0 - everything[:, 2])[level] / size[at]
        apart = apart[apart > -0.5]  # a piece lies on itself
        if not len(apart) or apart.min() >= _CLEARLY * max(float(gap[next_at]), _AIR):
            following[at] = next_at
    return following


def _columns(boxes: NDArray[np.float64], below: NDArray[np.int64]) -> list[list[int]]:
    """Return the pieces of each column, from above; a piece that nothing follows or precedes is one by itself."""
    preceded = set(below[below >= 0].tolist())
    columns = []
    for first in sorted(set(range(len(boxes))) - preceded, key=lambda at: float(boxes[at, 1])):
        column, at = [first], int(below[first])
        while at >= 0:
            column.append(at)
            at = int(below[at])
        columns.append(column)
    return columns


def _is_of_table(column: NDArray[np.float64], across: NDArray[np.float64]) -> bool:
    """Return whether most pieces of a column have writing across beside them, float64 [M, 4]."""
    besides = 0
    for x0, y0, x1, y1 in column:
        level = np.minimum(across[:, 3], y1) - np.maximum(across[:, 1], y0) > _LEVEL * (y1 - y0)
        apart = np.maximum(across[:, 0] - x1, x0 - across[:, 2])
        besides += bool((level & (apart < _REACH * (y1 - y0))).any())
    return 2 * besides >= len(column)


def _vertical_texts(
    columns: list[list[int]], boxes: NDArray[np.float64], eastern: NDArray[np.bool_]
) -> list[list[int]]:
    """Return the columns that are vertical writing: long ones, and short ones beside them."""
    chosen = [column for column in columns if len(column) >= _LEAST and 2 * int(eastern[column].sum()) > len(column)]
    waiting = [column for column in columns if len(column) < _LEAST and eastern[column].any()]
    grown = bool(chosen)
    while grown:
        beside = [column for column in waiting if any(_is_beside(column, other, boxes) for other in chosen)]
        grown = bool(beside)
        chosen += beside
        waiting = [column for column in waiting if column not in beside]
    return chosen


def _is_beside(column: Sequence[int], other: Sequence[int], boxes: NDArray[np.float64]) -> bool:
    """Return whether a short column stands beside another, at the height of its characters."""
    x0, y0, x1, y1 = _hull(boxes[list(column)])
    u0, v0, u1, v1 = _hull(boxes[list(other)])
    size = float(boxes[column[0], 3] - boxes[column[0], 1])
    apart = max(u0 - x1, x0 - u1)
    return -_ALIGNED * size <= apart <= _REACH * size and y0 >= v0 - size and y1 <= v1 + size


def _hull(boxes: NDArray[np.float64]) -> tuple[float, float, float, float]:
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])
