"""Moments of the low-rank gradient: Adam's pair, or momentum alone, in float32 or in eight bits."""

from __future__ import annotations

import torch
from torch import Tensor

from model.optim.choices import Adam, Moments, Momentum
from model.optim.stack import Stack

NEIGHBOURS = 256  # that share a scale, where a row divides by it
LARGEST = 127


def with_moments(low: Tensor, stack: Stack, moments: Moments | None, betas: tuple[float, float]) -> Tensor:
    """Bias-corrected momentum, or Adam's ratio, or the argument itself. low: [B, *low]."""
    if moments is None:
        return low
    (beta1, beta2), count = betas, stack.steps + 1
    if isinstance(moments, Momentum) and moments.dtype == "int8":
        momentum = _eight_bits(low, stack, beta1)
    else:
        momentum = stack.opened_or_zeros("momentum", low.shape[1:], low.dtype).lerp_(low, 1 - beta1)
    if isinstance(moments, Adam):
        second = stack.opened_or_zeros("second_moment", low.shape[1:], low.dtype)
        second.mul_(beta2).addcmul_(low, low, value=1 - beta2)
        return (momentum / (1 - beta1**count)) / ((second / (1 - beta2**count)).sqrt_().add_(moments.eps))
    if moments.nesterov:
        return (momentum * (beta1 / (1 - beta1 ** (count + 1)))).add_(low, alpha=(1 - beta1) / (1 - beta1**count))
    return momentum / (1 - beta1**count)


def _eight_bits(low: Tensor, stack: Stack, beta: float) -> Tensor:
    codes = stack.opened_or_zeros("momentum", low.shape[1:], torch.int8)
    scales = stack.opened_or_zeros("momentum_scale", (*low.shape[1:-1], pieces(low.shape[-1])), low.dtype)
    momentum = decoded(codes, scales).lerp_(low, 1 - beta)
    encode(momentum, codes, scales)
    return momentum


def pieces(length: int) -> int:
    """How many scales a row of that length has."""
    return length // NEIGHBOURS if length % NEIGHBOURS == 0 and length > 0 else 1


def decoded(codes: Tensor, scales: Tensor) -> Tensor:
    """[..., n] int8 and [..., pieces] -> [..., n] in the dtype of the scales."""
    wide = codes.to(scales.dtype)
    wide.view(*scales.shape, -1).mul_(scales[..., None])
    return wide


def encode(tensor: Tensor, codes: Tensor, scales: Tensor) -> None:
    """The nearest of 255 multiples of a scale, which is the largest magnitude in its piece over LARGEST. In place."""
    split = tensor.view(*scales.shape, -1)
    scales.copy_(split.abs().amax(-1) / LARGEST)
    inverse = scales.clamp_min(torch.finfo(scales.dtype).tiny).reciprocal()
    codes.view(split.shape).copy_((split * inverse[..., None]).round_())
