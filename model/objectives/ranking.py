"""Train the ranker: which of the proposals for a question is the answer. All else stays as it is."""

import random
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from model.batches import Batch, make_batch
from model.devices import to_device
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.objective import NetworkObjective
from model.objectives.region_masks import only
from model.ranking.choose import SEEDS, RankedList, list_of
from model.ranking.features import FEATURES
from model.ranking.kind_fit import KIND_FEATURES
from model.ranking.ranker import Ranker, ranking_loss
from model.vocabulary import Vocabulary

_TYPED = 0.5  # share of the questions with a kind of value of which the ranker is told it


class Ranking(NetworkObjective):
    """Cross-entropy of the predicted IoU of all proposals; only `network.ranker` has a gradient.

    The lists come from the network as it is, on pages of `source`. Questions that words do not answer are left out. The
    kind of value that a question wants is left out in half of the lists, as free questions have none.
    """

    def __init__(self, network: GroundingNetwork, source: Source) -> None:
        super().__init__(network)
        self._source = source
        self._vocabulary = Vocabulary(network.config.text.buckets)

    @property
    def ranker(self) -> Ranker:
        """The ranker that learns. Raises ValueError for a network without one."""
        if self.network.ranker is None:
            raise ValueError("This network has no ranker: choose a preset that has one.")
        return self.network.ranker

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Rank the proposals for the questions of a step; see `Objective.loss`."""
        batch = make_batch(self._source(step), self._vocabulary, self.network.config)
        lists = self._lists(batch)
        if not lists:  # pages whose questions regions answer, or nothing
            return sum(
                (parameter.sum() for parameter in self.ranker.parameters()), torch.zeros((), device=self.device)
            ) * 0.0, {}
        with only(self.network, list(self.ranker.parameters())):
            features, ious, valid = (part.to(self.device) for part in _pad_lists(lists, rng))
            logits = self.ranker(features, valid)
            loss = ranking_loss(logits, ious, valid)
        with torch.no_grad():
            best = ious.gather(1, logits.masked_fill(~valid, -1e4).argmax(1, keepdim=True))
            parts = {"loss": loss.detach(), "chosen_iou": best.mean(), "best_iou": ious.amax(1).mean()}
        return loss, parts

    @torch.no_grad()
    def _lists(self, batch: Batch) -> list[tuple[RankedList, np.ndarray]]:
        """Return the proposals for each question that words answer, with their real IoU."""
        pages, questions = to_device(batch.pages, self.device), to_device(batch.questions, self.device)
        answer = self.network.ask_words(self.network.read_words(pages), questions, SEEDS).words
        per_page = len(batch.targets.answered) // len(batch.prepared)
        lists = []
        for row in range(len(batch.targets.answered)):
            if batch.targets.by_words[row] > 0:
                ranked = list_of(batch.prepared[row // per_page], answer, questions, row)
                lists.append((ranked, _compute_ious(ranked, batch, row)))
        return lists


def _compute_ious(ranked: RankedList, batch: Batch, row: int) -> np.ndarray:
    """Return the best IoU by area of each proposal with an acceptable answer, [P]."""
    area, truth = batch.targets.word_area[row].numpy(), batch.targets.words[row].numpy()
    inside = np.zeros((len(ranked.proposals), len(area)), np.float32)
    for at, proposal in enumerate(ranked.proposals):
        inside[at, list(proposal.words)] = 1
    both = inside @ (truth * area).T  # [P, A]
    either = (inside @ area)[:, None] + (truth @ area)[None] - both
    best: np.ndarray = (both / np.maximum(either, 1e-6)).max(1)
    return best


def _pad_lists(lists: list[tuple[RankedList, np.ndarray]], rng: random.Random) -> tuple[Tensor, Tensor, Tensor]:
    most = max((len(ious) for _, ious in lists), default=1)
    features, ious = torch.zeros(len(lists), most, FEATURES + KIND_FEATURES), torch.zeros(len(lists), most)
    for row, (ranked, own) in enumerate(lists):
        typed = ranked.typed if rng.random() < _TYPED else None
        features[row, : len(own)] = torch.from_numpy(ranked.described(typed))
        ious[row, : len(own)] = torch.from_numpy(own)
    return features, ious, torch.arange(most)[None] < torch.tensor([len(own) for _, own in lists])[:, None]
