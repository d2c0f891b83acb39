"""One stage of pretraining: what it has to work with, what it learns, how fast, and how it is judged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from model.network import GroundingNetwork
from model.objectives.objective import Objective


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a stage has to work with."""

    network: GroundingNetwork
    seed: int
    folder: Path  # of the whole run; a stage may read what an earlier one left there
    teacher: Path  # of the sentence encoder whose token vectors the network keeps
    held_out: int = 24  # pages for the figures
    decoder: str | None = None  # folder, or name on the hub, of the decoder that the text stages begin with


WEIGHT_DECAY = 0.02


def adamw(groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    """What most stages learn with."""
    return torch.optim.AdamW(groups, weight_decay=WEIGHT_DECAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """groups: parameter groups with a learning rate each, of what the objective learns. figures: asked before and after."""

    title: str
    share: float  # of the minutes of a run that has all stages
    objective: Callable[[Surroundings], Objective]
    groups: Callable[[Objective], list[dict[str, Any]]]
    optimizer: Callable[[list[dict[str, Any]]], torch.optim.Optimizer] = adamw
    figures: Callable[[Surroundings, Objective], Mapping[str, float]]


def at_rate(rate: float) -> Callable[[Objective], list[dict[str, Any]]]:
    """One learning rate for all."""
    return lambda objective: [{"params": [p for p in objective.learned.parameters() if p.requires_grad], "lr": rate}]
