"""Keep moments of the low-rank gradient: Adam's pair, or momentum alone, in float32 or eight bits."""

from __future__ import annotations

import torch
from torch import Tensor

from model.optim.choices import Moments, Momentum
from model.optim.stack import Stack

NEIGHBOURS = 256  # entries that share a scale, in rows divisible by it
LARGEST = 127


def with_moments(low: Tensor, stack: Stack, moments: Moments | None, betas: tuple[float, float]) -> Tensor:
    """Return bias-corrected momentum, Adam's ratio, or the argument itself.

    Args:
        low: low-rank gradient, [B, *low].
        stack: state of the parameters.
        moments: kind of moments.
        betas: rates of the first and second moment.
    """
    if moments is None:
        return low
    beta1, beta2 = betas
    if isinstance(moments, Momentum):
        return _momentum(low, stack, moments, beta1 if moments.beta is None else moments.beta)
    momentum = stack.opened_or_zeros("momentum", low.shape[1:], low.dtype).lerp_(low, 1 - beta1)
    second = stack.opened_or_zeros("second_moment", low.shape[1:], low.dtype)
    second.mul_(beta2).addcmul_(low, low, value=1 - beta2)
    seen, squared = stack.filled(beta1, low.dim()), stack.filled(beta2, low.dim())
    return (momentum / seen) / ((second / squared).sqrt_().add_(moments.eps))


def _momentum(low: Tensor, stack: Stack, moments: Momentum, beta: float) -> Tensor:
    if moments.dtype != "float32":
        root = moments.dtype == "int8_root"
        name = "root_momentum" if root else "momentum"  # codes of one are not codes of the other
        codes = stack.opened_or_zeros(name, low.shape[1:], torch.int8)
        scales = stack.opened_or_zeros(f"{name}_scale", (*low.shape[1:-1], pieces(low.shape[-1])), low.dtype)
        momentum = decoded(codes, scales, stack.scratch.take("momentum", low.shape, low), root=root)
        momentum.lerp_(low, 1 - beta)
        encode(momentum, codes, scales, stack.scratch.take("codes", low.shape, low), root=root)
    else:
        momentum = stack.opened_or_zeros("momentum", low.shape[1:], low.dtype).lerp_(low, 1 - beta).clone()
    now = stack.filled(beta, low.dim())
    if moments.weight is not None:
        return momentum.mul_(moments.weight / now).add_(low, alpha=1 - moments.weight)
    if moments.nesterov:
        ahead = (1 - beta) / now  # of the gradient in the update
        momentum.mul_(beta / stack.filled(beta, low.dim(), ahead=1))
        return momentum.add_(low * ahead) if isinstance(ahead, Tensor) else momentum.add_(low, alpha=ahead)
    return momentum.mul_(1 / now)


def pieces(length: int) -> int:
    """Return the number of scales for a row of `length` entries."""
    return length // NEIGHBOURS if length % NEIGHBOURS == 0 and length > 0 else 1


def decoded(codes: Tensor, scales: Tensor, into: Tensor | None = None, *, root: bool = False) -> Tensor:
    """Decode [..., n] int8 with scales [..., pieces] into [..., n] in the dtype of the scales.

    Args:
        codes: what `encode` wrote.
        scales: likewise.
        into: a tensor to write to.
        root: as for `encode`.
    """
    wide = codes.to(scales.dtype) if into is None else into.copy_(codes)
    if root:
        wide.mul_(wide.abs())
    wide.view(*scales.shape, -1).mul_(scales[..., None])
    return wide


def encode(tensor: Tensor, codes: Tensor, scales: Tensor, work: Tensor | None = None, *, root: bool = False) -> None:
    """Encode a tensor as the nearest of 255 multiples of a scale, in place.

    The scale is the largest magnitude in a piece, divided by LARGEST, or by its square.

    Args:
        tensor: [..., n].
        codes: receives the codes, [..., n] int8.
        scales: receives the scales, [..., pieces].
        work: a tensor of the same shape to compute in.
        root: whether codes are of the signed root. The smallest entry that is not lost is then 1.6e-5 of the largest,
            and not 4e-3.
    """
    split = tensor.view(*scales.shape, -1)
    room = torch.abs(split, out=torch.empty_like(split) if work is None else work.view(split.shape))
    torch.amax(room, -1, out=scales)
    scales.div_(LARGEST**2 if root else LARGEST)
    inverse = scales.clamp_min(torch.finfo(scales.dtype).tiny).reciprocal_()
    if root:
        torch.copysign(room.mul_(inverse[..., None]).sqrt_(), split, out=room)
    else:
        torch.mul(split, inverse[..., None], out=room)
    codes.view(split.shape).copy_(room.round_())
