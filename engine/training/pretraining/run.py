"""Pretraining run: stage by stage, resumable, seeded, with figures before and after each stage."""

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from engine.training.pretraining.curves import METRICS_FILE, draw_curves
from engine.training.pretraining.pretraining_stage import PAGES, PretrainingStage, StageInputs
from engine.training.pretraining.stages import STAGES
from engine.training.pretraining.text_stages import DECODER_STAGES
from engine.training.sources.page_supply import GENERATED, PageSupply
from engine.training.unlabelled.page_corpus import PageCorpus
from model import checkpoint
from model.distributed import ALONE, Ranks
from model.examples import Example, Source
from model.learning import Plan, learn
from model.network import GroundingNetwork, load_network
from model.objectives.objective import Objective
from model.prefetch import Prefetched
from model.presets import NetworkConfig
from model.pretraining.token_vectors import token_vectors
from model.rates import with_rates

FIGURES_FILE = "figures.json"
CURVES_FILE = "curves.png"
_PLAN_FILE = "plan.json"
_START_FILE = "start.safetensors"
_PACE_STEPS = 10  # timed to convert minutes into steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Stages of a run in order with their steps, and its initial weights; stored for resumed runs.

    `start`: checkpoint of the same preset. `decoder`: folder, or name on the hub, for the text stages. `forms`: folder
    of fillable PDFs. `labelled`: grounded dataset of labelled pages. `corpus`: list of pages without labels
    (engine.training.unlabelled.page_corpus). `pages`: pages of words a micro-step; `accumulate`: micro-steps a step of
    each process. `rate`: factor of all learning rates. `public`: parts that begin with public weights, which take lower
    rates (model.rates).
    """

    seed: int
    steps: Mapping[str, int]
    start: str | None = None
    decoder: str | None = None
    forms: str | None = None
    labelled: str | None = None
    corpus: str | None = None
    pages: int = PAGES
    accumulate: int = 1
    rate: float = 1.0
    public: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.pages < 1:
            raise ValueError("A step needs at least one page.")
        if not 0 < self.rate < math.inf:
            raise ValueError(f"The factor of the learning rates must be above zero, not {self.rate:g}.")
        unknown = [name for name in self.steps if name not in STAGES]
        if unknown:
            raise ValueError(f"There is no stage {unknown[0]!r}; choose from {', '.join(STAGES)}.")
        if not self.steps:
            raise ValueError(f"Choose at least one stage of {', '.join(STAGES)}.")


def check_order(steps: Iterable[str]) -> None:
    """Raise ValueError where `distill` would come before a stage of its teacher; for new runs."""
    names = list(steps)
    if "distill" in names and (late := set(DECODER_STAGES) & set(names[names.index("distill") :])):
        raise ValueError(f"The stage distill learns from the stage {min(late)}: put distill after it.")


# As for the shipped weights.
RECIPE = Schedule(
    seed=1,
    steps={
        "words": 5800,
        "regions": 2400,
        "segment": 2000,
        "growth": 600,
        "practice": 3900,
        "ranking": 500,
        "pixels": 330,
        "region_ranking": 2000,
    },
)


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
        ValueError: The teacher is missing, or the folder holds another run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    schedule = ranks.on_first(partial(_remembered, folder, schedule, config, resume))
    network = _fresh(config, teacher, schedule.seed)
    _start(network, folder, schedule, config, begin, ranks)
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
            around = _inputs(network, schedule, folder, teacher, schedule.seed + number, held_out, feeding.feed)
            around = replace(around, supply=supply)
            stage, objective = STAGES[name], ranks.in_turn(partial(_objective, name, around))
            if held_out and name not in figures:
                figures[name] = {"before": ranks.on_first(partial(_measured, stage, around, objective))}
                ranks.on_first(partial(_write_json, folder / FIGURES_FILE, figures))
            groups = with_rates(stage.groups(objective), network, schedule.public, times=schedule.rate)
            optimizer = stage.optimizer(groups)
            if number == 0:  # only now, so that a folder holds no run that could not begin
                plan = {**asdict(schedule), "config": config.to_dict()}
                ranks.on_first(partial(_write_json, folder / _PLAN_FILE, plan))
            outcome = learn(
                objective,
                optimizer,
                Plan(steps=steps, seed=around.seed, mixed=mixed, accumulate=schedule.accumulate),
                folder=folder / name,
                resume=resume,
                on_metrics=metrics,
                on_progress=progress,
                cancelled=cancelled,
                examples=feeding.given if feeding.feeds else None,
                ranks=ranks,
            )
        if outcome.cancelled:
            return Pretrained(None, outcome.version, schedule, _changes(figures))
        done += steps
        if ranks.first:
            draw_curves(folder / METRICS_FILE, folder / CURVES_FILE)
        if held_out and "after" not in figures[name]:
            figures[name]["after"] = ranks.on_first(partial(_measured, stage, around, objective))
            ranks.on_first(partial(_write_json, folder / FIGURES_FILE, figures))
        if held_out and on_figures is not None and ranks.first:
            on_figures(name, _changes(figures)[name])
    weights = folder / f"{config.name}.safetensors"
    whole = checkpoint.to_float16(network.state_dict())
    version = ranks.on_first(partial(checkpoint.save, weights, whole, config.to_dict()))
    return Pretrained(weights, version, schedule, _changes(figures))


def _objective(name: str, around: StageInputs) -> Objective:
    torch.manual_seed(around.seed)  # seeds the heads' initialisation, independent of earlier work in this process
    return STAGES[name].objective(around)


def _measured(stage: PretrainingStage, around: StageInputs, objective: Objective) -> dict[str, float]:
    return dict(stage.figures(around, objective))


class _Feeding:
    """Sources of one stage, whose examples background processes make ahead; they end with the context."""

    def __init__(self, workers: int, stride: int) -> None:
        self._workers, self._stride = workers, stride
        self._sources: list[Prefetched[Sequence[Example]]] = []

    def __enter__(self) -> "_Feeding":
        return self

    def __exit__(self, *error: object) -> None:
        for one in self._sources:
            one.close()

    def feed(self, source: Source) -> Source:
        """Return the source with its examples made ahead."""
        self._sources.append(Prefetched(source, self._workers, self._stride))
        return self._sources[-1]

    @property
    def feeds(self) -> bool:
        """Whether the stage takes examples from a source at all."""
        return bool(self._sources)

    def given(self) -> int:
        """Return how many examples the stage took so far."""
        return sum(one.given for one in self._sources)


def paced(
    folder: Path,
    config: NetworkConfig,
    teacher: Path,
    schedule: Schedule,
    minutes: float,
    *,
    mixed: bool = False,
    device: str = "cpu",
    checkpointing: bool = False,
) -> Schedule:
    """Return the schedule with as many steps of its stages as take about `minutes` on this machine.

    Some steps of each stage are timed and discarded. What a stage reads at first is kept in `folder`, for the run.
    """
    whole = sum(STAGES[name].share for name in schedule.steps)
    steps = {}
    for number, name in enumerate(schedule.steps):
        network = _fresh(config, teacher, schedule.seed).to(device)
        network.checkpointing(checkpointing)
        objective = STAGES[name].objective(_inputs(network, schedule, folder, teacher, schedule.seed + number))
        optimizer = STAGES[name].optimizer(STAGES[name].groups(objective))
        plan = Plan(steps=_PACE_STEPS, seed=schedule.seed, mixed=mixed, accumulate=schedule.accumulate)
        learn(objective, optimizer, replace(plan, steps=1))  # costs of the first step only
        began = time.monotonic()
        learn(objective, optimizer, plan)
        pace = (time.monotonic() - began) / _PACE_STEPS
        steps[name] = max(1, round(60 * minutes * STAGES[name].share / whole / pace))
    return replace(schedule, steps=steps)


def _inputs(
    network: GroundingNetwork,
    schedule: Schedule,
    folder: Path,
    teacher: Path,
    seed: int,
    held_out: int = 24,
    feed: Callable[[Source], Source] | None = None,
) -> StageInputs:
    around = StageInputs(
        network,
        seed,
        folder,
        teacher,
        held_out,
        schedule.decoder,
        _folder(schedule.forms),
        _folder(schedule.labelled),
        None if schedule.corpus is None else PageCorpus.load(Path(schedule.corpus)),
        schedule.pages,
    )
    return around if feed is None else replace(around, feed=feed)


def _folder(path: str | None) -> Path | None:
    return None if path is None else Path(path)


def _fresh(config: NetworkConfig, teacher: Path, seed: int) -> GroundingNetwork:
    torch.manual_seed(seed)
    network = GroundingNetwork(config)
    vectors = token_vectors(teacher, config.text.vector_width)
    if vectors.shape != network.text_encoder.embedding.piece_vectors.shape:
        raise ValueError(
            f"The teacher has {len(vectors)} wordpieces, the network {config.text.pieces}; choose a matching teacher."
        )
    network.text_encoder.embedding.piece_vectors.copy_(vectors)
    return network


def _start(
    network: GroundingNetwork,
    folder: Path,
    schedule: Schedule,
    config: NetworkConfig,
    begin: Callable[[GroundingNetwork], None] | None,
    ranks: Ranks,
) -> None:
    """Load the initial weights, and keep them in `folder`, so that a run resumes without the files they came from."""
    kept, public = folder / _START_FILE, schedule.start is not None or bool(schedule.public)
    again = ranks.on_first(partial(has_run, folder))
    if again and public and ranks.on_first(kept.is_file):  # a run that never began may have left another one
        _begin_with(network, ranks.on_first(partial(_started, kept, config)))
        return
    if schedule.start is not None:
        _begin_with(network, ranks.on_first(partial(_started, Path(schedule.start), config)))
    if begin is not None:
        begin(network)
    if public and not again:
        ranks.on_first(partial(checkpoint.save, kept, network, config.to_dict()))


def _started(path: Path, config: NetworkConfig) -> GroundingNetwork:
    network, _ = load_network(path)
    ranked = replace(network.config, ranker_width=config.ranker_width, region_ranker_width=config.region_ranker_width)
    if ranked != config:
        raise ValueError(f"{path} holds another network than the preset {config.name!r}; choose its preset.")
    return network


def _begin_with(network: GroundingNetwork, start: GroundingNetwork) -> None:
    """Copy weights; the rankers of `network` stay as they are where `start` was saved without them."""
    own = {name: one for name, one in network.state_dict().items() if name.startswith(("ranker.", "region_ranker."))}
    network.load_state_dict({**own, **start.state_dict()})


def _remembered(folder: Path, schedule: Schedule, config: NetworkConfig, resume: bool) -> Schedule:
    path = folder / _PLAN_FILE
    if path.is_file():
        if not resume:
            raise ValueError(f"{folder} already holds a run; continue it with --resume, or choose another folder.")
        kept, of = _read_plan(folder)
        if of != json.loads(json.dumps(config.to_dict())):
            raise ValueError(f"The run in {folder} is of another network; resume it with the same --preset.")
        return kept
    check_order(schedule.steps)
    return schedule


def _read_plan(folder: Path) -> tuple[Schedule, dict[str, Any]]:
    """Return schedule and config of the run in `folder`. Raises ValueError for an unreadable plan."""
    path = folder / _PLAN_FILE
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        config = kept.pop("config")
        return Schedule(**{**kept, "public": tuple(kept.get("public", ()))}), config
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not the plan of a run: {error}") from error


def remembered(folder: Path) -> Schedule:
    """Return the schedule of the run in `folder`. Raises ValueError for an unreadable plan."""
    return _read_plan(folder)[0]


def has_run(folder: Path) -> bool:
    """Return whether `folder` holds a run."""
    return (folder / _PLAN_FILE).is_file()


def _figures_of(folder: Path) -> dict[str, dict[str, dict[str, float]]]:
    path = folder / FIGURES_FILE
    begun = path.is_file() and has_run(folder)  # else they are of a run that could not begin
    found: dict[str, dict[str, dict[str, float]]] = json.loads(path.read_text("utf-8")) if begun else {}
    return found


def _changes(figures: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, dict[str, tuple[float, float]]]:
    return {
        name: {key: (kept["before"][key], value) for key, value in kept["after"].items() if key in kept["before"]}
        for name, kept in figures.items()
        if "after" in kept
    }


def _write_json(path: Path, content: object) -> None:
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(path)
