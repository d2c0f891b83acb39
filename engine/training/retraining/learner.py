"""Training phase of a run: from the initial checkpoint and a corpus to the challenger's checkpoint."""

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from engine.errors import Refused
from engine.grounded import GroundedPage
from engine.jobs.memory import give_back
from engine.plurals import count
from engine.training.augmentation.negative_questions import with_negative_questions
from engine.training.retraining.continuation import Continuation, cycle_file, cycle_step
from engine.training.retraining.early_stopping import (
    FEWEST_GROUPS,
    EarlyStopping,
    best_file,
    best_step,
    has_lost,
    held_out_groups,
    held_out_source,
)
from engine.training.retraining.run_length import beside_folds, cycles_within, steps_for
from engine.training.retraining.run_settings import Depth, RunSettings
from engine.training.retraining.unlabelled_steps import beside_questions
from engine.training.sources.corpus import Corpus, image_opener
from engine.training.sources.examples import mixed_source, page_source, read_as, repeat_steps, synthetic_source
from engine.workspace import Workspace
from model import checkpoint
from model.device_missing import DeviceMissing
from model.devices import device_named
from model.distributed import Ranks, device_of_rank, leave, ranks_here
from model.examples import Source
from model.learning import Outcome, Plan, learn
from model.network import GroundingNetwork, load_network
from model.objectives.objective import NetworkObjective
from model.objectives.promptable import PromptableSegmentation
from model.optim import NaturalGradient, parameter_groups
from model.presets import NetworkConfig
from model.weight_interpolation import interpolate

_RESULT_FILE = "result.safetensors"
_PACE_STEPS = 4  # timed, then discarded
_PLANNED = 0.85  # share of a run's minutes that steps are planned for: some cost more than the timed ones
_FEWEST_STEPS = 20  # shorter runs are not timed
_LATEST = 4  # times its minutes, after which the clock ends a training on a machine slower than when timed
_REMEMBERED_STEPS = 24  # of generated pages with image, whose features are cached


def network_of(path: Path, depth: Depth, device: str = "cpu") -> GroundingNetwork:
    """Return the network of a checkpoint on a device (model.devices.device_named), prepared to train at a depth.

    Raises Refused when the checkpoint is unreadable or the device is missing.
    """
    try:
        network, _ = load_network(path)
        return prepare(network, depth, device)
    except DeviceMissing as error:
        raise Refused(f"{error} The setting is GLOSSATOR_DEVICE.") from None
    except ValueError as error:
        raise Refused(f"This version cannot be trained; choose another one: {error}") from None


def prepare(network: GroundingNetwork, depth: Depth, device: str) -> GroundingNetwork:
    """Move a network to a device and freeze what a depth freezes. Raises DeviceMissing."""
    network.to(device_of_rank(str(device_named(device))))
    if depth == "quick":
        network.text_encoder.requires_grad_(False)
        network.image_encoder.freeze()
    return network


def optimizer_for(network: nn.Module, settings: RunSettings) -> torch.optim.Optimizer:
    """Return the optimizer of a run for a network, or for one with heads. Raises Refused for an unknown mode."""
    if settings.optimizer == "adamw":
        learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
        return torch.optim.AdamW(learned, settings.rate, weight_decay=settings.weight_decay)
    groups = parameter_groups(network, weight_decay=settings.weight_decay)
    groups[0]["lr"] = settings.rate * settings.matrix_rate
    try:
        return NaturalGradient.from_mode(groups, settings.mode, lr=settings.rate, seed=settings.seed)
    except ValueError as error:
        raise Refused(str(error)) from None


def describe_optimizer(network: GroundingNetwork, settings: RunSettings) -> dict[str, Any]:
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
    _, taught = _split_held_out(corpus, settings)
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
        repeat_steps(rendered, _REMEMBERED_STEPS) if settings.depth == "quick" else rendered,
        settings.images,
        seed + 5,
    )
    return mixed_source(own, replay, settings.replay, seed + 6)


def _split_held_out(corpus: Corpus, settings: RunSettings) -> tuple[list[GroundedPage], list[GroundedPage]]:
    """Return the pages held out for early stopping, and those to train on: all when none is held out."""
    groups = {corpus.group(page) for page in corpus.pages}
    held_out = held_out_groups(groups, settings.watched)
    if held_out == groups:
        return [], list(corpus.pages)
    aside = [page for page in corpus.pages if corpus.group(page) in held_out]
    return aside, [page for page in corpus.pages if corpus.group(page) not in held_out]


def is_watched(corpus: Corpus, settings: RunSettings) -> bool:
    """Return whether enough documents are held out of a training to end it early and to let it go on."""
    return _held_out(corpus, settings) is not None


def trainings(folds: int, refit: bool) -> float:
    """Return how many trainings of all steps a run costs: a fold takes half of the steps, a refit all."""
    return folds / 2 + refit if folds else 1.0


def _held_out(corpus: Corpus, settings: RunSettings) -> tuple[list[GroundedPage], Source, int] | None:
    """Return the pages held out for early stopping, their source and its steps; None where they are too few."""
    aside, _ = _split_held_out(corpus, settings)
    if len({corpus.group(page) for page in aside}) < FEWEST_GROUPS:
        return None
    held_out = held_out_source(aside, at_once=settings.pages, questions=settings.questions, weights=corpus.weights)
    return None if held_out is None else (aside, *held_out)


def _looks(
    network: GroundingNetwork,
    corpus: Corpus,
    settings: RunSettings,
    plan: Plan,
    folder: Path,
    on_watched: Callable[[int, str, float], None],
) -> Callable[[int], bool] | None:
    """Return what looks at a run's checkpoints and may end it: early stopping and continuation; None without pages."""
    held_out = _held_out(corpus, settings)
    if held_out is None:
        return None
    aside, source, batches = held_out
    stopping = EarlyStopping(
        network,
        source,
        batches,
        folder,
        patience=settings.patience,
        on_loss=lambda step, loss: on_watched(step, "watched", loss),
    )
    continuation = Continuation(
        network,
        aside,
        corpus.documents,
        plan,
        folder,
        weights=corpus.weights,
        on_iou=lambda step, iou: on_watched(step, "watched_iou", iou),
    )

    def ends(step: int) -> bool:
        """Look with both, and return whether one of them ends the run."""
        lost_too_much = stopping(step)
        return continuation(step) or lost_too_much

    return ends


def affordable_steps(network: GroundingNetwork, source: Source, settings: RunSettings, times: float = 1.0) -> int:
    """Return the number of steps that fit `times` times into the run's minutes here; times a few on a copy."""
    rehearsing = copy.deepcopy(network)
    optimizer = optimizer_for(rehearsing, settings)
    began = time.monotonic()
    share = max(1, settings.accumulate // ranks_here().count)  # of a step, in this process
    plan = Plan(steps=_PACE_STEPS, seed=settings.seed, accumulate=share)
    learn(PromptableSegmentation(rehearsing, source), optimizer, plan)
    pace = (time.monotonic() - began) / _PACE_STEPS
    return max(_FEWEST_STEPS, round(_PLANNED * settings.minutes * 60 / pace / times))


def with_length(
    network: GroundingNetwork, source: Source, corpus: Corpus, settings: RunSettings, *, folds: int
) -> RunSettings:
    """Return the settings with the steps of the weights in use and of their first cycle.

    Chosen steps are one cycle. Otherwise the first cycle is as long as the corrected pages need, and as many cycles
    follow as the run's minutes allow, where documents are held out to tell whether they pay. The minutes are those of
    all trainings: each of `folds` takes half of the steps, a refit all. Few minutes leave it out.
    """
    first = settings.steps or steps_for(read_as(corpus.pages), settings)
    timed = settings.steps == 0 or first >= _FEWEST_STEPS
    fits = affordable_steps(network, source, settings, trainings(folds, settings.refit)) if timed else first
    if settings.steps == 0 and settings.refit:
        fits, refitted = beside_folds(fits, folds)
        settings = settings.model_copy(update={"refit": refitted})
    cycle = min(first, fits)
    go_on = settings.steps == 0 and is_watched(corpus, settings)
    steps = cycles_within(cycle, fits) if go_on else cycle
    return settings.model_copy(update={"steps": steps, "cycle": cycle})


def plan_of(settings: RunSettings) -> Plan:
    """Return the plan of a run whose length is known, in one process."""
    cycle = settings.cycle or settings.steps
    return Plan(
        accumulate=settings.accumulate,
        steps=settings.steps,
        cycle=cycle,
        seed=settings.seed,
        warmup=max(1, min(20, cycle // 10)),
        checkpoint_every=settings.checkpoint_every,
        metrics_every=settings.metrics_every,
    )


def plan_here(settings: RunSettings, ranks: Ranks) -> Plan:
    """Return the plan of one of the processes that train together, whose steps hold as many pages as those of one.

    Raises Refused when the pages of a step cannot be parted equally.
    """
    if settings.accumulate % ranks.count:
        raise Refused(
            f"A step of this run has {count(settings.accumulate, 'part')}, which {ranks.count} processes cannot share "
            f"equally. Continue it with a number of processes that divides {settings.accumulate}, such as 1."
        )
    return replace(plan_of(settings), accumulate=settings.accumulate // ranks.count)


@dataclass(frozen=True, slots=True)
class Assignment:
    """Training that the first of several processes shares with the others; they get its weights when it begins."""

    config: NetworkConfig
    corpus: Corpus
    settings: RunSettings
    folder: Path
    looks: bool  # whether the first looks at checkpoints


def objective_of(
    network: GroundingNetwork, workspace: Workspace, corpus: Corpus, settings: RunSettings
) -> NetworkObjective:
    """Return what a training learns. Raises Refused without trainable pages."""
    questions = PromptableSegmentation(network, source_for(workspace, corpus, settings))
    return beside_questions(questions, network, corpus, settings)


def train(
    network: GroundingNetwork,
    workspace: Workspace,
    corpus: Corpus,
    settings: RunSettings,
    folder: Path,
    *,
    share: float = 1.0,
    on_metrics: Callable[[Mapping[str, float]], None],
    on_watched: Callable[[int, str, float], None],
    on_progress: Callable[[float], None],
    stop: Callable[[], bool],
) -> Outcome:
    """Train, or resume from `folder`; `result_file(folder)` exists afterwards, interpolated by `blend`.

    `on_watched` gets step, name and value of figures on documents held out for early stopping: "watched", their loss,
    and "watched_iou", their mean IoU at the ends of cycles. `share`: of the run's minutes. A training that takes four
    times its minutes, on a machine slower than when timed, ends with its best finished cycle, else with its last
    checkpoint. Raises Refused when the loss is not finite.

    Where several processes joined, this one is the first, and the others take part (assisting.py).
    """
    ranks = ranks_here()
    plan = plan_here(settings, ranks)
    latest = time.monotonic() + _LATEST * 60 * settings.minutes * share
    before = {name: tensor.to("cpu", copy=True) for name, tensor in network.state_dict().items()}
    objective = objective_of(network, workspace, corpus, settings)
    looks = _looks(network, corpus, settings, plan, folder, on_watched)
    try:
        assignment = Assignment(network.config, corpus, settings, folder, looks is not None)
        ranks.on_first(lambda: assignment)
        outcome = learn(
            objective,
            optimizer_for(objective.learned, settings),
            plan,
            folder=folder,
            resume=True,
            on_metrics=on_metrics,
            on_progress=on_progress,
            cancelled=lambda: stop() or time.monotonic() > latest,
            at_checkpoint=looks,
            ranks=ranks,
        )
    except FloatingPointError as error:  # in all processes
        diagnosis = str(error).partition(";")[0].rstrip(".")  # what follows is advice to whoever chose the rate
        raise Refused(f"Training diverged ({diagnosis}). Retrain again, without --seed or with another one.") from None
    except Exception:
        leave()  # the others wait for a step of this process, which does not come
        raise
    learned = checkpoint.load(_handed_in(folder))
    result = interpolate(before, learned.state, settings.blend)
    checkpoint.save(result_file(folder), result, learned.config)
    del objective, looks, learned, result, before
    give_back()
    return outcome


def handed_in_step(folder: Path) -> int | None:
    """Return the step of the checkpoint that a run hands in; None for its last one."""
    return cycle_step(folder) or (best_step(folder) if has_lost(folder) else None)


def _handed_in(folder: Path) -> Path:
    """Return the checkpoint that a run hands in: of its best cycle, or early stopping's."""
    return cycle_file(folder) or best_file(folder)


def result_file(folder: Path) -> Path:
    """Return the file of a finished run's weights."""
    return folder / _RESULT_FILE
