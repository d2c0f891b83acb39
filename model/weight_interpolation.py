"""Weights between a network and what it learned: what is new weighs less, and less of what was known is lost.

Wortsman et al. 2022, "Robust fine-tuning of zero-shot models" (arXiv:2109.01903), section 3: the straight line between the weights before and after
fine-tuning is as good at the new task as its end, and better at the old ones.
"""

from collections.abc import Mapping

import torch
from torch import Tensor


def interpolate(before: Mapping[str, Tensor], after: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Return `before` + `share` (0..1) x (`after` - `before`), tensor by tensor; whole numbers are those of `after`.

    ValueError when they are not the weights of one architecture.
    """
    if before.keys() != after.keys() or any(before[name].shape != after[name].shape for name in after):
        raise ValueError("Only weights of the same architecture lie on a line.")
    return {
        name: torch.lerp(before[name].float(), tensor.float(), share).to(tensor.dtype)
        if tensor.is_floating_point()
        else tensor
        for name, tensor in after.items()
    }
