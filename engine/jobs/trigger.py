"""What starts a retraining without anybody asking: enough newly accepted answers, and then a moment of quiet."""

from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Job, Project, Run, Snapshot
from engine.curation import snapshots
from engine.curation.manifest import read_manifest, revisions_in
from engine.errors import Refused
from engine.jobs import queue
from engine.projects import settings_of
from engine.workspace import Workspace

RETRAIN = "retrain"
TRAIN = "train"


def retrain_key(project_id: str) -> str:
    """Return the key that makes a project retrain once at a time."""
    return f"{RETRAIN}:{project_id}"


def request(workspace: Workspace, project_id: str, *, by: str | None = None, **settings: object) -> Job:
    """Ask for a retraining; where one is waiting or running already, that one is returned. `settings`: see RunSettings."""
    return queue.enqueue(workspace, RETRAIN, project_id, {"settings": settings}, retrain_key(project_id), created_by=by)


def check(workspace: Workspace) -> list[Job]:
    """Ask for a retraining of each project that is due for one, and return the jobs.

    Due: as many answers as the project says were accepted on training documents and are not in the snapshot of its newest run,
    and nothing was accepted for `retrain_quiet_seconds`. After a job that failed or was cancelled, something new must be accepted first.
    """
    jobs = []
    with workspace.database.read() as session:
        projects = session.scalars(select(Project).order_by(Project.id)).all()
    for project in projects:
        chosen = settings_of(project)
        if not chosen.retrain_automatically:
            continue
        fresh = _fresh(workspace, project.id, chosen.retrain_after)
        if fresh:
            jobs.append(request(workspace, project.id))
    return jobs


def _fresh(workspace: Workspace, project_id: str, enough: int) -> int:
    """How many accepted answers no run has seen, if they are enough and it is quiet; else 0."""
    with workspace.database.read() as session:
        asked = session.scalar(select(Job.id).where(Job.key == retrain_key(project_id)))
        if asked is not None:
            return 0
        accepted = snapshots.accepted_revisions(session, project_id, (TRAIN,))
        if len(accepted) < enough:
            return 0
        newest = max(accepted.values())
        if newest > now() - timedelta(seconds=workspace.settings.retrain_quiet_seconds):
            return 0
        before = _newest_job(session, project_id)
        if before is not None and before >= newest:
            return 0
        used = session.scalar(
            select(Snapshot.sha256)
            .join(Run, Run.snapshot_id == Snapshot.id)
            .where(Run.project_id == project_id)
            .order_by(Run.created_at.desc(), Run.id.desc())
            .limit(1)
        )
    fresh = set(accepted) - (_revisions(workspace, used) if used is not None else set())
    return len(fresh) if len(fresh) >= enough else 0


def _newest_job(session: Session, project_id: str) -> datetime | None:
    return session.scalar(select(func.max(Job.created_at)).where(Job.project_id == project_id, Job.kind == RETRAIN))


def _revisions(workspace: Workspace, sha256: str) -> set[str]:
    try:
        manifest = read_manifest(workspace, sha256)
    except Refused:  # gone or changed on disk: then nothing is known to have been used
        return set()
    return revisions_in(manifest)
