"""Write float32 results into bfloat16 parameters.

A bfloat16 has 8 bits of precision, so that an update below 1/256 of a weight is lost when it is rounded to the nearest:
at a rate of 1e-4 nearly all are. Rounded up or down at random, with the nearer one the likelier, their mean is kept
(Gupta et al. 2015, section 3.2; for training in bfloat16 alone, Zamirai et al. 2020).

The random numbers are a hash of the step and of the weight's position in its block or piece. So a resumed run draws the
same, no generator's state has to be kept, and the step may stand on the device.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.optim.choices import Rounding
from model.optim.counting import State

_BELOW = 1 << 16  # values of the bits that bfloat16 lacks
_GOLDEN = -1640531535  # 2^32 divided by the golden ratio, odd, as int32: neighbouring numbers become distant keys


@dataclass(frozen=True, slots=True)
class Draw:
    """Which random numbers a rounding takes: those of a key (int32), at a step (integer or one-element tensor)."""

    key: int
    step: int | Tensor


def move(
    parameter: Tensor, update: Tensor, *, scale: float | Tensor, decay_factor: float | Tensor, draw: Draw | None
) -> None:
    """Compute parameter = decay_factor * parameter + scale * update, in place.

    Args:
        parameter: any shape and dtype.
        update: the same shape, in the dtype of computation.
        scale: of the update.
        decay_factor: share of the weights that weight decay leaves.
        draw: of the rounding of a bfloat16 parameter; None rounds to the nearest.
    """
    rounded = draw is not None and parameter.dtype == torch.bfloat16
    moved = parameter.float() if rounded else parameter
    if isinstance(decay_factor, Tensor) or decay_factor != 1:
        moved.mul_(decay_factor)
    if isinstance(scale, Tensor):
        moved.add_(update * scale)
    else:
        moved.add_(update, alpha=scale)
    if draw is not None and rounded:
        parameter.copy_(stochastic(moved, draw))


def draw_of(rounding: Rounding, seed: int, state: State, part: int = 0, piece: int = 0) -> Draw | None:
    """Return the draw for a parameter at this step; None to round to the nearest.

    `part`: of the parameter, where it is stepped part by part. `piece`: number of the piece in this process.
    """
    if rounding != "stochastic":
        return None
    key = 0
    for number in (seed, int(state["index"]), part, *([piece] if piece else [])):
        key = _int32((key ^ number) * _GOLDEN)
        key ^= key >> 15
    return Draw(key, state["step"])


def stochastic(value: Tensor, draw: Draw) -> Tensor:
    """Round float32 values to bfloat16, up with a probability equal to how far the value is above the lower one.

    Values that are not finite stay; a value beyond the largest finite one becomes infinite, as it does when rounded to
    the nearest.
    """
    bits = value.contiguous().view(torch.int32)
    rounded = ((bits + noise(value.numel(), draw, value.device).view(bits.shape)) & -_BELOW).view(torch.float32)
    return torch.where(torch.isfinite(value), rounded, value).bfloat16()


def noise(count: int, draw: Draw, device: torch.device) -> Tensor:
    """Return `count` integers, uniform over 0 to 65,535."""
    if isinstance(draw.step, Tensor):
        step: int | Tensor = draw.step.to(torch.int32) * _GOLDEN
    else:
        step = _int32(draw.step * _GOLDEN)
    positions = torch.arange(count, dtype=torch.int32, device=device).add_(draw.key)
    return _hash_bits(_hash_bits(positions).bitwise_xor_(step)).bitwise_and_(_BELOW - 1)


def _hash_bits(bits: Tensor) -> Tensor:
    """Hash int32 in place, one to one: multiplications and shifts of Wellons' lowbias32 (2018)."""
    for shift, factor in ((16, 0x7FEB352D), (15, _int32(0x846CA68B)), (16, 1)):
        bits.bitwise_xor_((bits >> shift).bitwise_and_((1 << (32 - shift)) - 1)).mul_(factor)
    return bits


def _int32(number: int) -> int:
    """Return the int32 with the same lower 32 bits."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)
