"""Sums over all documents of a project, counted by the database."""

from dataclasses import dataclass

from sqlalchemy import case, func, literal, select, union_all

from db.tables import Annotation, Document, Page, Task
from engine.accounts import visibility
from engine.queries import standing
from engine.statuses import ACCEPTED
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
    documents = select(func.count()).select_from(Document).where(Document.project_id == project_id)
    pages = select(func.count()).select_from(Page).join(Document, Document.id == Page.document_id)
    accepted = case((Annotation.status.in_(ACCEPTED), 1), else_=0).label("accepted")
    answers = select(Annotation.document_id, Annotation.question_id, accepted)
    answers = answers.where(Annotation.project_id == project_id, standing())
    tasks = select(Task.document_id, Task.question_id, literal(0))
    tasks = tasks.where(Task.project_id == project_id, Task.closed_at.is_(None))
    with workspace.database.read() as session:
        if viewer_id is not None and not visibility.sees_all(session, project_id, viewer_id):
            answers = answers.where(~visibility.hidden_answers(viewer_id))
        every = union_all(answers, tasks).subquery()
        each = select(func.max(every.c.accepted).label("accepted")).group_by(every.c.document_id, every.c.question_id)
        asked = each.subquery()
        sums = session.execute(select(func.count(), func.sum(asked.c.accepted)).select_from(asked)).one()
        return DocumentTotals(
            documents=session.scalar(documents) or 0,
            pages=session.scalar(pages.where(Document.project_id == project_id)) or 0,
            questions=sums[0],
            accepted=int(sums[1] or 0),
        )
