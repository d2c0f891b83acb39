"""Propose and rank the answers by words to the questions of one page."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.heads.word_head import WordAnswer
from model.inputs import PreparedPage, QuestionBatch
from model.layout import Floats
from model.ranking.features import FEATURES, Grown, describe
from model.ranking.key_place import cells_beside
from model.ranking.keys import named_keys
from model.ranking.proposals import Proposal, propose
from model.ranking.ranker import Ranker

SEEDS = 8  # words from which answers grow; the best of three is right on .86 of real forms' questions, of eight on .90


@dataclass(frozen=True, slots=True)
class RankedList:
    """Proposals for one question with their features, [P, FEATURES]."""

    proposals: list[Proposal]
    features: Floats


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
        return RankedList([], np.zeros((0, FEATURES), np.float32))
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
    return RankedList(proposals, describe(page.layout, proposals, grown, anchors, runs, page.shapes, named))


def rank(ranker: Ranker, ranked: RankedList) -> list[tuple[list[int], float]]:
    """Return the words of each proposal with its predicted IoU (0..1), best first."""
    if not ranked.proposals:
        return []
    features = torch.from_numpy(ranked.features)[None]
    scores = ranker(features, torch.ones(features.shape[:2], dtype=torch.bool))[0].sigmoid().tolist()
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    return [(list(ranked.proposals[at].words), scores[at]) for at in order]


def _own(rows: Tensor, count: int) -> NDArray[np.float32]:
    own: NDArray[np.float32] = rows[:count].float().numpy(force=True)
    return own
