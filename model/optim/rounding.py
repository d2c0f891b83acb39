"""Write float32 results into bfloat16 parameters.

A bfloat16 has 8 bits of precision, so that an update below 1/256 of a weight is lost when it is rounded to the nearest:
at a rate of 1e-4 nearly all are. Rounded up or down at random, with the nearer one the likelier, their mean is kept
(Gupta et al. 2015, section 3.2; for training in bfloat16 alone, Zamirai et al. 2020).
"""

from __future__ import annotations

import torch
from torch import Tensor

from model.optim.choices import Rounding
from model.optim.stack import State
from model.optim.subspace import derive_seed

_BELOW = 1 << 16  # values of the bits that bfloat16 lacks


def move(parameter: Tensor, update: Tensor, *, scale: float, kept: float, seed: int | None) -> None:
    """Compute parameter = kept * parameter + scale * update, in place.

    Args:
        parameter: any shape and dtype.
        update: the same shape, in the dtype of computation.
        scale: of the update.
        kept: share of the weights that weight decay leaves.
        seed: of the rounding of a bfloat16 parameter; None rounds to the nearest.
    """
    if seed is None or parameter.dtype != torch.bfloat16:
        if kept != 1:
            parameter.mul_(kept)
        parameter.add_(update, alpha=scale)
        return
    parameter.copy_(stochastic(parameter.float().mul_(kept).add_(update, alpha=scale), seed))


def seed_of(rounding: Rounding, seed: int, state: State, part: int = 0) -> int | None:
    """Return the seed of a rounding at this step of a parameter, or of a part of it; None to the nearest."""
    return derive_seed(seed, int(state["index"]), int(state["step"]), part, 1) if rounding == "stochastic" else None


def stochastic(value: Tensor, seed: int) -> Tensor:
    """Round float32 values to bfloat16, up with a probability equal to how far the value is above the lower one.

    Values that are not finite stay; a value beyond the largest finite one becomes infinite, as it does when rounded to
    the nearest. The same seed rounds alike on one kind of device.
    """
    generator = torch.Generator(value.device).manual_seed(seed)
    noise = torch.randint(_BELOW, value.shape, generator=generator, dtype=torch.int32, device=value.device)
    bits = value.contiguous().view(torch.int32)
    rounded = ((bits + noise) & -_BELOW).view(torch.float32)
    return torch.where(torch.isfinite(value), rounded, value).bfloat16()
