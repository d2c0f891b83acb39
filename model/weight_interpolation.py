"""Interpolate between the weights before and after fine-tuning, to forget less.

Wortsman et al. 2022, "Robust fine-tuning of zero-shot models" (arXiv:2109.01903), section 3: points on the straight
line between both are as good at the new task as its end, and better at the old ones.
"""

from collections.abc import Mapping, Sequence

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


def mean(states: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Return the mean of weights that were fine-tuned from one beginning (a uniform "model soup").

    Wortsman et al. 2022, "Model soups" (arXiv:2203.05482), section 2: it is about as good as an ensemble, at the cost
    of one network. Integer tensors are taken from the first.

    Raises:
        ValueError: there are none, or they are not weights of one architecture.
    """
    if not states:
        raise ValueError("A mean needs weights.")
    first = states[0]
    for state in states[1:]:
        if first.keys() != state.keys() or any(first[name].shape != state[name].shape for name in first):
            raise ValueError("Only weights of the same architecture have a mean.")
    return {
        name: torch.stack([state[name].float() for state in states]).mean(0).to(tensor.dtype)
        if tensor.is_floating_point()
        else tensor
        for name, tensor in first.items()
    }
