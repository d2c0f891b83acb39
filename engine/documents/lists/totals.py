"""Sums over all documents of a project, derived after each change (engine.followers)."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from db.tables import EVERYBODY, ProjectFigures
from engine.accounts import visibility
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class DocumentTotals:
    """Numbers of a project's documents, of their pages, of their questions, and of those with an accepted answer."""

    documents: int
    pages: int
    questions: int
    accepted: int


def document_totals(workspace: Workspace, project_id: str, viewer_id: str | None = None) -> DocumentTotals:
    """Return the sums of what `document_lines` tells of each document.

    Args:
        workspace: open workspace.
        project_id: the project.
        viewer_id: the user; None sees all answers. Answers hidden from the user are not counted.
    """
    with workspace.database.read() as session:
        everybody = _load_figures(session, project_id, EVERYBODY)
        hidden = 0
        if viewer_id is not None and not visibility.sees_all(session, project_id, viewer_id):
            # Answers that are compared are hidden until one has answered; their questions have open tasks, and count.
            hidden = everybody.compared - _load_figures(session, project_id, viewer_id).compared
    return DocumentTotals(
        everybody.documents, everybody.pages, everybody.questions, accepted=everybody.accepted - hidden
    )


def _load_figures(session: Session, project_id: str, person_id: str) -> ProjectFigures:
    nothing = dict.fromkeys(("documents", "pages", "questions", "accepted", "compared"), 0)
    return session.get(ProjectFigures, (project_id, person_id)) or ProjectFigures(**nothing)
