"""The optimizers that the quality benchmark compares: torch's, those of the package pytorch_optimizer, and the modes
here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytorch_optimizer
import torch
from pytorch_optimizer.optimizer.utils.matrix import zero_power_via_newton_schulz_5
from torch import Tensor, nn
from torch.optim import _muon

from model.optim import (
    MODES,
    Mode,
    Momentum,
    NaturalGradient,
    Norm,
    Orthogonal,
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
    """Centres of the learning rates of a mode, by the length of its updates: alike for "fan_in" at 64 inputs."""
    return {"": 8e-3, "shift": 4e-3} if row.norm is None or row.norm.rms == 0.2 else {"": 1.6e-3, "shift": 8e-4}


VARIANTS = {
    "whole, bare": replace(MODES["whole"], preconditioner=Orthogonal()),  # Muon's step
    "whole, spectral": replace(MODES["whole"], norm=Norm(rule="spectral", rms=1.0)),  # Muon's length
}


def rows() -> dict[str, Row]:
    """Name -> what is compared."""
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
        **{name: Row(mode(row), centres(row), 0.9) for name, row in (modes | VARIANTS).items()},
        "source": Row(
            lambda p, s: NaturalGradient.source(p, lr=s.rate, damping=1.0, weight_decay=s.decay),
            {"": 4.0, "shift": 4.0}, None,
        ),
    }  # fmt: skip


_MUONS = _muon._zeropower_via_newtonschulz


def orthogonalise_in(dtype: torch.dtype) -> None:
    """Let torch's Muon and the peers of its kind orthogonalise in a dtype, in this process.

    They do it in bfloat16, which a CPU without such units emulates: fifty times slower, and less exact. In float32
    coefficients and number of the polynomials stay theirs.
    """
    function = zero_power_via_newton_schulz_5
    function.__defaults__ = tuple(
        dtype if isinstance(value, torch.dtype) else value for value in function.__defaults__ or ()
    )
    if dtype == torch.bfloat16:
        _muon._zeropower_via_newtonschulz = _MUONS
        return

    def orthogonalise(grad: Tensor, ns_coefficients: tuple[float, float, float], ns_steps: int, eps: float) -> Tensor:
        """As torch's own, in float32."""
        return zero_power_via_newton_schulz_5(grad, ns_steps, eps, weights=ns_coefficients)

    _muon._zeropower_via_newtonschulz = orthogonalise


ON_GPU = ("kron",)  # a step takes a minute on a CPU
PEERS_HERE = ("galore", "fira")  # modes that stand for what pytorch_optimizer has
