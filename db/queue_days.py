"""Kept depth of the queue: what a unit of work adds to it, or takes from it, is counted on its day.

The depth at the end of a day is the sum of all days until then. It tells what waited on that day: an answer that is
removed later has waited all the same.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Date, bindparam, delete, event, func, inspect, select, text
from sqlalchemy.orm import Session

from db.base import now
from db.changes import ObservedSession
from db.statuses import SUBMITTED, WAITING
from db.tables import Annotation, QueueDay, TaskCount

_MOVED = "queue_days"  # in the info of a session


@dataclass(slots=True)
class _Moved:
    """What one unit of work adds to the queues, by project."""

    open: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    submitted: dict[str, int] = field(default_factory=lambda: defaultdict(int))


def task_moved(session: Session, project_id: str, state: str, number: int) -> None:
    """Note that so many tasks have come into a state, or have left it."""
    if state in WAITING:
        _moved(session).open[project_id] += number


def answer_moved(session: Session, project_id: str, before: str, after: str) -> None:
    """Note the status of an answer, changed by a statement; of objects the session sees it."""
    _moved(session).submitted[project_id] += (after == SUBMITTED) - (before == SUBMITTED)


def store(session: Session) -> None:
    """Store what the unit of work has moved; called once, before the commit, after the states of tasks."""
    moved: _Moved | None = session.info.pop(_MOVED, None)
    if moved is None:
        return
    today = now().date()
    rows = [
        {"project": project_id, "day": today, "open": moved.open[project_id], "submitted": moved.submitted[project_id]}
        for project_id in sorted({*moved.open, *moved.submitted})  # all in one order: no two wait for each other
        if moved.open[project_id] or moved.submitted[project_id]
    ]
    if rows:
        session.connection().execute(_ADD, rows)


def apart(session: Session, project_id: str) -> tuple[int, int]:
    """Return how many tasks and answers more wait than the days add up to."""
    kept = session.execute(
        select(func.coalesce(func.sum(QueueDay.open), 0), func.coalesce(func.sum(QueueDay.submitted), 0)).where(
            QueueDay.project_id == project_id
        )
    ).one()
    of_project = TaskCount.project_id == project_id, TaskCount.state.in_(WAITING)
    waiting = session.scalar(select(func.coalesce(func.sum(TaskCount.number), 0)).where(*of_project)) or 0
    mine = Annotation.project_id == project_id, Annotation.status == SUBMITTED
    submitted = session.scalar(select(func.count()).where(*mine)) or 0
    return int(waiting) - int(kept[0]), submitted - int(kept[1])


def set_days(session: Session, project_id: str, days: dict[Any, tuple[int, int]]) -> None:
    """Replace the days of a project, which is locked; what waits beyond them is counted today.

    Args:
        session: Of the unit of work.
        project_id: The project.
        days: Day -> tasks and answers that came, less those that went.
    """
    connection = session.connection()
    connection.execute(delete(QueueDay).where(QueueDay.project_id == project_id))
    rows = [{"project": project_id, "day": day, "open": some[0], "submitted": some[1]} for day, some in days.items()]
    if rows:
        connection.execute(_ADD, rows)
    waiting, submitted = apart(session, project_id)
    if waiting or submitted:
        today = {"project": project_id, "day": now().date(), "open": waiting, "submitted": submitted}
        connection.execute(_ADD, today)


def _moved(session: Session) -> _Moved:
    moved: _Moved = session.info.setdefault(_MOVED, _Moved())
    return moved


_ADD = text(
    "INSERT INTO queue_days (project_id, day, open, submitted) VALUES (:project, :day, :open, :submitted) "
    "ON CONFLICT (project_id, day) DO UPDATE SET open = queue_days.open + excluded.open, "
    "submitted = queue_days.submitted + excluded.submitted"
).bindparams(bindparam("day", type_=Date()))


def _see_flushed(session: ObservedSession, _context: Any) -> None:
    for row in session.new:
        if isinstance(row, Annotation):
            answer_moved(session, row.project_id, "", row.status)
    for row in session.dirty:
        if isinstance(row, Annotation):
            history = inspect(row).attrs.status.history
            if history.has_changes() and history.deleted:
                answer_moved(session, row.project_id, history.deleted[0], row.status)


event.listen(ObservedSession, "after_flush", _see_flushed)
