"""Measure gradients before a step: dtype of computation, norms, and the range of usable norms."""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor

from model.optim.sharded import is_sharded, norm_of


def dtype_of(parameter: Tensor) -> torch.dtype:
    """Return the dtype of a parameter's state and arithmetic."""
    return torch.float64 if parameter.dtype == torch.float64 else torch.float32


def norm_range(dtype: torch.dtype) -> tuple[float, float]:
    """Return the range of norms in which a gradient's squares neither vanish nor overflow.

    In float32 it is 7e-16 to 2e19. One gradient of 1e20 would leave an infinite Fisher factor for the rest of the run,
    one of 1e-22 a residual scaled by the guard against zero.
    """
    limits = torch.finfo(dtype)
    return float(limits.tiny**0.4), float(limits.max**0.5)


def norms_of(gradients: list[Tensor]) -> list[float]:
    """Return the Euclidean norm of each gradient, with one transfer for each device.

    A norm is computed again in float64 where its squares may have left the range of the gradient's own dtype, which
    takes one transfer more. That of a gradient in pieces over several processes is of the whole one.
    """
    by_device: defaultdict[torch.device, list[int]] = defaultdict(list)
    sizes = [0.0] * len(gradients)
    sharded: list[int] = []
    for position, gradient in enumerate(gradients):
        if gradient.numel() > 0:
            (sharded if is_sharded(gradient) else by_device[gradient.device]).append(position)
    if sharded:
        sharded_norms = torch.stack([norm_of(gradients[position]) for position in sharded]).tolist()
        for position, size in zip(sharded, sharded_norms, strict=True):
            sizes[position] = size
    for positions in by_device.values():
        norms = torch._foreach_norm([gradients[p] for p in positions])
        wide = torch.float64 if any(norm.dtype == torch.float64 for norm in norms) else torch.float32
        for position, size in zip(positions, torch.stack([norm.to(wide) for norm in norms]).tolist(), strict=True):
            sizes[position] = size
        doubtful = [position for position in positions if not 1e-15 < sizes[position] < float("inf")]
        for position, size in zip(doubtful, _in_float64([gradients[p] for p in doubtful]), strict=True):
            sizes[position] = size
    return sizes


def _in_float64(gradients: list[Tensor]) -> list[float]:
    """Return the norms of gradients of one device, computed in float64: on the processor where the device has none."""
    if not gradients:
        return []
    if gradients[0].device.type == "mps":
        gradients = [gradient.cpu() for gradient in gradients]
    norms: list[float] = torch.stack(
        [torch.linalg.vector_norm(gradient, dtype=torch.float64) for gradient in gradients]
    ).tolist()
    return norms
