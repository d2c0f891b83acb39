"""Pretraining stage: objective, learning rates, optimizer and figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from engine.training.sources.page_supply import GENERATED, PageSupply
from engine.training.unlabelled.page_corpus import PageCorpus
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.objective import Objective

PAGES = 4  # a step


def _as_it_is(source: Source) -> Source:
    return source


@dataclass(frozen=True, slots=True)
class StageInputs:
    """Inputs of a stage."""

    network: GroundingNetwork
    seed: int
    folder: Path  # of the whole run; a stage may read the output of an earlier one
    teacher: Path  # sentence encoder whose token vectors the network keeps
    held_out: int = 24  # pages for the figures; 0: no figures
    decoder: str | None = None  # folder, or name on the hub, of the decoder for the text stages
    forms: Path | None = None  # folder of fillable PDFs, for the stages of words and `region_ranking`
    labelled: Path | None = None  # grounded dataset of pages that may be learned from, for `practice` and `ranking`
    corpus: PageCorpus | None = None  # pages without labels; generated pages and Python's documentation without it
    pages: int = PAGES  # of words a step; a quarter of them with images, where those are read at full size
    supply: PageSupply = GENERATED  # pages with questions
    feed: Callable[[Source], Source] = _as_it_is  # what a stage's source goes through, such as making examples ahead

    @property
    def pictures(self) -> int:
        """Number of pages with images a step, where pages of words and of images alternate."""
        return max(1, self.pages // PAGES)


WEIGHT_DECAY = 0.02


def adamw(groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    """Return the optimizer of stages of text and of rankers: torch's AdamW."""
    return torch.optim.AdamW(groups, weight_decay=WEIGHT_DECAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class PretrainingStage:
    """Pretraining stage.

    `groups`: parameter groups of the objective with their learning rates. `figures`: evaluated before and after the
    stage. `asks`: whether it learns from questions, and not from pages without labels. `forms`, `labelled`: whether
    filled forms and labelled pages are among those questions. `restarts`: what of the network begins anew, after the
    figures of the weights as they were.
    """

    title: str
    share: float  # of the minutes of a run with all stages
    objective: Callable[[StageInputs], Objective]
    groups: Callable[[Objective], list[dict[str, Any]]]
    optimizer: Callable[[list[dict[str, Any]]], torch.optim.Optimizer] = adamw
    figures: Callable[[StageInputs, Objective], Mapping[str, float]]
    asks: bool = True
    forms: bool = False
    labelled: bool = False
    restarts: Callable[[GroundingNetwork], None] = lambda _: None


def at_rate(rate: float) -> Callable[[Objective], list[dict[str, Any]]]:
    """Return one parameter group with one learning rate."""
    return lambda objective: [{"params": [p for p in objective.learned.parameters() if p.requires_grad], "lr": rate}]
