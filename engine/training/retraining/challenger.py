"""Challenger of a run: the weights of its folds, and their mean as one network.

With too few documents for folds, it is one network that learned from all pages.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.tables import ModelVersion
from engine.models import registry
from engine.training.retraining import folds, learner
from engine.training.retraining.run_settings import RunSettings, fold_settings, one_cycle
from engine.training.sources.corpus import Corpus
from engine.workspace import Workspace
from model import checkpoint
from model.network import GroundingNetwork
from model.weight_interpolation import mean

OnShare = Callable[[float, str], None]  # share of all trainings, and a sentence
_MEAN_FILE = "mean.safetensors"


@dataclass(frozen=True, slots=True)
class Taught:
    """Weights of a training: their file, the last step, the step at which they were handed in; `late`: by the clock."""

    path: Path
    ended: int
    handed_in: int
    late: bool


@dataclass(frozen=True, slots=True)
class Challenger:
    """Checkpoint for use, the weights of the folds (none without folds), last step, and the optimizer as stored.

    `late`: whether the clock ended a training before its steps.
    """

    path: Path
    of_folds: tuple[Taught, ...]
    ended: int
    late: bool
    optimizer: dict[str, Any]


def train(
    workspace: Workspace,
    corpus: Corpus,
    settings: RunSettings,
    folder: Path,
    *,
    begins_at: ModelVersion,
    folded: bool,
    on_metrics: Callable[[Mapping[str, float]], None],
    on_watched: Callable[[int, str, float], None],
    on_progress: OnShare,
    stop: Callable[[], bool],
    ends_at: Sequence[int] = (),
) -> Challenger:
    """Train a challenger, or resume from `folder`. Figures are those of the first training.

    The weights of a fold begin with those of the same fold of `begins_at`; where it has none, and learned from the
    project, with the first version of the line. Otherwise a fold would know its documents already.

    `ends_at`: of each training, the step at which it ends, for reproduction.

    Raises Refused when a training diverges. When `stop` returned true, the result is of no use.
    """
    count = folds.FOLDS if folded else 1
    own = fold_settings(settings) if folded else settings
    share = 0.5 / learner.trainings(count, settings.refit) if folded else 1.0  # of the minutes, for each
    taught: list[Taught] = []
    optimizer: dict[str, Any] = {}
    for number, beginning in enumerate(beginnings_of(workspace, begins_at, folded)):
        network = learner.network_of(beginning, own.depth, workspace.settings.device)
        optimizer = learner.describe_optimizer(network, own)
        taught_here = folds.without(corpus, number) if folded else corpus
        part = _Part(
            number=number,
            of=count,
            share=share,
            corpus=taught_here,
            folder=folder / f"fold-{number}",
            ends_at=ends_at[number] if ends_at else None,
        )
        first = number == 0
        taught.append(
            _train_part(
                workspace,
                network,
                own if ends_at or learner.is_watched(taught_here, own) else one_cycle(own),
                part,
                on_metrics=on_metrics if first else lambda _: None,
                on_watched=on_watched if first else lambda step, name, value: None,
                on_progress=on_progress,
                stop=stop,
            )
        )
        if stop():
            break
    path = taught[0].path
    if folded and len(taught) == count:
        path = folder / _MEAN_FILE
        loaded = [checkpoint.load(weights.path) for weights in taught]
        checkpoint.save(path, mean([loaded_checkpoint.state for loaded_checkpoint in loaded]), loaded[0].config)
    late = any(weights.late for weights in taught)
    return Challenger(path, tuple(taught) if folded else (), taught[0].ended, late, optimizer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One of the trainings of a challenger: its number of all, what it learns from, and where."""

    number: int
    of: int
    share: float  # of the run's minutes
    corpus: Corpus
    folder: Path
    ends_at: int | None  # step; None: by itself


def _train_part(
    workspace: Workspace,
    network: GroundingNetwork,
    settings: RunSettings,
    part: _Part,
    *,
    on_metrics: Callable[[Mapping[str, float]], None],
    on_watched: Callable[[int, str, float], None],
    on_progress: OnShare,
    stop: Callable[[], bool],
) -> Taught:
    where = f" of fold {part.number + 1} of {part.of}" if part.of > 1 else ""
    done = 0

    def tell(share: float) -> None:
        """Report the progress."""
        nonlocal done
        cycle_share, done, end = within(settings, share)
        on_progress((part.number + cycle_share) / part.of, f"Training{where}: step {done} of {end}.")

    outcome = learner.train(
        network,
        workspace,
        part.corpus,
        settings,
        part.folder,
        share=part.share,
        on_metrics=on_metrics,
        on_watched=on_watched,
        on_progress=tell,
        stop=lambda: stop() or (part.ends_at is not None and done + 1 >= part.ends_at),
    )
    handed_in = learner.handed_in_step(part.folder) or outcome.step
    return Taught(learner.result_file(part.folder), outcome.step, handed_in, outcome.cancelled)


def beginnings_of(workspace: Workspace, version: ModelVersion, folded: bool) -> Sequence[Path]:
    """Return the initial weights of each training of a challenger that begins with a version."""
    if not folded:
        return [registry.checkpoint_path(workspace, version)]
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
