"""Describe how a proposal lies relative to the words of the page that look like the key of the question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.anchors import ANCHORS, CANDIDATES_FOR, RUNS, soft_log
from model.layout import Floats, Layout
from model.ranking.proposals import Proposal

_RUN_START = 8  # first column of the first run in the anchors
_PER_RUN = 21
_EDGE = 0.5  # line heights between left edges that count as one column


@dataclass(frozen=True, slots=True)
class KeyRun:
    """A run of words that looks like the key."""

    words: NDArray[np.bool_]  # [N]
    box: Floats  # [4] in line heights
    cover: float  # share 0..1 of the question


def key_runs(anchors: Floats, runs: Floats) -> list[KeyRun]:
    """Return the runs that match the question, from its anchors [N, ANCHORS] and runs [RUNS, 5]."""
    return [
        KeyRun(anchors[:, column] > 0, runs[number, :4], float(runs[number, 4]))
        for number, column in enumerate(_run_columns())
        if runs[number, 4] > 0
    ]


def cells_beside(anchors: Floats, runs: Floats) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return the words beside each of the first runs: the rest of its segment, the segments right of it and below."""
    columns = _run_columns()
    return [
        (number, anchors[:, columns[number] + 10 + place] > 0)
        for number in range(CANDIDATES_FOR)
        if runs[number, 4] > 0
        for place in (3, 0, 1, 2)
    ]


def _run_columns() -> list[int]:
    columns, column = [], _RUN_START
    for number in range(RUNS):
        columns.append(column)
        column += 14 if number < CANDIDATES_FOR else 10
    assert column == ANCHORS
    return columns


def key_features(
    layout: Layout, inside: NDArray[np.bool_], proposals: Sequence[Proposal], anchors: Floats, runs: Floats
) -> list[Floats]:
    """Describe the place of proposals relative to the runs that look like the key.

    Args:
        layout: layout of the page, N words.
        inside: which words each of P proposals has, [P, N].
        proposals: the same proposals.
        anchors: lexical anchors of the question, [N, ANCHORS].
        runs: runs that look like the key, [RUNS, 5].

    Returns:
        Columns [P] for each of the runs: its match, direction and distance, keys between, nearer rivals, alignment.
    """
    boxes, segment, line = layout.boxes, layout.segment, layout.line
    columns: list[Floats] = []
    extents = np.array(
        [
            [boxes[list(one.words), 0].min(), boxes[list(one.words), 1].min(),
             boxes[list(one.words), 2].max(), boxes[list(one.words), 3].max()]
            for one in proposals
        ],
        np.float32,
    )  # fmt: skip
    starts = np.array([one.words[0] for one in proposals])
    found = key_runs(anchors, runs)
    for number in range(RUNS):
        if number >= len(found):
            columns += [np.zeros(len(proposals), np.float32)] * _PER_RUN
            continue
        run = found[number]
        x0, _, x1, y1 = run.box
        home = np.flatnonzero(run.words)
        key_line, last = line[home[0]], home[layout.rank[home].argmax()]
        first = home[layout.rank[home].argmin()]
        home_segment = np.flatnonzero(segment == segment[first])
        right, down = extents[:, 0] - x1, extents[:, 1] - y1
        level = line[starts] == key_line
        overlap = np.minimum(extents[:, 2], x1) - np.maximum(extents[:, 0], x0)
        under = (overlap > 0) & (down > -0.5)
        beyond = layout.rank[starts] - layout.rank[last]
        between = segment[starts] - segment[last]
        colons = np.array(
            [
                _colons_between(layout, int(layout.rank[last]), int(layout.rank[start])) if same else 0.0
                for start, same in zip(starts, level, strict=True)
            ]
        )
        nearer = np.array(
            [((extents[:, 1] < one[1] - 0.5) & under & (down > -0.5)).any() if mine else False
             for one, mine in zip(extents, under, strict=True)]
        )  # fmt: skip
        columns += [
            np.full(len(proposals), run.cover), (inside & run.words).sum(1) / len(home),
            (inside & run.words).sum(1) / inside.sum(1),
            level & (right > -0.5), under & ~level, soft_log(right), soft_log(down),
            soft_log(extents[:, 0] - x0), soft_log(overlap),
            level & (beyond == 1), (level & (between <= 1) & (between >= 0)), level * np.clip(between, -3, 3) / 2.0,
            colons, nearer, under & (np.abs(extents[:, 0] - x0) < 0.8),
            np.full(len(proposals), layout.texts[last].endswith(":")),
            np.full(len(proposals), len(home) / max(1, len(home_segment))),
            np.full(len(proposals), first == home_segment[layout.rank[home_segment].argmin()]),
            np.full(len(proposals), np.log1p((np.abs(layout.segment_boxes[:, 0] - x0) < _EDGE).sum())),
            np.exp(-np.maximum(right, 0) / 3) * level, np.exp(-np.maximum(down, 0) / 1.5) * under,
        ]  # fmt: skip
    return columns


def _colons_between(layout: Layout, low: int, high: int) -> float:
    """Return how many words between two places in reading order end with a colon, at most 3, divided by 3."""
    between = layout.order[low + 1 : max(low + 1, high)].tolist()
    count = sum(1 for word in between if layout.texts[word].endswith(":"))
    return min(3, count) / 3
