"""The guess without context, which every language model here is measured against."""

import torch
from torch import Tensor


class Unigram:
    """Shares of ids by frequency; what was never seen shares the share of what was seen once (Good and Turing's estimate).

    Adding one to every count would make a poor guess where most ids are rare, and so an easy one to beat.
    """

    def __init__(self, ids: Tensor, size: int) -> None:
        """ids [K] of the text that is learned from, each in 0..size - 1."""
        counts = torch.bincount(ids, minlength=size).double()
        unseen = int((counts == 0).sum())
        left = float(counts.eq(1).sum() + 1) / float(counts.sum() + 2) if unseen else 0.0
        shares = counts / counts.sum().clamp_min(1) * (1 - left)
        self.best = int(counts.argmax())
        self.log_shares = torch.where(counts > 0, shares, left / max(1, unseen)).log().float()

    def nats(self, ids: Tensor) -> float:
        """Mean cross-entropy of ids [K]."""
        return -float(self.log_shares[ids].mean())

    def accuracy(self, ids: Tensor) -> float:
        """Share of ids [K] that are the most frequent one."""
        return float((ids == self.best).float().mean())
