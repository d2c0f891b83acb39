"""Provide the parts of joint-embedding prediction: slow targets, a narrow predictor, a collapse alarm."""

import copy
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.blocks import PointEncoding, SelfAttentionLayer, additive_mask

_EPSILON = 1e-5  # added to the variance
_NEAREST = 64.0  # slope of the most local head: attention falls by e at 1/64 of the page's long side

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
            for own_buffer, buffer in zip(own.buffers(), module.buffers(), strict=True):
                own_buffer.copy_(buffer)


class Predicted(NamedTuple):
    """Predictions of T tokens on each of G pages."""

    embedding: Tensor  # [G, T, D] in the space of the targets
    match: Tensor  # [G, T, D] to compare with targets by cosine


class Predictor(nn.Module):
    """Narrow transformer that predicts embeddings at positions (I-JEPA, section 3).

    Source: https://arxiv.org/abs/2301.08243. It reads the visible tokens with their positions, and one query for each
    position to predict. Kinds of tokens (image, words) differ by a learned vector.

    Attention falls with the distance on the page, with another slope in each head (ALiBi,
    https://arxiv.org/abs/2108.12409, section 3, in two dimensions), which the source does not do: a run here has
    hundreds of steps, not hundreds of thousands, and so need not learn which tokens are near.

    A second output, `match`, is for contrast: a prediction that must be found by its cosine is longer than the mean of
    what may stand there, which is the prediction of the smallest error, so one output cannot be both. Without
    `contrast` both are the same.
    """

    slopes: Tensor

    def __init__(
        self, width: int, narrow: int, layers: int, heads: int, kinds: int = 1, *, contrast: bool = True
    ) -> None:
        super().__init__()
        self.into = nn.Linear(width, narrow)
        self.places = PointEncoding(narrow)
        self.place = nn.Linear(narrow, narrow)
        self.seen = nn.Parameter(torch.empty(kinds, narrow).normal_(std=0.02))
        self.query = nn.Parameter(torch.empty(kinds, narrow).normal_(std=0.02))
        self.layers = nn.ModuleList(SelfAttentionLayer(narrow, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(narrow)
        self.out = nn.Linear(narrow, width)
        self.match = nn.Linear(narrow, width) if contrast else None
        self.register_buffer("slopes", _NEAREST ** torch.linspace(1, 0, heads), persistent=False)

    def forward(self, seen: Sequence[tuple[Tensor, Tensor, Tensor]], wanted: Tensor, kind: int = 0) -> Predicted:
        """Predict embeddings.

        Args:
            seen: for each kind: tokens [G, K, D], positions [G, K, 2] (1 is the page's long side), valid bool [G, K].
                A kind without tokens has K = 0; the last kinds may be left out.
            wanted: positions to predict, [G, T, 2].
            kind: kind of the predicted tokens.
        """
        context = [
            self.into(tokens) + self.place(self.places(places)) + self.seen[number]
            for number, (tokens, places, _) in enumerate(seen)
        ]
        queries = self.place(self.places(wanted)) + self.query[kind]
        present = torch.cat([*(valid for _, _, valid in seen), wanted.new_ones(wanted.shape[:2], dtype=torch.bool)], 1)
        x = torch.cat([*context, queries], 1)
        positions = torch.cat([*(places.expand(len(x), -1, -1) for _, places, _ in seen), wanted], 1)
        distance = torch.cdist(positions, positions)
        bias = (additive_mask(present) - self.slopes[:, None, None] * distance[:, None]).to(x.dtype)
        for layer in self.layers:
            x = layer(x, bias)
        states = self.norm(x[:, -wanted.shape[1] :])
        embedding = self.out(states)
        return Predicted(embedding, embedding if self.match is None else self.match(states))


def plain_norm(x: Tensor) -> Tensor:
    """Apply layer norm over the last dimension without learned parameters, as targets are normalised."""
    return F.layer_norm(x.float(), x.shape[-1:])


def standardise(tokens: Tensor, weights: Tensor) -> Tensor:
    """Standardise each dimension of tokens [..., D] over the tokens, weighted by `weights` [...].

    The layer norm of I-JEPA and data2vec works inside a token. It leaves the vector that all tokens share, which fills
    the targets when most cells of a page look alike. Standardised over the tokens of a step, as data2vec does for
    speech (https://arxiv.org/abs/2202.03555, section 3.3), targets hold only what differs between tokens. Running
    statistics lag behind targets that move, and then predicting the mean of a step costs more than it should.
    """
    weights = (weights.float() / weights.float().sum().clamp_min(1e-6)).unsqueeze(-1)
    over = tuple(range(tokens.dim() - 1))
    centred = tokens.float() - (tokens.float() * weights).sum(over)
    return centred / ((centred.square() * weights).sum(over) + _EPSILON).sqrt()


def embedding_error(predicted: Tensor, target: Tensor, weights: Tensor | None = None) -> Tensor:
    """Return smooth L1 with its bend at 1, averaged over all tokens [..., D].

    `weights` [...] weight the tokens.
    """
    if weights is None:
        return F.smooth_l1_loss(predicted.float(), target)
    token_error = F.smooth_l1_loss(predicted.float(), target, reduction="none").mean(-1)
    return (token_error * weights).sum() / weights.sum().clamp_min(1e-6)


def spread_penalty(tokens: Tensor) -> Tensor:
    """Penalise embeddings [M, D] that are alike: each dimension must vary, and none may follow another.

    Variance and covariance of VICReg (https://arxiv.org/abs/2105.04906, section 4.1), weighted 25 to 1, as joined to
    I-JEPA in https://arxiv.org/abs/2410.19560. There they are taken of expanded vectors of many images, here of the
    tokens of a few pages, after `plain_norm`: otherwise tokens vary enough while a vector that all share outgrows what
    differs.
    """
    normed = plain_norm(tokens)
    centred = normed - normed.mean(0)
    deviation = (centred.square().mean(0) + 1e-4).sqrt()
    covariance = centred.T @ centred / max(1, len(centred) - 1)
    off_diagonal = covariance.square().sum() - covariance.diagonal().square().sum()
    return F.relu(1 - deviation).mean() + off_diagonal / tokens.shape[1] / 25


def target_spread(target: Tensor, counted: Tensor) -> dict[str, Tensor]:
    """Measure collapse of the targets, for the log.

    Args:
        target: normalised targets, [G, K, D].
        counted: tokens to count, bool [G, K].

    Returns:
        `target_std`, the mean over dimensions of the standard deviation over tokens: near 1 when tokens differ, 0 when
        all are equal. `collapsed` is 1 below COLLAPSED. `target_rank`, 1..D: in how many directions they differ, by the
        entropy of the shares of variance. It is below the effective rank of Roy and Vetterli 2007 ("The effective rank:
        a measure of effective dimensionality") and RankMe (https://arxiv.org/abs/2210.02885, section 3.1), which take
        the shares of singular values, not of their squares.
    """
    tokens = target[counted].float()
    centred = tokens - tokens.mean(0)
    std = centred.square().mean(0).sqrt().mean()
    return {"target_std": std, "target_rank": _effective_rank(centred), "collapsed": (std < COLLAPSED).float()}


@torch.no_grad()
def _effective_rank(centred: Tensor) -> Tensor:
    """Return the exponential of the entropy of the shares of variance of centred tokens [M, D]; nan unless finite.

    On the CPU in double precision: bfloat16 and some devices have no eigenvalues.
    """
    exact = centred.detach().cpu().double()
    if not bool(exact.isfinite().all()):  # the loss is not finite either, and ends the run with a sentence
        return torch.tensor(torch.nan)
    shares = torch.linalg.eigvalsh(exact.T @ exact).clamp_min(0)
    shares = shares / shares.sum().clamp_min(1e-12)
    rank: Tensor = torch.special.entr(shares).sum().exp()
    return rank.float()
