"""Priority of documents in the queue: `tasks.priority`, smallest first, set by `tasks.chosen_by`.

All tasks of a document have the same priority, so that one person answers all questions about a page. Begun tasks keep
`chosen_by`, so that their effort can be compared by selection.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, bindparam, exists, select, update
from sqlalchemy.orm import Session

from db import changes
from db.tables import Annotation, Task
from db.tables.annotations import UNRANKED
from engine.queries import standing

BY_HAND, BEGUN = -2, -1  # before all ranked places, which start at 0


def begun() -> ColumnElement[bool]:
    """Return the condition that a task has an answer, drafts included."""
    same = Annotation.document_id == Task.document_id, Annotation.question_id == Task.question_id
    return exists().where(*same, standing())


def forget(session: Session, project_id: str) -> None:
    """Reset tasks to the order of arrival, except begun ones and those moved to the front by hand."""
    untouched = (Task.project_id == project_id, ~begun(), Task.priority != BY_HAND)
    back = update(Task).where(*untouched).values(priority=UNRANKED, chosen_by=None)
    session.execute(back.execution_options(synchronize_session=False))
    changes.tell(session, "tasks", project_id)


def give(session: Session, project_id: str, places: Sequence[tuple[str, str | None]]) -> None:
    """Set the priority of documents to 0, 1, ... in this order; begun documents go before them.

    Args:
        session: an open session.
        project_id: project.
        places: (document id, selection that chose it) in order.
    """
    mine = Task.project_id == project_id
    opened = select(Task.document_id).where(mine, begun())
    finish = update(Task).where(mine, Task.document_id.in_(opened), Task.priority != BY_HAND).values(priority=BEGUN)
    session.execute(finish.execution_options(synchronize_session=False))
    changes.tell(session, "tasks", project_id)
    if not places:
        return
    put = (
        update(Task.__table__)  # type: ignore[arg-type]
        .where(Task.document_id == bindparam("document"), Task.priority != BY_HAND)
        .values(priority=bindparam("place"), chosen_by=bindparam("by"))
    )
    rows = [{"document": document, "place": at, "by": by} for at, (document, by) in enumerate(places)]
    session.connection().execute(put, rows)
