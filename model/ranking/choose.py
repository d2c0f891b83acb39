"""Propose and rank the answers by words to the questions of one page."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.asked_kind import asked_kind
from model.heads.word_head import WordAnswer
from model.inputs import PreparedPage, QuestionBatch
from model.kinds import KINDS, Kind
from model.layout import Floats
from model.ranking.features import FEATURES, Grown, describe
from model.ranking.key_place import cells_beside
from model.ranking.keys import named_keys
from model.ranking.kind_fit import fits_of_proposals, kind_features
from model.ranking.proposals import Proposal, propose
from model.ranking.ranker import Ranker

SEEDS = 8  # words from which answers grow; the best of three is right on .86 of real forms' questions, of eight on .90


@dataclass(frozen=True, slots=True)
class RankedList:
    """Proposals for one question with their features, [P, FEATURES], and their fits to kinds of values, [P, KINDS]."""

    proposals: list[Proposal]
    features: Floats
    fits: Floats
    worded: Kind | None = None  # kind that the wording of the question asks for
    typed: Kind | None = None  # kind by the type of a field

    def described(self, typed: Kind | None) -> Floats:
        """Return what a ranker reads if a field's type tells the kind `typed`: [P, FEATURES + KIND_FEATURES]."""
        return np.concatenate([self.features, kind_features(self.fits, typed, self.worded)], 1)


def list_of(page: PreparedPage, answer: WordAnswer, questions: QuestionBatch, row: int) -> RankedList:
    """Propose the answers to one question of a batch.

    Args:
        page: the page as the network read it, N words.
        answer: scores of the word path for the whole batch, at least N words wide.
        questions: the same questions.
        row: index of the question in the batch.

    Returns:
        The proposals; none on a page without words.
    """
    count = len(page.layout.texts)
    if not count:
        return RankedList([], np.zeros((0, FEATURES), np.float32), np.zeros((0, len(KINDS)), np.float32))
    anchors, runs = _own(questions.anchors[row], count), questions.runs[row].numpy(force=True)
    grown = Grown(
        chances=_own(answer.pointing[row].float().softmax(-1), count),
        seeds=answer.seeds[row].clamp_max(count - 1).numpy(force=True),
        members=answer.logits[row, :, :count].float().sigmoid().numpy(force=True),  # NumPy has no bfloat16
        taken=answer.taken[row, :, :count].numpy(force=True),
        fit=answer.iou[row].float().numpy(force=True),
    )
    named = named_keys(page.keys, questions.tokens[row])
    proposals = propose(page.layout, grown.taken, cells_beside(anchors, runs), [key.value for key in named])
    return RankedList(
        proposals,
        describe(page.layout, proposals, grown, anchors, runs, page.shapes, named),
        fits_of_proposals(page.layout, proposals),
        asked_kind(questions.tokens[row]),
        questions.kinds[row],
    )


def rank(ranker: Ranker, ranked: RankedList) -> list[tuple[list[int], float]]:
    """Return the words of each proposal with its predicted IoU (0..1), best first."""
    if not ranked.proposals:
        return []
    features = torch.from_numpy(ranked.described(ranked.typed))[None]
    scores = ranker(features, torch.ones(features.shape[:2], dtype=torch.bool))[0].sigmoid().tolist()
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    return [(list(ranked.proposals[at].words), scores[at]) for at in order]


def _own(rows: Tensor, count: int) -> NDArray[np.float32]:
    own: NDArray[np.float32] = rows[:count].float().numpy(force=True)
    return own
