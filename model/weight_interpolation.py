"""Interpolate between the weights before and after fine-tuning, to forget less.

Wortsman et al. 2022, "Robust fine-tuning of zero-shot models" (arXiv:2109.01903), section 3: points on the straight
line between both are as good at the new task as its end, and better at the old ones.
"""

from collections.abc import Mapping

import torch
from torch import Tensor


def interpolate(before: Mapping[str, Tensor], after: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Return `before` + `share` * (`after` - `before`), tensor by tensor.

    Args:
        before: weights before fine-tuning.
        after: weights after it; integer tensors are taken from here.
        share: position on the line, 0..1.

    Returns:
        Weights in the dtypes of `after`.

    Raises:
        ValueError: the two are not weights of one architecture.
    """
    if before.keys() != after.keys() or any(before[name].shape != after[name].shape for name in after):
        raise ValueError("Only weights of the same architecture lie on a line.")
    return {
        name: torch.lerp(before[name].float(), tensor.float(), share).to(tensor.dtype)
        if tensor.is_floating_point()
        else tensor
        for name, tensor in after.items()
    }
