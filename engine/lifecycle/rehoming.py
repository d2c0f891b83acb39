"""A document goes to another project with all that hangs on it: its pages, tasks and answers.

Whatever counts, lists, exports or teaches documents asks for those of a project. So the move is all that it takes to
hide a document, or to bring it back. It costs what hangs on the document, however large its project is.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, literal, select, update
from sqlalchemy.orm import Session

from db import changes, document_texts, task_states
from db.base import Base
from db.dirty_documents import mark_dirty
from db.tables import (
    Annotation,
    AutomaticAnswer,
    Document,
    LabelReview,
    Lease,
    LeftTask,
    PartAnswer,
    Skip,
    SurveyAnswer,
    Task,
)
from engine.lifecycle.table_statements import table_of

BY_DOCUMENT: tuple[type[Base], ...] = (Annotation, SurveyAnswer)
BY_TASK: tuple[type[Base], ...] = (PartAnswer, LeftTask, Skip, AutomaticAnswer)
BY_ANSWER: tuple[type[Base], ...] = (LabelReview,)


def move_documents(session: Session, ids: Sequence[str], source: str, target: str) -> None:
    """Move documents of a project to another one. Figures, values and searches follow.

    Args:
        session: Of the unit of work.
        ids: Documents of `source`, at most 500: databases limit the parameters of a statement.
        source: Id of the project in which they are.
        target: Id of the other project. It has no document with the same bytes.
    """
    connection = session.connection()
    parameters = {"ids": list(ids), "target": target}
    # First, because on PostgreSQL it waits for those who add tasks and answers, and lets nobody begin.
    connection.execute(_DOCUMENTS, parameters)
    moved: defaultdict[tuple[str, str], int] = defaultdict(int)
    for (state,) in connection.execute(_TASKS, parameters).all():
        moved[source, state] -= 1
        moved[target, state] += 1
    for statement in _OTHERS:
        connection.execute(statement, parameters)
    for ended in _LEASES:
        connection.execute(ended, parameters)
    task_states.count(session, moved)
    task_states.mark_tasks_dirty(session, connection.scalars(_TASK_IDS, parameters).all())
    document_texts.mark_documents_dirty(session, ids)
    session.expire_all()  # rows that were read before have the other project
    for project_id in (source, target):
        mark_dirty(session, project_id, ids)
        changes.publish(session, "tasks", project_id)
        changes.publish(session, "questions", project_id)
        for document_id in ids:
            changes.publish(session, "documents", project_id, document_id)


_IDS: Any = bindparam("ids", expanding=True)
_TARGET: Any = bindparam("target")
_tasks = select(Task.id).where(Task.document_id.in_(_IDS))
_answers = select(Annotation.id).where(Annotation.document_id.in_(_IDS))
_TASK_IDS = _tasks.order_by(Task.id)
_DOCUMENTS = update(table_of(Document)).where(table_of(Document).c.id.in_(_IDS)).values(project_id=_TARGET)
_TASKS = (
    update(table_of(Task))
    .where(table_of(Task).c.document_id.in_(_IDS))
    .values(project_id=_TARGET)
    .returning(table_of(Task).c.state)
)
_OTHERS = [
    update(table_of(table)).where(table_of(table).c[column].in_(chosen)).values(project_id=_TARGET)
    for tables, column, chosen in (
        (BY_DOCUMENT, "document_id", _IDS),
        (BY_TASK, "task_id", _tasks),
        (BY_ANSWER, "annotation_id", _answers),
    )
    for table in tables
]
# Their subjects begin with "task:<id>:" and "annotation:<id>" (engine.leases). Few leases hold at a time.
_LEASES = [
    delete(table_of(Lease)).where(
        select(table.id)
        .where(table.document_id.in_(_IDS), table_of(Lease).c.subject.like(literal(f"{name}:") + table.id + "%"))
        .correlate(table_of(Lease))
        .exists()
    )
    for name, table in (("task", Task), ("annotation", Annotation))
]
