"""Describe proposals for the ranker: what the network thinks of them, and how they lie on the page."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.anchors import WordColumn
from model.layout import Floats, Layout
from model.ranking.extent import extent_features
from model.ranking.key_place import key_features
from model.ranking.keys import Key
from model.ranking.proposals import KINDS, Proposal
from model.vocabulary import Shape

FEATURES = 150
# Of the first word's shape: what tells the kind of a value.
_OF_FIRST = (Shape.HAS_DIGITS, Shape.IS_UPPER, Shape.BEGINS_UPPER, Shape.DIGITS, Shape.CURRENCY, Shape.IS_MONEY)


@dataclass(frozen=True, slots=True)
class Grown:
    """What the network says about one question, on the CPU."""

    chances: Floats  # [N] probability that it points to the word
    seeds: NDArray[np.int64]  # [K]
    members: Floats  # [K, N] probability that the word belongs to the answer that begins at the seed
    taken: NDArray[np.bool_]  # [K, N]
    fit: Floats  # [K] predicted IoU, 0..1


def describe(
    layout: Layout,
    proposals: Sequence[Proposal],
    grown: Grown,
    anchors: Floats,
    runs: Floats,
    shapes: Floats,
    named: Sequence[Key] = (),
) -> Floats:
    """Describe the proposals of one question.

    Args:
        layout: layout of the page, N words.
        proposals: P proposals.
        grown: what the network says.
        anchors: lexical anchors, [N, ANCHORS].
        runs: runs that look like the key, [RUNS, RunField].
        shapes: `shape_of` of each word, [N, SHAPES].
        named: printed keys that the question names word for word.

    Returns:
        [P, FEATURES].
    """
    count = len(layout.texts)
    inside = np.zeros((len(proposals), count), bool)
    for row, proposal in enumerate(proposals):
        inside[row, list(proposal.words)] = True
    columns = [
        *_kinds(proposals),
        *_network(layout, inside, grown),
        *extent_features(layout, inside, proposals, shapes),
        *_text(inside, anchors, shapes),
        *key_features(layout, inside, proposals, anchors, runs),
        *_match_named_keys(proposals, named),
    ]
    features = np.stack([np.asarray(column, np.float32) for column in columns], 1)
    assert features.shape[1] == FEATURES
    return np.nan_to_num(features).clip(-12, 12)


def _kinds(proposals: Sequence[Proposal]) -> list[Floats]:
    kinds = np.array([proposal.kind for proposal in proposals])
    source = np.array([proposal.source for proposal in proposals])
    return [(kinds == kind).astype(np.float32) for kind in KINDS] + [source / 4.0]


def _network(layout: Layout, inside: NDArray[np.bool_], grown: Grown) -> list[Floats]:
    """Return what pointing and growth say: mass, expected IoU under each growth, agreement of the growths."""
    boxes = layout.boxes
    area = np.maximum((boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]), 1e-3)
    mass = inside @ grown.chances
    peak = np.where(inside, grown.chances, 0).max(1)
    weight = grown.chances[grown.seeds]
    weight = weight / max(1e-9, float(weight.sum()))
    both = inside @ (grown.members * area).T  # [P, K]
    either = (inside @ area)[:, None] + (grown.members @ area)[None] - both
    soft = both / np.maximum(either, 1e-6)
    holds = inside[:, grown.seeds]  # [P, K]
    own = np.where(holds, soft, 0).max(1)
    first = np.where(holds.any(1), holds.argmax(1), 0)
    rows = np.arange(len(inside))
    member = grown.members[first]  # [P, N]
    least = np.where(inside, member, 1).min(1)
    left_out = np.where(inside, 0, member).max(1)
    best_mass = mass.max() if len(mass) else 1.0
    return [
        np.log(mass + 1e-4), np.log(peak + 1e-4), mass / max(1e-9, best_mass), mass,
        peak / max(1e-9, grown.chances.max()),
        soft @ weight, own, soft[rows, first], soft.max(1), soft[:, 0],
        grown.fit[first], grown.fit[0] * np.ones(len(inside)), first / 4.0, holds.sum(1) / 4.0,
        least, left_out, np.where(inside, member, 0).sum(1) / inside.sum(1), (mass * grown.fit[first]),
    ]  # fmt: skip


def _text(inside: NDArray[np.bool_], anchors: Floats, shapes: Floats) -> list[Floats]:
    """Return the mean and the first word's shape, and how much the words repeat the question."""
    size = inside.sum(1, keepdims=True)
    mean = inside @ shapes / size
    first = shapes[inside.argmax(1)]
    similar = inside @ anchors[:, : WordColumn.PLACE_IN_QUESTION] / size
    return [*mean.T, *first[:, _OF_FIRST].T, *similar.T, np.where(inside, anchors[:, WordColumn.MATCH], 0).max(1)]


def _match_named_keys(proposals: Sequence[Proposal], named: Sequence[Key]) -> list[Floats]:
    """Return which proposals are the value of a key that the question names, by how plain it is, or begin with one."""
    columns = []
    for colon in (True, False):
        for plain in (True, False):
            values = [key.value for key in named if (key.has_colon, key.plain) == (colon, plain) and key.value]
            columns.append(np.array([proposal.words in values for proposal in proposals], np.float32))
    begun = [any(proposal.words[: len(key.value)] == key.value for key in named if key.value) for proposal in proposals]
    return [*columns, np.array(begun, np.float32)]
