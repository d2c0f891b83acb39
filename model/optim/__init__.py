"""Online natural gradient in a low-rank tensor subspace, as a torch.optim.Optimizer.

Needs torch alone, and tensorly for Tucker subspaces.
"""

from model.optim.choices import (
    Adam,
    Factor,
    History,
    Momentum,
    Norm,
    Orthogonal,
    Partition,
    RangeFinder,
    Residual,
    Seeded,
    Svd,
    Tucker,
)
from model.optim.groups import parameter_groups, state_bytes
from model.optim.modes import MODES, Mode
from model.optim.natural_gradient import NaturalGradient

__all__ = [
    "MODES",
    "Adam",
    "Factor",
    "History",
    "Mode",
    "Momentum",
    "NaturalGradient",
    "Norm",
    "Orthogonal",
    "Partition",
    "RangeFinder",
    "Residual",
    "Seeded",
    "Svd",
    "Tucker",
    "parameter_groups",
    "state_bytes",
]
