"""Choose among regions, and between a region and words."""

import torch
from torch import Tensor, nn

from model.ranking.ranker import Ranker
from model.regions.features import FEATURES

_HELD = 0.005  # probabilities are held this far from 0 and 1
# Logits by which a region must be likelier where the network says that words answer: the lowest half step at which at
# most .2 % of the questions for words lose their words, on the generated pages of its stage.
_MARGIN = 2.0
_EVIDENCE = 4  # what the decision between words and a region is made from


class RegionRanker(nn.Module):
    """Network that predicts the IoU of each region with the answer, and whether a region answers at all.

    Whether the picture is worth a look is first judged by the question alone, so that questions for words stay fast.
    """

    def __init__(self, width: int, question: int) -> None:
        super().__init__()
        self.ranker = Ranker(FEATURES, width, question)
        self.scale = nn.BatchNorm1d(question + 1, affine=False, momentum=None)
        self.asks = nn.Linear(question + 1, 1)
        self.decides = nn.Linear(_EVIDENCE, 1)

    @property
    def learned(self) -> bool:
        """Whether it has learned: before its stage of pretraining its choice means nothing, and is not asked."""
        return self.ranker.learned

    def forward(self, features: Tensor, valid: Tensor, questions: Tensor) -> Tensor:
        """Return logits of the predicted IoU of Q x P regions; arguments as in `Ranker.forward`."""
        scored: Tensor = self.ranker(features, valid, questions)
        return scored

    def asks_for_region(self, questions: Tensor, by_words: Tensor) -> Tensor:
        """Return logits [Q]: the question asks for a region.

        Args:
            questions: vectors of the questions, [Q, question].
            by_words: logits that words make the answer, [Q].
        """
        asked: Tensor = self.asks(self.scale(torch.cat([questions, by_words.clamp(-8, 8)[:, None]], 1)))
        return asked[:, 0]

    def region_answers(self, asks: Tensor, by_words: Tensor, best_region: Tensor, best_words: Tensor) -> Tensor:
        """Return logits [Q]: a region answers, not words.

        Args:
            asks: logits of `asks_for_region`, [Q].
            by_words: logits that words make the answer, [Q].
            best_region: highest predicted IoU of a region, 0..1, [Q].
            best_words: predicted IoU of the answer by words, 0..1, [Q].
        """
        evidence = [asks.clamp(-8, 8), by_words.clamp(-8, 8), _log_odds(best_region), _log_odds(best_words)]
        decided: Tensor = self.decides(torch.stack(evidence, 1))
        return decided[:, 0]

    def decides_against_words(self, answers: Tensor, by_words: Tensor) -> Tensor:
        """Return which questions a region answers, bool [Q], from the logits of `region_answers` and `by_words`."""
        return answers > torch.where(by_words > 0, _MARGIN, 0.0)


def question_vectors(tokens: Tensor, valid: Tensor) -> Tensor:
    """Return the mean of the valid tokens [B, T, D] of each prompt, [B, D]."""
    present = valid[..., None].to(tokens.dtype)
    mean: Tensor = (tokens * present).sum(1) / present.sum(1).clamp_min(1)
    return mean


def _log_odds(share: Tensor) -> Tensor:
    return torch.logit(share, _HELD)
