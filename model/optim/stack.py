"""Parameters of one shape, stepped together.

A stack opens the state tensors of several parameters as one tensor with a leading dimension, lets the step change it in
place, and puts the parts back. A stack of one is a view and copies nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

State = dict[str, Any]  # tensors and integers only, so that torch.load(..., weights_only=True) takes it

# Copying small matrices into one product pays (one kernel for many); copying large ones does not. Elements a stack.
STACKED_ELEMENTS = 1 << 18
CUT_ELEMENTS = 1 << 20  # of a partitioned matrix that are worked on at a time: what stays in the cache


@dataclass(slots=True)
class Scratch:
    """Buffers that one step after another works in: memory that is fresh from the system costs more than what is done
    in it.
    Larger ones than CUT_ELEMENTS are not kept."""

    _kept: dict[tuple[str, torch.dtype, torch.device], Tensor] = field(default_factory=dict)

    def take(self, name: str, shape: Sequence[int], like: Tensor) -> Tensor:
        """An uninitialised tensor in `like`'s dtype and device; whoever took that name before has lost it."""
        size = math.prod(shape)
        if size > CUT_ELEMENTS:
            return like.new_empty(tuple(shape))
        key = (name, like.dtype, like.device)
        if key not in self._kept or self._kept[key].numel() < size:
            self._kept[key] = like.new_empty(size)
        return self._kept[key][:size].view(tuple(shape))


@dataclass(slots=True)
class Stack:
    """Parameters, their gradients (in the dtype of computation, sign applied) and their states, in one order.

    blocks: how many subspaces a partition cuts each parameter into, 0 for none; the state tensors then lead with them,
    and B is parameters times blocks. part: first and last plus one of the blocks that this stack is
    about, where it has one parameter; None for all.
    """

    parameters: Sequence[Tensor]
    gradients: Sequence[Tensor]
    states: Sequence[State]
    blocks: int = 0
    part: tuple[int, int] | None = None
    scratch: Scratch = field(default_factory=Scratch)
    _open: dict[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.states)

    def __contains__(self, key: str) -> bool:
        return key in self.states[0]

    @property
    def steps(self) -> int:
        """Steps taken before this one, the same for the whole stack."""
        return int(self.states[0]["step"])

    def integers(self, key: str) -> list[int]:
        return [int(state[key]) for state in self.states]

    def opened(self, key: str) -> Tensor:
        """A state tensor of all, [B, ...]; what is changed in place is kept by `close`."""
        if key not in self._open:
            if any(key not in state for state in self.states):
                raise RuntimeError(
                    f"There is no state {key}: the subspace changed in the middle of a run; call reset() to start over with it."
                )
            tensors = [state[key] for state in self.states]
            if self.blocks:
                self._open[key] = (
                    tensors[0][slice(*self.part) if self.part else slice(None)]
                    if len(tensors) == 1
                    else torch.cat(tensors)
                )
            else:
                self._open[key] = tensors[0].unsqueeze(0) if len(tensors) == 1 else torch.stack(tensors)
        return self._open[key]

    def opened_or_zeros(self, key: str, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """The same, made of zeros where there is none yet. shape is that of one parameter's or one block's
        state."""
        whole = (self.blocks, *shape) if self.blocks else tuple(shape)
        for state in self.states:
            zeros_or_same(state, key, whole, dtype, self.parameters[0].device)
        return self.opened(key)

    def cut(self, blocks: int) -> list[Stack]:
        """One parameter's blocks in stacks of so many."""
        return [
            replace(self, part=(start, min(start + blocks, self.blocks)), _open={})
            for start in range(0, self.blocks, blocks)
        ]

    def close(self) -> None:
        """Put the opened tensors back."""
        if len(self) > 1:
            for key, tensor in self._open.items():
                parts = torch.tensor_split(tensor, len(self)) if self.blocks else tensor.unbind(0)
                torch._foreach_copy_([state[key] for state in self.states], list(parts))
        self._open.clear()

    def advance(self) -> None:
        """Count the step."""
        for state in self.states:
            state["step"] += 1

    def count(self, key: str, happened: Tensor) -> None:
        """Add one to an integer of each state where `happened` [B] is true, in one of its blocks or more."""
        for state, yes in zip(self.states, happened.view(len(self), -1).any(1).tolist(), strict=True):
            state[key] += int(yes)


def zeros_or_same(state: State, key: str, shape: Sequence[int], dtype: torch.dtype, device: torch.device) -> None:
    """Make a state tensor of zeros where there is none; RuntimeError where there is one of another shape or dtype."""
    if key not in state:
        state[key] = torch.zeros(tuple(shape), dtype=dtype, device=device)
    elif state[key].shape != torch.Size(shape) or state[key].dtype != dtype:
        there, asked = (
            f"{str(t).removeprefix('torch.')} {list(s)}"
            for t, s in ((state[key].dtype, state[key].shape), (dtype, shape))
        )
        raise RuntimeError(
            f"The state {key} is {there} where the settings ask for {asked}: rank, window, subspace or a dtype changed in the "
            "middle of a run, or the state is another network's; call reset() to start over."
        )


def chunks(length: int, elements: int) -> list[slice]:
    """Slices of `length` parameters of `elements` each, so that a stack stays within STACKED_ELEMENTS."""
    size = max(1, STACKED_ELEMENTS // max(1, elements))
    return [slice(start, start + size) for start in range(0, length, size)]
