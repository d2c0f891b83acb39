"""Provide the parts of joint-embedding prediction: slow targets, a narrow predictor, a collapse alarm."""

import copy
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.blocks import PointEncoding, SelfAttentionLayer, additive_mask

# Standard deviation over tokens below which targets, each of variance 1, are nearly equal. An untrained nano has .10 to
# .15 on pages, most of whose cells are blank; collapsed runs had .02 to .05.
COLLAPSED = 0.06


class MovingAverage(nn.Module):
    """Copy of modules that follows them by exponential moving average and is never trained."""

    def __init__(self, **modules: nn.Module) -> None:
        super().__init__()
        self.copies = nn.ModuleDict({name: copy.deepcopy(module) for name, module in modules.items()})
        self.copies.requires_grad_(False).eval()

    def __getitem__(self, name: str) -> nn.Module:
        return self.copies[name]

    def train(self, mode: bool = True) -> "MovingAverage":
        """Stay in evaluation mode, whatever `mode` says."""
        return super().train(False)

    @torch.no_grad()
    def follow(self, momentum: float, **modules: nn.Module) -> None:
        """Set each copy to `momentum` * copy + (1 - `momentum`) * module; buffers are copied."""
        for name, module in modules.items():
            own = self.copies[name]
            for mine, theirs in zip(own.parameters(), module.parameters(), strict=True):
                mine.lerp_(theirs, 1 - momentum)
            for kept, buffer in zip(own.buffers(), module.buffers(), strict=True):
                kept.copy_(buffer)


class Predictor(nn.Module):
    """Narrow transformer that predicts embeddings at positions (I-JEPA, section 3).

    Source: https://arxiv.org/abs/2301.08243. It reads the visible tokens with their positions, and one query for each
    position to predict. Kinds of tokens (image, words) differ by a learned vector.
    """

    def __init__(self, width: int, narrow: int, layers: int, heads: int, kinds: int = 1) -> None:
        super().__init__()
        self.into = nn.Linear(width, narrow)
        self.places = PointEncoding(narrow)
        self.place = nn.Linear(narrow, narrow)
        self.seen = nn.Parameter(torch.empty(kinds, narrow).normal_(std=0.02))
        self.query = nn.Parameter(torch.empty(kinds, narrow).normal_(std=0.02))
        self.layers = nn.ModuleList(SelfAttentionLayer(narrow, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(narrow)
        self.out = nn.Linear(narrow, width)

    def forward(self, seen: Sequence[tuple[Tensor, Tensor, Tensor]], wanted: Tensor, kind: int = 0) -> Tensor:
        """Predict embeddings.

        Args:
            seen: for each kind: tokens [G, K, D], positions [G, K, 2] (1 is the page's long side), valid bool [G, K].
                A kind without tokens has K = 0; the last kinds may be left out.
            wanted: positions to predict, [G, T, 2].
            kind: kind of the predicted tokens.

        Returns:
            [G, T, D].
        """
        context = [
            self.into(tokens) + self.place(self.places(places)) + self.seen[number]
            for number, (tokens, places, _) in enumerate(seen)
        ]
        queries = self.place(self.places(wanted)) + self.query[kind]
        there = torch.cat([*(valid for _, _, valid in seen), wanted.new_ones(wanted.shape[:2], dtype=torch.bool)], 1)
        x = torch.cat([*context, queries], 1)
        bias = additive_mask(there).expand(-1, -1, x.shape[1], -1)  # long pages read it by rows
        for layer in self.layers:
            x = layer(x, bias)
        predicted: Tensor = self.out(self.norm(x[:, -wanted.shape[1] :]))
        return predicted


def plain_norm(x: Tensor) -> Tensor:
    """Apply layer norm over the last dimension without learned parameters, as targets are normalised."""
    return F.layer_norm(x.float(), x.shape[-1:])


def embedding_error(predicted: Tensor, target: Tensor, weights: Tensor | None = None) -> Tensor:
    """Return smooth L1 with its bend at 1, averaged over all tokens [..., D].

    `weights` [...] weight the tokens.
    """
    if weights is None:
        return F.smooth_l1_loss(predicted.float(), target)
    each = F.smooth_l1_loss(predicted.float(), target, reduction="none").mean(-1)
    return (each * weights).sum() / weights.sum().clamp_min(1e-6)


def spread_penalty(tokens: Tensor) -> Tensor:
    """Penalise embeddings [M, D] that are alike: each dimension must vary, and none may follow another.

    Variance and covariance of VICReg (https://arxiv.org/abs/2105.04906, section 4.1), weighted 25 to 1, as joined to
    I-JEPA in https://arxiv.org/abs/2410.19560. There they are taken of expanded vectors of many images, here of the
    tokens of a few pages.
    """
    centred = tokens.float() - tokens.float().mean(0)
    deviation = (centred.square().mean(0) + 1e-4).sqrt()
    covariance = centred.T @ centred / max(1, len(centred) - 1)
    off_diagonal = covariance.square().sum() - covariance.diagonal().square().sum()
    return F.relu(1 - deviation).mean() + off_diagonal / tokens.shape[1] / 25


def target_spread(target: Tensor, there: Tensor) -> dict[str, Tensor]:
    """Measure collapse of the targets, for the log.

    Args:
        target: normalised targets, [G, K, D].
        there: tokens to count, bool [G, K].

    Returns:
        `target_std`, the mean over dimensions of the standard deviation over tokens: near 1 when tokens differ, 0 when
        all are equal. `collapsed` is 1 below COLLAPSED.
    """
    std = target[there].std(0, correction=0).mean()
    return {"target_std": std, "collapsed": (std < COLLAPSED).float()}
