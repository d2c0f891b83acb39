"""Choose the basis of a step, generated from its seed or stored, and rotate state into a new one."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from model.optim.choices import Partition, Seeded, Subspace
from model.optim.fisher import gram_of, pack, unpack
from model.optim.moments import decode, encode
from model.optim.stack import Stack
from model.optim.subspace import Geometry, changes, derive_seed, fit_factors, mode_product, seeded_basis

_Key = tuple[int, int, int, torch.dtype, torch.device]


@dataclass(slots=True)
class SeededBases:
    """Cache of seeded bases; it is no state, because every basis can be generated again from integers.

    A step marks the bases it uses, and `forget_unused` drops the rest, so that old bases do not accumulate.
    """

    _kept: dict[_Key, Tensor] = field(default_factory=dict)
    _used: set[_Key] = field(default_factory=set)

    def get(self, dimension: int, rank: int, seed: int, like: Tensor) -> Tensor:
        """Return the orthonormal basis [dimension, rank] of a seed, in `like`'s dtype and device."""
        key = (dimension, rank, seed, like.dtype, like.device)
        self._used.add(key)
        if key not in self._kept:
            self._kept[key] = seeded_basis(dimension, rank, seed, like)
        return self._kept[key]

    def forget_unused(self) -> None:
        """Drop the bases that were not used since the last call."""
        self._kept = {key: basis for key, basis in self._kept.items() if key in self._used}
        self._used = set()

    def bytes(self) -> int:
        """Return the bytes of the cached bases."""
        return sum(basis.numel() * basis.element_size() for basis in self._kept.values())


@dataclass(frozen=True, slots=True)
class Basis:
    """Basis of a step.

    Attributes:
        factors: U_i, [B or 1, n_i, r_i] for each projected mode.
        changed: R_i from the previous basis; empty unless the basis is new.
        fresh: whether the basis was refreshed at this step.
    """

    factors: list[Tensor]
    changed: list[Tensor]
    fresh: bool


def basis_of(
    gradients: Tensor, stack: Stack, shape: Geometry, choice: Subspace, seed: int, seeded: SeededBases
) -> Basis:
    """Return the basis for this step.

    A refresh happens at every `refresh`-th step of a parameter's own count, so that it is the same after a resume. It
    is drawn from (seed, index, period), never from the history of the session.

    Args:
        gradients: [B, *view].
        stack: state of the parameters.
        shape: how the gradients are projected.
        choice: kind of subspace.
        seed: of the run.
        seeded: cache of seeded bases.
    """
    if isinstance(choice, Partition):
        return Basis([], [], False)
    period, offset = divmod(stack.steps, choice.refresh)
    fresh = offset == 0
    if isinstance(choice, Seeded):
        now = _seeded_factor(gradients, stack, shape, choice, (seed, period), seeded)
        if not fresh or period == 0:
            return Basis([now], [], fresh)
        before = _seeded_factor(gradients, stack, shape, choice, (seed, period - 1), seeded)
        return Basis([now], changes([now], [before]), True)

    keys = [f"factor_{mode}" for mode in shape.modes]
    old_factors: list[Tensor] = []
    if not fresh or period > 0:
        for key, mode, rank in zip(keys, shape.modes, shape.ranks, strict=True):
            stack.open_state(key)  # raises if it is missing
            old_factors.append(stack.open_or_zeros(key, (shape.view[mode], rank), gradients.dtype))
    if not fresh:
        return Basis(old_factors, [], False)
    fitted = [
        fit_factors(gradient, shape, choice, derive_seed(seed, index, period))
        for gradient, index in zip(gradients, stack.integers("index"), strict=True)
    ]
    new = [torch.stack(parts) for parts in zip(*fitted, strict=True)]
    changed = changes(new, old_factors) if old_factors else []
    for key, factor in zip(keys, new, strict=True):
        stack.open_or_zeros(key, factor.shape[1:], factor.dtype).copy_(factor)
    return Basis(new, changed, True)


def _seeded_factor(
    like: Tensor, stack: Stack, shape: Geometry, choice: Seeded, period: tuple[int, int], seeded: SeededBases
) -> Tensor:
    dimension, rank = shape.view[0], shape.ranks[0]
    if choice.shared:
        return seeded.get(dimension, rank, derive_seed(*period, dimension, rank), like)[None]
    seeds = [derive_seed(*period, dimension, rank, index) for index in stack.integers("index")]
    return torch.stack([seeded.get(dimension, rank, own_seed, like) for own_seed in seeds])


def rotate(stack: Stack, changed: list[Tensor], shape: Geometry, dtype: torch.dtype) -> None:
    """Rotate everything kept in subspace coordinates into the new basis, in place.

    First moments and history are rotated by R, the Fisher factor by R L R^T, second moments by R o R, which is exact
    where coordinates are uncorrelated (LDAdam, Robert et al. 2024).

    Args:
        stack: state of the parameters.
        changed: R_i for each projected mode.
        shape: how the gradients are projected.
        dtype: dtype of the computation.
    """

    def rotate_tensor(tensor: Tensor, matrices: list[Tensor], lead: int) -> Tensor:
        for matrix, mode in zip(matrices, shape.modes, strict=True):
            tensor = mode_product(tensor, matrix, mode + lead)
        return tensor

    for name in ("momentum", "root_momentum"):
        if name not in stack:
            continue
        momentum = stack.open_state(name)
        if f"{name}_scale" in stack:
            scales, root = stack.open_state(f"{name}_scale"), name == "root_momentum"
            encode(rotate_tensor(decode(momentum, scales, root=root), changed, 0), momentum, scales, root=root)
        else:
            momentum.copy_(rotate_tensor(momentum, changed, 0))
    if "second_moment" in stack:
        second = stack.open_state("second_moment")
        second.copy_(rotate_tensor(second, [matrix.square() for matrix in changed], 0))
    if "fisher" in stack:
        fisher = stack.open_state("fisher")
        factor, inverse_root = unpack(fisher)
        fisher.copy_(pack(changed[0] @ factor @ changed[0].mT, inverse_root))
    if "history" in stack:
        history = stack.open_state("history")
        columns = rotate_tensor(history.to(dtype).reshape(*history.shape[:2], *shape.low), changed, 1)
        history.copy_(columns.flatten(2))
        stack.open_state("gram").copy_(gram_of(history))
