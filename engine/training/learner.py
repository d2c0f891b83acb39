"""The learning half of a run: from the champion's checkpoint and a corpus to the challenger's checkpoint."""

import copy
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from engine.errors import Refused
from engine.training.absent import with_absent
from engine.training.choices import RunSettings
from engine.training.corpus import Corpus, image_opener
from engine.training.examples import mixed_source, page_source, synthetic_source
from engine.workspace import Workspace
from model.examples import Source
from model.learning import Outcome, Plan, learn
from model.loading import load_network
from model.network import GroundingNetwork
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.promptable import PromptableSegmentation
from model.optim import NaturalGradient, parameter_groups

_PACE_STEPS = 4  # that are timed, then thrown away
_FEWEST_STEPS = 20  # a shorter run is not worth timing


def champion_network(path: Path) -> GroundingNetwork:
    """Return the network of a checkpoint, to train on. Refused with a sentence when it is not one."""
    try:
        network, _ = load_network(path)
    except ValueError as error:
        raise Refused(f"The champion cannot be trained on: {error}") from None
    return network


def optimizer_for(network: GroundingNetwork, settings: RunSettings) -> torch.optim.Optimizer:
    """Return the optimizer that a run chose. Refused for a mode that is not there."""
    if settings.optimizer == "adamw":
        return torch.optim.AdamW(network.parameters(), settings.rate, weight_decay=settings.weight_decay)
    groups = parameter_groups(network, weight_decay=settings.weight_decay)
    groups[0]["lr"] = settings.rate * settings.matrix_rate
    try:
        return NaturalGradient.from_mode(groups, settings.mode, lr=settings.rate, seed=settings.seed)
    except ValueError as error:
        raise Refused(str(error)) from None


def described(network: GroundingNetwork, settings: RunSettings) -> dict[str, Any]:
    """Return the optimizer's settings as a version keeps them: enough to build the same one again."""
    common = {"rate": settings.rate, "weight_decay": settings.weight_decay, "steps": settings.steps}
    optimizer = optimizer_for(network, settings)
    if isinstance(optimizer, NaturalGradient):
        own = {"mode": settings.mode, "matrix_rate": settings.matrix_rate, "settings": optimizer.settings()}
        return {"name": "NaturalGradient", **common, **own}
    return {"name": "AdamW", **common}


def source_for(workspace: Workspace, corpus: Corpus, settings: RunSettings) -> Source:
    """Return where the steps take their pages from: the corpus, by weight, and in between generated pages against forgetting.

    Most steps read words alone, several pages at once; some look at one page's image, which costs about four times as much.
    Refused when no page can be learned from.
    """
    seed = settings.seed
    images = image_opener(workspace)
    try:
        words = page_source(
            corpus.pages,
            lambda _: None,
            seed,
            pages=settings.pages,
            questions=settings.questions,
            weights=corpus.weights,
        )
        seen = page_source(
            corpus.pages, images, seed + 1, pages=1, questions=settings.questions, weights=corpus.weights
        )
    except ValueError as error:
        raise Refused(str(error)) from None
    own = with_absent(mixed_source(words, seen, settings.images, seed + 2), settings.absent, seed)
    replay = mixed_source(
        synthetic_source(seed + 3, pages=settings.pages, questions=settings.questions),
        synthetic_source(seed + 4, pages=1, questions=settings.questions, regions=0.25, images=True),
        settings.images,
        seed + 5,
    )
    return mixed_source(own, replay, settings.replay, seed + 6)


def affordable_steps(network: GroundingNetwork, source: Source, settings: RunSettings) -> int:
    """Return how many of the run's steps fit into its minutes on this machine; a few are timed on a copy."""
    if settings.steps < _FEWEST_STEPS:
        return settings.steps
    rehearsing = copy.deepcopy(network)
    optimizer = optimizer_for(rehearsing, settings)
    began = time.monotonic()
    learn(PromptableSegmentation(rehearsing, source), optimizer, Plan(steps=_PACE_STEPS, seed=settings.seed))
    pace = (time.monotonic() - began) / _PACE_STEPS
    return min(settings.steps, max(_FEWEST_STEPS, round(settings.minutes * 60 / pace)))


def train(
    network: GroundingNetwork,
    source: Source,
    settings: RunSettings,
    folder: Path,
    *,
    on_metrics: Callable[[Mapping[str, float]], None],
    on_progress: Callable[[float], None],
    stop: Callable[[], bool],
) -> Outcome:
    """Train, or go on with what `folder` holds; CHECKPOINT_FILE lies there at the end.

    A machine that slowed down since its steps were timed ends the run at twice its minutes, with what it has learned by then.
    Refused when the loss is no longer finite.
    """
    plan = Plan(
        steps=settings.steps,
        seed=settings.seed,
        warmup=max(1, min(20, settings.steps // 10)),
        checkpoint_every=settings.checkpoint_every,
        metrics_every=settings.metrics_every,
    )
    latest = time.monotonic() + settings.minutes * 120
    try:
        return learn(
            PromptableSegmentation(network, source),
            optimizer_for(network, settings),
            plan,
            folder=folder,
            resume=True,
            on_metrics=on_metrics,
            on_progress=on_progress,
            cancelled=lambda: stop() or time.monotonic() > latest,
        )
    except FloatingPointError as error:
        raise Refused(f"The run was given up: {error}") from None


def result_file(folder: Path) -> Path:
    """Return where a finished run left its checkpoint."""
    return folder / CHECKPOINT_FILE
