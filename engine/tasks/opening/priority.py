"""Priority of documents in the queue: `tasks.priority`, smallest first, set by `tasks.chosen_by`.

All tasks of a document have the same priority, so that one person answers all questions about a page. Begun tasks keep
`chosen_by`, so that their effort can be compared by selection.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, bindparam, exists, or_, select, update
from sqlalchemy.orm import Session

from db import changes
from db.tables import Annotation, Document, Project, Task, TaskChange
from db.tables.annotations import UNRANKED
from engine.queries import not_removed

BY_HAND, BEGUN = -2, -1  # before all ranked places, which start at 0


def is_begun() -> ColumnElement[bool]:
    """Return the condition that a task has an answer, drafts included."""
    same = Annotation.document_id == Task.document_id, Annotation.question_id == Task.question_id
    return exists().where(*same, not_removed())


def forget(session: Session, project: Project, documents: Sequence[str], _change: TaskChange) -> None:
    """Reset the tasks of some documents to the order of arrival, except begun ones and those put first by hand.

    Args:
        session: an open session.
        project: locked project.
        documents: ids of some of its documents.
    """
    mine = Task.document_id.in_(documents)  # alone: with the project, SQLite would read all of its tasks
    ranked = or_(Task.priority != UNRANKED, Task.chosen_by.is_not(None))
    back = update(Task).where(mine, ranked, ~is_begun(), Task.priority != BY_HAND)
    session.execute(back.values(priority=UNRANKED, chosen_by=None).execution_options(synchronize_session=False))


def begun_late(session: Session, project_id: str) -> list[str]:
    """Return the documents that somebody has begun and that do not come before the ranked ones yet."""
    opened = select(Task.document_id).where(Task.project_id == project_id, is_begun())
    late = Task.project_id == project_id, Task.priority.not_in((BY_HAND, BEGUN)), Task.document_id.in_(opened)
    return list(session.scalars(select(Task.document_id).where(*late).distinct().order_by(Task.document_id)))


def finish_first(session: Session, project_id: str, documents: Sequence[str]) -> None:
    """Put some begun documents before all ranked ones."""
    finish = update(Task).where(Task.document_id.in_(documents), Task.priority != BY_HAND).values(priority=BEGUN)
    session.execute(finish.execution_options(synchronize_session=False))
    changes.publish(session, "tasks", project_id)


def give(session: Session, project_id: str, places: Sequence[tuple[int, str, str | None]]) -> None:
    """Set the priority of some documents; those that somebody has begun meanwhile come before all of them.

    Args:
        session: an open session.
        project_id: project.
        places: (priority, document id, selection that chose it).
    """
    put = (
        update(Task.__table__)  # type: ignore[arg-type]
        .where(Task.document_id == bindparam("document"), Task.priority != BY_HAND)
        .values(priority=bindparam("place"), chosen_by=bindparam("by"))
    )
    named = [document for _, document, _ in places]
    # Of two rankings at once the second waits here; their statements lock tasks in different orders.
    locked = select(Document.id).where(Document.id.in_(named)).order_by(Document.id)
    session.execute(locked.with_for_update(key_share=True)).all()
    opened = set(session.scalars(select(Task.document_id).where(Task.document_id.in_(named), is_begun())))
    if opened:
        finish_first(session, project_id, sorted(opened))
    rows = [{"document": document, "place": at, "by": by} for at, document, by in places if document not in opened]
    if rows:
        session.connection().execute(put, rows)
        changes.publish(session, "tasks", project_id)
