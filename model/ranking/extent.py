"""Describe how far a proposal reaches: its size, whether it fills segments and lines, and what stands around it."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from model.layout import Floats, Layout
from model.ranking.proposals import Proposal
from model.vocabulary import Shape

_EDGE = 0.5  # line heights between left edges that count as one column


def extent_features(
    layout: Layout, inside: NDArray[np.bool_], proposals: Sequence[Proposal], shapes: Floats
) -> list[Floats]:
    """Describe the extent of proposals.

    Args:
        layout: layout of the page, N words.
        inside: which words each of P proposals has, [P, N].
        proposals: the same proposals.
        shapes: `shape_of` of each word, [N, SHAPES].

    Returns:
        Columns [P]: size, completeness of segments and lines, gaps inside and around, neighbours, alignment.
    """
    boxes, segment, line, rank = layout.boxes, layout.segment, layout.line, layout.rank
    order, count = layout.order, len(layout.texts)
    colons = shapes[:, Shape.ENDS_WITH_COLON]
    rows: list[list[float]] = []
    for row, proposal in enumerate(proposals):
        words = list(proposal.words)
        first, last = words[0], words[-1]
        lines, segments = np.unique(line[words]), np.unique(segment[words])
        in_segments = int(np.isin(segment, segments).sum())
        before = order[rank[first] - 1] if rank[first] else -1
        after = order[rank[last] + 1] if rank[last] + 1 < count else -1
        same_before = before >= 0 and line[before] == line[first]
        same_after = after >= 0 and line[after] == line[last]
        gap_before = boxes[first, 0] - boxes[before, 2] if same_before else 9.0
        gap_after = boxes[after, 0] - boxes[last, 2] if same_after else 9.0
        inner = [boxes[right, 0] - boxes[left, 2] for left, right in pairwise(words) if line[left] == line[right]]
        x0, y0 = boxes[words, 0].min(), boxes[words, 1].min()
        x1, y1 = boxes[words, 2].max(), boxes[words, 3].max()
        column = ~inside[row] & (np.minimum(boxes[:, 2], x1) > np.maximum(boxes[:, 0], x0))
        below = boxes[column & (boxes[:, 1] > y1 - 0.4), 1]
        above = boxes[column & (boxes[:, 3] < y0 + 0.4), 3]
        within = column & (boxes[:, 1] > y0 - 0.1) & (boxes[:, 3] < y1 + 0.1) & (boxes[:, 0] >= x0 - 0.1)
        starts = [boxes[line_words, 0].min() for line_words in ([w for w in words if line[w] == n] for n in lines)]
        heights = boxes[words, 3] - boxes[words, 1]
        pitch = (boxes[_last_line(words, line), 3].max() - y0) / max(1, len(lines))
        rows.append(
            [
                float(value) for value in (
                np.log1p(len(words)), len(words) == 1, len(lines) / 3, len(segments) / 3, len(lines) == 1,
                len(segments) == 1, len(words) / in_segments, not same_before, not same_after,
                same_before and segment[before] != segment[first], same_after and segment[after] != segment[last],
                _log(float(gap_before)), _log(float(gap_after)),
                _log(float(max(inner, default=0.0))),
                colons[before] if same_before else 0.0, colons[last], colons[words[:-1]].sum(),
                colons[after] if same_after else 0.0,
                _log(float(below.min() - y1)) if below.size else 3.0,
                _log(float(y0 - above.max())) if above.size else 3.0,
                within.sum() / 4, np.ptp(starts), np.ptp(heights), heights.mean(), pitch,
                x0 / 40, _log(float(x1 - x0)), (int(rank[last]) - int(rank[first]) + 1 - len(words)) / 8,
                np.log1p((np.abs(layout.segment_boxes[:, 0] - x0) < _EDGE).sum()),
                )
            ]
        )  # fmt: skip
    return list(np.array(rows, np.float32).clip(-12, 12).T)


def _last_line(words: Sequence[int], line: NDArray[np.int64]) -> list[int]:
    """Return the words of the last line of an answer in reading order."""
    return [word for word in words if line[word] == line[words[-1]]]


def _log(value: float) -> float:
    return math.copysign(math.log1p(abs(value)), value)
