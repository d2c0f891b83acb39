"""Describe how a proposal lies relative to the words of the page that look like the key of the question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.anchors import CANDIDATES_FOR, RUN_STARTS, RUNS, RunColumn, RunField, soft_log
from model.layout import Floats, Layout
from model.ranking.proposals import Proposal

Column = NDArray[Any]  # numbers or truths
_EDGE = 0.5  # line heights between left edges that count as one column
# Value candidates, the likeliest first: of equal proposals the first kind counts.
_CELLS = (RunColumn.LIKELIEST, RunColumn.SEGMENT_REST, RunColumn.SEGMENT_RIGHT, RunColumn.SEGMENT_BELOW)


@dataclass(frozen=True, slots=True)
class KeyRun:
    """A run of words that looks like the key."""

    words: NDArray[np.bool_]  # [N]
    box: Floats  # [4] in line heights
    cover: float  # share 0..1 of the question


class RunFeatures(NamedTuple):
    """Features [P] of proposals relative to one run: the columns of `key_features`, in the order of the weights."""

    cover: Column  # share of the question that the run covers
    share_of_run: Column  # of the run's words, how many are in the proposal
    share_of_proposal: Column
    right_of_key: Column
    under_key: Column
    right: Column  # distances in line heights, soft_log
    down: Column
    indent: Column
    overlap: Column
    next_word: Column
    next_segment: Column
    segments_between: Column
    colons_between: Column
    nearer_rival: Column  # another proposal stands between
    aligned: Column
    ends_with_colon: Column  # of the run, the same for all proposals
    share_of_segment: Column
    begins_segment: Column
    segments_in_column: Column
    nearness_right: Column
    nearness_down: Column


def key_runs(anchors: Floats, runs: Floats) -> list[KeyRun]:
    """Return the runs that match the question, from its anchors [N, ANCHORS] and runs [RUNS, RunField]."""
    return [
        KeyRun(
            anchors[:, start + RunColumn.INSIDE] > 0,
            runs[number, : RunField.COVER],
            float(runs[number, RunField.COVER]),
        )
        for number, start in enumerate(RUN_STARTS)
        if runs[number, RunField.COVER] > 0
    ]


def cells_beside(anchors: Floats, runs: Floats) -> list[tuple[int, NDArray[np.bool_]]]:
    """Return the words beside each of the first runs: the rest of its segment, the segments right of it and below."""
    return [
        (number, anchors[:, RUN_STARTS[number] + column] > 0)
        for number in range(CANDIDATES_FOR)
        if runs[number, RunField.COVER] > 0
        for column in _CELLS
    ]


def key_features(
    layout: Layout, inside: NDArray[np.bool_], proposals: Sequence[Proposal], anchors: Floats, runs: Floats
) -> list[Floats]:
    """Describe the place of proposals relative to the runs that look like the key.

    Args:
        layout: layout of the page, N words.
        inside: which words each of P proposals has, [P, N].
        proposals: the same proposals.
        anchors: lexical anchors of the question, [N, ANCHORS].
        runs: runs that look like the key, [RUNS, RunField].

    Returns:
        Columns [P] for each of the runs: its match, direction and distance, keys between, nearer rivals, alignment.
    """
    boxes, segment, line = layout.boxes, layout.segment, layout.line
    columns: list[Floats] = []
    extents = np.array(
        [(*boxes[list(proposal.words), :2].min(0), *boxes[list(proposal.words), 2:].max(0)) for proposal in proposals],
        np.float32,
    )
    left, top, right_edge, _ = extents.T
    starts = np.array([proposal.words[0] for proposal in proposals])
    matches = key_runs(anchors, runs)
    for number in range(RUNS):
        if number >= len(matches):
            columns += [np.zeros(len(proposals), np.float32)] * len(RunFeatures._fields)
            continue
        run = matches[number]
        x0, _, x1, y1 = run.box
        home = np.flatnonzero(run.words)
        key_line, last = line[home[0]], home[layout.rank[home].argmax()]
        first = home[layout.rank[home].argmin()]
        home_segment = np.flatnonzero(segment == segment[first])
        right, down = left - x1, top - y1
        level = line[starts] == key_line
        overlap = np.minimum(right_edge, x1) - np.maximum(left, x0)
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
            [
                ((top < own_top - 0.5) & under & (down > -0.5)).any() if is_under else False
                for own_top, is_under in zip(top, under, strict=True)
            ]
        )
        shared = (inside & run.words).sum(1)
        columns += RunFeatures(
            cover=np.full(len(proposals), run.cover),
            share_of_run=shared / len(home),
            share_of_proposal=shared / inside.sum(1),
            right_of_key=level & (right > -0.5),
            under_key=under & ~level,
            right=soft_log(right),
            down=soft_log(down),
            indent=soft_log(left - x0),
            overlap=soft_log(overlap),
            next_word=level & (beyond == 1),
            next_segment=level & (between <= 1) & (between >= 0),
            segments_between=level * np.clip(between, -3, 3) / 2.0,
            colons_between=colons,
            nearer_rival=nearer,
            aligned=under & (np.abs(left - x0) < 0.8),
            ends_with_colon=np.full(len(proposals), layout.texts[last].endswith(":")),
            share_of_segment=np.full(len(proposals), len(home) / max(1, len(home_segment))),
            begins_segment=np.full(len(proposals), first == home_segment[layout.rank[home_segment].argmin()]),
            segments_in_column=np.full(
                len(proposals), np.log1p((np.abs(layout.segment_boxes[:, 0] - x0) < _EDGE).sum())
            ),
            nearness_right=np.exp(-np.maximum(right, 0) / 3) * level,
            nearness_down=np.exp(-np.maximum(down, 0) / 1.5) * under,
        )
    return columns


def _colons_between(layout: Layout, low: int, high: int) -> float:
    """Return how many words between two places in reading order end with a colon, at most 3, divided by 3."""
    between = layout.order[low + 1 : max(low + 1, high)].tolist()
    count = sum(1 for word in between if layout.texts[word].endswith(":"))
    return min(3, count) / 3
