"""Find lexical anchors: page words that match words of a question, and the values printed beside them.

Anchors are input features of the word head and of the mask decoder. Small networks do not learn to match strings:
in a trial acc@.5 was .007 without anchors and .48 with them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from model.boxes import FloatBox
from model.layout import Floats, Integers, Layout
from model.vocabulary import bare, weight_of

RUNS = 3  # runs of words that look most like the key
CANDIDATES_FOR = 2  # the first runs, which have value candidates


class WordColumn(IntEnum):
    """Columns of an anchor that describe a word by itself, before the columns of the runs."""

    SIMILARITY = 0  # 0..1, to the likeliest word of the question
    MATCH = 1  # the same, 0 below the least that counts
    GAIN = 2  # the match times the weight of its word
    EXACT = 3  # weight of the word that this one equals
    PLACE_IN_QUESTION = 4
    SEGMENT_COVER = 5  # share of the question that the word's segment covers
    SEGMENT_SHARE = 6  # share of the segment's words that match
    LINE_COVER = 7


class RunColumn(IntEnum):
    """Columns of an anchor for each run; those from `SEGMENT_REST` are there for the first `CANDIDATES_FOR` runs."""

    INSIDE = 0  # 1 for the words of the run
    RIGHT_OF_END = 1
    RIGHT_OF_START = 2
    DOWN = 3
    BELOW = 4
    SAME_LINE_AFTER = 5
    UNDER = 6
    LEVEL = 7
    NEXT_IN_ORDER = 8
    COVER = 9  # share of the question that the run covers
    SEGMENT_REST = 10  # value candidates: words of the run's segment after it
    SEGMENT_RIGHT = 11
    SEGMENT_BELOW = 12
    LIKELIEST = 13


class RunField(IntEnum):
    """Columns of `Anchors.runs`."""

    X0 = 0
    Y0 = 1
    X1 = 2
    Y1 = 3
    COVER = 4


def _count_columns(number: int) -> int:
    """Return how many columns of an anchor describe a run."""
    return len(RunColumn) if number < CANDIDATES_FOR else RunColumn.SEGMENT_REST


RUN_STARTS = tuple(len(WordColumn) + sum(map(_count_columns, range(number))) for number in range(RUNS))
ANCHORS = len(WordColumn) + sum(map(_count_columns, range(RUNS)))  # features of a word
_SIMILAR, _SAME = 0.74, 0.80  # similarity 0..1 of a match that counts, and of one that makes a word frequent
_FOLLOWING = 8  # words after the key with a feature for their distance


@dataclass(frozen=True, slots=True)
class Anchors:
    """Anchors of one question on a page of N words."""

    features: Floats  # [N, ANCHORS]
    runs: Floats  # [RUNS, RunField]: box in line heights, share 0..1 of the question it covers (0: no word matches)


def find_anchors(layout: Layout, question: Sequence[str], without: NDArray[np.bool_] | None = None) -> Anchors:
    """Find the anchors of a question on a page.

    Args:
        layout: layout of the page, N words.
        question: words of the question, as `model.vocabulary.words_of` splits them.
        without: which words match nothing, as though the key were not printed there, [N].

    Returns:
        Features of each word and the runs of words that look most like the key.
    """
    count = len(layout.texts)
    if count == 0:
        return Anchors(np.zeros((0, ANCHORS), np.float32), np.zeros((RUNS, len(RunField)), np.float32))
    tokens = [token for token in question if weight_of(token) > 0] or ["?"]
    weights = np.array([weight_of(token) for token in tokens], np.float32)
    if weights.max() < 0.5:  # only function words: then they are the key
        weights[:] = 1.0
    page = [bare(text) for text in layout.texts]
    similar = process.cdist([bare(t) for t in tokens], page, scorer=fuzz.ratio, dtype=np.float32) / 100.0  # [T, N]
    if without is not None:
        similar[:, without] = 0.0
    frequency = np.maximum(1, (similar > _SAME).sum(1))
    weights = weights * np.log(1 + count / (1.0 + frequency)) / math.log(1 + count / 2.0)
    matched = np.where(similar > _SIMILAR, similar, 0.0)
    gain = (matched * weights[:, None]).max(0)  # [N]
    total = float(weights.sum()) + 1e-6
    best = similar.argmax(0)
    segment_cover, segment_share = _coverage(layout, layout.segment, matched, weights, total)
    line_cover, _ = _coverage(layout, layout.line, matched, weights, total)
    columns: list[NDArray[Any]] = [  # in the order of `WordColumn`
        similar.max(0),
        matched.max(0),
        gain,
        (similar.max(0) > 0.99) * weights[best],
        best / 12.0,
        segment_cover,
        segment_share,
        line_cover,
    ]
    runs = np.zeros((RUNS, len(RunField)), np.float32)
    free = np.ones(count, bool)  # places in reading order outside earlier runs
    for number in range(RUNS):
        low, high, has_run = _best_run(layout, gain, free, 0.25 * max(0.2, float(weights.max())))
        members = layout.order[low : high + 1]
        box = _union(layout.boxes[members])
        cover = float((matched[:, members].max(1) * weights).sum() / total) if has_run else 0.0
        runs[number] = (*box, cover)
        columns += _offsets(layout, members, box, high, cover)
        if number < CANDIDATES_FOR:
            columns += _value_candidates(layout, box, high)
        free[low : high + 1] = False
    return Anchors(np.stack(columns, 1).astype(np.float32), runs)


def soft_log(values: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return sign(x) log(1 + |x|), which is exact near zero and coarse far from it."""
    logs: NDArray[np.floating[Any]] = np.sign(values) * np.log1p(np.abs(values))
    return logs


def _coverage(layout: Layout, group: Integers, matched: Floats, weights: Floats, total: float) -> tuple[Floats, Floats]:
    """Return how much of the question each word's group covers, and how much of the group matches.

    A group is a line or a segment. Both results are [N], shares 0..1.
    """
    ordered, sorted_group = matched[:, layout.order], group[layout.order]
    starts = np.flatnonzero(np.r_[True, sorted_group[1:] != sorted_group[:-1]])
    lengths = np.diff(np.r_[starts, len(sorted_group)])
    cover = (np.maximum.reduceat(ordered, starts, 1) * weights[:, None]).sum(0) / total
    share = np.add.reduceat((ordered.max(0) > 0).astype(np.float32), starts) / lengths
    per_word = np.empty((2, len(sorted_group)), np.float32)
    per_word[:, layout.order] = np.repeat(np.stack([cover, share]), lengths, axis=1)
    return per_word[0], per_word[1]


def _best_run(layout: Layout, gain: Floats, free: NDArray[np.bool_], penalty: float) -> tuple[int, int, bool]:
    """Find the run of words on one line whose gain less its gaps is largest (Kadane's algorithm).

    Returns first and last place in reading order, and whether any word matched.
    """
    gains, lines = gain[layout.order].tolist(), layout.line[layout.order].tolist()
    segments = layout.segment[layout.order].tolist()
    best, low, high = 0.0, 0, 0
    current, start, previous = 0.0, 0, -1
    for place in np.flatnonzero((gain[layout.order] > 0) & free).tolist():
        if previous < 0 or lines[place] != lines[previous]:
            current, start = 0.0, place
        else:
            current -= penalty * (place - previous - 1 + segments[place] - segments[previous])
            if current <= 0:
                current, start = 0.0, place
        current += gains[place]
        previous = place
        if current > best:
            best, low, high = current, start, place
    return low, high, best > 0


def _union(boxes: Floats) -> FloatBox:
    x0, y0 = boxes[:, :2].min(0).tolist()
    x1, y1 = boxes[:, 2:].max(0).tolist()
    return x0, y0, x1, y1


def _offsets(layout: Layout, members: Integers, box: tuple[float, ...], high: int, cover: float) -> list[NDArray[Any]]:
    """Return the columns [N] that place each word relative to a run, in the order of `RunColumn`."""
    x0, y0, x1, y1 = box
    boxes = layout.boxes
    centre = (boxes[:, 1] + boxes[:, 3]) / 2
    down = centre - (y0 + y1) / 2
    inside = np.zeros(len(boxes), np.float32)
    inside[members] = 1
    same_line = layout.line == layout.line[members[0]]
    overlap = np.minimum(x1, boxes[:, 2]) - np.maximum(x0, boxes[:, 0])
    after = layout.rank - high
    return [
        inside,
        soft_log(boxes[:, 0] - x1),
        soft_log(boxes[:, 0] - x0),
        soft_log(down),
        soft_log(boxes[:, 1] - y1),
        same_line & (boxes[:, 0] - x1 > -0.5),
        (overlap > 0) & (boxes[:, 1] > y1 - 0.5),
        np.exp(-((down / 0.5) ** 2)),
        np.where((after > 0) & (after < _FOLLOWING) & same_line, 1.0 / np.maximum(after, 1), 0.0),
        np.full(len(boxes), cover),
    ]


def _value_candidates(layout: Layout, box: tuple[float, ...], high: int) -> list[NDArray[np.bool_]]:
    """Return four masks [N] of words that are the value if this run is the key.

    They are the rest of the run's segment, the next segment, the segment below, and the likeliest of the three, as
    `RunColumn` names them.
    """
    x0, _, x1, y1 = box
    home = int(layout.segment[layout.order[high]])
    segment_rest = (layout.segment == home) & (layout.rank > high)
    right = below = np.zeros(len(layout.texts), bool)
    has_right = home + 1 < len(layout.segment_boxes) and layout.segment_line[home + 1] == layout.segment_line[home]
    if has_right:
        right = layout.segment == home + 1
    boxes = layout.segment_boxes
    under = (np.minimum(boxes[:, 2], x1) - np.maximum(boxes[:, 0], x0) > 0) & (boxes[:, 1] > y1 - 0.4)
    if under.any():
        below = layout.segment == int(np.where(under, boxes[:, 1], np.inf).argmin())
    if segment_rest.any():
        likeliest = segment_rest
    elif has_right and not layout.segment_colon[home + 1]:
        likeliest = right
    else:
        likeliest = below
    return [segment_rest, right & (not segment_rest.any()), below, likeliest]
