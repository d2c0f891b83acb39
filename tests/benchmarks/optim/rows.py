"""The optimizers that the quality benchmark compares: torch's, those of the package pytorch_optimizer, and the modes
here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytorch_optimizer
import torch
from torch import nn

from model.optim import (
    MODES,
    Factor,
    History,
    Mode,
    Momentum,
    NaturalGradient,
    Orthogonal,
    Partition,
    RangeFinder,
    Seeded,
    Svd,
    Tucker,
)
from tests.benchmarks.optim.trial import Make

BETAS = (0.9, 0.99)
FRACTION, GAP = 0.25, 200  # rank and refresh of the peers, as of the seeded mode


@dataclass(frozen=True, slots=True)
class Row:
    """centres: the middle one of the learning rates, by task ("" for the others)."""

    make: Make
    centres: Mapping[str, float]

    def centre(self, task: str) -> float:
        return self.centres.get(task, self.centres[""])


def by_rank(parameters: list[nn.Parameter]) -> list[dict[str, Any]]:
    """Parameter groups for GaLore and its kin: one for each rank that a quarter of the smaller side comes to."""
    groups: defaultdict[int, list[nn.Parameter]] = defaultdict(list)
    for parameter in parameters:
        groups[max(1, round(FRACTION * min(parameter.shape)))].append(parameter)
    return [
        {"params": params, "rank": rank, "update_proj_gap": GAP, "scale": 1.0, "projection_type": "std"}
        for rank, params in groups.items()
    ]


def peer(name: str, **settings: Any) -> Make:
    """An optimizer of pytorch_optimizer that projects."""
    return lambda params, lr: getattr(pytorch_optimizer, name)(by_rank(params), lr=lr, **settings)


def mode(row: Mode) -> Make:
    return lambda params, lr: NaturalGradient.from_mode(params, row, lr=lr)


def rows() -> dict[str, Row]:
    """Name -> what is compared."""
    return {
        "adamw": Row(lambda p, lr: torch.optim.AdamW(p, lr=lr, betas=BETAS, weight_decay=0.0), {"": 2e-3, "shift": 1e-3}),
        "muon": Row(lambda p, lr: torch.optim.Muon(p, lr=lr, weight_decay=0.0), {"": 2e-2, "shift": 1e-2}),
        "sgd-momentum": Row(lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9, nesterov=True), {"": 0.4, "shift": 0.2}),
        "galore": Row(peer("GaLore", betas=BETAS), {"": 8e-3, "shift": 4e-3}),
        "fira": Row(peer("Fira", betas=BETAS), {"": 4e-3, "shift": 2e-3}),
        "apollo": Row(peer("APOLLO", betas=BETAS, scale_type="channel"), {"": 8e-3, "shift": 4e-3}),
        "soap": Row(
            lambda p, lr: pytorch_optimizer.SOAP(p, lr=lr, weight_decay=0.0), {"": 4e-3, "shift": 2e-3}
        ),
        **{name: Row(mode(MODES[name]), {"": 8e-3, "shift": 4e-3}) for name in MODES if name not in PEERS_HERE},
        "source": Row(
            lambda p, lr: NaturalGradient.source(p, lr=lr, damping=1.0), {"": 4.0, "shift": 4.0}
        ),
    }  # fmt: skip


PEERS_HERE = ("galore", "fira")  # modes that stand for what pytorch_optimizer has


def ablations() -> dict[str, Row]:
    """Name -> a change of one column of the default or of the seeded mode."""
    default, seeded = MODES["default"], MODES["seeded"]
    whitened = Factor(of="momentum", beta=0.0, interval=1)
    low: dict[str, Any] = {"subspace": Seeded(refresh=50)}  # several refreshes in a run
    variants: dict[str, Mode] = {
        "default": default,
        "default, rank 16": replace(default, subspace=Partition(rank=16)),
        "default, rank 256": replace(default, subspace=Partition(rank=256)),
        "default, momentum in float32": replace(default, moments=Momentum()),
        "default, factor remembers .8": replace(default, preconditioner=replace(whitened, beta=0.8)),
        "default, factor of gradients": replace(default, preconditioner=Factor()),
        "default, history": replace(default, preconditioner=History(window=4, dtype="bfloat16")),
        "default, none": replace(default, preconditioner=None),
        "seeded, refresh 50": replace(seeded, **low),
        "seeded, no rotation": replace(seeded, subspace=Seeded(refresh=50, rotate=False)),
        "seeded, factor of momentum": replace(seeded, **low, preconditioner=whitened),
        "seeded, orthogonal": replace(seeded, **low, preconditioner=Orthogonal()),
        "seeded, history": replace(seeded, **low, preconditioner=History(window=4, dtype="bfloat16")),
        "seeded, none": replace(seeded, **low, preconditioner=None),
        "seeded, no residual": replace(seeded, **low, residual=None),
        "seeded, history, no residual": replace(seeded, **low, residual=None, preconditioner=History(window=4)),
        "seeded, none, no residual": replace(seeded, **low, residual=None, preconditioner=None),
        "seeded, full rank": replace(seeded, subspace=Seeded(fraction=1.0, refresh=50)),
        "svd": replace(seeded, subspace=Svd(refresh=50)),
        "svd, no rotation": replace(seeded, subspace=Svd(refresh=50, rotate=False)),
        "range finder": replace(seeded, subspace=RangeFinder(refresh=50)),
        "tucker": replace(seeded, subspace=Tucker(fraction=0.5, refresh=50)),
    }
    return {name: Row(mode(variant), {"": 8e-3, "shift": 4e-3}) for name, variant in variants.items()}
