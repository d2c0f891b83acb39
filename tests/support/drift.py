"""What is stored twice, compared with what it follows from: states of tasks, and figures after the followers."""

from sqlalchemy import select

from db.tables import Project
from engine.followers import checks
from engine.tasks import kept_states
from engine.workspace import Workspace


def find_drift(workspace: Workspace, project_id: str | None = None) -> list[object]:
    """Return what differs, in a project or in all."""
    states = kept_states.check(workspace, project_id)
    return [*([states] if states else []), *figures_adrift(workspace, project_id)]


def figures_adrift(workspace: Workspace, project_id: str | None = None) -> list[tuple[str, str]]:
    """Return the figures that differ, after the followers have caught up."""
    return [
        mismatch
        for project in _projects(workspace, project_id)
        for mismatch in checks.find_mismatches(workspace, project)
    ]


def rebuild_all(workspace: Workspace, project_id: str | None = None) -> None:
    """Correct states and figures of a project, or of all."""
    kept_states.rebuild(workspace, project_id)
    for project in _projects(workspace, project_id):
        checks.rebuild(workspace, project)


def _projects(workspace: Workspace, project_id: str | None) -> list[str]:
    with workspace.database.read() as session:
        return [project_id] if project_id is not None else list(session.scalars(select(Project.id)))
