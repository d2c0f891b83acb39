"""Choose among proposals: predict the IoU of each, with all others in view."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.blocks import MASKED, Perceptron
from model.ranking.steering import Steering


class Ranker(nn.Module):
    """Network that predicts the IoU of each proposal of a question from its features and those of its rivals.

    A proposal sees the mean and the maximum of all (Deep Sets, https://arxiv.org/abs/1703.06114, section 3), so the
    order of the list does not matter. It is learned by cross-entropy with the IoU, whose minimum predicts the mean: the
    proposal of the highest expected IoU is chosen. A softmax over the list chose worse on real forms (docs/LOG.md).

    Args:
        features: features of a proposal.
        width: width of the hidden layers.
        question: width of the vector of a question that is read beside the features of each proposal; 0 for none.
        kinds: further features, about kinds of values (`model.ranking.kind_fit`), which `Steering` reads; 0 for none.
    """

    def __init__(self, features: int, width: int, question: int = 0, kinds: int = 0) -> None:
        super().__init__()
        self._features = features
        self.scale = nn.BatchNorm1d(features, affine=False, momentum=None)
        self.about = nn.Linear(question, width // 3) if question else None
        known = features + (width // 3 if question else 0)
        self.read = nn.Sequential(nn.Linear(known, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.judge = Perceptron(3 * width, width, 1)
        self.steering = Steering(features, kinds) if kinds else None

    @property
    def learned(self) -> bool:
        """Whether it has learned: before its stage of pretraining its choice means nothing, and is not asked."""
        return bool(self.scale.num_batches_tracked)

    def forward(self, features: Tensor, valid: Tensor, questions: Tensor | None = None) -> Tensor:
        """Predict the IoU of the proposals of Q questions.

        Args:
            features: [Q, P, features + kinds].
            valid: which proposals are not padding, bool [Q, P].
            questions: vectors of the questions, [Q, question]; only for a ranker that reads them.

        Returns:
            Logits of the predicted IoU, [Q, P].
        """
        features, kinds = features[..., : self._features], features[..., self._features :]
        scaled = features.new_zeros(features.shape)
        scaled[valid] = self.scale(features[valid])
        known = scaled.clamp(-6, 6)
        if self.about is not None:
            assert questions is not None
            known = torch.cat([known, self.about(questions)[:, None].expand(-1, known.shape[1], -1)], -1)
        own = self.read(known)
        present = valid[..., None].float()
        mean = (own * present).sum(1, keepdim=True) / present.sum(1, keepdim=True).clamp_min(1)
        most = (own + (1 - present) * MASKED).amax(1, keepdim=True)
        judged: Tensor = self.judge(torch.cat([own, mean.expand_as(own), most.expand_as(own)], -1))[..., 0]
        return judged if self.steering is None else judged + self.steering(scaled.clamp(-6, 6), kinds, valid)


def ranking_loss(logits: Tensor, ious: Tensor, valid: Tensor) -> Tensor:
    """Return the mean over questions of the cross-entropy between predicted and real IoU, both [Q, P]."""
    entropy = F.binary_cross_entropy_with_logits(logits, ious, reduction="none") * valid
    return (entropy.sum(-1) / valid.sum(-1).clamp_min(1)).mean()
