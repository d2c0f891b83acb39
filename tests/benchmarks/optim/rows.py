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
    Norm,
    Orthogonal,
    Partition,
    RangeFinder,
    Seeded,
    Svd,
    Tucker,
)
from tests.benchmarks.optim.trial import Make

BETA2 = 0.99
FRACTION, GAP = 0.25, 200  # rank and refresh of the peers that project, as of the seeded mode


@dataclass(frozen=True, slots=True)
class Row:
    """An optimizer as it is published. centres: the middle one of the learning rates, by task ("" for the others).
    momentum: that of its authors; None for one without, to which the tuning gives rates instead."""

    make: Make
    centres: Mapping[str, float]
    momentum: float | None = 0.95

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


def peer(name: str, **fixed: Any) -> Make:
    """An optimizer of pytorch_optimizer that takes a momentum."""
    return lambda p, s: getattr(pytorch_optimizer, name)(
        p, lr=s.rate, momentum=s.momentum, weight_decay=s.decay, **fixed
    )


def projecting(name: str, **fixed: Any) -> Make:
    """An optimizer of pytorch_optimizer that projects."""
    return lambda p, s: getattr(pytorch_optimizer, name)(
        by_rank(p), lr=s.rate, betas=(s.momentum, BETA2), weight_decay=s.decay, **fixed
    )


def mode(row: Mode) -> Make:
    """A mode with the momentum that is tuned, in place of its own."""
    if isinstance(row.moments, Momentum):
        row = replace(row, moments=replace(row.moments, beta=None))
    return lambda p, s: NaturalGradient.from_mode(p, row, lr=s.rate, betas=(s.momentum, BETA2), weight_decay=s.decay)


def centres(row: Mode) -> dict[str, float]:
    """Centres of the learning rates of a mode: those of "fan_in" give a matrix with 400 inputs the length of "rms"."""
    return {"": 1.6e-3, "shift": 8e-4} if row.norm is not None and row.norm.rms == 1.0 else {"": 8e-3, "shift": 4e-3}


def rows() -> dict[str, Row]:
    """Name -> what is compared."""
    whole = MODES["whole"]
    plain, fan_in = Orthogonal(), Norm(rule="fan_in", rms=1.0)
    cautious = replace(fan_in, cautious=True)
    polar = Orthogonal(polynomials="polar_express")
    bare = replace(whole, preconditioner=plain)  # Muon's step
    ours = (
        {
            "whole, bare": bare,
            "whole, bare, float32": replace(bare, moments=Momentum()),
            "whole, bare, root codes": replace(bare, moments=Momentum(dtype="int8_root")),
            "whole, bare, cautious": replace(bare, norm=cautious),
            "whole, bare, weight .8": replace(bare, moments=Momentum(dtype="int8", weight=0.8)),
            "whole, bare, weight .6": replace(bare, moments=Momentum(dtype="int8", weight=0.6)),
            "whole, bare, one length": replace(bare, norm=Norm(rms=0.35)),
            "whole, rows": replace(whole, preconditioner=Orthogonal(rows=0.95)),
            "whole, polar": replace(whole, preconditioner=replace(polar, rows=0.95, columns=0.95)),
            "whole, bare, polar": replace(bare, preconditioner=polar),
            "whole, bare, polar, cautious": replace(bare, preconditioner=polar, norm=cautious),
            "whole, bare, three products": replace(bare, preconditioner=Orthogonal(iterations=3)),
        }
        | from_source()
        | natural()
    )
    modes = {name: row for name, row in MODES.items() if name not in (*PEERS_HERE, "source")}
    return {
        "adamw": Row(
            lambda p, s: torch.optim.AdamW(p, lr=s.rate, betas=(s.momentum, BETA2), weight_decay=s.decay),
            {"": 2e-3, "shift": 1e-3, "language": 5e-4}, 0.9,
        ),
        "muon": Row(
            lambda p, s: torch.optim.Muon(p, lr=s.rate, momentum=s.momentum, weight_decay=s.decay),
            {"": 2e-2, "shift": 1e-2},
        ),
        "normuon": Row(
            lambda p, s: pytorch_optimizer.NorMuon(
                [{"params": p, "use_muon": True}], lr=s.rate, momentum=s.momentum, weight_decay=s.decay
            ),
            {"": 2e-2, "shift": 1e-2}),
        "soap": Row(
            lambda p, s: pytorch_optimizer.SOAP(
                p, lr=s.rate, betas=(s.momentum, 0.95), weight_decay=s.decay, max_precondition_dim=1024
            ),
            {"": 4e-3, "shift": 2e-3},
        ),
        "mars": Row(
            lambda p, s: pytorch_optimizer.MARS(p, lr=s.rate, betas=(s.momentum, BETA2), weight_decay=s.decay),
            {"": 4e-3, "shift": 2e-3},
        ),
        "scion": Row(
            lambda p, s: pytorch_optimizer.SCION(p, lr=s.rate, momentum=1 - s.momentum, weight_decay=s.decay),
            {"": 2e-2, "shift": 1e-2}, 0.9,
        ),
        "kron": Row(peer("Kron"), {"": 1e-3, "shift": 5e-4}, 0.9),
        "galore": Row(projecting("GaLore"), {"": 8e-3, "shift": 4e-3}, 0.9),
        "fira": Row(projecting("Fira"), {"": 4e-3, "shift": 2e-3}, 0.9),
        "apollo": Row(projecting("APOLLO", scale_type="channel"), {"": 8e-3, "shift": 4e-3}, 0.9),
        **{name: Row(mode(row), centres(row), 0.9) for name, row in (modes | ours).items()},
        "source": Row(
            lambda p, s: NaturalGradient.source(p, lr=s.rate, damping=1.0, weight_decay=s.decay),
            {"": 4.0, "shift": 4.0}, None,
        ),
    }  # fmt: skip


def from_source() -> dict[str, Mode]:
    """Name -> what lies between the mode source and the default, each one step further."""
    source, blocks = MODES["source"], MODES["blocks"]
    relative, cut = History(), Partition()
    momentum: dict[str, Any] = {"norm": Norm(), "moments": Momentum()}
    return {
        "source, one length": replace(source, norm=Norm()),
        "source, relative damping": replace(source, norm=Norm(), preconditioner=relative),
        "source, momentum": replace(source, **momentum, preconditioner=relative),
        "history in blocks": replace(source, **momentum, preconditioner=relative, subspace=cut),
        "factor in blocks": replace(source, **momentum, preconditioner=Factor(exponent=1.0), subspace=cut),
        "root of factor in blocks": replace(source, **momentum, preconditioner=Factor(), subspace=cut),
        "blocks, float32": replace(blocks, moments=Momentum()),
        "blocks, fan-in": replace(blocks, norm=Norm(rule="fan_in", rms=1.0)),
    }


def natural() -> dict[str, Mode]:
    """Name -> true natural gradients, F^-1, that might win: with the length by fan-in, or of equal KL divergence."""
    factor = Mode(
        subspace=Partition(),
        preconditioner=Factor(exponent=1.0),
        moments=Momentum(),
        residual=None,
        norm=Norm(rule="fan_in", rms=1.0),
    )
    return {
        "natural, fan-in": factor,
        "natural, damped": replace(factor, preconditioner=Factor(exponent=1.0, damping=1e-2)),
        "natural, equal KL": replace(factor, norm=Norm(rule="kl")),
        "natural, whole": replace(factor, subspace=Partition(rank=None, fraction=1.0)),
    }


ON_GPU = ("kron",)  # a step takes a minute on a CPU
PEERS_HERE = ("galore", "fira")  # modes that stand for what pytorch_optimizer has


def ablations() -> dict[str, Row]:
    """Name -> a change of one column of the default or of the seeded mode."""
    blocks, seeded = MODES["blocks"], MODES["seeded"]
    whitened = Factor(of="momentum", beta=0.0, interval=1)
    low: dict[str, Any] = {"subspace": Seeded(refresh=50)}  # several refreshes in a run
    variants: dict[str, Mode] = {
        "blocks": blocks,
        "blocks, rank 16": replace(blocks, subspace=Partition(rank=16)),
        "blocks, rank 256": replace(blocks, subspace=Partition(rank=256)),
        "blocks, momentum in float32": replace(blocks, moments=Momentum()),
        "blocks, factor remembers .8": replace(blocks, preconditioner=replace(whitened, beta=0.8)),
        "blocks, factor of gradients": replace(blocks, preconditioner=Factor()),
        "blocks, history": replace(blocks, preconditioner=History(window=4, dtype="bfloat16")),
        "blocks, none": replace(blocks, preconditioner=None),
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
    return {name: Row(mode(variant), centres(variant), 0.9) for name, variant in variants.items()}
