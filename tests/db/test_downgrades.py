"""Before a downgrade deletes anything, it says what."""

from db import migrate
from db.downgrade_losses import Loss, downgrade_losses
from db.tables import Project
from engine.followers import catch_up
from engine.workspace import Workspace
from tests.support.factories import line, make_document, make_project
from tests.support.upgraded import rows_of


def test_a_downgrade_says_beforehand_what_it_deletes(workspace: Workspace) -> None:
    project = make_project(workspace)
    make_document(workspace, project.id, [line("Total due: 12.50")])
    catch_up(workspace)
    with workspace.database.write() as session:
        session.add(Project(name="Bin", bin_of=project.id))
    losses = downgrade_losses(workspace.database, "0020")
    assert migrate.current(workspace.database) == migrate.head() and migrate.differences(workspace.database) == []
    assert Loss("projects", None, 1) in losses
    rows = {loss.table: loss.rows for loss in losses if loss.column is None}
    before = rows_of(workspace, [*rows])
    assert rows["projects"] == 1 and "followers" in rows
    migrate.downgrade(workspace.database, "0020")
    kept = rows_of(workspace, ["projects", "documents"])
    assert kept == {"projects": before["projects"] - 1, "documents": 1}
