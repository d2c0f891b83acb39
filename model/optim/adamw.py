"""AdamW for scalars, vectors, norms and embeddings, inside the same optimizer.

Loshchilov and Hutter 2019; the arithmetic of torch.optim.AdamW, with the moments in float32 under narrower parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from model.optim.counting import State, bias_correction, on_device, together
from model.optim.rounding import Draw, draw_of, move
from model.optim.sharded import own, piece_of
from model.optim.stack import zeros_or_same

MOMENTS = ("exp_avg", "exp_avg_sq")  # names in the state, torch's


def rate_of(group: Mapping[str, Any], on_device: bool) -> float | Tensor:
    """Return the learning rate of a group: a number, or a scalar on the device where nothing may be read from it."""
    lr: float | Tensor = group["lr"]
    if not on_device:
        return float(lr)
    return lr.reshape(()) if isinstance(lr, Tensor) else lr  # a tensor of shape [1] is allowed


def step_states(
    group: Mapping[str, Any], parameters: Sequence[Tensor], gradients: Sequence[Tensor], states: Sequence[State]
) -> None:
    """Take one step in place with the settings of a parameter group; makes states that are missing.

    Of parameters in pieces over several processes, gradients and states are the pieces of this one.
    """
    for gradient, state in zip(gradients, states, strict=True):
        for key in MOMENTS:
            zeros_or_same(state, key, gradient.shape, gradient.dtype, gradient.device)
        state["step"] += 1
    step(
        [own(parameter) for parameter in parameters],
        gradients,
        [state["exp_avg"] for state in states],
        [state["exp_avg_sq"] for state in states],
        count=together(states, "step"),
        lr=rate_of(group, on_device(states[0])),
        betas=group["betas"],
        eps=group["eps"],
        weight_decay=group["weight_decay"],
        draws=[
            draw_of(group["rounding"], group["seed"], state, piece=piece_of(parameter))
            if parameter.dtype == torch.bfloat16
            else None
            for parameter, state in zip(parameters, states, strict=True)
        ],
    )


def step(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    first: Sequence[Tensor],  # exponential averages of g
    second: Sequence[Tensor],  # exponential averages of g^2
    *,
    count: int | Tensor,  # steps including this one, the same for all; or of each, [parameters]
    lr: float | Tensor,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
    draws: Sequence[Draw | None],  # of the rounding of each, where the parameters are bfloat16
) -> None:
    """Take one step in place, for parameters of one device and one dtype.

    Gradients have the dtype of the moments.
    """
    beta1, beta2 = betas
    same = parameters[0].dtype == first[0].dtype
    decay_factor = 1 - lr * weight_decay if weight_decay else 1.0
    if weight_decay != 0 and same:
        torch._foreach_mul_(list(parameters), decay_factor)
    torch._foreach_lerp_(list(first), list(gradients), 1 - beta1)
    torch._foreach_mul_(list(second), beta2)
    torch._foreach_addcmul_(list(second), list(gradients), list(gradients), 1 - beta2)
    denominators = torch._foreach_sqrt(list(second))
    squared, size = bias_correction(beta2, count) ** 0.5, -lr / bias_correction(beta1, count)
    sizes: list[float | Tensor]
    if isinstance(squared, Tensor) and isinstance(size, Tensor):
        sizes = list(size.unbind())
        torch._foreach_div_(denominators, list(squared.unbind()))
    else:
        sizes = [size] * len(parameters)
        torch._foreach_div_(denominators, squared)
    torch._foreach_add_(denominators, eps)
    if same and not isinstance(size, Tensor):
        torch._foreach_addcdiv_(list(parameters), list(first), denominators, size)
        return
    updates = torch._foreach_div(list(first), denominators)
    decay_factor = 1.0 if same else decay_factor  # else decay has been applied
    for parameter, update, scale, draw in zip(parameters, updates, sizes, draws, strict=True):
        move(parameter, update, scale=scale, decay_factor=decay_factor, draw=draw)
