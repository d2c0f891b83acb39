"""Replay by distillation: to questions on other pages a network learns to answer as it did before the run.

Labels of these pages would let it drift to whatever else they allow; its earlier answers hold it where it was. Li and
Hoiem 2016, "Learning without Forgetting" (https://arxiv.org/abs/1606.09282), section 3, where the pages are those of
the new task; with stored pages Buzzega et al. 2020, "Dark Experience" (https://arxiv.org/abs/2004.07211), section 3.
"""

import copy
import random
from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from model.blocks import MASKED
from model.examples import Source
from model.heads.word_head import WordAnswer
from model.network import GroundingNetwork
from model.objectives.promptable import Asking, PromptableSegmentation
from model.objectives.segmentation import Targets, pixel_losses

_WEIGHT = 2.0  # of the loss, beside that of labels: a divergence is small from the beginning
_VERDICT_WEIGHT = 0.3  # as with labels
_SMOOTHED = 4  # words added to the size of an answer, as with labels


class RememberedAnswers(PromptableSegmentation):
    """Divergence of the answers by words from those of the same network at the beginning of the run.

    Regions of pages with images are learned from their labels, and labels say which questions words answer and where
    growth begins. The network as it was is a head, so that a resumed run and the other processes of a run have the same
    one.
    """

    def __init__(self, network: GroundingNetwork, source: Source, asking: Asking | None = None) -> None:
        super().__init__(network, source, asking, before=copy.deepcopy(network).requires_grad_(False))

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Ask the questions of a step of the network as it is and as it was; see `Objective.loss`."""
        pages, questions, targets = self._asked(step, rng)
        answer = self.network(pages, questions, targets.towards)
        earlier = self.learned["before"].eval()  # type: ignore[index, operator]  # a ModuleDict
        begun = F.one_hot(answer.words.seeds[:, 0], targets.words.shape[-1]).float()  # both answers begin at one word
        with torch.no_grad():
            before = earlier(pages, questions, begun)
        parts = divergences(answer.words, before.words, targets)
        if answer.pixels is not None and targets.masks is not None:
            parts |= pixel_losses(answer.pixels, targets)
        total = torch.stack(list(parts.values())).sum()
        return total, {name: value.detach() for name, value in parts.items()} | {"loss": total.detach()}


def divergences(answer: WordAnswer, before: WordAnswer, targets: Targets) -> dict[str, Tensor]:
    """Compute the Kullback-Leibler divergences of answers to B questions from earlier ones, each a scalar from 0.

    Of pointing, weighted by the earlier probability of an answer by words; of the words of the first answer, which must
    begin at the same word in both, and of its predicted IoU, where words answer; of whether the page answers, and
    whether words do. `targets` gives the words of the page, the questions that words answer, and the sizes of answers.
    """
    valid = targets.valid.float()
    on_page = valid.any(1).float()
    then, now = (one.pointing.masked_fill(~targets.valid, MASKED).log_softmax(-1) for one in (before, answer))
    pointing = (then.exp() * (then - now) * valid).sum(-1) * before.by_words.sigmoid()
    grown = _binary(answer.logits[:, 0], before.logits[:, 0]) * valid
    words = grown.sum(-1) / (targets.words.amax(1).sum(-1) + _SMOOTHED) * targets.by_words
    verdicts = {
        "answered": _binary(answer.answered, before.answered),
        "by_words": _binary(answer.by_words, before.by_words) * targets.answered,
        "word_iou": _binary(answer.fit[:, 0], before.fit[:, 0]) * targets.by_words,
    }
    return {
        "pointing": _WEIGHT * (pointing * on_page).mean(),
        "words": _WEIGHT * (words * on_page).mean(),
        **{name: _WEIGHT * _VERDICT_WEIGHT * (value * on_page).mean() for name, value in verdicts.items()},
    }


def _binary(now: Tensor, before: Tensor) -> Tensor:
    """Return the divergence of two probabilities by their logits, elementwise."""
    chance = before.sigmoid()
    entropy = F.binary_cross_entropy_with_logits
    return entropy(now, chance, reduction="none") - entropy(before, chance, reduction="none")
