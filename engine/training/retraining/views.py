"""Views of retraining for the user interface. Reads only."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Job, ModelVersion, Run, RunMetric, Snapshot
from engine.models.registry import label
from engine.paging import Order, Page
from engine.queries import existing
from engine.training.retraining.run_length import Length
from engine.training.retraining.run_settings import (
    HANDED_IN,
    LATE,
    PAGES,
    READ_AS,
    REFIT_STEPS,
    refit_settings,
    stored_settings,
    unlabelled_sentence,
)
from engine.training.retraining.trigger import RETRAIN
from engine.training.retraining.untrained_answers import untrained_answers
from engine.workspace import Workspace

MOST_LISTED = 1000  # runs of one page


class RunLine(BaseModel):
    """Run in a list; `verdict` is the gate's, empty before judging."""

    id: str
    status: str = Field(description="running, judged, failed or cancelled.")
    parent: str = Field(description="Label of the version that the run began with: the champion of that moment.")
    challenger: str | None = Field(description="Label of the retrained version; null before the training ended.")
    challenger_id: str | None = Field(description="Id of the retrained version.")
    snapshot_sha256: str = Field(description="Snapshot that the run learned from.")
    annotations: int = Field(description="Answers in the snapshot.")
    verdict: dict[str, Any] = Field(
        description="The gate's verdict: passed, sentence and figures; empty before judging."
    )
    created_at: datetime
    finished_at: datetime | None


class RunView(RunLine):
    """Run with its settings and curves."""

    settings: dict[str, Any] = Field(description="Settings of the run, such as depth, steps and blend.")
    seed: int = Field(description="Seed of every random choice.")
    code_version: str = Field(description="Version of the program that trained.")
    length: str = Field(description="What a longer run is expected to bring, as sentences; empty before the verdict.")
    unlabelled: str = Field(
        description="Number of pages without labels that took part, or why none did, as a sentence; empty where none "
        "was wanted."
    )
    metrics: list[dict[str, Any]] = Field(description="Points of the curves: the step, and figures by name.")


def run_lines(
    workspace: Workspace, project_id: str, *, limit: int = MOST_LISTED, cursor: str | None = None
) -> Page[RunLine]:
    """Return a page of a project's runs, newest first.

    `limit`: at most MOST_LISTED. Raises Refused for the cursor of another list.
    """
    order = Order(f"runs {project_id}", (Run.id,), falls=True)
    with workspace.database.read() as session:
        chosen = select(Run).where(Run.project_id == project_id)
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
        runs = [run for (run,) in rows]
        # The session forgets what nobody holds.
        held = _load_related(session, runs)
        page = Page([RunLine(**_fields(session, run)) for run in runs], following)
        del held
        return page


def newest_verdict(workspace: Workspace, project_id: str) -> RunLine | None:
    """Return a project's newest run that was judged; None without one."""
    chosen = select(Run).where(Run.project_id == project_id, Run.status == "judged").order_by(Run.id.desc()).limit(1)
    with workspace.database.read() as session:
        run = session.scalar(chosen)
        return RunLine(**_fields(session, run)) if run is not None else None


def run_view(workspace: Workspace, run_id: str) -> RunView:
    """Return a run with its curves. Raises NotFound."""
    with workspace.database.read() as session:
        run = existing(session, Run, run_id)
        points = session.scalars(select(RunMetric).where(RunMetric.run_id == run_id).order_by(RunMetric.step)).all()
        return RunView(
            **_fields(session, run),
            settings=run.settings,
            seed=run.seed,
            code_version=run.code_version,
            length=_length(run),
            unlabelled=unlabelled_sentence(run.settings),
            metrics=[{"step": point.step, **point.values} for point in points],
        )


def _length(run: Run) -> str:
    """Return what a longer run is expected to bring; empty where it is not known."""
    if run.status != "judged" or PAGES not in run.settings:
        return ""
    settings, handed_in = stored_settings(run.settings), run.settings.get(HANDED_IN, ())
    steps = run.settings.get(REFIT_STEPS) or refit_settings(settings, handed_in).steps
    own = run.verdict.get("holdouts", {}).get("own", {})
    late = bool(run.settings.get(LATE))
    length = Length(steps, int(run.settings[PAGES]), settings, late, run.settings.get(READ_AS))
    return length.sentence(own.get("difference"))


def last_failure(workspace: Workspace, project_id: str) -> str:
    """Return why the newest retraining of a project failed; empty when it did not."""
    newest = select(Job.status, Job.message).where(Job.project_id == project_id, Job.kind == RETRAIN)
    with workspace.database.read() as session:
        job = session.execute(newest.order_by(Job.created_at.desc(), Job.id.desc()).limit(1)).one_or_none()
    return job.message if job is not None and job.status in ("failed", "dead") else ""


def waiting_to_train(workspace: Workspace, project_id: str) -> int:
    """Return how many accepted answers no run of the project has learned from."""
    return untrained_answers(workspace, project_id).count


def _load_related(session: Session, runs: Sequence[Run]) -> list[object]:
    """Return what `_fields` looks up, for all of the runs in two statements."""
    versions = {
        version_id for run in runs for version_id in (run.parent_id, run.challenger_id) if version_id is not None
    }
    snapshots = {run.snapshot_id for run in runs}
    return [
        *session.scalars(select(ModelVersion).where(ModelVersion.id.in_(versions))),
        *session.scalars(select(Snapshot).where(Snapshot.id.in_(snapshots))),
    ]


def _fields(session: Session, run: Run) -> dict[str, Any]:
    snapshot = session.get_one(Snapshot, run.snapshot_id)
    challenger = session.get(ModelVersion, run.challenger_id) if run.challenger_id else None
    return {
        "id": run.id,
        "status": run.status,
        "parent": label(session.get_one(ModelVersion, run.parent_id)),
        "challenger": label(challenger) if challenger else None,
        "challenger_id": run.challenger_id,
        "snapshot_sha256": snapshot.sha256,
        "annotations": int(snapshot.counts.get("annotations", 0)),
        "verdict": run.verdict,
        "created_at": run.created_at,
        "finished_at": run.finished_at,
    }
