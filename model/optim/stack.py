"""Step parameters of one shape together.

A stack opens the state tensors of several parameters as one tensor with a leading dimension, lets the step change it in
place, and writes the parts back. A stack of one parameter is a view and copies nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from model.optim.counting import State, bias_correction, on_device, together

# Elements a stack. Copying small matrices into one product saves kernel launches; copying large ones costs more.
STACKED_ELEMENTS = 1 << 18
STACKED_ON_GPU = 1 << 24  # there copying is cheap, and a launch is not
CUT_ELEMENTS = 1 << 20  # elements of a partitioned matrix in one piece: they fit the cache


@dataclass(slots=True)
class Scratch:
    """What steps of an optimizer share.

    Buffers are reused, because memory fresh from the system costs more than the work done in it; those larger than
    CUT_ELEMENTS are not kept. Counts of a step are read from the device with the next step, so that no step waits.

    Attributes:
        keeps: whether buffers are kept; not where a compiled step or a CUDA graph has its own memory.
    """

    keeps: bool = True
    _kept: dict[tuple[str, torch.dtype, torch.device], Tensor] = field(default_factory=dict)
    _happened: dict[tuple[object, ...], tuple[Sequence[State], Tensor]] = field(default_factory=dict)

    def count(self, states: Sequence[State], key: str, happened: Tensor) -> None:
        """Add one to an integer of each state where `happened` [states] is true, when `settle` is called."""
        number = (key, *map(id, states))
        before = self._happened.get(number)
        self._happened[number] = states, happened.long() if before is None else before[1] + happened

    def settle(self) -> None:
        """Enter the counts of the steps so far: one transfer a device."""
        by_device: dict[torch.device, list[tuple[str, Sequence[State], Tensor]]] = {}
        for (key, *_), (states, happened) in self._happened.items():
            by_device.setdefault(happened.device, []).append((str(key), states, happened))
        self._happened.clear()
        for counted in by_device.values():
            times = iter(torch.cat([happened for _, _, happened in counted]).tolist())
            for key, states, _ in counted:
                for state in states:
                    state[key] += int(next(times))

    def take(self, name: str, shape: Sequence[int], like: Tensor) -> Tensor:
        """Return an uninitialised tensor in `like`'s dtype and device; an earlier tensor of that name is lost."""
        size = math.prod(shape)
        if size > CUT_ELEMENTS or not self.keeps:
            return like.new_empty(tuple(shape))
        key = (name, like.dtype, like.device)
        if key not in self._kept or self._kept[key].numel() < size:
            self._kept[key] = like.new_empty(size)
        return self._kept[key][:size].view(tuple(shape))


@dataclass(slots=True)
class Stack:
    """Parameters, their gradients and their states, in one order.

    Gradients have the dtype of computation and their sign applied.

    Attributes:
        parameters: B parameters of one shape.
        gradients: their gradients.
        states: their states.
        blocks: number of subspaces into which a partition cuts each parameter, 0 for none. The state tensors then lead
            with the blocks, and B is parameters times blocks.
        part: first and last plus one of the blocks of this stack, if it has one parameter; None for all.
        scratch: buffers to work in.
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
        """Steps taken before this one, equal for the whole stack; they must be counted in Python."""
        return int(self.states[0]["step"])

    def bias_correction(self, beta: float, dims: int, ahead: int = 0) -> float | Tensor:
        """Return 1 - beta^t for this step t, or for the one `ahead` steps later.

        It is a number, or where steps are counted on the device [B, 1 ...] with `dims` dimensions.
        """
        count = together(self.states, "step")
        if isinstance(count, Tensor) and self.blocks:
            first, last = self.part or (0, self.blocks)
            count = count.repeat_interleave(last - first)
        correction = bias_correction(beta, count + (1 + ahead))
        return correction.view(-1, *[1] * (dims - 1)) if isinstance(correction, Tensor) else correction

    def integers(self, key: str) -> list[int]:
        """Return an integer of each state."""
        return [int(state[key]) for state in self.states]

    def open_state(self, key: str) -> Tensor:
        """Return a state tensor of all parameters, [B, ...]; `close` keeps changes made in place."""
        if key not in self._open:
            if any(key not in state for state in self.states):
                raise RuntimeError(
                    f"There is no state {key}: the subspace changed in the middle of a run; "
                    "call reset() to start over with it."
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

    def open_or_zeros(self, key: str, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """Return a state tensor of all parameters, made of zeros if there is none.

        `shape` is that of one parameter's or one block's state.
        """
        whole = (self.blocks, *shape) if self.blocks else tuple(shape)
        for state in self.states:
            zeros_or_same(state, key, whole, dtype, self.parameters[0].device)
        return self.open_state(key)

    def split_blocks(self, blocks: int) -> list[Stack]:
        """Split one parameter's blocks into stacks of `blocks` each."""
        return [
            replace(self, part=(start, min(start + blocks, self.blocks)), _open={})
            for start in range(0, self.blocks, blocks)
        ]

    def close(self) -> None:
        """Write the opened tensors back."""
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
        """Add one to an integer of each state where `happened` [B] is true in any of its blocks."""
        of_each = happened.view(len(self), -1).any(1)
        if on_device(self.states[0]):
            for state, once in zip(self.states, of_each.unbind(), strict=True):
                state[key].add_(once)
        else:
            self.scratch.count(self.states, key, of_each)


def zeros_or_same(state: State, key: str, shape: Sequence[int], dtype: torch.dtype, device: torch.device) -> None:
    """Make a state tensor of zeros if there is none; RuntimeError if it has another shape or dtype."""
    if key not in state:
        state[key] = torch.zeros(tuple(shape), dtype=dtype, device=device)
    elif state[key].shape != torch.Size(shape) or state[key].dtype != dtype:
        actual, asked = (
            f"{str(t).removeprefix('torch.')} {list(s)}"
            for t, s in ((state[key].dtype, state[key].shape), (dtype, shape))
        )
        raise RuntimeError(
            f"The state {key} is {actual} where the settings ask for {asked}: rank, window, subspace or a dtype "
            "changed in the middle of a run, or the state is another network's; call reset() to start over."
        )


def chunks(length: int, elements: int, device: torch.device) -> list[slice]:
    """Return slices of `length` parameters of `elements` each that respect STACKED_ELEMENTS, or STACKED_ON_GPU."""
    size = max(1, (STACKED_ELEMENTS if device.type == "cpu" else STACKED_ON_GPU) // max(1, elements))
    return [slice(start, start + size) for start in range(0, length, size)]
