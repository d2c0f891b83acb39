"""Cost of a step in the queue: few statements, each a round trip, and none that reads a whole table."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from engine.tasks.queue.next_task import next_task
from engine.tasks.queue.queue_view import queue_view
from engine.workspace import Workspace
from tests.support.annotators import answer, judge
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office
from tests.support.statements import heard

MOST = 21  # statements of one step


def busy_office(workspace: Workspace) -> Office:
    """Return an office with gold questions, several answers to a task, rejected answers and leases."""
    office = Office(workspace, bills=6, questions=(NUMBER, TOTAL, CUSTOMER))
    office.set(review_required=True, overlap_share=0.5, gold_share=0.5)
    for _ in range(4):
        for person in (office.ann, office.ben):
            given = answer(workspace, office.taken(person), person)
            judge(workspace, given.id, office.rita, "rejected" if person is office.ben else "accepted")
    office.taken(office.ben)
    return office


def test_a_step_of_an_annotator_takes_few_statements(workspace: Workspace) -> None:
    busy = busy_office(workspace)
    project, person = busy.project.id, busy.ann.id
    begins = 3 if workspace.database.dialect == "sqlite" else 0  # BEGIN of each unit of work
    held = next_task(workspace, project, person).task
    for _ in range(4):
        assert held is not None
        with heard(workspace) as said:
            held = next_task(workspace, project, person, held.id).task
        assert len(said) <= MOST + begins, "\n".join(each for each, _ in said)
    with heard(workspace) as said:
        queue_view(workspace, project, person)
    assert len(said) <= 7


@pytest.mark.parametrize("act", [next_task, queue_view])
def test_the_queue_reads_no_table_as_a_whole(sqlite_workspace: Workspace, act: Callable[..., Any]) -> None:
    """SQLite tells how it finds rows, however few there are."""
    workspace, steps = sqlite_workspace, list[str]()
    busy = busy_office(workspace)
    with heard(workspace) as said:
        act(workspace, busy.project.id, busy.ann.id)
    with workspace.database.engine.connect() as connection:
        for statement, values in said:
            if statement.startswith("SELECT"):
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
                steps.extend(step for *_, step in plan)
    assert len(steps) > 20
    scans = [step for step in steps if step.startswith("SCAN")]
    # Leases are few; the others are parts of a statement that are put together.
    assert not [
        step for step in scans if not re.fullmatch(r"SCAN (leases|anon_\d+|CONSTANT ROW|\(subquery-\d+\))", step)
    ]
