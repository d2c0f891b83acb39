"""Views of retraining for the user interface. Reads only."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Job, ModelVersion, Run, RunMetric, Snapshot
from engine.models.registry import label
from engine.queries import existing
from engine.training.retraining.trigger import RETRAIN
from engine.training.retraining.untrained_answers import untrained_answers
from engine.workspace import Workspace


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
    metrics: list[dict[str, Any]] = Field(description="Points of the curves: the step, and figures by name.")


class JobView(BaseModel):
    """Job: its progress or result. `failure`: error of its last attempt, also while the next one runs."""

    id: str
    kind: str = Field(description="Work of the job, such as retrain, survey or import.")
    status: str = Field(description="waiting, running, done, failed, cancelled or dead (given up).")
    progress: float = Field(description="Share that is done, 0..1.")
    message: str = Field(description="Present step as a sentence, or the result.")
    failure: str = Field(description="Error of the last attempt, also while the next one runs; empty without one.")
    attempts: int = Field(description="Attempts so far.")
    max_attempts: int = Field(description="Attempts after which the job is given up.")
    run_after: datetime = Field(description="Earliest time of the next attempt.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


def run_lines(workspace: Workspace, project_id: str) -> list[RunLine]:
    """Return a project's runs, newest first."""
    with workspace.database.read() as session:
        runs = session.scalars(select(Run).where(Run.project_id == project_id).order_by(Run.id.desc())).all()
        return [RunLine(**_fields(session, run)) for run in runs]


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
            metrics=[{"step": point.step, **point.values} for point in points],
        )


def last_failure(workspace: Workspace, project_id: str) -> str:
    """Return why the newest retraining of a project failed; empty when it did not."""
    newest = select(Job.status, Job.message).where(Job.project_id == project_id, Job.kind == RETRAIN)
    with workspace.database.read() as session:
        found = session.execute(newest.order_by(Job.created_at.desc(), Job.id.desc()).limit(1)).one_or_none()
    return found.message if found is not None and found.status in ("failed", "dead") else ""


def job_view(job: Job) -> JobView:
    """Return a job as the page shows it."""
    return JobView.model_validate(job, from_attributes=True)


def waiting_to_train(workspace: Workspace, project_id: str) -> int:
    """Return how many accepted answers on training documents no run of the project has learned from."""
    return untrained_answers(workspace, project_id).count


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
