"""Guess by frequency: the baseline without context for every language model here."""

import torch
from torch import Tensor


class Unigram:
    """Frequencies of ids; unseen ids share the Good-Turing estimate of the unseen mass.

    Adding one to every count would make a poor guess where most ids are rare, and so a baseline that is easy to beat.
    """

    def __init__(self, ids: Tensor, size: int) -> None:
        """Count the ids [K] of the text learned from, each in 0..size - 1."""
        counts = torch.bincount(ids, minlength=size).double()
        unseen = int((counts == 0).sum())
        left = float(counts.eq(1).sum() + 1) / float(counts.sum() + 2) if unseen else 0.0
        shares = counts / counts.sum().clamp_min(1) * (1 - left)
        self.best = int(counts.argmax())
        self.log_shares = torch.where(counts > 0, shares, left / max(1, unseen)).log().float()

    def nats(self, ids: Tensor) -> float:
        """Return the mean cross-entropy of ids [K], in nats."""
        return -float(self.log_shares[ids].mean())

    def accuracy(self, ids: Tensor) -> float:
        """Return the share of ids [K] that equal the most frequent one."""
        return float((ids == self.best).float().mean())
