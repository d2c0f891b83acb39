"""Run long work in this process with a progress bar: a job, or a change that tasks follow."""

import signal
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from db.tables import Job
from engine.commands.common import console, progress
from engine.workspace import Workspace

if TYPE_CHECKING:
    from engine.jobs.worker import Handler


def follow_job(workspace: Workspace, job: Job, handlers: "Mapping[str, Handler] | None" = None) -> Job:
    """Run or follow a job until it ends or the command is interrupted.

    Args:
        workspace: open workspace.
        job: waiting job.
        handlers: by kind of job; None: those of a worker.

    Returns:
        The job in its last state.

    Raises:
        Refused: there is no model to start from.
    """
    from engine.commands.servers.background import HANDLERS
    from engine.commands.servers.worker import lower_priority, sparing_cores
    from engine.jobs import queue
    from engine.jobs.worker import do, holder_name
    from engine.models import registry

    if handlers is None:
        handlers = sparing_cores(HANDLERS, workspace.settings)
        lower_priority()
        registry.ensure_shipped(workspace)
    stop = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    holder = holder_name()
    with progress() as bar:
        task = bar.add_task("Waiting.", total=100)

        def show(share: float, message: str) -> None:
            bar.update(task, completed=round(100 * share), description=message)

        while not stop.is_set():
            mine = queue.lease(workspace, holder, [job.kind], job_id=job.id)
            if mine is not None:
                do(workspace, mine, holder, handlers=handlers, stop=stop, watch=show)
            job = queue.job_by_id(workspace, job.id)
            if job.status in queue.ENDED:
                return job
            show(job.progress, job.message)
            time.sleep(0.5)
    console.print("Stopped. A worker, or this command again, resumes the job.")
    return job


def tasks_follow(workspace: Workspace, project_id: str) -> None:
    """Let the tasks of a project follow what was changed, until all have; nothing is shown where they have already.

    After an interruption, a server or a worker does the rest.
    """
    from engine.tasks.opening import task_changes

    if not any(running.finished_at is None for running in task_changes.running(workspace, project_id)):
        return
    with progress() as bar:
        task = bar.add_task("", total=None)

        def show(change: task_changes.TaskProgress) -> None:
            bar.update(task, total=change.total, completed=change.done, description=change.sentence)

        task_changes.work_off(workspace, project_id, seconds=None, on_progress=show)
