"""Training phase of a run: from the initial checkpoint and a corpus to the challenger's checkpoint."""

import copy
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from engine.errors import Refused
from engine.grounded import GroundedPage
from engine.training.augmentation.negative_questions import with_negative_questions
from engine.training.retraining.early_stopping import (
    FEWEST_DOCUMENTS,
    EarlyStopping,
    best_file,
    held_out_documents,
    held_out_source,
)
from engine.training.retraining.run_settings import Depth, RunSettings
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
_PACE_STEPS = 4  # timed, then discarded
_PLANNED = 0.85  # share of a run's minutes that steps are planned for: some cost more than the timed ones
_FEWEST_STEPS = 20  # shorter runs are not timed
_REMEMBERED_STEPS = 24  # of generated pages with image, whose features are cached


def network_of(path: Path, depth: Depth) -> GroundingNetwork:
    """Return the network of a checkpoint, prepared to train at a depth. Raises Refused when unreadable."""
    try:
        network, _ = load_network(path)
    except ValueError as error:
        raise Refused(f"This version cannot be trained; choose another one: {error}") from None
    if depth == "quick":
        network.text_encoder.requires_grad_(False)
        network.image_encoder.freeze()
    return network


def optimizer_for(network: GroundingNetwork, settings: RunSettings) -> torch.optim.Optimizer:
    """Return the optimizer of a run. Raises Refused for an unknown mode."""
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
    """Return the optimizer's settings as stored with a version, sufficient to rebuild it."""
    common = {"rate": settings.rate, "weight_decay": settings.weight_decay, "steps": settings.steps}
    optimizer = optimizer_for(network, settings)
    if isinstance(optimizer, NaturalGradient):
        own = {"mode": settings.mode, "matrix_rate": settings.matrix_rate, "settings": optimizer.settings()}
        return {"name": "NaturalGradient", **common, **own}
    return {"name": "AdamW", **common}


def source_for(workspace: Workspace, corpus: Corpus, settings: RunSettings) -> Source:
    """Return the source of a run's steps: the corpus by weight, mixed with generated pages as replay.

    Most steps read words of several pages; some read the image of one page, at about four times the cost. Documents
    held out for early stopping are left out. Raises Refused without trainable pages.
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
            perturbed=settings.disguised,
            weights=corpus.weights,
        )
        seen = page_source(taught, images, seed + 1, pages=1, questions=settings.questions, weights=corpus.weights)
    except ValueError as error:
        raise Refused(str(error)) from None
    own = with_negative_questions(mixed_source(words, seen, settings.images, seed + 2), settings.absent, seed)
    rendered = synthetic_source(seed + 4, pages=1, questions=settings.questions, regions=0.25, images=True)
    replay = mixed_source(
        synthetic_source(seed + 3, pages=settings.pages, questions=settings.questions),
        pooled(rendered, _REMEMBERED_STEPS) if settings.depth == "quick" else rendered,
        settings.images,
        seed + 5,
    )
    return mixed_source(own, replay, settings.replay, seed + 6)


def _parted(corpus: Corpus, settings: RunSettings) -> tuple[list[GroundedPage], list[GroundedPage]]:
    """Return the pages held out for early stopping, and those to train on: all when none is held out."""
    held_out = held_out_documents(corpus.documents.values(), settings.watched)
    if held_out >= set(corpus.documents.values()):
        return [], list(corpus.pages)
    aside = [page for page in corpus.pages if corpus.documents[page.page_id] in held_out]
    return aside, [page for page in corpus.pages if corpus.documents[page.page_id] not in held_out]


def _early_stopping(
    network: GroundingNetwork,
    corpus: Corpus,
    settings: RunSettings,
    folder: Path,
    on_loss: Callable[[int, float], None],
) -> EarlyStopping | None:
    aside, _ = _parted(corpus, settings)
    if len({corpus.documents[page.page_id] for page in aside}) < FEWEST_DOCUMENTS:
        return None
    found = held_out_source(aside, at_once=settings.pages, questions=settings.questions, weights=corpus.weights)
    if found is None:
        return None
    source, batches = found
    return EarlyStopping(network, source, batches, folder, patience=settings.patience, on_loss=on_loss)


def affordable_steps(network: GroundingNetwork, source: Source, settings: RunSettings) -> int:
    """Return the number of the run's steps that fit into its minutes here; times a few on a copy."""
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
    on_loss: Callable[[int, float], None],
    on_progress: Callable[[float], None],
    stop: Callable[[], bool],
) -> Outcome:
    """Train, or resume from `folder`; `result_file(folder)` exists afterwards, interpolated by `blend`.

    `on_loss` gets the loss on documents held out for early stopping. A run that takes twice its minutes, on a machine
    slower than when timed, ends with its last checkpoint. Raises Refused when the loss is not finite.
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
            at_checkpoint=_early_stopping(network, corpus, settings, folder, on_loss),
        )
    except FloatingPointError as error:
        raise Refused(f"Training diverged, and the run was stopped; lower the learning rate: {error}") from None
    learned = checkpoint.load(best_file(folder))
    result = interpolate(before, learned.state, settings.blend)
    checkpoint.save(result_file(folder), result, learned.config)
    return outcome


def result_file(folder: Path) -> Path:
    """Return the file of a finished run's weights."""
    return folder / _RESULT_FILE
