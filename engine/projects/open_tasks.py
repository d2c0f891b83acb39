"""Opening and closing of tasks, in the unit of work that changes documents or standard questions."""

from sqlalchemy import exists, insert, select, update
from sqlalchemy.orm import Session

from db import changes, task_states
from db.base import now
from db.ids import new_id
from db.tables import Document, Project, Question, Task
from engine.errors import NotFound
from engine.projects import overlap
from engine.projects.project_settings import settings_of

_ROWS_AT_ONCE = 5000


def lock_project(session: Session, project_id: str) -> Project:
    """Return a project, locked until the commit: one transaction at a time opens and leases tasks.

    FOR NO KEY UPDATE on PostgreSQL, so that rows referring to the project can be stored meanwhile; SQLite allows one
    writer.

    Raises:
        NotFound: there is no such project.
    """
    project = session.scalar(
        select(Project)
        .where(Project.id == project_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    if project is None:
        raise NotFound("There is no such project.")
    return project


def open_missing(session: Session, project_id: str, document_id: str | None = None) -> int:
    """Open a task for every document and standard question without one.

    Call it at the end of the unit of work that changes the questions or adds the document: the project stays locked
    until the commit, so that neither change misses the other.

    Args:
        session: an open session.
        project_id: project.
        document_id: limits the search to one document.

    Returns:
        Number of opened tasks.
    """
    chosen = settings_of(lock_project(session, project_id))
    there = exists().where(Task.document_id == Document.id, Task.question_id == Question.id)
    pairs = (
        select(Document.id, Question.id)
        .join(Question, Question.project_id == Document.project_id)
        .where(Document.project_id == project_id, Question.standard, ~there)
        .order_by(Document.id, Question.position)
    )
    if document_id is not None:
        pairs = pairs.where(Document.id == document_id)
    rows = []
    for document, question in session.execute(pairs):
        task_id = new_id()
        people = overlap.wanted(task_id, chosen.overlap_share, chosen.overlap_people)
        rows.append(
            {
                "id": task_id,
                "project_id": project_id,
                "document_id": document,
                "question_id": question,
                "wanted": people,
            }
        )
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        session.execute(insert(Task), rows[start : start + _ROWS_AT_ONCE])
    if rows:
        task_states.touch_tasks(session, [str(row["id"]) for row in rows])
        changes.tell(session, "tasks", project_id)
    return len(rows)


def close_and_reopen(session: Session, project_id: str) -> None:
    """Close the tasks of removed standard questions, and reopen those of restored ones."""
    standard = select(Question.id).where(Question.project_id == project_id, Question.standard)
    mine = Task.project_id == project_id
    for condition, closed_at in (
        (Task.question_id.not_in(standard) & Task.closed_at.is_(None), now()),
        (Task.question_id.in_(standard) & Task.closed_at.is_not(None), None),
    ):
        changed = update(Task).where(mine, condition).values(closed_at=closed_at).returning(Task.id)
        task_states.touch_tasks(session, session.scalars(changed.execution_options(synchronize_session=False)))
    changes.tell(session, "tasks", project_id)
