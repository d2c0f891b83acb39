"""Withdrawal of automatic answers, document by document: their tasks are open again.

No answer is accepted automatically before all documents have followed (engine.selection.auto_accept), so each one in
force was there when somebody asked. Times would not tell: machines differ in their clocks.
"""

from collections.abc import Sequence

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.base import now
from db.dirty_documents import mark_values_dirty
from db.tables import AutomaticAnswer, Project, Task, TaskChange
from engine.queries import awaits_verdict


def withdraw(session: Session, project: Project, documents: Sequence[str], change: TaskChange) -> None:
    """Withdraw the automatic answers to questions of some documents without a person's verdict.

    Args:
        session: an open session.
        project: locked project.
        documents: ids of some of its documents.
        change: who asked.
    """
    tasks = select(Task.id).where(Task.document_id.in_(documents))
    mine = AutomaticAnswer.task_id.in_(tasks), awaits_verdict()
    gone = update(AutomaticAnswer).where(*mine).values(withdrawn_at=now(), withdrawn_by=change.asked_by)
    session.execute(gone.execution_options(synchronize_session=False))
    mark_values_dirty(session, project.id, documents)
