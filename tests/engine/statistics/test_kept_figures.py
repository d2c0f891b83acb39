"""Figures that are kept with the work: a repair finds what differs, and older databases get theirs by the upgrade."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from sqlalchemy import delete, event, update

from db import migrate
from db.tables import FinishedDocument, FinishedMask, MaskCount, QueueDay
from engine.followers import catch_up, finished_work
from engine.statistics.throughput import Figures, figures
from engine.workspace import Workspace
from tests.support.drift import figures_adrift, find_drift, rebuild_all
from tests.support.factories import make_project
from tests.support.work_history import make_weeks


def figures_now(workspace: Workspace, project_id: str, **options: Any) -> Figures:
    catch_up(workspace)
    return figures(workspace, project_id, **options).model_copy(update={"as_of": None})


MONDAY = date(2026, 3, 2)


def test_what_differs_is_found_and_computed_anew(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_weeks(workspace, project, MONDAY, a_day=1)
    rebuild_all(workspace, project.id)
    right = figures_now(workspace, project.id, today=MONDAY)
    with workspace.database.write() as session:
        session.execute(update(FinishedMask).values(seconds=FinishedMask.seconds + 1))
        session.execute(delete(MaskCount))
        session.execute(update(QueueDay).values(open=QueueDay.open + 1))
        session.add(
            FinishedDocument(
                document_id=session.query(FinishedMask.document_id).limit(1).scalar(),
                project_id=project.id,
                chosen_by="model",
                pages=1,
                corrections=0,
            )
        )
    assert {kind for kind, _ in figures_adrift(workspace)} == {
        "finished_masks",
        "mask_counts",
        "finished_documents",
        "queue_days",
    }
    rebuild_all(workspace, project.id)
    assert not find_drift(workspace)
    assert figures_now(workspace, project.id, today=MONDAY) == right


def test_an_upgrade_computes_the_figures_of_the_work_so_far(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_weeks(workspace, project, MONDAY, a_day=1)
    rebuild_all(workspace, project.id)
    right = figures_now(workspace, project.id, today=MONDAY)
    migrate.downgrade(workspace.database, "0011")
    migrate.upgrade(workspace.database)
    assert not find_drift(workspace)
    assert figures_now(workspace, project.id, today=MONDAY) == right


@pytest.mark.parametrize("database_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_finished_documents_look_for_masks_once(workspace: Workspace) -> None:
    """PostgreSQL looked for the masks of all documents again at every task: minutes for two hundred documents."""
    statements: list[tuple[str, Any]] = []
    with workspace.database.read() as session:
        event.listen(session.connection(), "before_cursor_execute", lambda *run: statements.append((run[2], run[3])))
        finished_work.compute_documents(session, ["a" * 32, "b" * 32])
        [(statement, values)] = statements
        [plan] = session.connection().exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", values).scalar_one()
    looked = [node for node in _nodes(plan["Plan"]) if node.get("Relation Name") == "annotations"]
    again = [
        node for top in _nodes(plan["Plan"]) if top.get("Parent Relationship") == "SubPlan" for node in _nodes(top)
    ]
    assert looked and not [node for node in looked if node in again]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)
