"""Propose answers made of words: what the network grew, the same cut at segments and lines, and the cells beside a key.

The network's own answers are often right in place and wrong in extent: too few words, or a word of the neighbour. Each
of them is therefore proposed in several extents. The ranker (`model.ranking.ranker`) chooses among all of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.layout import Layout

Members = NDArray[np.bool_]  # [N] which words make the answer

GROWN, SEGMENTS, FIRST, LINE, TAIL, BELOW, BELOW_TWICE, CELL, KEYED = KINDS = tuple(range(9))
_RESHAPED = 4  # grown answers that are proposed in other extents too
_NEXT_LINE = 1.2  # line heights; a segment that begins further below does not continue an answer
_OVERLAP = 0.4  # line heights by which the boxes of two lines may overlap


@dataclass(frozen=True, slots=True)
class Proposal:
    """Words that may be the answer, and how they came about."""

    words: tuple[int, ...]  # in reading order
    kind: int  # one of KINDS
    source: int  # number of the grown answer, or of the key's run


def propose(
    layout: Layout,
    grown: Iterable[Members],
    cells: Iterable[tuple[int, Members]],
    keyed: Iterable[Sequence[int]] = (),
) -> list[Proposal]:
    """Return distinct proposals, those of the network first.

    Args:
        layout: layout of the page, N words.
        grown: answers that the network grew, best pointed first, bool [N] each.
        cells: words beside a key, with the number of the key's run.
        keyed: values of printed keys that the question names word for word.

    Returns:
        Proposals; each set of words occurs once, under the first kind that makes it.
    """
    proposals: dict[tuple[int, ...], Proposal] = {}

    def add(members: Iterable[int], kind: int, source: int) -> None:
        words = tuple(sorted(members, key=layout.rank.__getitem__))
        if words:
            proposals.setdefault(words, Proposal(words, kind, source))

    groups = [np.flatnonzero(members).tolist() for members in grown]
    for number, group in enumerate(groups):
        add(group, GROWN, number)
    for number, group in enumerate(groups[:_RESHAPED]):
        if group:
            for kind, members in _extents(layout, group):
                add(members, kind, number)
    for number, cell in cells:
        group = np.flatnonzero(cell).tolist()
        if group:
            add(group, CELL, number)
            for kind, members in _continue_below(layout, group):
                add(members, kind, number)
    for value in keyed:
        add(value, KEYED, 0)
    return list(proposals.values())


def _extents(layout: Layout, group: list[int]) -> Iterable[tuple[int, list[int]]]:
    """Yield other extents of an answer: whole segments, the first segment, the first line, the rest, lines below."""
    first = min(group, key=layout.rank.__getitem__)
    segments = np.unique(layout.segment[group])
    home = layout.segment[first]
    yield SEGMENTS, np.flatnonzero(np.isin(layout.segment, segments)).tolist()
    yield FIRST, np.flatnonzero(layout.segment == home).tolist()
    yield FIRST, [word for word in group if layout.segment[word] == home]
    yield LINE, [word for word in group if layout.line[word] == layout.line[first]]
    yield TAIL, np.flatnonzero((layout.segment == home) & (layout.rank >= layout.rank[first])).tolist()
    yield from _continue_below(layout, group)


def _continue_below(layout: Layout, group: list[int]) -> Iterable[tuple[int, list[int]]]:
    """Yield the answer with the segment under its last one, and with two of them."""
    last = int(layout.segment[max(group, key=layout.rank.__getitem__)])
    longer = group
    for kind in (BELOW, BELOW_TWICE):
        under = segment_under(layout, last)
        if under is None:
            return
        longer = [*longer, *np.flatnonzero(layout.segment == under).tolist()]
        yield kind, longer
        last = under


def segment_under(layout: Layout, segment: int) -> int | None:
    """Return the segment on the next line under this one, if the two overlap from left to right."""
    boxes = layout.segment_boxes
    x0, _, x1, y1 = boxes[segment]
    near = (boxes[:, 1] > y1 - _OVERLAP) & (boxes[:, 1] < y1 + _NEXT_LINE)
    near &= np.minimum(boxes[:, 2], x1) > np.maximum(boxes[:, 0], x0)
    near[segment] = False
    return int(np.where(near, boxes[:, 1], np.inf).argmin()) if near.any() else None
