"""How well vectors of sentences say which sentences are alike."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor


def agreement(one: Tensor, other: Tensor, pairs: Sequence[tuple[int, int]]) -> float:
    """Spearman correlation, over pairs of sentences, of the cosine similarities under two encoders, as STS benchmarks
    report it. one [S, D], other [S, E]: vectors of the same S sentences."""
    return spearman(*(similarities(vectors, pairs).double().numpy() for vectors in (one, other)))


def similarities(vectors: Tensor, pairs: Sequence[tuple[int, int]]) -> Tensor:
    """[S, D] -> [P]: cosine of each pair."""
    left, right = torch.tensor(pairs, device=vectors.device).T
    return F.cosine_similarity(vectors[left].float(), vectors[right].float()).cpu()


def spearman(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Correlation of the ranks; 0 where one of the two is constant."""
    first, second = (_ranks(values) - (len(values) - 1) / 2 for values in (one, other))
    spread = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / spread if spread else 0.0


def alignment(one: Tensor, other: Tensor) -> float:
    """Mean squared distance of the normalised vectors [S, D] of the same sentences read twice with dropout: lower is better.

    Wang and Isola 2020 (https://arxiv.org/abs/2005.10242), section 4.1; so is uniformity.
    """
    return float((F.normalize(one, dim=-1) - F.normalize(other, dim=-1)).pow(2).sum(-1).mean())


def uniformity(vectors: Tensor) -> float:
    """[S, D] -> log of the mean Gaussian potential of all pairs: lower is more spread out, 0 is one point."""
    distances = torch.pdist(F.normalize(vectors.float(), dim=-1)).pow(2)
    return float(distances.mul(-2).exp().mean().log())


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 0; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[place]
