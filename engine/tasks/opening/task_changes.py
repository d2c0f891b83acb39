"""Changes that all tasks of a project follow: stored with what was asked for, and worked off in batches.

A change of the standard questions or of a setting concerns thousands of tasks. The unit of work that stores it also
stores that tasks are to follow, and does the first batch: in a small project that is all. The rest follows document by
document. Each batch is a short unit of work that reads what is wanted now and notes how far it has come. So a batch may
be done by anybody and twice: the request that asked, a server, or a worker, after whoever was killed. A newer change of
the same kind begins anew, and wins.

A document that arrives meanwhile gets its tasks as they are wanted now (engine.tasks.opening.open_tasks).
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from db import changes
from db.base import now
from db.dirty_documents import mark_values_dirty
from db.lock_waits import waited_too_long
from db.tables import Document, Project, TaskChange, User
from engine.batches import FIRST, Throttle
from engine.plurals import count
from engine.tasks.opening import automatic_withdrawal, open_tasks, overlap, priority, returned_answers
from engine.tasks.opening.open_tasks import lock_project
from engine.workspace import Workspace

QUESTIONS, OVERLAP, ORDER, AUTOMATIC, PEOPLE = "questions", "overlap", "order", "automatic", returned_answers.KIND
VALUES = "values"  # locale or conventions: printed text may have other values
PATIENCE_SECONDS = 2.0  # that a request works on a change which it asked for; a server or a worker does the rest
STUCK_SECONDS = 1.5  # without a batch, after which somebody else goes on with a change
TOLD_SECONDS = 60.0  # that a finished change is still named
_log = logging.getLogger(__name__)

Piece = Callable[[Session, Project, Sequence[str], TaskChange], None]


def _follow_questions(session: Session, project: Project, documents: Sequence[str], _row: TaskChange) -> None:
    """Let tasks follow a change of the fields, and values what it says of types, choices and rules."""
    open_tasks.follow_questions(session, project, documents)
    mark_values_dirty(session, project.id, documents)


def _read_values_again(session: Session, project: Project, documents: Sequence[str], _row: TaskChange) -> None:
    mark_values_dirty(session, project.id, documents)


_PIECES: Mapping[str, Piece] = {
    QUESTIONS: _follow_questions,
    OVERLAP: overlap.redraw,
    ORDER: priority.forget,
    AUTOMATIC: automatic_withdrawal.withdraw,
    PEOPLE: returned_answers.follow_person,
    VALUES: _read_values_again,
}
_SAYS: Mapping[str, tuple[str, str]] = {
    QUESTIONS: ("Opening and closing tasks", "Tasks were opened and closed"),
    OVERLAP: ("Drawing tasks for several people", "Tasks for several people were drawn"),
    ORDER: ("Resetting the order of documents", "The order of documents was reset"),
    AUTOMATIC: ("Withdrawing automatic answers", "Automatic answers were withdrawn"),
    VALUES: ("Reading values again", "Values were read again"),
    PEOPLE: ("Updating tasks of rejected answers", "Tasks of rejected answers were updated"),
}


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """A change that tasks follow: how many documents have followed, of all; `sentence` says so."""

    kind: str
    sentence: str
    done: int
    total: int
    asked_by: str | None
    asked_at: datetime
    finished_at: datetime | None


def ask(session: Session, project: Project, kind: str, by: str | None = None) -> bool:
    """Store that tasks are to follow a change, and do the first batch; return whether something is left to do.

    Call it at the end of the unit of work that stores what is wanted. The project is locked.

    Args:
        session: of the unit of work.
        project: locked project.
        kind: one of the kinds above.
        by: id of the acting user.
    """
    row = session.get(TaskChange, (project.id, kind, ""), with_for_update=True, populate_existing=True)
    if row is None:
        row = TaskChange(project_id=project.id, kind=kind, person_id="", number=0)
        session.add(row)
    row.number += 1
    row.place, row.done, row.finished_at = "", 0, None
    row.total = session.scalar(select(func.count()).where(Document.project_id == project.id)) or 0
    row.asked_by, row.asked_at = by, now()
    session.flush()
    _follow(session, project, row, FIRST)
    return row.finished_at is None


def work_off(
    workspace: Workspace,
    project_id: str,
    *,
    seconds: float | None = None,
    stop: threading.Event | None = None,
    throttle: Throttle | None = None,
    on_progress: Callable[[TaskProgress], object] = lambda _: None,
) -> bool:
    """Let tasks follow what a project's people asked for, batch by batch; return whether something is left to do.

    Args:
        workspace: open workspace.
        project_id: the project.
        seconds: time after which the rest is left to others; None: until all is done.
        stop: set it to stop after a batch.
        throttle: documents of a batch.
        on_progress: hears of each batch.
    """
    ends = None if seconds is None else time.monotonic() + seconds
    throttle = throttle or Throttle()
    while not (stop is not None and stop.is_set()) and (ends is None or time.monotonic() < ends):
        with workspace.database.read() as session:
            if session.scalar(_going_on(project_id).limit(1)) is None:
                return False
        try:
            with throttle, workspace.database.write() as session:
                project = lock_project(session, project_id)
                throttle.start_timing()
                row = session.scalar(_going_on(project_id).limit(1).with_for_update())
                if row is not None:
                    _follow(session, project, row, throttle.size)
        except OperationalError as error:
            if not waited_too_long(error):
                raise
            continue
        if row is not None:
            on_progress(_progress(row, None))
    return True


def follow_now(workspace: Workspace, project_id: str) -> None:
    """Work for a moment on a change that was just stored. An error loses nothing: a server or a worker goes on."""
    try:
        work_off(workspace, project_id, seconds=PATIENCE_SECONDS)
    except DBAPIError:
        _log.exception("the tasks of the project %s follow a change later", project_id)


def go_on(workspace: Workspace, *, seconds: float = 5.0, stop: threading.Event | None = None) -> None:
    """Go on with the changes whose batches have stopped, for so many seconds a project.

    Servers and workers call it again and again: a look costs one short query while there is nothing to do.
    """
    with workspace.database.autocommit_read() as session:
        stuck = TaskChange.finished_at.is_(None), TaskChange.moved_at < now() - timedelta(seconds=STUCK_SECONDS)
        projects = list(session.scalars(select(TaskChange.project_id).where(*stuck).distinct()))
    for project_id in projects:
        try:
            work_off(workspace, project_id, seconds=seconds, stop=stop)
        except Exception as error:
            if isinstance(error, DBAPIError) and error.connection_invalidated:
                raise
            _log.exception("the tasks of the project %s could not follow a change; trying again", project_id)


def catch_up(session: Session, project: Project, documents: Sequence[str], since: datetime) -> None:
    """Let the tasks of documents follow what was asked for while they were elsewhere, and open those that are missing.

    Args:
        session: of the unit of work that brings them back.
        project: locked project.
        documents: ids of some of its documents.
        since: when they went.
    """
    asked = select(TaskChange).where(TaskChange.project_id == project.id, TaskChange.asked_at >= since)
    for row in session.scalars(asked.order_by(TaskChange.asked_at, TaskChange.kind, TaskChange.person_id)):
        if row.kind != QUESTIONS:
            _PIECES[row.kind](session, project, documents, row)
    open_tasks.follow_questions(session, project, documents)


def running(workspace: Workspace, project_id: str) -> list[TaskProgress]:
    """Return the changes that the tasks of a project follow now, and those that ended a minute ago after a while."""
    lately = TaskChange.finished_at.is_(None) | (TaskChange.finished_at > now() - timedelta(seconds=TOLD_SECONDS))
    chosen = select(TaskChange, User.name).outerjoin(User, User.id == TaskChange.asked_by)
    with workspace.database.read() as session:
        rows = session.execute(
            chosen.where(TaskChange.project_id == project_id, lately).order_by(TaskChange.asked_at, TaskChange.kind)
        )
        return [_progress(row, name) for row, name in rows if not _was_short(row)]


def goes_on(session: Session, project_id: str, kind: str) -> bool:
    """Return whether tasks still follow a change of a kind."""
    return session.scalar(_going_on(project_id).where(TaskChange.kind == kind).limit(1)) is not None


def number_of(session: Session, project_id: str, kind: str) -> int:
    """Return the number of changes of a kind so far: long work on the same tasks ends when another one comes."""
    return (
        session.scalar(select(TaskChange.number).where(TaskChange.project_id == project_id, TaskChange.kind == kind))
        or 0
    )


def _was_short(row: TaskChange) -> bool:
    return row.finished_at is not None and row.finished_at - row.asked_at < timedelta(seconds=PATIENCE_SECONDS)


def _going_on(project_id: str) -> Select[TaskChange]:
    return (
        select(TaskChange)
        .where(TaskChange.project_id == project_id, TaskChange.finished_at.is_(None))
        .order_by(TaskChange.asked_at, TaskChange.kind, TaskChange.person_id)
    )


def _follow(session: Session, project: Project, row: TaskChange, size: int) -> None:
    """Let the tasks of the next documents follow, and note it."""
    next_ones = select(Document.id).where(Document.project_id == project.id, Document.id > row.place)
    documents = list(session.scalars(next_ones.order_by(Document.id).limit(size + 1)))
    last = len(documents) <= size
    documents = documents[:size]
    _PIECES[row.kind](session, project, documents, row)
    row.done += len(documents)
    row.place, row.moved_at = documents[-1] if documents else row.place, now()
    if last and not (row.kind == PEOPLE and returned_answers.follow_again(session, row)):
        row.finished_at = row.moved_at
    changes.publish(session, "tasks", project.id)
    session.flush()


def _progress(row: TaskChange, asked_by: str | None) -> TaskProgress:
    going, gone = _SAYS[row.kind]
    total = max(row.total, row.done)
    sentence = f"{going}: {row.done:,} of {total:,} documents."
    if row.finished_at is not None:
        sentence = f"{gone}: {count(row.done, 'document')}."
    return TaskProgress(row.kind, sentence, row.done, total, asked_by, row.asked_at, row.finished_at)
