"""Measure how well sentence vectors tell which sentences are alike."""

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor


def agreement(one: Tensor, other: Tensor, pairs: Sequence[tuple[int, int]]) -> float:
    """Return the Spearman correlation of cosine similarities under two encoders, as in STS benchmarks.

    Args:
        one: vectors of S sentences, [S, D].
        other: vectors of the same sentences, [S, E].
        pairs: indices of sentences to compare.
    """
    return spearman(*(similarities(vectors, pairs).double().numpy() for vectors in (one, other)))


def similarities(vectors: Tensor, pairs: Sequence[tuple[int, int]]) -> Tensor:
    """Return the cosine of each pair: [S, D] -> [P]."""
    left, right = torch.tensor(pairs, device=vectors.device).T
    return F.cosine_similarity(vectors[left].float(), vectors[right].float()).cpu()


def spearman(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the correlation of the ranks; 0 where one of the two is constant."""
    first, second = (_ranks(values) - (len(values) - 1) / 2 for values in (one, other))
    spread = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / spread if spread else 0.0


def alignment(one: Tensor, other: Tensor) -> float:
    """Return the mean squared distance of normalised vectors of sentences read twice; lower is better.

    Wang and Isola 2020 (https://arxiv.org/abs/2005.10242), section 4.1. `one` and `other` are [S, D], read with
    dropout.
    """
    return float((F.normalize(one, dim=-1) - F.normalize(other, dim=-1)).pow(2).sum(-1).mean())


def uniformity(vectors: Tensor) -> float:
    """Return the log of the mean Gaussian potential of all pairs of vectors [S, D].

    Lower means more spread out; 0 means a single point. Source as in `alignment`.
    """
    distances = torch.pdist(F.normalize(vectors.float(), dim=-1)).pow(2)
    return float(distances.mul(-2).exp().mean().log())


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks from 0; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - counts + ends - 1) / 2)[place]
