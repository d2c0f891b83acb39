"""Cost of what screens and workers look at again and again: stage, triggers, sums of the tab Documents.

`python -m tests.benchmarks.growth.polls [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from db.base import now
from engine.documents.lists.totals import document_totals
from engine.models.registry import ensure_shipped
from engine.projects.projects import change_settings, project_by_id
from engine.selection import survey_trigger
from engine.selection.stage_view import stage_view
from engine.training.retraining import trigger
from engine.workspace import Workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import Grown, survey
from tests.benchmarks.growth.queue import Work

TIMES = 12
BARS = {"stage of a project": 20.0, "look at the triggers": 20.0, "sums of the tab Documents": 50.0}
SURVEYED = {
    "stage with a survey": 20.0,
    "look at the triggers with a survey": 20.0,
    "look at the survey's trigger": 20.0,
}


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return times of the polls; before each one, somebody accepts an answer, so that no cache holds everything.

    Args:
        workspace: open workspace.
        grown: project in it, without a survey; one of its people answers some more of its tasks. It has one in the end.
    """
    ensure_shipped(workspace)
    work, project = Work(workspace, grown.project, grown.people[0]), project_by_id(workspace, grown.project)
    acts: list[Callable[[], object]] = [
        lambda: stage_view(workspace, grown.project),
        lambda: trigger.due(workspace, project, now()),
        lambda: document_totals(workspace, grown.project),
    ]
    rows = _after_answers(work, BARS, acts)
    survey(workspace, grown.project)
    change_settings(workspace, grown.project, precision_target=0.8)
    surveyed = [*acts[:2], lambda: survey_trigger.check(workspace)]
    return rows + _after_answers(work, SURVEYED, surveyed)


def _after_answers(work: Work, bars: dict[str, float], acts: list[Callable[[], object]]) -> list[Row]:
    """Time some acts, each after somebody has accepted an answer; the first step warms up and does not count."""
    taken: dict[str, list[float]] = {what: [] for what in bars}
    task = work.next(None)
    for step in range(TIMES + 1):
        work.answer(task)
        task = work.next(task)
        for what, act in zip(bars, acts, strict=True):
            begin = time.perf_counter()
            act()
            if step:
                taken[what].append(1000 * (time.perf_counter() - begin))
    return [row(what, [times], bars[what]) for what, times in taken.items()]


if __name__ == "__main__":
    command(measure)
