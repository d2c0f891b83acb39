"""Cost of what servers and workers look at again and again, whatever the number of projects: jobs, changes, figures.

`python -m tests.benchmarks.growth.looks [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from engine import changes
from engine.followers.freshness import freshness
from engine.followers.registry import FOLLOWERS
from engine.followers.runner import FollowerRunner
from engine.jobs import queue
from engine.models.registry import ensure_shipped
from engine.selection import survey_trigger
from engine.tasks.opening import task_changes
from engine.training.retraining import schedule, trigger
from engine.training.retraining.cleanup import clean_up
from engine.workspace import Workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import Grown
from tests.benchmarks.growth.queue import Work

TIMES = 12
KINDS = ("retrain", "survey", "read", "import", "export")
OFTEN, SELDOM = 20.0, 300.0  # ms: several times a second; every poll of a worker, over all projects


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return times of the looks; before each one, somebody accepts an answer, so that no cache holds everything.

    Args:
        workspace: open workspace.
        grown: project in it; one of its people answers some more of its tasks.
    """
    ensure_shipped(workspace)
    work = Work(workspace, grown.project, grown.people[0])
    with workspace.database.autocommit_read() as session:
        cursor = changes.newest(session)
    runner = FollowerRunner(workspace, FOLLOWERS)
    often: dict[str, Callable[[], object]] = {
        "whether a job waits": lambda: queue.is_waiting(workspace, KINDS),
        "a worker takes a job": lambda: queue.lease(workspace, "benchmark", KINDS),
        "changes since the last look": lambda: _since(workspace, cursor),
        "age of the figures": lambda: _age(workspace),
        "figures follow an answer": runner.look,
    }
    seldom: dict[str, Callable[[], object]] = {
        "schedules of all projects": lambda: schedule.check(workspace, scheduler="benchmark"),
        "triggers of all projects": lambda: trigger.check(workspace, scheduler="benchmark"),
        "surveys' triggers of all projects": lambda: survey_trigger.check(workspace),
        "changes of tasks that go on": lambda: task_changes.go_on(workspace),
        "weights to clean up": lambda: clean_up(workspace),
        "old changes": lambda: changes.prune(workspace),
    }
    acts = {**often, **seldom}
    taken: dict[str, list[float]] = {what: [] for what in acts}
    task = work.next(None)
    for step in range(TIMES + 1):
        work.answer(task)
        task = work.next(task)
        for what, act in acts.items():
            begin = time.perf_counter()
            act()
            if step:  # the first step warms up and does not count
                taken[what].append(1000 * (time.perf_counter() - begin))
    runner.release()
    return [row(what, [times], OFTEN if what in often else SELDOM) for what, times in taken.items()]


def _since(workspace: Workspace, cursor: int) -> object:
    with workspace.database.autocommit_read() as session:
        return changes.since(session, cursor)


def _age(workspace: Workspace) -> object:
    with workspace.database.autocommit_read() as session:
        return freshness(session)


if __name__ == "__main__":
    command(measure)
