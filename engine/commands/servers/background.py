"""Work in the background: a handler for each kind of job, and the chores of a worker.

engine.jobs lies below the rooms that know what a job does, so their functions are handed to the worker from here.
"""

import threading
from collections.abc import Mapping
from typing import Any

from db.tables import Job
from engine.documents.duplicates.signature_backfill import sign
from engine.followers import FollowerRunner
from engine.jobs import queue
from engine.jobs.cancellation import OnProgress, ShouldStop
from engine.jobs.chores import Chores
from engine.jobs.worker import Handler, work
from engine.lifecycle import erasing, project_erasing, question_erasing, retention
from engine.models import registry
from engine.proposers import jobs as proposals
from engine.selection import survey_trigger
from engine.tasks.opening import task_changes
from engine.training.retraining import schedule, trigger
from engine.training.retraining.cleanup import clean_up
from engine.webhooks import Sender
from engine.workspace import Workspace


def _retrain(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
    # torch is imported where a job runs, not where the worker starts.
    from engine.training.retraining.run import retrain

    return retrain(workspace, job, on_progress=on_progress, should_stop=should_stop)


def _survey(workspace: Workspace, job: Job, *, on_progress: OnProgress, should_stop: ShouldStop) -> dict[str, Any]:
    from engine.selection.survey import survey

    return survey(workspace, job, on_progress=on_progress, should_stop=should_stop)


def _fire_triggers(workspace: Workspace, holder: str) -> None:
    schedule.check(workspace, scheduler=holder)
    trigger.check(workspace, scheduler=holder)


HANDLERS: Mapping[str, Handler] = {trigger.RETRAIN: _retrain, survey_trigger.SURVEY: _survey}
CHORES = Chores(
    at_start=(
        lambda workspace, _: registry.ensure_shipped(workspace),
        lambda workspace, _: sign(workspace),  # documents of earlier versions, before anything is learned from them
    ),
    at_polls=(
        lambda workspace, _: clean_up(workspace),
        _fire_triggers,
        lambda workspace, _: survey_trigger.check(workspace),
        lambda workspace, _: proposals.check_new_documents(workspace),
        lambda workspace, _: task_changes.go_on(workspace),  # where no server does
        lambda workspace, _: erasing.look_after(workspace),
        lambda workspace, _: project_erasing.look_after(workspace),
        lambda workspace, _: question_erasing.look_after(workspace),
        lambda workspace, _: retention.look_after(workspace),
    ),
)


def run_worker(
    workspace: Workspace,
    *,
    once: bool = False,
    stop: threading.Event | None = None,
    lease_seconds: float = queue.LEASE_SECONDS,
    handlers: Mapping[str, Handler] = HANDLERS,
) -> int:
    """Do jobs with all handlers and chores of the product; return how many were done.

    Meanwhile figures follow, and webhooks are sent.

    Arguments are those of `engine.jobs.worker.work`.

    Raises:
        Refused: There is no model to begin with.
    """
    followers = FollowerRunner(workspace)
    sender = Sender(workspace)
    followers.start()
    sender.start()
    try:
        return work(workspace, handlers=handlers, chores=CHORES, once=once, stop=stop, lease_seconds=lease_seconds)
    finally:
        followers.stop()
        sender.stop()
