"""Lessons: the trainings of a run, as parts that an executor runs in this process or on other machines.

The weights of a finished lesson, with what is stored of it, lie in its folder here. An attempt that goes on takes them
from there; a lesson that was not finished goes on from its checkpoints where its process finds them, else anew.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from db.tables import ModelVersion
from engine.executors.choice import executor_of
from engine.executors.executor import Part, Report, run_parts
from engine.jobs.cancellation import ShouldStop, check
from engine.models import registry
from engine.training.json_files import write_json
from engine.training.retraining import folds, learner
from engine.training.retraining.run_settings import RunSettings, one_cycle
from engine.training.sources.corpus import Corpus
from engine.workspace import Workspace

_FACTS_FILE = "taught.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """Training of a run.

    Attributes:
        begins_at: Id of the version whose weights are the initial ones.
        fold: Number of the fold whose documents it does not see; None: it sees all.
        corpus: What the run learns from.
        settings: Its settings.
        folder: Of its checkpoints.
        share: Share of the run's minutes.
        ends_at: Step at which it ends, for reproduction; None: by itself.
        may_go_on: Whether further cycles follow the first only where held-out documents tell whether they pay.
    """

    begins_at: str
    fold: int | None
    corpus: Corpus
    settings: RunSettings
    folder: Path
    share: float
    ends_at: int | None = None
    may_go_on: bool = True


@dataclass(frozen=True, slots=True)
class Taught:
    """Weights of a lesson: their file, the last step, the step at which they were handed in; `late`: by the clock.

    `optimizer`: as stored with a version.
    """

    path: Path
    ended: int
    handed_in: int
    late: bool
    optimizer: dict[str, Any]


class Metrics(NamedTuple):
    """Row of metrics of a step."""

    values: Mapping[str, float]


class Watched(NamedTuple):
    """Figure on documents held out for early stopping."""

    step: int
    name: str
    value: float


class Share(NamedTuple):
    """Share of the longest course of a lesson that is done, and of its present cycle: step of its last one."""

    share: float
    of_cycle: float
    step: int
    last: int


def teach(
    workspace: Workspace,
    lessons: Sequence[Lesson],
    on_report: Callable[[int, Metrics | Watched | Share], None],
    should_stop: ShouldStop,
) -> list[Taught]:
    """Do lessons, side by side where the executor can, and return their weights in the order of the lessons.

    `on_report`: hears the number of a lesson, and what it reports.

    Raises:
        Refused: A training diverged.
        Stopped: `should_stop` gave a reason.
    """
    known = {number: _read_result(lesson.folder) for number, lesson in enumerate(lessons)}
    to_do = [number for number in known if known[number] is None]

    def receive(at: int, result: tuple[bytes, dict[str, Any]]) -> None:
        """Store the weights of a lesson here, then that it is finished."""
        number = to_do[at]
        content, facts = result
        folder = lessons[number].folder
        folder.mkdir(parents=True, exist_ok=True)
        arriving = learner.result_file(folder).with_suffix(".arriving")
        with arriving.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # before it is said to be finished: no later attempt makes it again
        arriving.replace(learner.result_file(folder))
        write_json(folder / _FACTS_FILE, facts)
        known[number] = taught = Taught(learner.result_file(folder), **facts)
        on_report(number, _last_share(taught))

    for number, taught in known.items():
        if taught is not None:
            on_report(number, _last_share(taught))
    run_parts(
        executor_of(workspace, should_stop),
        (Part(do_lesson, (lessons[number],)) for number in to_do),
        on_report=lambda at, value: on_report(to_do[at], value),
        on_result=receive,
        should_stop=should_stop,
    )
    return [taught for taught in known.values() if taught is not None]


def do_lesson(
    workspace: Workspace, lesson: Lesson, *, report: Report, should_stop: ShouldStop
) -> tuple[bytes, dict[str, Any]]:
    """Train, and return the file of the weights with the other attributes of `Taught`; see `engine.executors`."""
    with workspace.database.read() as session:
        version = session.get_one(ModelVersion, lesson.begins_at)
    begins_at = (
        registry.checkpoint_path(workspace, version)
        if lesson.fold is None
        else beginnings_of(workspace, version)[lesson.fold]
    )
    corpus = lesson.corpus if lesson.fold is None else folds.without(lesson.corpus, lesson.fold)
    settings = lesson.settings
    network = learner.network_of(begins_at, settings.depth, workspace.settings.device)
    optimizer = learner.describe_optimizer(network, settings)
    if lesson.may_go_on and lesson.ends_at is None and not learner.is_watched(corpus, settings):
        settings = one_cycle(settings)
    done = 0

    def tell(share: float) -> None:
        """Report the progress."""
        nonlocal done
        done = round(share * settings.steps)
        report(Share(share, *within(settings, share)))

    outcome = learner.train(
        network,
        workspace,
        corpus,
        settings,
        lesson.folder,
        share=lesson.share,
        on_metrics=lambda values: report(Metrics(dict(values))),
        on_watched=lambda step, name, value: report(Watched(step, name, value)),
        on_progress=tell,
        stop=lambda: should_stop() is not None or (lesson.ends_at is not None and done + 1 >= lesson.ends_at),
    )
    check(should_stop)
    return learner.result_file(lesson.folder).read_bytes(), {
        "ended": outcome.step,
        "handed_in": learner.handed_in_step(lesson.folder) or outcome.step,
        "late": outcome.cancelled,
        "optimizer": optimizer,
    }


def beginnings_of(workspace: Workspace, version: ModelVersion) -> Sequence[Path]:
    """Return the initial weights of each fold of a challenger that begins with a version.

    They are those of the same fold of the version; where it has none, and learned from the project, those of the first
    version of the line. Otherwise a fold would know its documents already.
    """
    own = registry.fold_paths(workspace, version)
    if own:
        return own
    if version.snapshot_id is not None:
        with workspace.database.read() as session:
            version = registry.origin(session, version)
    return [registry.checkpoint_path(workspace, version)] * folds.FOLDS


def within(settings: RunSettings, share: float) -> tuple[float, int, int]:
    """Return the share of the present cycle that a training has done, its step, and the last step of the cycle."""
    step = round(share * settings.steps)
    _, end = learner.plan_of(settings).cycle_of(max(0, step - 1))
    return step / end, step, end


def _last_share(taught: Taught) -> Share:
    return Share(1.0, 1.0, taught.ended, taught.ended)


def _read_result(folder: Path) -> Taught | None:
    """Return what a lesson left in its folder here; None while it is not finished."""
    try:
        facts = json.loads((folder / _FACTS_FILE).read_text("utf-8"))
    except FileNotFoundError:
        return None
    return Taught(learner.result_file(folder), **facts)
