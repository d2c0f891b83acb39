"""Cost of the figures of the tab Quality in a project of any size.

`python -m tests.benchmarks.growth.figures [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.statistics.project_agreement import project_agreement
from engine.statistics.throughput import figures
from engine.workspace import Workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import Grown
from tests.benchmarks.growth.queue import Work

TIMES = 12
FIGURES, AGREEMENT = "figures of the tab Quality", "agreement after an answer"
BAR = 300.0


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return times of the figures; before each one, somebody accepts an answer, so that no cache holds them.

    Args:
        workspace: open workspace.
        grown: project in it; one of its people answers some more of its tasks.
    """
    work = Work(workspace, grown.project, grown.people[0])
    acts: dict[str, Callable[[], object]] = {
        FIGURES: lambda: figures(workspace, grown.project),
        AGREEMENT: lambda: project_agreement(workspace, grown.project),
    }
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
    return [row(what, [times], BAR) for what, times in taken.items()]


if __name__ == "__main__":
    command(measure)
