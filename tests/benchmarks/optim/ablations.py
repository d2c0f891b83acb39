"""Variants of the modes for the ablations: one column changed, steps from the source on, natural gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model.optim import (
    MODES,
    Factor,
    History,
    Mode,
    Momentum,
    Norm,
    Orthogonal,
    Partition,
    RangeFinder,
    Seeded,
    Svd,
    Tucker,
)
from tests.benchmarks.optim.rows import VARIANTS, Row, centres, mode

LADDER = (
    *("source", "source, one length", "source, relative damping", "source, momentum", "history in blocks"),
    *("factor in blocks", "root of factor in blocks", "blocks", "blocks, fan-in", "whole, bare", "whole"),
    "whole, spectral",
    *("natural, fan-in", "natural, damped", "natural, equal KL", "natural, whole"),
    *("seeded", "seeded, natural", "seeded, natural, equal KL"),
    "adamw",  # for scale; no peer whose momentum matters, since momenta are not tuned here
)


def ablations() -> dict[str, Row]:
    """Name -> a change of one column of a mode, what lies between the source and the default, and natural gradients."""
    whole, blocks, seeded = MODES["whole"], MODES["blocks"], MODES["seeded"]
    bare = VARIANTS["whole, bare"]
    cautious = Norm(rule="fan_in", rms=1.0, cautious=True)
    polar = Orthogonal(polynomials="polar_express")
    whitened = Factor(of="momentum", beta=0.0, interval=1)
    low: dict[str, Any] = {"subspace": Seeded(refresh=50)}  # several refreshes in a run
    variants: dict[str, Mode] = (
        {
            "whole": whole,
            "whole, polar": replace(whole, preconditioner=replace(polar, rows=0.95, columns=0.95)),
            "whole, rows": replace(whole, preconditioner=Orthogonal(rows=0.95)),
            **VARIANTS,
            "whole, bare, float32": replace(bare, moments=Momentum()),
            "whole, bare, root codes": replace(bare, moments=Momentum(dtype="int8_root")),
            "whole, bare, cautious": replace(bare, norm=cautious),
            "whole, bare, weight .8": replace(bare, moments=Momentum(dtype="int8", weight=0.8)),
            "whole, bare, weight .6": replace(bare, moments=Momentum(dtype="int8", weight=0.6)),
            "whole, bare, one length": replace(bare, norm=Norm(rms=0.35)),
            "whole, bare, polar": replace(bare, preconditioner=polar),
            "whole, bare, polar, cautious": replace(bare, preconditioner=polar, norm=cautious),
            "whole, bare, three products": replace(bare, preconditioner=Orthogonal(iterations=3)),
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
        | from_source()
        | natural()
    )
    return {name: Row(mode(variant), centres(variant), 0.9) for name, variant in variants.items()}


def from_source() -> dict[str, Mode]:
    """Name -> what lies between the modes source and blocks, each one step further."""
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
        "blocks, fan-in": replace(blocks, norm=Norm(rule="fan_in", rms=1.0)),
    }


def natural() -> dict[str, Mode]:
    """Name -> true natural gradients, F^-1, that might win: with the length by fan-in, or of equal KL divergence.

    In blocks, of the whole matrix, and in the seeded low-rank subspace.
    """
    seeded = replace(MODES["seeded"], subspace=Seeded(refresh=50), preconditioner=Factor(exponent=1.0))
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
        "seeded, natural": seeded,
        "seeded, natural, equal KL": replace(seeded, norm=Norm(rule="kl")),
    }
