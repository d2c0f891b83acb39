"""Read the layout of a page: lines, segments and reading order of its words.

Lengths are in line heights, so that the scale of the page does not matter.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.examples import Word

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

SEGMENT_GAP = 1.2  # a wider space, in line heights, ends a segment; so does a colon
_LINES_BACK = 12  # a new word is compared with this many of the latest lines


@dataclass(frozen=True, slots=True)
class Layout:
    """Layout of N words in S segments."""

    texts: tuple[str, ...]
    boxes: Floats  # [N, 4] in line heights
    height: float  # the line height: median height of a word, pixels
    line: Integers  # [N]
    segment: Integers  # [N]; segments are numbered line by line, from the left
    order: Integers  # [N] indices of words, line by line, from the left
    rank: Integers  # [N] inverse of order
    segment_boxes: Floats  # [S, 4] in line heights
    segment_line: Integers  # [S]
    segment_colon: NDArray[np.bool_]  # [S] whether its last word ends with a colon


def read_layout(words: Sequence[Word]) -> Layout:
    """Read the layout of a page's words.

    Args:
        words: words with boxes in pixels; may be empty.

    Returns:
        The layout, in the order of `words`.
    """
    texts = tuple(word.text for word in words)
    pixels = np.array([word.box for word in words], np.float32).reshape(-1, 4)
    height = max(1.0, float(np.median(pixels[:, 3] - pixels[:, 1]))) if len(words) else 1.0
    boxes = pixels / height
    lines = _lines(boxes)
    line, segment = np.zeros(len(words), np.int64), np.zeros(len(words), np.int64)
    order: list[int] = []
    x0, x1 = boxes[:, 0].tolist(), boxes[:, 2].tolist()
    current = -1
    for number, (line_height, members) in enumerate(lines):
        previous = -1
        for index in sorted(members, key=x0.__getitem__):
            if (
                previous < 0
                or texts[previous].endswith(":")
                or x0[index] - x1[previous] > SEGMENT_GAP * max(0.3, line_height)
            ):
                current += 1
            line[index], segment[index] = number, current
            order.append(index)
            previous = index
    rank = np.empty(len(words), np.int64)
    rank[order] = np.arange(len(words))
    count = current + 1
    segment_boxes = np.concatenate([np.full((count, 2), np.inf), np.full((count, 2), -np.inf)], 1).astype(np.float32)
    np.minimum.at(segment_boxes[:, :2], segment, boxes[:, :2])
    np.maximum.at(segment_boxes[:, 2:], segment, boxes[:, 2:])
    segment_line, segment_colon = np.zeros(count, np.int64), np.zeros(count, bool)
    for index in order:  # in order, so that the last word of a segment decides
        segment_line[segment[index]] = line[index]
        segment_colon[segment[index]] = texts[index].endswith(":")
    return Layout(
        texts, boxes, height, line, segment, np.array(order, np.int64), rank, segment_boxes, segment_line, segment_colon
    )


@dataclass(slots=True)
class _Line:
    centre: float  # mean of its words, in line heights
    height: float  # mean of its words, in line heights
    members: list[int]


def _lines(boxes: Floats) -> list[tuple[float, list[int]]]:
    """Group words into lines, from the top; each line is its mean height and its members.

    A word joins the last nearby line whose centre is close enough.
    """
    centres, heights = ((boxes[:, 1] + boxes[:, 3]) / 2).tolist(), (boxes[:, 3] - boxes[:, 1]).tolist()
    lines: list[_Line] = []
    for index in np.argsort(np.array(centres), kind="stable").tolist():
        centre, height, home = centres[index], heights[index], None
        for candidate in lines[-_LINES_BACK:]:
            if abs(candidate.centre - centre) < 0.5 * max(0.3, min(height, candidate.height)):
                home = candidate
        if home is None:
            lines.append(_Line(centre, height, [index]))
        else:
            home.members.append(index)
            home.centre += (centre - home.centre) / len(home.members)
            home.height += (height - home.height) / len(home.members)
    return [(line.height, line.members) for line in sorted(lines, key=lambda line: line.centre)]
