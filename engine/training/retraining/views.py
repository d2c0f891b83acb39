"""Views of retraining for the user interface. Reads only."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Job, ModelVersion, Run, RunMetric, Snapshot
from engine.models.registry import label
from engine.queries import existing
from engine.training.retraining.untrained_answers import untrained_answers
from engine.workspace import Workspace


class RunLine(BaseModel):
    """Run in a list; `verdict` is the gate's, empty before judging."""

    id: str
    status: str
    parent: str
    challenger: str | None
    challenger_id: str | None
    snapshot_sha256: str
    annotations: int
    verdict: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None


class RunView(RunLine):
    """Run with its settings and curves."""

    settings: dict[str, Any]
    seed: int
    code_version: str
    metrics: list[dict[str, Any]]


class JobView(BaseModel):
    """Job: its progress or result. `failure`: error of its last attempt, also while the next one runs."""

    id: str
    kind: str
    status: str
    progress: float
    message: str
    failure: str
    attempts: int
    max_attempts: int
    run_after: datetime
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


def job_view(job: Job) -> JobView:
    """Return a job as the page shows it."""
    return JobView.model_validate(job, from_attributes=True)


def waiting_to_train(workspace: Workspace, project_id: str) -> int:
    """Return how many accepted answers on training documents no run of the project has learned from."""
    return len(untrained_answers(workspace, project_id))


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
