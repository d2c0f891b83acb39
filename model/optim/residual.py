"""Scale the part of the gradient outside the subspace like the part inside, and limit its growth.

Source: Fira (Chen et al. 2024), sections 4.1 and 4.2. The scale of each column is phi_j = |u_j| / |g_low_j|. The whole
update is U u + (G - U g_low) phi = G phi + U (u - g_low phi). So only the product that lifts u is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Scaled:
    """Scale of the residual.

    Attributes:
        scale: phi times the limiter, for each column [B, 1, n] or for a whole tensor [B, 1, ...].
        norm: length of the limited residual [B], to which the next step's limit refers.
    """

    scale: Tensor
    norm: Tensor


def scale_of(
    gradient: Tensor,  # [B, *view]
    low: Tensor,  # [B, *low]: its projection, unmodified
    update: Tensor,  # [B, *low]
    before: Tensor,  # [B]: length of the residual at the step before, 0 at the first
    limit: float,
    columns: bool,
) -> Scaled:
    """Compute the scale of the residual.

    Its length needs no product: U is orthonormal, so |G_j - U g_j|^2 = |G_j|^2 - |g_j|^2.
    """
    dims = (1,) if columns else tuple(range(1, gradient.dim()))
    # Squares and sums: torch's own norm over a strided dimension is fifteen times slower.
    inside = low.square().sum(dims, keepdim=True)
    outside = (gradient.square().sum(dims, keepdim=True) - inside).clamp_min(0)
    lengths = inside.sqrt()
    # The relative guard keeps rounding from inflating a column that the projection nearly misses. The absolute guard
    # keeps phi finite, because squares of numbers below 1e-19 vanish in float32.
    guard = 1e-8 * lengths.flatten(1).amax(1) + 1e-30
    phi = update.square().sum(dims, keepdim=True).sqrt() / (lengths + guard.view(-1, *[1] * (low.dim() - 1)))
    norm = (outside * phi.square()).flatten(1).sum(1).sqrt()
    factor = torch.where((before > 0) & (norm > limit * before), limit * before / norm, torch.ones_like(norm))
    return Scaled(phi * factor.view(-1, *[1] * (phi.dim() - 1)), norm * factor)
