"""The places of documents in the queue: `tasks.priority`, the smallest first, and `tasks.chosen_by`, what gave the place.

All tasks of a document have one place: whoever has read a page answers all that is asked of it. What somebody has begun keeps
what it was chosen by, so that what it cost can be told by that afterwards.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, bindparam, exists, select, update
from sqlalchemy.orm import Session

from db.tables import Annotation, Task
from db.tables.annotations import UNRANKED

BY_HAND, BEGUN = -2, -1  # before every place that is ranked, from 0 on


def begun() -> ColumnElement[bool]:
    """Return the condition that somebody has an answer to the task of the row, drafts too."""
    return exists().where(Annotation.document_id == Task.document_id, Annotation.question_id == Task.question_id)


def forget(session: Session, project_id: str) -> None:
    """Put a project's tasks back into the order of arrival; what was begun, or put first by a person, stays what it is."""
    untouched = (Task.project_id == project_id, ~begun(), Task.priority != BY_HAND)
    back = update(Task).where(*untouched).values(priority=UNRANKED, chosen_by=None)
    session.execute(back.execution_options(synchronize_session=False))


def give(session: Session, project_id: str, places: Sequence[tuple[str, str | None]]) -> None:
    """Give documents (id, what chose it) the places 0, 1, ... in this order, and those that were begun one before them."""
    mine = Task.project_id == project_id
    opened = select(Task.document_id).where(mine, begun())
    finish = update(Task).where(mine, Task.document_id.in_(opened), Task.priority != BY_HAND).values(priority=BEGUN)
    session.execute(finish.execution_options(synchronize_session=False))
    if not places:
        return
    put = (
        update(Task.__table__)  # type: ignore[arg-type]
        .where(Task.document_id == bindparam("document"), Task.priority != BY_HAND)
        .values(priority=bindparam("place"), chosen_by=bindparam("by"))
    )
    rows = [{"document": document, "place": at, "by": by} for at, (document, by) in enumerate(places)]
    session.connection().execute(put, rows)
