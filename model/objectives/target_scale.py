"""Standardise target embeddings per dimension over tokens."""

import torch
from torch import Tensor, nn

_MOMENTUM = 0.99  # of the running statistics: about a hundred steps, so that a step of few tokens adds no noise
_EPSILON = 1e-5  # added to the variance


class TargetScale(nn.Module):
    """Running mean and variance of each dimension of target embeddings [..., D].

    The layer norm of I-JEPA and data2vec works inside a token. It leaves the vector that all tokens share, which fills
    the targets when most cells of a page look alike. Standardised over tokens, as data2vec does by batch norm for
    speech and images (https://arxiv.org/abs/2202.03555, section 3.3), targets hold only what differs between tokens.

    `observe` prepares the statistics of a step and `follow` keeps them, so that a loss does not change the saved state.
    """

    mean: Tensor
    square: Tensor
    share: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("square", torch.zeros(width))
        self.register_buffer("share", torch.zeros(()))  # of the statistics that comes from tokens, not from the zeros
        self._next: tuple[Tensor, Tensor, Tensor] | None = None

    @torch.no_grad()
    def observe(self, tokens: Tensor, weights: Tensor) -> None:
        """Take tokens [..., D] of a step into the statistics, weighted by `weights` [...]."""
        weights = weights.float().unsqueeze(-1)
        if not self.training or not bool(weights.sum() > 0):  # held-out pages are looked at, not learned from
            return
        over, total = tuple(range(tokens.dim() - 1)), weights.sum()
        mean = (tokens.float() * weights).sum(over) / total
        square = (tokens.float().square() * weights).sum(over) / total
        kept = self._next or (self.mean, self.square, self.share)
        seen = (mean, square, torch.ones_like(self.share))
        mean, square, share = (old.lerp(new, 1 - _MOMENTUM) for old, new in zip(kept, seen, strict=True))
        self._next = mean, square, share

    @torch.no_grad()
    def follow(self) -> None:
        """Keep the statistics that `observe` prepared."""
        if self._next is not None:
            for buffer, value in zip((self.mean, self.square, self.share), self._next, strict=True):
                buffer.copy_(value)
            self._next = None

    @torch.no_grad()
    def forward(self, tokens: Tensor) -> Tensor:
        """Standardise tokens [..., D]; before anything was observed, by their own statistics."""
        mean, square, share = self._next or (self.mean, self.square, self.share)
        tokens = tokens.float()
        if not bool(share > 0):
            flat = tokens.flatten(0, -2)
            mean, square, share = flat.mean(0), flat.square().mean(0), torch.ones_like(share)
        mean = mean / share
        return (tokens - mean) / (square / share - mean.square()).clamp_min(0).add(_EPSILON).sqrt()
