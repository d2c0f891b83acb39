"""Refit: a challenger that passed is trained once more on all accepted pages, the held-out ones included, for use.

The verdict stays that of the judged weights, which never learned from a held-out document. They are kept: the next
challenger begins with them and is compared with them, and the survey asks them on held-out documents, so that precision
is measured where they have not learned. The refit begins with the weights in use, and takes as many steps as the judged
weights did. It is checked on generated pages, which no weights learn from, and on the accepted pages. Where it lost too
much on the first or surely lost on the second, the judged weights are used.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from db.tables import ModelVersion, Promotion, Run
from engine.datasets import snapshots
from engine.jobs.cancellation import OnProgress, ShouldStop, check
from engine.models import registry
from engine.plurals import count
from engine.statuses import TRAIN
from engine.training.retraining import learner
from engine.training.retraining.judging import check_refit
from engine.training.retraining.run_settings import RunSettings
from engine.training.retraining.sweep import run_folder
from engine.training.sources.corpus import corpus_of
from engine.workspace import Workspace

TAUGHT_SPLITS = (TRAIN, "recent", "frozen")
_CHECKED = 0.15  # share of the progress for the comparison


@dataclass(frozen=True, slots=True)
class Refitted:
    """Outcome of a refit: the weights' blob, what they learned from, and the comparison as stored in the verdict."""

    sha256: str
    snapshot_sha256: str
    comparison: dict[str, Any]


def refit_settings(settings: RunSettings, steps: int) -> RunSettings:
    """Return the settings of the refit of a run that was handed in at a step: all pages teach."""
    return settings.model_copy(update={"steps": steps, "watched": 0.0})


def snapshot_for(workspace: Workspace, run: Run, *, on_progress: snapshots.OnProgress) -> str | None:
    """Return the manifest of what a refit learns from; None when the challenger learned from all of it."""
    snapshot = snapshots.freeze(workspace, run.project_id, split=TAUGHT_SPLITS, on_progress=on_progress)
    return snapshot.sha256 if snapshot.id != run.snapshot_id else None


def refit(
    workspace: Workspace,
    run: Run,
    settings: RunSettings,
    snapshot_sha256: str,
    *,
    handed_in: int,
    begins_at: ModelVersion,
    on_progress: OnProgress,
    should_stop: ShouldStop,
) -> Refitted:
    """Train the refit of a run's challenger, or resume it, and compare it with the weights in use.

    Args:
        workspace: Open workspace.
        run: Run with a passed verdict.
        settings: Settings of the run.
        snapshot_sha256: What to learn from.
        handed_in: Step at which the judged weights were handed in.
        begins_at: Version whose weights in use are the initial ones.
        on_progress: Receives share and sentence.
        should_stop: Reason to stop.

    Raises:
        Refused: The training diverged.
        Stopped: `should_stop` gave a reason.
    """
    own = refit_settings(settings, handed_in)
    folder = run_folder(workspace, run.id) / "refit"
    network = learner.network_of(registry.checkpoint_path(workspace, begins_at), own.depth)
    corpus = corpus_of(workspace, snapshot_sha256, exact=False)
    pages = count(len(corpus.pages), "page")
    if not learner.result_file(folder).is_file():
        learner.train(
            network,
            workspace,
            corpus,
            own,
            folder,
            on_metrics=lambda _: None,
            on_watched=lambda step, name, value: None,
            on_progress=lambda share: on_progress(
                share * (1 - _CHECKED),
                f"Passed. Training once more on {pages}: step {round(share * handed_in)} of {handed_in}.",
            ),
            stop=lambda: should_stop() is not None,
        )
        check(should_stop)
    with workspace.database.read() as session:
        parent = session.get_one(ModelVersion, run.parent_id)
    found = check_refit(
        workspace,
        registry.checkpoint_path(workspace, parent),
        learner.result_file(folder),
        taught=corpus,
        settings=own,
        on_progress=lambda share, said: on_progress(1 - _CHECKED + share * _CHECKED, said),
        should_stop=should_stop,
    )
    comparison = {**found, "pages": len(corpus.pages), "steps": handed_in}
    comparison["sentence"] = _sentence(comparison, pages)
    return Refitted(workspace.blobs.put_file(learner.result_file(folder)), snapshot_sha256, comparison)


def in_use(session: Any, version: ModelVersion) -> bool:
    """Return whether a version was promoted: its weights must not change any more."""
    return session.scalar(select(Promotion.id).where(Promotion.version_id == version.id).limit(1)) is not None


def _sentence(found: dict[str, Any], pages: str) -> str:
    if found["passed"]:
        return (
            f"For use it was then trained on all {pages} with accepted answers; the figures are those of the weights "
            "before, which never learned from a held-out document."
        )
    return f"A refit on all {pages} is not used: {'; '.join(found['objections'])}."
