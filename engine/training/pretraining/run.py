"""Pretraining run: stage by stage, resumable, seeded, with figures before and after each stage."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from engine.training.json_files import write_json
from engine.training.pretraining.beginning import fresh_network, inputs_of, load_beginning
from engine.training.pretraining.curves import METRICS_FILE, draw_curves
from engine.training.pretraining.pretraining_stage import PretrainingStage, StageInputs
from engine.training.pretraining.schedule import Schedule, has_run, plan_of, write_plan
from engine.training.pretraining.stages import STAGES
from engine.training.sources.page_supply import GENERATED, PageSupply
from model import checkpoint
from model.distributed import ALONE, Ranks
from model.examples import Example, Source
from model.learning import Plan, learn
from model.network import GroundingNetwork
from model.objectives.objective import Objective
from model.prefetch import Prefetched
from model.presets import NetworkConfig
from model.rates import with_rates

FIGURES_FILE = "figures.json"
CURVES_FILE = "curves.png"


@dataclass(frozen=True, slots=True)
class Pretrained:
    """Result of a pretraining run. `figures`: stage -> name -> (before, after)."""

    weights: Path | None  # None when cancelled before the end
    version: str | None
    schedule: Schedule
    figures: Mapping[str, Mapping[str, tuple[float, float]]]


def pretrain(
    folder: Path,
    config: NetworkConfig,
    teacher: Path,
    schedule: Schedule,
    *,
    resume: bool = False,
    chosen_fields: Collection[str] = (),
    mixed: bool = False,
    device: str = "cpu",
    workers: int = 0,
    checkpointing: bool = False,
    ranks: Ranks = ALONE,
    held_out: int = 24,
    supply: PageSupply = GENERATED,
    begin: Callable[[GroundingNetwork], None] | None = None,
    on_metrics: Callable[[Mapping[str, Any]], None] | None = None,
    on_figures: Callable[[str, Mapping[str, tuple[float, float]]], None] | None = None,
    on_progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Pretrained:
    """Train `config` into `folder`: weights (float16), metrics, figures, curves and the states of stages.

    Deterministic: equal schedules give equal weights on one thread of one machine. Curves need matplotlib.

    Args:
        folder: Folder of the run.
        config: Network to train.
        teacher: Folder of the sentence encoder whose token vectors the network keeps, or a checkpoint that keeps them.
        schedule: Stages and steps.
        resume: Continue with the schedule stored in `folder`.
        chosen_fields: Fields of `schedule` that a resumed run must have begun with.
        mixed: Train in mixed precision.
        device: Device to train on.
        workers: Processes that make examples ahead.
        checkpointing: Recompute activations, to save memory.
        ranks: This process's place among those of the run; all read and write one folder.
        held_out: Number of pages for the figures; 0: no figures, so that nothing is generated for them.
        supply: Pages with questions to learn from, in place of generated ones.
        begin: Called with the network before training, to load public weights.
        on_metrics: Called with each row of metrics.
        on_figures: Called with a stage's name and figures.
        on_progress: Called with the finished share, 0..1.
        cancelled: Stops the run when it returns true.

    Raises:
        ValueError: The teacher is missing, or the folder holds another run, or one with other settings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    schedule = ranks.on_first(partial(plan_of, folder, schedule, config, resume, chosen_fields))
    network = fresh_network(config, teacher, schedule.seed)
    load_beginning(network, folder, schedule, config, begin, ranks)
    network.to(device)
    network.checkpointing(checkpointing)
    figures = ranks.on_first(partial(_figures_of, folder))
    total, done = sum(schedule.steps.values()), 0
    for number, (name, steps) in enumerate(schedule.steps.items()):

        def metrics(values: Mapping[str, float], name: str = name) -> None:
            """Append one row to the metrics, with the stage's name."""
            line = {"stage": name, **{part: round(float(value), 6) for part, value in values.items()}}
            with (folder / METRICS_FILE).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            if on_metrics is not None:
                on_metrics(line)

        def progress(share: float, done: int = done, steps: int = steps) -> None:
            """Report the share of the whole run."""
            if on_progress is not None:
                on_progress((done + share * steps) / total)

        with _Feeding(workers, ranks.count) as feeding:
            around = inputs_of(network, schedule, folder, teacher, schedule.seed + number, held_out, feeding.feed)
            around = replace(around, supply=supply)
            stage, objective = STAGES[name], ranks.in_turn(partial(_objective, name, around))
            if held_out and name not in figures:
                figures[name] = {"before": ranks.on_first(partial(_measure, stage, around, objective))}
                ranks.on_first(partial(write_json, folder / FIGURES_FILE, figures))
            stage.restarts(network)
            trained = schedule.start_rate if schedule.start is not None and not stage.asks else 1.0
            groups = with_rates(stage.groups(objective), network, schedule.public, times=schedule.rate, trained=trained)
            optimizer = stage.optimizer(groups)
            if number == 0:  # only now, so that a folder holds no run that could not begin
                ranks.on_first(partial(write_plan, folder, schedule, config))
            outcome = learn(
                objective,
                optimizer,
                Plan(steps=steps, seed=around.seed, mixed=mixed, accumulate=schedule.accumulate),
                folder=folder / name,
                resume=resume,
                on_metrics=metrics,
                on_progress=progress,
                cancelled=cancelled,
                examples=feeding.count_taken if feeding.feeds else None,
                ranks=ranks,
            )
        if outcome.cancelled:
            return Pretrained(None, outcome.version, schedule, _changes(figures))
        done += steps
        if ranks.first:
            draw_curves(folder / METRICS_FILE, folder / CURVES_FILE)
        if held_out and "after" not in figures[name]:
            figures[name]["after"] = ranks.on_first(partial(_measure, stage, around, objective))
            ranks.on_first(partial(write_json, folder / FIGURES_FILE, figures))
        if held_out and on_figures is not None and ranks.first:
            on_figures(name, _changes(figures)[name])
    weights = folder / f"{config.name}.safetensors"
    whole = checkpoint.to_float16(network.state_dict())
    version = ranks.on_first(partial(checkpoint.save, weights, whole, config.to_dict()))
    return Pretrained(weights, version, schedule, _changes(figures))


def _objective(name: str, around: StageInputs) -> Objective:
    torch.manual_seed(around.seed)  # seeds the heads' initialisation, independent of earlier work in this process
    return STAGES[name].objective(around)


def _measure(stage: PretrainingStage, around: StageInputs, objective: Objective) -> dict[str, float]:
    return dict(stage.figures(around, objective))


class _Feeding:
    """Sources of one stage, whose examples background processes make ahead; they end with the context."""

    def __init__(self, workers: int, stride: int) -> None:
        self._workers, self._stride = workers, stride
        self._sources: list[Prefetched[Sequence[Example]]] = []

    def __enter__(self) -> "_Feeding":
        return self

    def __exit__(self, *error: object) -> None:
        for source in self._sources:
            source.close()

    def feed(self, source: Source) -> Source:
        """Return the source with its examples made ahead."""
        self._sources.append(Prefetched(source, self._workers, self._stride))
        return self._sources[-1]

    @property
    def feeds(self) -> bool:
        """Return whether the stage takes examples from a source."""
        return bool(self._sources)

    def count_taken(self) -> int:
        """Return how many examples the stage took so far."""
        return sum(source.given for source in self._sources)


def _figures_of(folder: Path) -> dict[str, dict[str, dict[str, float]]]:
    path = folder / FIGURES_FILE
    begun = path.is_file() and has_run(folder)  # else they are of a run that could not begin
    figures: dict[str, dict[str, dict[str, float]]] = json.loads(path.read_text("utf-8")) if begun else {}
    return figures


def _changes(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, tuple[float, float]]]:
    return {
        name: {
            key: (stage_figures["before"][key], value)
            for key, value in stage_figures["after"].items()
            if key in stage_figures["before"]
        }
        for name, stage_figures in figures.items()
        if "after" in stage_figures
    }
