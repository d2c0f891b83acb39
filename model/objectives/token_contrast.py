"""Compare predicted embeddings with targets: contrast among tokens, and the error of predicting their mean."""

import torch
import torch.nn.functional as F
from torch import Tensor

from model.objectives.predictor import embedding_error

TEMPERATURE = 0.1


def token_contrast(predicted: Tensor, target: Tensor, ids: Tensor, temperature: float = TEMPERATURE) -> Tensor:
    """Return InfoNCE of predicted and target tokens, in both directions (scalar, nats).

    Each prediction must be closer (cosine) to its own target than to the other targets of the batch, those of its page
    included, and each target closer to its own prediction. Source: CPC, https://arxiv.org/abs/1807.03748, section 2.3;
    both directions as in CLIP, https://arxiv.org/abs/2103.00020, section 2.3.

    Args:
        predicted: [M, D].
        target: [M, D]; row i belongs to prediction i.
        ids: [M]; rows with equal ids are the same token and never each other's negatives.
        temperature: divides the cosines.
    """
    if len(predicted) < 2:
        return predicted.sum() * 0.0
    logits = F.normalize(predicted.float(), dim=1) @ F.normalize(target, dim=1).T / temperature
    same = (ids[:, None] == ids[None]).fill_diagonal_(False)
    logits = logits.masked_fill(same, -torch.inf)
    own = torch.arange(len(logits), device=logits.device)
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2


@torch.no_grad()
def against_mean(error: Tensor, target: Tensor, weights: Tensor) -> dict[str, Tensor]:
    """Compare an error with that of predicting the mean target everywhere.

    Args:
        error: `embedding_error` of the predictions.
        target: target tokens, [..., D].
        weights: [...], of each token.

    Returns:
        `mean_error`, the error of the weighted mean of these very tokens; `of_mean`, `error` divided by it. Below 1
        something is learned beyond the mean.
    """
    flat, weight = target.flatten(0, -2), weights.flatten().float()
    mean = (flat * weight[:, None]).sum(0) / weight.sum().clamp_min(1e-6)
    baseline = embedding_error(mean.expand_as(flat), flat, weight)
    return {"mean_error": baseline, "of_mean": error.detach() / baseline.clamp_min(1e-6)}
