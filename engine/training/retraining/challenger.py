"""Challenger of a run: the weights of its folds, and their mean as one network.

With too few documents for folds, it is one network that learned from all pages.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.tables import ModelVersion
from engine.jobs.cancellation import ShouldStop
from engine.training.retraining import folds, learner
from engine.training.retraining.lessons import Lesson, Metrics, Share, Taught, Watched, teach
from engine.training.retraining.run_settings import RunSettings, fold_settings
from engine.training.sources.corpus import Corpus
from engine.workspace import Workspace
from model import checkpoint
from model.weight_interpolation import mean

OnShare = Callable[[float, str], None]  # share of all trainings, and a sentence
_MEAN_FILE = "mean.safetensors"


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
    should_stop: ShouldStop,
    ends_at: Sequence[int] = (),
) -> Challenger:
    """Train a challenger, or resume from `folder`. Figures are those of the first training.

    `ends_at`: of each training, the step at which it ends, for reproduction.

    Raises:
        Refused: A training diverged.
        Stopped: `should_stop` gave a reason.
    """
    count = folds.FOLDS if folded else 1
    own = fold_settings(settings) if folded else settings
    lessons = [
        Lesson(
            begins_at=begins_at.id,
            fold=number if folded else None,
            corpus=corpus,
            settings=own,
            folder=folder / f"fold-{number}",
            share=0.5 / learner.trainings(count, settings.refit) if folded else 1.0,
            ends_at=ends_at[number] if ends_at else None,
        )
        for number in range(count)
    ]
    shares = [0.0] * count

    def hear(number: int, said: Metrics | Watched | Share) -> None:
        """Pass on what a training reports."""
        if isinstance(said, Share):
            shares[number] = said.of_cycle
            where = f" of fold {number + 1} of {count}" if count > 1 else ""
            on_progress(sum(shares) / count, f"Training{where}: step {said.step} of {said.last}.")
        elif number == 0 and isinstance(said, Metrics):
            on_metrics(said.values)
        elif number == 0 and isinstance(said, Watched):
            on_watched(*said)

    taught = teach(workspace, lessons, hear, should_stop)
    path = taught[0].path
    if folded:
        path = folder / _MEAN_FILE
        loaded = [checkpoint.load(weights.path) for weights in taught]
        checkpoint.save(path, mean([loaded_checkpoint.state for loaded_checkpoint in loaded]), loaded[0].config)
    late = any(weights.late for weights in taught)
    return Challenger(path, tuple(taught) if folded else (), taught[0].ended, late, taught[0].optimizer)
