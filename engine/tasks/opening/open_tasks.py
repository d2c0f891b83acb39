"""Opening and closing of tasks: of a new document, and of the documents that follow a change of the questions."""

from collections.abc import Sequence

from sqlalchemy import exists, insert, select, update
from sqlalchemy.orm import Session

from db import changes, task_states
from db.base import now
from db.ids import new_id
from db.tables import Document, Project, Question, Task
from engine.errors import NotFound
from engine.projects.project_settings import settings_of
from engine.tasks.opening import overlap, removed_questions


def lock_project(session: Session, project_id: str) -> Project:
    """Return a project, locked until the commit: one transaction at a time opens and closes tasks.

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


def lock_task(session: Session, task_id: str, *, wait: bool = True) -> bool:
    """Lock a task until the commit, so that one transaction at a time leases it; return whether it is locked now.

    FOR NO KEY UPDATE on PostgreSQL; SQLite allows one writer. What was read of the task before is to be read again.

    Args:
        session: an open session.
        task_id: id of the task.
        wait: whether to wait for another transaction that has locked it.
    """
    if session.get_bind().dialect.name != "postgresql":
        return True
    locking = select(Task.id).where(Task.id == task_id).with_for_update(key_share=True, skip_locked=not wait)
    return session.scalar(locking) is not None


def open_missing(session: Session, project_id: str, document_id: str) -> int:
    """Open a task for every standard question of a document without one.

    Call it at the end of the unit of work that adds the document: the project stays locked until the commit, so that a
    change of the questions and the document do not miss each other.

    Args:
        session: an open session.
        project_id: project.
        document_id: new document.

    Returns:
        Number of opened tasks.
    """
    project = lock_project(session, project_id)
    return _open(session, project, _standard(session, project_id), [document_id])


def follow_questions(session: Session, project: Project, documents: Sequence[str]) -> None:
    """Close the tasks of some documents to removed standard questions, reopen those of restored ones, open new ones.

    Answers follow their questions into the bin, and back.

    Args:
        session: an open session.
        project: locked project.
        documents: ids of some of its documents.
    """
    removed_questions.follow(session, project.id, documents)
    standard = _standard(session, project.id)
    _close_and_reopen(session, standard, documents)
    _open(session, project, standard, documents)


def _standard(session: Session, project_id: str) -> list[str]:
    """Return the ids of the standard questions of a project, which are few; joined, SQLite would read all questions."""
    return list(session.scalars(select(Question.id).where(Question.project_id == project_id, Question.standard)))


def _open(session: Session, project: Project, standard: Sequence[str], documents: Sequence[str]) -> int:
    chosen = settings_of(project)
    there = exists().where(Task.document_id == Document.id, Task.question_id == Question.id)
    pairs = (
        select(Document.id, Question.id)
        .join(Question, Question.id.in_(standard))
        .where(Document.project_id == project.id, Document.id.in_(documents), ~there)
        .order_by(Document.id, Question.position)
    )
    rows = []
    for document, question in session.execute(pairs):
        task_id = new_id()
        people = overlap.compute_wanted(task_id, chosen.overlap_share, chosen.overlap_people)
        rows.append(
            {
                "id": task_id,
                "project_id": project.id,
                "document_id": document,
                "question_id": question,
                "wanted": people,
            }
        )
    if rows:
        session.execute(insert(Task), rows)
        task_states.mark_tasks_dirty(session, [str(row["id"]) for row in rows])
        changes.publish(session, "tasks", project.id)
    return len(rows)


def _close_and_reopen(session: Session, standard: Sequence[str], documents: Sequence[str]) -> None:
    mine = Task.document_id.in_(documents)  # alone: with the project, SQLite would read all of its tasks
    for condition, closed_at in (
        (Task.question_id.not_in(standard) & Task.closed_at.is_(None), now()),
        (Task.question_id.in_(standard) & Task.closed_at.is_not(None), None),
    ):
        changed = update(Task).where(mine, condition).values(closed_at=closed_at).returning(Task.id)
        task_states.mark_tasks_dirty(session, session.scalars(changed.execution_options(synchronize_session=False)))
