"""Parameters that are cut into pieces over several processes: FSDP2's, which are DTensors.

Every process gathers the gradient of a matrix, steps the whole matrix, and keeps its own piece of the result. So all
processes hold equal states of all matrices: an eighth of AdamW's, which is what a piece of AdamW's state is on eight
processes. Vectors, norms and embeddings step piece by piece, and their states are pieces too.

A DTensor is told by its method `full_tensor`, so that torch.distributed is not imported where there is none.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor


def is_sharded(tensor: Tensor) -> bool:
    """Return whether a tensor is a DTensor."""
    return hasattr(tensor, "full_tensor")


def whole(tensor: Tensor) -> Tensor:
    """Return all of a tensor; of a DTensor gathered from all processes, which must all call this."""
    return cast(Tensor, cast(Any, tensor).full_tensor()) if is_sharded(tensor) else tensor


def own(tensor: Tensor) -> Tensor:
    """Return the piece of a tensor in this process, in the same memory."""
    return cast(Tensor, cast(Any, tensor).to_local()) if is_sharded(tensor) else tensor


def piece_of(tensor: Tensor) -> int:
    """Return the number of the piece of a tensor in this process; 0 of one that is not cut, or is here as a whole."""
    number = 0
    if is_sharded(tensor):
        cut = cast(Any, tensor)
        for dimension, placement in enumerate(cut.placements):
            if placement.is_shard():
                number = number * cut.device_mesh.size(dimension) + cut.device_mesh.get_local_rank(dimension)
    return number


def as_piece(state: Tensor, parameter: Tensor) -> Tensor:
    """Return the state of a parameter's piece as a DTensor cut like the parameter, in the same memory.

    So torch.distributed.checkpoint knows that each process holds another piece of it. Of a parameter that is not cut,
    the state stays as it is.
    """
    if not is_sharded(parameter):
        return state
    from torch.distributed.tensor import DTensor

    cut = cast(Any, parameter)
    return DTensor.from_local(
        state, cut.device_mesh, cut.placements, run_check=False, shape=parameter.shape, stride=parameter.stride()
    )


def own_gradient(gradient: Tensor, parameter: Tensor) -> Tensor:
    """Return the piece of a gradient that belongs to the piece of a parameter here; all processes must call this."""
    if not is_sharded(gradient):
        return gradient
    return own(cast(Any, gradient).redistribute(placements=cast(Any, parameter).placements))


def own_of(update: Tensor, parameter: Tensor) -> Tensor:
    """Return the piece of a whole update that belongs to this process's piece of a parameter; no communication."""
    if not is_sharded(parameter):
        return update
    from torch.distributed.tensor import DTensor, Replicate

    cut = cast(Any, parameter)
    everywhere = DTensor.from_local(update, cut.device_mesh, [Replicate()] * cut.device_mesh.ndim, run_check=False)
    return everywhere.redistribute(placements=cut.placements).to_local()


def norm_of(gradient: Tensor) -> Tensor:
    """Return the Euclidean norm of all of a DTensor, in float64; all processes must call this."""
    return whole(torch.linalg.vector_norm(gradient, dtype=torch.float64))
