"""Name the combinations of choices: the optimizer's table of modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.optim.choices import (
    Adam,
    Factor,
    History,
    Moments,
    Momentum,
    Norm,
    Orthogonal,
    Partition,
    Preconditioner,
    Residual,
    Seeded,
    Subspace,
    Svd,
    Tucker,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """One row of the table of modes."""

    subspace: Subspace
    preconditioner: Preconditioner | None
    moments: Moments | None
    residual: Residual | None
    norm: Norm | None


MODES: Mapping[str, Mode] = {
    "whole": Mode(
        subspace=Partition(rank=None, fraction=1.0),
        preconditioner=Orthogonal(rows=0.95, columns=0.95),
        moments=Momentum(dtype="int8", beta=0.8),
        residual=None,
        norm=Norm(rule="fan_in", rms=1.0),
    ),
    "blocks": Mode(
        subspace=Partition(),
        preconditioner=Factor(of="momentum", beta=0.0, interval=1),
        moments=Momentum(dtype="int8"),
        residual=None,
        norm=Norm(),
    ),
    "seeded": Mode(
        subspace=Seeded(),
        preconditioner=Factor(),
        moments=Momentum(),
        residual=Residual(),
        norm=Norm(),
    ),
    "source": Mode(
        subspace=Tucker(),
        preconditioner=History(damping=1.0, relative=False),
        moments=None,
        residual=None,
        norm=None,
    ),
    "history": Mode(
        subspace=Seeded(),
        preconditioner=History(window=4, dtype="bfloat16"),
        moments=Momentum(),
        residual=Residual(),
        norm=Norm(),
    ),
    "orthogonal": Mode(
        subspace=Seeded(),
        preconditioner=Orthogonal(),
        moments=Momentum(),
        residual=Residual(),
        norm=Norm(),
    ),
    "galore": Mode(subspace=Svd(), preconditioner=None, moments=Adam(), residual=None, norm=None),
    "fira": Mode(subspace=Svd(), preconditioner=None, moments=Adam(), residual=Residual(), norm=None),
}
