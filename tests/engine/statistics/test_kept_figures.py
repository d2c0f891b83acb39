"""Figures that are kept with the work: a repair finds what differs, and older databases get theirs by the upgrade."""

from datetime import date
from typing import Any

from sqlalchemy import delete, update

from db import migrate
from db.tables import FinishedDocument, FinishedMask, MaskCount, QueueDay
from engine.followers import catch_up
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
