"""Ends runs whose job has ended without them: given up after too many attempts, or cancelled while no worker held it."""

import shutil
from pathlib import Path

from sqlalchemy import select

from db.base import now
from db.tables import Job, Run
from engine.jobs.queue import ENDED
from engine.workspace import Workspace


def run_folder(workspace: Workspace, run_id: str) -> Path:
    """Return where a run keeps its checkpoints until it is judged."""
    return workspace.settings.data_dir / "runs" / run_id


def sweep(workspace: Workspace) -> int:
    """Close such runs, drop their unfinished checkpoints, and return how many there were."""
    chosen = (
        select(Run, Job.status).join(Job, Job.id == Run.job_id).where(Run.status == "running", Job.status.in_(ENDED))
    )
    with workspace.database.read() as session:  # mostly there are none, and then nobody has to wait for a writer
        if session.execute(chosen.limit(1)).first() is None:
            return 0
    with workspace.database.write() as session:
        swept = session.execute(chosen.with_for_update(skip_locked=True)).all()
        for run, job_status in swept:
            run.status = "cancelled" if job_status == "cancelled" else "failed"
            run.finished_at = now()
    for run, _ in swept:
        shutil.rmtree(run_folder(workspace, run.id), ignore_errors=True)
    return len(swept)
