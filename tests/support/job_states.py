"""Jobs in every state, a trigger history with every outcome, and a worker: for tests and pictures of the tab Jobs."""

from datetime import timedelta

from db.base import now
from db.tables import Job, Lease
from engine.jobs import poll_lease, queue
from engine.training.retraining import trigger, trigger_history
from engine.training.retraining.trigger_history import Due
from engine.workspace import Workspace

WORKER = "annotations-1:4711:5f3c10aa"
FULL = (
    "The disk is full: the file /srv/glossator/runs/01a201e044f77a159ba00a20f6f61b56/.state.pt.4711.tmp could not be "
    "written (No space left on device). Free disk space. The next attempt continues from the last checkpoint."
)


def leased(workspace: Workspace, project_id: str, key: str | None = None, attempts: int = 3) -> Job:
    """A job that a worker has taken."""
    job = queue.enqueue(workspace, trigger.RETRAIN, project_id, key=key, max_attempts=attempts)
    taken = queue.lease(workspace, WORKER, [trigger.RETRAIN], job_id=job.id, seconds=100_000)
    assert taken is not None
    return taken


def failed(workspace: Workspace, project_id: str) -> Job:
    """A job that was given up, for a disk that is full."""
    job = leased(workspace, project_id, trigger.retrain_key(project_id), attempts=1)
    queue.fail(workspace, job.id, WORKER, FULL)
    return job


def of_every_kind(workspace: Workspace, project_id: str) -> None:
    """Fill a project's tab."""
    done = leased(workspace, project_id)
    sentence = "v1: It is better than nano by .041 IoU on the recent holdout. It was promoted."
    queue.finish(workspace, done.id, WORKER, {}, sentence)
    failed(workspace, project_id)
    refused = leased(workspace, project_id)
    queue.fail(workspace, refused.id, WORKER, "There is nothing to learn from yet: no accepted answer.", retry=False)
    stopped = queue.enqueue(workspace, trigger.RETRAIN, project_id)
    queue.cancel(workspace, stopped.id)
    again = leased(workspace, project_id)
    queue.fail(workspace, again.id, WORKER, "The database did not answer (server closed the connection).")
    running = leased(workspace, project_id, trigger.retrain_key(project_id))
    queue.progress(workspace, running.id, WORKER, 0.37, "Training: step 98 of 200.")
    hour = now().replace(minute=30, second=0, microsecond=0)
    with workspace.database.write() as session:
        for back, kind, outcome, message, job in (
            (
                96,
                "clock",
                "missed",
                "No worker ran at that time; 14 hours later it was too late to start a retraining.",
                None,
            ),
            (72, "clock", "nothing_new", "No answer was accepted since the last retraining.", None),
            (49, "age", "asked", "An accepted answer has waited for 7 days.", done.id),
            (24, "clock", "busy", "A retraining was waiting or running already.", running.id),
            (1, "count", "asked", "23 answers were newly accepted.", running.id),
        ):
            due = Due(project_id, kind, hour - timedelta(hours=back))  # type: ignore[arg-type]
            trigger_history.record(session, due, outcome, message, scheduler=WORKER, job_id=job)  # type: ignore[arg-type]
        since = now() - timedelta(hours=5)
        until = now() + timedelta(days=1)
        session.merge(
            Lease(subject=poll_lease.SUBJECT, holder=WORKER, acquired_at=since, heartbeat_at=now(), expires_at=until)
        )
