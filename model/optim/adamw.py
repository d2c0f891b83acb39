"""AdamW for scalars, vectors, norms and embeddings, inside the same optimizer.

Loshchilov and Hutter 2019; the arithmetic of torch.optim.AdamW, with the moments in float32 under narrower parameters.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from model.optim.rounding import move, seed_of
from model.optim.sharded import own
from model.optim.stack import State, zeros_or_same


def step_states(
    group: Mapping[str, Any], parameters: Sequence[Tensor], gradients: Sequence[Tensor], states: Sequence[State]
) -> None:
    """Take one step in place with the settings of a parameter group; makes states that are missing.

    Of parameters in pieces over several processes, gradients and states are the pieces of this one.
    """
    for gradient, state in zip(gradients, states, strict=True):
        for key in ("exp_avg", "exp_avg_sq"):
            zeros_or_same(state, key, gradient.shape, gradient.dtype, gradient.device)
        state["step"] += 1
    step(
        [own(parameter) for parameter in parameters],
        gradients,
        [state["exp_avg"] for state in states],
        [state["exp_avg_sq"] for state in states],
        count=states[0]["step"],
        lr=float(group["lr"]),
        betas=group["betas"],
        eps=group["eps"],
        weight_decay=group["weight_decay"],
        seeds=[
            seed_of(group["rounding"], group["seed"], state) if parameter.dtype == torch.bfloat16 else None
            for parameter, state in zip(parameters, states, strict=True)
        ],
    )


def step(
    parameters: Sequence[Tensor],
    gradients: Sequence[Tensor],
    first: Sequence[Tensor],  # exponential averages of g
    second: Sequence[Tensor],  # exponential averages of g^2
    *,
    count: int,  # steps including this one, the same for all
    lr: float,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
    seeds: Sequence[int | None],  # of the rounding of each, where the parameters are bfloat16
) -> None:
    """Take one step in place, for parameters of one device and one dtype.

    Gradients have the dtype of the moments.
    """
    beta1, beta2 = betas
    same = parameters[0].dtype == first[0].dtype
    kept = 1 - lr * weight_decay
    if weight_decay != 0 and same:
        torch._foreach_mul_(list(parameters), kept)
    torch._foreach_lerp_(list(first), list(gradients), 1 - beta1)
    torch._foreach_mul_(list(second), beta2)
    torch._foreach_addcmul_(list(second), list(gradients), list(gradients), 1 - beta2)
    denominators = torch._foreach_sqrt(list(second))
    torch._foreach_div_(denominators, math.sqrt(1 - beta2**count))
    torch._foreach_add_(denominators, eps)
    size = -lr / (1 - beta1**count)
    if same:
        torch._foreach_addcdiv_(list(parameters), list(first), denominators, size)
        return
    updates = torch._foreach_div(list(first), denominators)
    for parameter, update, seed in zip(parameters, updates, seeds, strict=True):
        move(parameter, update, scale=size, kept=kept, seed=seed)
