"""Skips: a person says why a task cannot be answered, and a reviewer decides what becomes of it.

A skipped task is handed out to nobody until a reviewer sends it back, answers it or dismisses it (db.task_states). Its
answers count as before: a task that gets all of them is answered, whoever skipped it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Select, delete, or_, select
from sqlalchemy.orm import Session, aliased

from db import changes, statuses
from db.base import now
from db.tables import Annotation, Document, LeftTask, Question, Skip, Task, User
from engine import audit, leases
from engine.accounts import visibility
from engine.errors import Conflict, NotFound, Refused
from engine.paging import Order, Page
from engine.queries import existing, not_removed
from engine.tasks import task_status
from engine.tasks.opening.open_tasks import lock_project, lock_task
from engine.workspace import Workspace

Reason = Literal["unreadable", "not_sure", "wrong_document", "other"]
Decision = Literal["returned", "dismissed"]
REASONS: dict[Reason, str] = {
    "unreadable": "Unreadable",
    "not_sure": "Not sure",
    "wrong_document": "Wrong document",
    "other": "Other reason",
}
MOST_LISTED = 1000
LONGEST_NOTE = 2000  # characters
_SAYS: dict[str, str] = {"returned": "back to the queue", "dismissed": "cannot be answered"}


@dataclass(frozen=True, slots=True)
class SkipLine:
    """Skip of a task: who, why, and what a reviewer decided.

    - `reason`: "unreadable", "not_sure", "wrong_document" or "other"; `note`: the person's words.
    - `verdict`: "returned", "dismissed" or "withdrawn"; None: it waits. `remark` and `decided_by` are the reviewer's.
    - `waits`: whether a reviewer has to decide; false once the task was answered.
    - `annotation_id`: the person's draft, if there is one.
    """

    id: str
    task_id: str
    document_id: str
    document: str
    question: str
    person: str
    reason: str
    note: str
    created_at: datetime
    waits: bool
    verdict: str | None
    remark: str
    decided_by: str | None
    decided_at: datetime | None
    annotation_id: str | None


def skip(workspace: Workspace, task_id: str, user_id: str, reason: Reason, note: str = "") -> SkipLine:
    """Skip a task for a reason and release it; skipping it again changes the reason and the note.

    Raises:
        NotFound: There is no such task.
        Refused: The reason "other" has no note.
        Conflict: The question is no longer a standard one, or the person has answered the task.
    """
    note = note.strip()[:LONGEST_NOTE]
    if reason == "other" and not note:
        raise Refused("Write what is wrong with this task, so that a reviewer can decide.")
    with workspace.database.write() as session:
        task = _load_there(session, task_id, user_id)
        lock_task(session, task_id)  # nobody leases it meanwhile
        stands = task_status.status_of(session, task_id, user_id)
        if stands is None:
            raise Conflict("This question was removed from the standard questions, so there is nothing to skip.")
        if stands.mine:
            raise Conflict("You have answered this task. Take your answer back before you skip it.")
        undecided = Skip.task_id == task_id, Skip.person_id == user_id, Skip.verdict.is_(None)
        row = session.scalar(select(Skip).where(*undecided))
        if row is None:
            row = Skip(task_id=task_id, project_id=task.project_id, person_id=user_id, remark="")
            session.add(row)
        row.reason, row.note = reason, note
        leases.release(session, leases.task_subject(task_id, user_id), user_id)
        session.flush()
        line = _lines(session, [row.id])[0]
        about = {"question": line.question, "document": line.document, "reason": REASONS[reason].lower()}
        audit.record(session, user_id, "tasks.skip", f"task:{task_id}", task.project_id, **about)
        changes.publish(session, "tasks", task.project_id)
        skip_id = row.id
    return _stored(workspace, [skip_id])[0]


def withdraw(workspace: Workspace, task_id: str, user_id: str) -> None:
    """Take back one's own skip, on which no reviewer has decided. Raises NotFound, and Conflict where there is none."""
    with workspace.database.write() as session:
        task = _load_there(session, task_id, user_id)
        undecided = Skip.task_id == task_id, Skip.person_id == user_id, Skip.verdict.is_(None)
        row = session.scalar(select(Skip).where(*undecided))
        if row is None:
            raise Conflict("You have not skipped this task, or a reviewer has decided on it.")
        row.verdict, row.decided_by, row.decided_at = "withdrawn", user_id, now()
        line = _lines(session, [row.id])[0]
        about = {"question": line.question, "document": line.document}
        audit.record(session, user_id, "tasks.skip.withdraw", f"task:{task_id}", task.project_id, **about)
        changes.publish(session, "tasks", task.project_id)


def decide(workspace: Workspace, task_id: str, user_id: str, decision: Decision, remark: str = "") -> list[SkipLine]:
    """Send a skipped task back to the queue, or dismiss it because it cannot be answered; return its skips.

    A dismissed task can be sent back later.

    Raises:
        NotFound: There is no such task.
        Conflict: Nobody has skipped it, or its skips were decided already.
    """
    with workspace.database.write() as session:
        task = _load_there(session, task_id, user_id)
        open_ones: ColumnElement[bool] = Skip.verdict.is_(None)
        if decision == "returned":
            open_ones = or_(open_ones, Skip.verdict == "dismissed")
        rows = session.scalars(select(Skip).where(Skip.task_id == task_id, open_ones).order_by(Skip.id)).all()
        if not rows:
            raise Conflict("No skip of this task waits for a reviewer; somebody has decided on it already.")
        for row in rows:
            row.verdict, row.decided_by, row.decided_at = decision, user_id, now()
            row.remark = remark.strip()[:LONGEST_NOTE]
        if decision == "returned":  # it comes in its place again
            session.execute(delete(LeftTask).where(LeftTask.task_id == task_id))
        session.flush()
        line = _lines(session, [rows[0].id])[0]
        about = {"question": line.question, "document": line.document, "verdict": _SAYS[decision]}
        audit.record(session, user_id, "tasks.skip.decide", f"task:{task_id}", task.project_id, **about)
        changes.publish(session, "tasks", task.project_id)
        ids = [row.id for row in rows]
    return _stored(workspace, ids)


def _load_there(session: Session, task_id: str, user_id: str) -> Task:
    """Return a task, with its project locked. Raises NotFound where its document was removed or moved meanwhile."""
    task = existing(session, Task, task_id)
    project = lock_project(session, task.project_id)
    session.refresh(task)  # this may have waited for a move
    if task.project_id != project.id or project.bin_of is not None:
        raise NotFound(visibility.why_gone(session, task.document_id, user_id))
    return task


def list_skips(
    workspace: Workspace,
    project_id: str,
    *,
    reason: Reason | None = None,
    waiting: bool = False,
    limit: int = MOST_LISTED,
    cursor: str | None = None,
) -> Page[SkipLine]:
    """Return a page of the skips of a project, oldest first.

    Args:
        workspace: Open workspace.
        project_id: Project of the tasks.
        reason: Only skips for this reason.
        waiting: Only skips on which a reviewer has to decide.
        limit: Maximum number, at most MOST_LISTED.
        cursor: Of the page; None: the first page.

    Raises:
        Refused: The cursor is not one of this list.
    """
    order = Order(f"skips {project_id} {reason or ''} {waiting}", (Skip.id,))
    chosen: Select[Any] = select(Skip).where(Skip.project_id == project_id)
    if reason is not None:
        chosen = chosen.where(Skip.reason == reason)
    if waiting:
        chosen = chosen.join(Task, Task.id == Skip.task_id).where(_waits())
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
        return Page(_lines(session, [row.id for (row,) in rows]), following)


def _waits() -> ColumnElement[bool]:
    """Return the condition that a reviewer has to decide on a skip of a task."""
    unanswered = or_(Task.state == statuses.SKIPPED, Task.gold_revision_id.is_not(None) & Task.closed_at.is_(None))
    return Skip.verdict.is_(None) & unanswered


def _stored(workspace: Workspace, ids: Sequence[str]) -> list[SkipLine]:
    """Return skips as they were stored; the state of a task follows at the end of a unit of work."""
    with workspace.database.read() as session:
        return _lines(session, ids)


def _lines(session: Session, ids: Sequence[str]) -> list[SkipLine]:
    judge, own = aliased(User), aliased(Annotation)
    same = own.document_id == Task.document_id, own.question_id == Task.question_id, own.author_id == Skip.person_id
    rows = session.execute(
        select(Skip, Task.document_id, Document.name, Question.text, User.name, judge.name, own.id, _waits())
        .join(Task, Task.id == Skip.task_id)
        .join(Document, Document.id == Task.document_id)
        .join(Question, Question.id == Task.question_id)
        .join(User, User.id == Skip.person_id)
        .outerjoin(judge, judge.id == Skip.decided_by)
        .outerjoin(own, (same[0]) & (same[1]) & (same[2]) & not_removed(own))
        .where(Skip.id.in_(ids))
    )
    return [
        SkipLine(
            id=row.id,
            task_id=row.task_id,
            document_id=document_id,
            document=document,
            question=question,
            person=person,
            reason=row.reason,
            note=row.note,
            created_at=row.created_at,
            waits=waits,
            verdict=row.verdict,
            remark=row.remark,
            decided_by=judged,
            decided_at=row.decided_at,
            annotation_id=annotation_id,
        )
        for row, document_id, document, question, person, judged, annotation_id, waits in sorted(rows, key=_by_id)
    ]


def _by_id(row: Any) -> str:
    """Return the key by which rows are sorted here: an order in the statement costs a table of its own."""
    key: str = row[0].id
    return key
