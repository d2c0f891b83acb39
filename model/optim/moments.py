"""Keep moments of the low-rank gradient: Adam's pair, or momentum alone, in float32 or eight bits."""

from __future__ import annotations

import torch
from torch import Tensor

from model.optim.choices import Moments, Momentum
from model.optim.counting import together
from model.optim.stack import Stack

NEIGHBOURS = 256  # entries that share a scale, in rows divisible by it
LARGEST = 127
_BELOW = 1 - 2.0**-20  # keeps the largest entry, with what is added before it is rounded down, below LARGEST + 1
# 2^32 times the powers of 1 / 1.2207, as int32: multiples of such numbers fill a cube evenly (Roberts 2018, R3).
_ROW, _COLUMN, _STEP = -776648141, -1412856951, -1934021721


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
    momentum = stack.open_or_zeros("momentum", low.shape[1:], low.dtype).lerp_(low, 1 - beta1)
    second = stack.open_or_zeros("second_moment", low.shape[1:], low.dtype)
    second.mul_(beta2).addcmul_(low, low, value=1 - beta2)
    seen, squared = stack.bias_correction(beta1, low.dim()), stack.bias_correction(beta2, low.dim())
    return (momentum / seen) / ((second / squared).sqrt_().add_(moments.eps))


def _momentum(low: Tensor, stack: Stack, moments: Momentum, beta: float) -> Tensor:
    if moments.dtype != "float32":
        root = moments.dtype == "int8_root"
        name = "root_momentum" if root else "momentum"  # codes of one are not codes of the other
        codes = stack.open_or_zeros(name, low.shape[1:], torch.int8)
        scales = stack.open_or_zeros(f"{name}_scale", (*low.shape[1:-1], pieces(low.shape[-1])), low.dtype)
        momentum = decode(codes, scales, stack.scratch.take("momentum", low.shape, low), root=root)
        momentum.lerp_(low, 1 - beta)
        work = stack.scratch.take("codes", low.shape, low)
        encode(momentum, codes, scales, work, root=root, dither=dither(low, stack))
    else:
        momentum = stack.open_or_zeros("momentum", low.shape[1:], low.dtype).lerp_(low, 1 - beta).clone()
    now = stack.bias_correction(beta, low.dim())
    if moments.weight is not None:
        return momentum.mul_(moments.weight / now).add_(low, alpha=1 - moments.weight)
    if moments.nesterov:
        ahead = (1 - beta) / now  # of the gradient in the update
        momentum.mul_(beta / stack.bias_correction(beta, low.dim(), ahead=1))
        return momentum.add_(low * ahead) if isinstance(ahead, Tensor) else momentum.add_(low, alpha=ahead)
    return momentum.mul_(1 / now)


def pieces(length: int) -> int:
    """Return the number of scales for a row of `length` entries."""
    return length // NEIGHBOURS if length % NEIGHBOURS == 0 and length > 0 else 1


def decode(codes: Tensor, scales: Tensor, into: Tensor | None = None, *, root: bool = False) -> Tensor:
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


def dither(low: Tensor, stack: Stack) -> Tensor:
    """Return numbers in [0, 1) by which the codes of this step are rounded: [1, ...] or [B, ...], as `low`.

    Rounded to the nearest, a small code would never fade, since a step takes less than half of it away, and a small
    gradient would never enter. Rounded up or down by chance, codes are right on average (Gupta et al. 2015, section 3).
    Chance is an even sequence over rows, columns and steps: it costs a sum, has less variance than random numbers, and
    a resumed run needs no generator's state.
    """
    device, columns = low.device, low.shape[-1]
    rows = low[0].numel() // max(1, columns)
    count = together(stack.states, "step")
    by_row = torch.arange(rows, dtype=torch.int32, device=device).mul_(_ROW)
    if isinstance(count, Tensor):
        of_each = count.to(torch.int32).mul_(_STEP).repeat_interleave(len(low) // len(stack))
        by_row = by_row + of_each[:, None]
    else:
        by_row = by_row.add_((count * _STEP + (1 << 31)) % (1 << 32) - (1 << 31))[None]
    by_column = torch.arange(columns, dtype=torch.int32, device=device).mul_(_COLUMN)
    draws = stack.scratch.take("dither", (len(by_row), rows, columns), low)
    torch.add(_share(by_row, low.dtype)[..., None], _share(by_column, low.dtype), out=draws)
    return draws.frac_().view(len(by_row), *low.shape[1:])


def _share(bits: Tensor, dtype: torch.dtype) -> Tensor:
    """Return int32 as a share of 2^32, in [0, 1)."""
    return (bits >> 8).bitwise_and_((1 << 24) - 1).to(dtype).mul_(2.0**-24)


def encode(
    tensor: Tensor,
    codes: Tensor,
    scales: Tensor,
    work: Tensor | None = None,
    *,
    root: bool = False,
    dither: Tensor | None = None,
) -> None:
    """Encode a tensor as multiples of a scale, from -LARGEST to LARGEST, in place.

    The scale is the largest magnitude in a piece, divided by LARGEST, or by its square.

    Args:
        tensor: [..., n].
        codes: receives the codes, [..., n] int8.
        scales: receives the scales, [..., pieces].
        work: a tensor of the same shape to compute in.
        root: whether codes are of the signed root, so that neighbouring codes of small entries are closer.
        dither: [..., n] or [1, ...], in [0, 1): an entry between two codes becomes the upper one where its distance to
            the lower one is more. None: the nearest.
    """
    split = tensor.view(*scales.shape, -1)
    room = torch.abs(split, out=torch.empty_like(split) if work is None else work.view(split.shape))
    torch.amax(room, -1, out=scales)
    scales.div_(LARGEST**2 if root else LARGEST)
    inverse = scales.clamp_min(torch.finfo(scales.dtype).tiny).reciprocal_()
    if dither is not None:
        inverse.mul_(_BELOW)
        dither = dither.view(-1, *split.shape[1:])
    if root:
        room.mul_(inverse[..., None])
        if dither is None:
            room.sqrt_().round_()
        else:
            lower = room.sqrt().floor_()  # codes are squared when decoded, so the distance is one of squares
            room = lower + ((room - lower.square()) / (2 * lower + 1) > dither)
        codes.view(split.shape).copy_(torch.copysign(room, split))
    else:
        torch.mul(split, inverse[..., None], out=room)
        codes.view(split.shape).copy_(room.round_() if dither is None else room.add_(dither).floor_())
