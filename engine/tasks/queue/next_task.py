"""Queue of tasks: leases the next task to a person, so that no two people do the same work.

Order: tasks the person holds; rejected answers; begun answers; at times a gold question (unannounced); overlap tasks
that somebody has answered; then the rest, document by document. A task that the person left unanswered comes behind
all of them, until it is answered.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, bindparam, exists, select, text
from sqlalchemy.orm import Session

from db import changes, statuses
from db.base import UtcDateTime, now
from db.tables import Annotation, Job, Prediction, Task, User
from engine import leases
from engine.accounts import visibility
from engine.annotation.revisions import state_at
from engine.documents.reading.reading_state import READ_AGAIN
from engine.errors import Conflict
from engine.plurals import word
from engine.queries import existing, not_removed
from engine.tasks import task_status
from engine.tasks.opening.open_tasks import lock_project, lock_task
from engine.tasks.queue.candidates import candidates as candidates_for
from engine.tasks.queue.queue_view import QueueView, clock, queue_view, view_in
from engine.text import join_names as joined
from engine.workspace import Workspace

_LOOKS = 5
_FORGET_LEFT = text("DELETE FROM left_tasks WHERE task_id = :task AND person_id = :person")
_KEEP_LEFT = text(
    "INSERT INTO left_tasks (task_id, person_id, project_id, left_at) "
    "SELECT t.id, CAST(:person AS VARCHAR), t.project_id, :moment FROM tasks t "
    "WHERE t.id = :task AND t.project_id = :project AND NOT EXISTS ("
    "SELECT 1 FROM annotations a WHERE a.document_id = t.document_id AND a.question_id = t.question_id "
    "AND a.author_id = CAST(:person AS VARCHAR) AND a.status IN ('submitted', 'accepted', 'fixed')) "
    "ON CONFLICT (task_id, person_id) DO UPDATE SET left_at = excluded.left_at"
).bindparams(bindparam("moment", type_=UtcDateTime()))


class _InUse(Exception):
    """Another transaction has locked a task that the person holds."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """Question of a task."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class LeasedTask:
    """Task leased to the caller until `lease_until`; heartbeats extend the lease."""

    id: str
    document_id: str
    question: AskedQuestion
    lease_until: datetime


@dataclass(frozen=True, slots=True)
class NextTask:
    """Next task; `annotation_id` and `page_id` name the caller's existing answer and its page.

    Without a task, `reason` explains why. A rejected answer to the caller's own question comes without a task, when no
    task is left.
    """

    task: LeasedTask | None
    annotation_id: str | None
    page_id: str | None
    reason: str | None
    queue: QueueView


@dataclass(frozen=True, slots=True)
class UpcomingTask:
    """Task that the caller would get next; it is not leased, so somebody else may get it first."""

    id: str
    document_id: str
    question: AskedQuestion
    annotation_id: str | None
    page_id: str | None


def upcoming_task(workspace: Workspace, project_id: str, user_id: str, after: str) -> UpcomingTask | None:
    """Return the task that a person would get after the one in hand; None without one. Reads only."""
    with workspace.database.read() as session:
        for task_id in candidates_for(session, project_id, user_id, after):
            stands = None if task_id == after else task_status.status_of(session, task_id, user_id)
            if stands is None or stands.mine or not (stands.takeable or stands.gold):
                continue
            question = AskedQuestion(stands.question_id, stands.question)
            document_id = stands.place.document_id
            annotation_id, page_id = _answer(session, document_id, question.id, user_id)
            return UpcomingTask(task_id, document_id, question, annotation_id, page_id)
    return None


def next_task(workspace: Workspace, project_id: str, user_id: str, after: str | None = None) -> NextTask:
    """Lease the next task to a person and return it. Raises NotFound for an unknown project.

    `after`: the task the person leaves. When it was not answered, its lease is released, and it comes last.
    """
    for look in range(_LOOKS):
        with workspace.database.read() as session:
            candidates = candidates_for(session, project_id, user_id, after)
        if not candidates and after is None:
            break
        try:
            leased = _lease_first(workspace, project_id, user_id, candidates, after, patient=look > 0)
        except _InUse:
            continue
        if leased is not None:
            with workspace.database.read() as session:
                annotation_id, page_id = _answer(session, leased.document_id, leased.question.id, user_id)
                view = view_in(session, project_id, user_id)
            return NextTask(leased, annotation_id, page_id, None, view)
        if candidates in ([], [after]):
            break
    return _nothing(workspace, project_id, user_id)


def _lease_first(
    workspace: Workspace, project_id: str, user_id: str, candidates: list[str], after: str | None, *, patient: bool
) -> LeasedTask | None:
    """Lease the first candidate that the person may take now, and put the task that they leave behind the others.

    Args:
        workspace: open workspace.
        project_id: project.
        user_id: the person.
        candidates: tasks in the queue's order.
        after: the task that they leave, or None.
        patient: whether to wait for those who change tasks at this moment. Else their tasks are passed over, so that
            people who ask at the same moment do not wait for each other.

    Raises:
        _InUse: not patient, and a task that the person holds is changed at this moment.
    """
    with workspace.database.write() as session:
        if patient:
            lock_project(session, project_id)  # before tasks, as all do that wait for several of them
        _wait_for_own(session, user_id)
        leases.forget_expired(session, "task:")
        if after is not None:
            leases.release(session, leases.task_subject(after, user_id))
            _keep_left(session, after, project_id, user_id)
        leased = None
        for task_id in candidates:
            leased = _lease(session, task_id, user_id, wait=patient)
            if leased is not None:
                break
        left = session.get(Task, after) if after is not None else None
        if left is not None:
            _publish(session, project_id, left.document_id, left.question_id, user_id)
        if leased is not None:
            _publish(session, project_id, leased.document_id, leased.question.id, user_id)
    return leased


def heartbeat(workspace: Workspace, task_id: str, user_id: str) -> datetime:
    """Renew a person's lease of a task; return its new end. A free task is leased again.

    Returns normally for a submitted answer, which needs no lease. Raises Conflict, naming the holder, when the lease is
    lost.
    """
    with workspace.database.write() as session:
        task, subject = _task(session, task_id), leases.task_subject(task_id, user_id)
        if task.closed_at is None and leases.live(session, subject, [subject]):
            until = leases.acquire(session, subject, user_id)
            assert until is not None  # the subject contains the person's own id
            return until
        lock_task(session, task.id)
        stands = task_status.status_of(session, task.id, user_id)
        if stands is None:
            raise Conflict(
                "This question was removed from the standard questions; your saved edits are kept. Go on to the next."
            )
        if stands.mine:
            return now() + timedelta(seconds=leases.LEASE_SECONDS)
        if stands.skipped:
            raise Conflict("This task was skipped and waits for a reviewer; your saved edits are kept.")
        if not (stands.takeable or stands.gold):
            raise Conflict(_holder_sentence(session, task, user_id))
        _publish(session, task.project_id, task.document_id, task.question_id, user_id)
        until = leases.acquire(session, subject, user_id)
        assert until is not None
        return until


def release(workspace: Workspace, task_id: str, user_id: str) -> None:
    """Release a task; does nothing when the person does not hold it. Raises NotFound."""
    with workspace.database.write() as session:
        task = _task(session, task_id)
        leases.release(session, leases.task_subject(task_id, user_id), user_id)
        _publish(session, task.project_id, task.document_id, task.question_id, user_id)


def _publish(session: Session, project_id: str, document_id: str, question_id: str, user_id: str) -> None:
    """Tell of a change of a person's lease: those who may not know of their answer do not hear of it."""
    changes.publish(session, "tasks", project_id, document_id, question_id=question_id, author_id=user_id)


def page_of(session: Session, annotation: Annotation | None) -> str | None:
    """Return the page of an answer: its first marked page, else the page of the newest proposal."""
    if annotation is None:
        return None
    marked = _marked_page(session, annotation.id, annotation.head)
    return marked or session.scalar(_proposed_page(annotation.id))


def _marked_page(session: Session, annotation_id: str, head: int) -> str | None:
    """Return the first marked page of an answer; None without one."""
    return next(iter(state_at(session, annotation_id, head).marked_pages()), None) if head > 0 else None


def _proposed_page(annotation_id: Any) -> Select[str]:
    """Return the statement for the page of the newest proposal of an answer."""
    return (
        select(Prediction.page_id)
        .where(Prediction.annotation_id == annotation_id)
        .order_by(Prediction.created_at.desc(), Prediction.id.desc())
        .limit(1)
    )


def _keep_left(session: Session, task_id: str, project_id: str, user_id: str) -> None:
    """Put a task behind the person's others; one that the person has answered is forgotten."""
    left = {"task": task_id, "person": user_id}
    changed: Any = session.execute(_KEEP_LEFT, {**left, "project": project_id, "moment": now()})
    if not changed.rowcount:
        session.execute(_FORGET_LEFT, left)


def _wait_for_own(session: Session, user_id: str) -> None:
    """Wait for another request of the person for a task, so that two windows get the same one."""
    if session.get_bind().dialect.name == "postgresql":  # SQLite allows one writer
        session.execute(select(User.id).where(User.id == user_id).with_for_update(key_share=True))


def _lease(session: Session, task_id: str, user_id: str, *, wait: bool) -> LeasedTask | None:
    """Lease a candidate after checking it under its lock; None when somebody else has taken it, or is taking it now."""
    subject = leases.task_subject(task_id, user_id)
    if not lock_task(session, task_id, wait=wait):
        if leases.live(session, subject, [subject]):
            raise _InUse
        return None
    stands = task_status.status_of(session, task_id, user_id)
    if stands is None or stands.mine or not (stands.takeable or stands.gold):
        return None
    until = leases.acquire(session, subject, user_id)
    assert until is not None  # the subject contains the person's own id
    return LeasedTask(task_id, stands.place.document_id, AskedQuestion(stands.question_id, stands.question), until)


def _nothing(workspace: Workspace, project_id: str, user_id: str) -> NextTask:
    """Return that no task is left, with the rejected answer to the person's own question, if any."""
    view = queue_view(workspace, project_id, user_id)
    with workspace.database.read() as session:
        being_read = (
            Job.project_id == project_id,
            Job.kind == READ_AGAIN,
            Job.key.is_not(None),
            Job.created_by.is_(None),
        )
        waiting = session.scalar(select(Job.id).where(*being_read).limit(1)) is not None
        task_there = (Task.document_id == Annotation.document_id) & (Task.question_id == Annotation.question_id)
        returned = session.scalar(
            select(Annotation)
            .where(
                Annotation.project_id == project_id,
                Annotation.author_id == user_id,
                Annotation.status == "rejected",
                ~exists().where(task_there, Task.closed_at.is_(None)),
            )
            .order_by(Annotation.id)
            .limit(1)
        )
        if returned is not None:
            reason = "No task is left, but this answer was rejected: fix it and submit it again."
            return NextTask(None, returned.id, page_of(session, returned), reason, view)
    if view.reason is None and waiting:
        reason = "The remaining tasks wait until OCR has read their pages, which it tries again by itself."
        return NextTask(None, None, None, reason, view)
    return NextTask(
        None, None, None, view.reason or "Other people have just taken the remaining tasks; try again.", view
    )


def _answer(session: Session, document_id: str, question_id: str, user_id: str) -> tuple[str | None, str | None]:
    """Return the person's answer to a question, and its page as in `page_of`; None and None without one."""
    proposed = _proposed_page(Annotation.id).correlate(Annotation).scalar_subquery()
    row = session.execute(
        select(Annotation.id, Annotation.head, proposed).where(
            Annotation.document_id == document_id,
            Annotation.question_id == question_id,
            Annotation.author_id == user_id,
            not_removed(),
        )
    ).first()
    if row is None:
        return None, None
    annotation_id, head, page_id = row
    return annotation_id, _marked_page(session, annotation_id, head) or page_id


def _holder_sentence(session: Session, task: Task, user_id: str) -> str:
    """Return who has the task now, as a sentence; anonymous when answers are to be compared."""
    unnamed = task.id in visibility.unnamed_tasks(session, task.project_id, user_id, [task.id])
    holders = [held for held in leases.live(session, f"task:{task.id}:") if held.holder != user_id]
    if holders:
        return (
            f"{visibility.SOMEBODY if unnamed else joined([held.name for held in holders])} "
            f"{word(1 if unnamed else len(holders), 'is', 'are')} now working on this question, "
            f"until {clock(holders[-1].until)}; your saved edits are kept."
        )
    authors = session.scalars(
        select(User.name)
        .join(Annotation, Annotation.author_id == User.id)
        .where(Annotation.document_id == task.document_id, Annotation.question_id == task.question_id)
        .where(Annotation.author_id != user_id, Annotation.status.in_([*statuses.ANSWERED, "rejected"]))
        .order_by(User.name)
    ).all()
    who = visibility.SOMEBODY if unnamed else joined(authors)
    return (
        f"{who} answered this question meanwhile; your saved edits are kept. "
        "Go on to the next task, or hand yours in as well: the first answer stands until a reviewer chooses."
    )


def _task(session: Session, task_id: str) -> Task:
    return existing(session, Task, task_id)
