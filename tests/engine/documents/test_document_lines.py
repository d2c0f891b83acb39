"""Lines of a project's list: all of them, or some at the cost of these alone."""

from typing import Any

import pytest
from sqlalchemy import event

from engine.documents.lists.listing import document_lines
from engine.workspace import Workspace
from tests.support.annotators import answer
from tests.support.factories import bill, make_document, make_project
from tests.support.office import Office

pytestmark = pytest.mark.usefixtures("figures_at_once")


def test_lines_of_chosen_documents_are_those_of_the_list(workspace: Workspace) -> None:
    office = Office(workspace, bills=4)
    elsewhere = make_document(workspace, make_project(workspace, "another").id, [bill(9)])
    for task in office.tasks()[:3]:
        answer(workspace, task.id, office.ben)
    with workspace.database.write() as session:
        session.merge(office.documents[3]).group_id = office.documents[1].group_id
    every = {line.id: line for line in document_lines(workspace, office.project.id, office.ann.id)}
    wanted = [office.documents[at].id for at in (3, 0)]
    asked = [wanted[1], wanted[0], elsewhere.id, "none"]
    chosen = document_lines(workspace, office.project.id, office.ann.id, ids=asked)
    assert chosen == [every[key] for key in wanted], "newest first, as in the list"
    assert chosen[0].same_as == office.documents[1].name and chosen[1].accepted == 2
    assert document_lines(workspace, office.project.id, ids=[]) == []


@pytest.mark.parametrize("asked", [1, 2])
def test_lines_of_chosen_documents_cost_nothing_for_the_others(sqlite_workspace: Workspace, asked: int) -> None:
    """SQLite tells how it finds rows: never through all that a project has."""
    office = Office(sqlite_workspace)
    engine, steps = sqlite_workspace.database.engine, list[str]()

    def explain(connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if statement.startswith("SELECT documents"):
            plan = connection.connection.dbapi_connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
            steps.extend(step for *_, step in plan)

    event.listen(engine, "before_cursor_execute", explain)
    ids = [document.id for document in office.documents[:asked]]
    assert len(document_lines(sqlite_workspace, office.project.id, office.ann.id, ids=ids)) == asked
    assert len(steps) > 5
    assert not [step for step in steps if "(project_id=?)" in step or ("SCAN" in step and "anon" not in step)]
