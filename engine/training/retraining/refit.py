"""Refit: after a passed verdict, the weights in use are trained once more, on all accepted pages.

The verdict is that of the folds (folds.py). The refit begins with the weights in use, and takes twice the steps of a
fold. It is compared with the mean of the folds on generated pages, which no weights learn from, and on accepted pages.
Where it lost too much on the first or surely lost on the second, or where it diverged, the mean of the folds is used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.tables import ModelVersion
from engine.errors import Refused
from engine.jobs.cancellation import OnProgress, ShouldStop
from engine.plurals import count
from engine.training.retraining import folds, learner
from engine.training.retraining.judging import check_refit
from engine.training.retraining.lessons import Lesson, Metrics, Share, Taught, Watched, teach, within
from engine.training.retraining.run_settings import RunSettings, refit_settings
from engine.training.sources.corpus import Corpus
from engine.workspace import Workspace

_CHECKED = 0.15  # share of the progress for the comparison


@dataclass(frozen=True, slots=True)
class Refitted:
    """Outcome of a refit: its weights, None after a failure, its steps, and the comparison as stored in the verdict."""

    path: Path | None
    steps: int
    late: bool  # the clock ended the training
    comparison: dict[str, Any]


def refit(
    workspace: Workspace,
    settings: RunSettings,
    corpus: Corpus,
    folder: Path,
    *,
    handed_in: Sequence[int],
    begins_at: ModelVersion,
    judged: Path,
    own_documents: int,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> Refitted:
    """Train the weights in use of a run's challenger, or resume, and compare them with the mean of its folds.

    Args:
        workspace: Open workspace.
        settings: Settings of the run.
        corpus: All accepted pages.
        folder: Folder of the training.
        handed_in: Of each fold, the step at which its weights were handed in.
        begins_at: Version whose weights in use are the initial ones.
        judged: Mean of the folds.
        own_documents: Own documents in the verdict.
        on_progress: Receives share and sentence.
        should_stop: Reason to stop.

    Raises Stopped when `should_stop` gives a reason.
    """
    own = refit_settings(settings, handed_in)
    pages = count(len(corpus.pages), "page")

    def tell(share: float) -> None:
        """Report the progress of the training."""
        cycle_share, step, of = within(own, share)
        on_progress(cycle_share * (1 - _CHECKED), f"Passed. Training on all {pages}: step {step} of {of}.")

    try:
        taught = train_for_use(
            workspace,
            corpus,
            own,
            folder,
            begins_at=begins_at,
            share=1 / learner.trainings(folds.FOLDS, True),
            on_progress=tell,
            should_stop=should_stop,
        )
    except Refused as refused:  # the challenger has passed: its verdict and the mean of its folds stand
        check_result = {"passed": False, "objections": [str(refused)], "holdouts": {}}
        return Refitted(None, 0, False, {**check_result, "sentence": _sentence(check_result, pages)})
    check_result = check_refit(
        workspace,
        judged,
        taught.path,
        taught=corpus,
        own=own_documents,
        settings=own,
        on_progress=lambda share, sentence: on_progress(1 - _CHECKED + share * _CHECKED, sentence),
        should_stop=should_stop,
    )
    comparison = {
        **check_result,
        "pages": len(corpus.pages),
        "steps": taught.ended,
        "sentence": _sentence(check_result, pages),
    }
    return Refitted(taught.path, taught.ended, taught.late, comparison)


def train_for_use(
    workspace: Workspace,
    corpus: Corpus,
    settings: RunSettings,
    folder: Path,
    *,
    begins_at: ModelVersion,
    share: float = 1.0,
    ends_at: int | None = None,
    on_progress: Callable[[float], None],
    should_stop: ShouldStop,
) -> Taught:
    """Train weights for use, or resume; they begin with those in use of a version.

    `share`: of the run's minutes, see learner.train. `ends_at`: step at which it ends, for reproduction.

    Raises:
        Refused: It diverged.
        Stopped: `should_stop` gave a reason.
    """
    lesson = Lesson(
        begins_at=begins_at.id,
        fold=None,
        corpus=corpus,
        settings=settings,
        folder=folder,
        share=share,
        ends_at=ends_at,
        may_go_on=False,
    )

    def hear(_: int, said: Metrics | Watched | Share) -> None:
        """Pass on the progress."""
        if isinstance(said, Share):
            on_progress(said.share)

    [taught] = teach(workspace, [lesson], hear, should_stop)
    return taught


def _sentence(check_result: dict[str, Any], pages: str) -> str:
    if check_result["passed"]:
        return f"The model for use was then trained on all {pages}."
    return f"Training on all {pages} failed, so the mean of the folds is used: {'; '.join(check_result['objections'])}."
