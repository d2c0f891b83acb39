"""Sweep of runs: closes runs whose job has ended, and deletes checkpoints that are not needed."""

import shutil
from datetime import timedelta
from pathlib import Path

from sqlalchemy import select

from db.base import now
from db.tables import Job, Run
from engine.jobs.queue import ENDED
from engine.workspace import Workspace

KEPT_DAYS = 14  # the checkpoints of a failed run are kept, so that its job can be tried again


def run_folder(workspace: Workspace, run_id: str) -> Path:
    """Return the folder of a run's checkpoints; it is deleted after the verdict."""
    return _runs(workspace) / run_id


def end(run: Run, status: str) -> None:
    """End a run; where it has a verdict, this stands, and the mean of the folds can be used."""
    run.status, run.finished_at = "judged" if run.verdict else status, now()


def clean_up(workspace: Workspace) -> int:
    """Close runs whose job has ended, and delete old checkpoints; return how many were closed.

    A job ends without its run when it is given up or cancelled while no worker holds it.
    """
    closed = _close(workspace)
    _drop(workspace)
    return closed


def _close(workspace: Workspace) -> int:
    chosen = (
        select(Run, Job.status).join(Job, Job.id == Run.job_id).where(Run.status == "running", Job.status.in_(ENDED))
    )
    with workspace.database.read() as session:  # mostly there are none: a read keeps no writer waiting
        if session.execute(chosen.limit(1)).first() is None:
            return 0
    with workspace.database.write() as session:
        ended = session.execute(chosen.with_for_update(skip_locked=True)).all()
        for run, job_status in ended:
            end(run, "cancelled" if job_status == "cancelled" else "failed")
    return len(ended)


def _drop(workspace: Workspace) -> None:
    """Delete checkpoints of runs that were judged or cancelled, failed more than KEPT_DAYS ago, or are gone."""
    folders = {path.name: path for path in _runs(workspace).glob("*")}
    if not folders:
        return
    with workspace.database.read() as session:
        runs = session.scalars(select(Run).where(Run.id.in_(folders))).all()
    for gone in folders.keys() - {run.id for run in runs}:
        shutil.rmtree(folders[gone], ignore_errors=True)
    for run in runs:
        failed_lately = run.status == "failed" and (run.finished_at or now()) > now() - timedelta(days=KEPT_DAYS)
        if run.status != "running" and not failed_lately:
            shutil.rmtree(folders[run.id], ignore_errors=True)


def _runs(workspace: Workspace) -> Path:
    return workspace.settings.data_dir / "runs"
