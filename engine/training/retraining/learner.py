"""The learning half of a run: from the checkpoint that it begins with and a corpus to the challenger's checkpoint."""

import copy
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from engine.errors import Refused
from engine.grounded import GroundedPage
from engine.training.augmentation.negative_questions import with_absent
from engine.training.retraining.depth import Depth, set_depth
from engine.training.retraining.early_stopping import (
    FEWEST_DOCUMENTS,
    Watch,
    best_file,
    watched_documents,
    watched_source,
)
from engine.training.retraining.run_settings import RunSettings
from engine.training.sources.corpus import Corpus, image_opener
from engine.training.sources.examples import mixed_source, page_source, pooled, synthetic_source
from engine.workspace import Workspace
from model import checkpoint
from model.examples import Source
from model.learning import Outcome, Plan, learn
from model.network import GroundingNetwork, load_network
from model.objectives.promptable import PromptableSegmentation
from model.optim import NaturalGradient, parameter_groups
from model.weight_interpolation import interpolate

_RESULT_FILE = "result.safetensors"
_PACE_STEPS = 4  # that are timed, then thrown away
_PLANNED = 0.85  # share of a run's minutes that its steps are cut to: some cost more than those that were timed
_FEWEST_STEPS = 20  # a shorter run is not worth timing
_REMEMBERED_STEPS = 24  # of generated pages with their image, where images are read once


def network_of(path: Path, depth: Depth) -> GroundingNetwork:
    """Return the network of a checkpoint, to train on at a depth. Refused with a sentence when it is not one."""
    try:
        network, _ = load_network(path)
    except ValueError as error:
        raise Refused(f"The version cannot be trained on: {error}") from None
    set_depth(network, depth)
    return network


def optimizer_for(network: GroundingNetwork, settings: RunSettings) -> torch.optim.Optimizer:
    """Return the optimizer that a run chose. Refused for a mode that is not there."""
    if settings.optimizer == "adamw":
        learned = [one for one in network.parameters() if one.requires_grad]
        return torch.optim.AdamW(learned, settings.rate, weight_decay=settings.weight_decay)
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
    What is watched to stop early is left out. Refused when no page can be learned from.
    """
    seed = settings.seed
    images = image_opener(workspace)
    _, taught = _parted(corpus, settings)
    try:
        words = page_source(
            taught,
            lambda _: None,
            seed,
            pages=settings.pages,
            questions=settings.questions,
            disguised=settings.disguised,
            weights=corpus.weights,
        )
        seen = page_source(taught, images, seed + 1, pages=1, questions=settings.questions, weights=corpus.weights)
    except ValueError as error:
        raise Refused(str(error)) from None
    own = with_absent(mixed_source(words, seen, settings.images, seed + 2), settings.absent, seed)
    rendered = synthetic_source(seed + 4, pages=1, questions=settings.questions, regions=0.25, images=True)
    replay = mixed_source(
        synthetic_source(seed + 3, pages=settings.pages, questions=settings.questions),
        pooled(rendered, _REMEMBERED_STEPS) if settings.depth == "quick" else rendered,
        settings.images,
        seed + 5,
    )
    return mixed_source(own, replay, settings.replay, seed + 6)


def _parted(corpus: Corpus, settings: RunSettings) -> tuple[list[GroundedPage], list[GroundedPage]]:
    """The pages that are watched, and those that teach: all of them where the others are none."""
    watched = watched_documents(corpus.documents.values(), settings.watched)
    if watched >= set(corpus.documents.values()):
        return [], list(corpus.pages)
    aside = [page for page in corpus.pages if corpus.documents[page.page_id] in watched]
    return aside, [page for page in corpus.pages if corpus.documents[page.page_id] not in watched]


def _watch(
    network: GroundingNetwork,
    corpus: Corpus,
    settings: RunSettings,
    folder: Path,
    on_look: Callable[[int, float], None],
) -> Watch | None:
    aside, _ = _parted(corpus, settings)
    if len({corpus.documents[page.page_id] for page in aside}) < FEWEST_DOCUMENTS:
        return None
    found = watched_source(aside, at_once=settings.pages, questions=settings.questions, weights=corpus.weights)
    if found is None:
        return None
    source, batches = found
    return Watch(network, source, batches, folder, patience=settings.patience, on_look=on_look)


def affordable_steps(network: GroundingNetwork, source: Source, settings: RunSettings) -> int:
    """Return how many of the run's steps fit into its minutes on this machine; a few are timed on a copy."""
    if settings.steps < _FEWEST_STEPS:
        return settings.steps
    rehearsing = copy.deepcopy(network)
    optimizer = optimizer_for(rehearsing, settings)
    began = time.monotonic()
    learn(PromptableSegmentation(rehearsing, source), optimizer, Plan(steps=_PACE_STEPS, seed=settings.seed))
    pace = (time.monotonic() - began) / _PACE_STEPS
    return min(settings.steps, max(_FEWEST_STEPS, round(_PLANNED * settings.minutes * 60 / pace)))


def train(
    network: GroundingNetwork,
    workspace: Workspace,
    corpus: Corpus,
    settings: RunSettings,
    folder: Path,
    *,
    on_metrics: Callable[[Mapping[str, float]], None],
    on_look: Callable[[int, float], None],
    on_progress: Callable[[float], None],
    stop: Callable[[], bool],
) -> Outcome:
    """Train, or go on with what `folder` holds; `result_file(folder)` is there at the end: of what was learned, the settings' share.

    `on_look` hears of the loss on the documents that are watched to stop early. A machine that slowed down since its steps were
    timed ends the run at twice its minutes, with what it has learned by then. Refused when the loss is no longer finite.
    """
    plan = Plan(
        steps=settings.steps,
        seed=settings.seed,
        warmup=max(1, min(20, settings.steps // 10)),
        checkpoint_every=settings.checkpoint_every,
        metrics_every=settings.metrics_every,
    )
    latest = time.monotonic() + settings.minutes * 120
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    try:
        outcome = learn(
            PromptableSegmentation(network, source_for(workspace, corpus, settings)),
            optimizer_for(network, settings),
            plan,
            folder=folder,
            resume=True,
            on_metrics=on_metrics,
            on_progress=on_progress,
            cancelled=lambda: stop() or time.monotonic() > latest,
            at_checkpoint=_watch(network, corpus, settings, folder, on_look),
        )
    except FloatingPointError as error:
        raise Refused(f"The run was given up: {error}") from None
    learned = checkpoint.load(best_file(folder))
    handed_in = interpolate(before, learned.state, settings.blend)
    checkpoint.save(result_file(folder), handed_in, learned.config)
    return outcome


def result_file(folder: Path) -> Path:
    """Return where a finished run left what it hands in."""
    return folder / _RESULT_FILE
