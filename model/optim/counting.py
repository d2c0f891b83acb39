"""Count the steps of a parameter: in Python, or on its device.

On the device (`capturable`) a step reads no number of Python's that changes, so that torch.compile compiles it once and
a CUDA graph replays it. The price is arithmetic on numbers of one element.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

State = dict[str, Any]  # tensors and integers only, so that torch.load(..., weights_only=True) takes it
INTEGERS = ("step", "index", "skipped", "fallbacks")
ON_DEVICE = ("step", "fallbacks")  # float32 tensors of no dimension, where steps are counted on the device


def fresh_state(index: int, parameter: Tensor, capturable: bool) -> State:
    """Return the state before the first step; `index` counts all parameters, frozen ones too."""
    state: State = dict.fromkeys(INTEGERS, 0) | {"index": index}
    return place_counts(state, parameter.device, capturable)


def place_counts(state: State, device: torch.device, capturable: bool) -> State:
    """Return a state with its counts where they belong, whatever they were."""
    state_placed = dict(state)
    for key in INTEGERS:
        if key in ON_DEVICE and capturable:
            state_placed[key] = torch.tensor(float(state[key]), dtype=torch.float32, device=device)
        else:
            state_placed[key] = int(state[key])
    return state_placed


def on_device(state: State) -> bool:
    """Return whether the steps of a state are counted on the device."""
    return isinstance(state["step"], Tensor)


def bias_correction(beta: float, count: int | Tensor) -> float | Tensor:
    """Return 1 - beta^count: how far an average at this rate, begun at zero, is filled after `count` values."""
    if not isinstance(count, Tensor):
        return float(1 - beta**count)
    return -torch.expm1(count * math.log(beta)) if beta > 0 else torch.ones_like(count)


def together(states: Sequence[State], key: str) -> int | Tensor:
    """Return a count of several states: an integer that they share, or a tensor [states]."""
    if on_device(states[0]):
        return torch.stack([state[key] for state in states])
    return int(states[0][key])
