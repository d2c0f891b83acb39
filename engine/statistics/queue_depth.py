"""Depth of the queue by day: tasks that wait for an answer, answers that wait for a reviewer."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from pydantic import BaseModel
from sqlalchemy import ColumnElement, case, func, literal_column, select, union_all
from sqlalchemy.orm import Session

from db.tables import Annotation, AutomaticAnswer, Revision, Task
from engine.annotation.automatic_checks import replaces_person
from engine.queries import standing
from engine.statuses import ANSWERED

# A literal, not a parameter: PostgreSQL must recognise the selected expression as the grouped one.
_UTC: Any = literal_column("'UTC'")


class QueueDepth(BaseModel):
    """Depth at the end of a day: tasks without enough answers, and answers without a verdict."""

    day: date
    open: int
    submitted: int


def queue_depth(session: Session, project_id: str, first: date, last: date) -> list[QueueDepth]:
    """Return the depth at the end of each day, `first` to `last`.

    A finished task counts until the day it was finished; the review queue counts every entry and exit.
    """
    at = func.min(Revision.created_at).label("at")
    finished = (
        select(Annotation.document_id, Annotation.question_id, at)
        .join(Revision, Revision.annotation_id == Annotation.id)
        .where(Annotation.project_id == project_id, Annotation.status.in_(ANSWERED), Revision.status.in_(ANSWERED))
        .group_by(Annotation.id, Annotation.document_id, Annotation.question_id)
        .subquery()
    )
    place = func.row_number().over(
        partition_by=(finished.c.document_id, finished.c.question_id), order_by=finished.c.at
    )
    ordered = select(finished, place.label("place")).subquery()
    of_task = (ordered.c.document_id == Task.document_id) & (ordered.c.question_id == Task.question_id)
    mine = Task.project_id == project_id
    # What may end a task, each read from its own rows: a join of all tasks with all answers takes minutes in a large
    # project.
    ends = union_all(
        select(Task.id, Task.created_at.label("opened"), ordered.c.at)
        .join_from(ordered, Task, of_task & (ordered.c.place == Task.wanted))
        .where(mine),
        select(Task.id, Task.created_at, AutomaticAnswer.created_at)
        .join_from(AutomaticAnswer, Task, (AutomaticAnswer.task_id == Task.id) & replaces_person())
        .where(mine, AutomaticAnswer.project_id == project_id),
        select(Task.id, Task.created_at, Task.closed_at).where(mine, Task.closed_at.is_not(None)),
    ).subquery()
    first_end = func.min(ends.c.at)
    # A question answered before it became a standard question never waits.
    ended = (
        select(case((first_end < ends.c.opened, ends.c.opened), else_=first_end).label("at"))
        .group_by(ends.c.id, ends.c.opened)
        .subquery()
    )
    before = func.lag(Revision.status).over(partition_by=Revision.annotation_id, order_by=Revision.number)
    steps = (
        select(Revision.created_at.label("at"), Revision.status, func.coalesce(before, "").label("before"))
        .join(Annotation, Annotation.id == Revision.annotation_id)
        .where(Annotation.project_id == project_id, standing())
        .subquery()
    )
    submits, submitted = steps.c.status == "submitted", steps.c.before == "submitted"
    moved = func.count().filter(submits & ~submitted) - func.count().filter(~submits & submitted)
    opened_by = _by_day(session, Task.created_at, func.count(), mine)
    ended_by = _by_day(session, ended.c.at, func.count())
    review_by = _by_day(session, steps.c.at, moved)
    happened = [*opened_by, *(day for day, change in review_by.items() if change)]
    if not happened:
        return []
    begin = max(first, min(happened))
    waiting = _before(opened_by, begin) - _before(ended_by, begin)
    review = _before(review_by, begin)
    depths = []
    for day in (begin + timedelta(days=at) for at in range((last - begin).days + 1)):
        waiting += opened_by.get(day, 0) - ended_by.get(day, 0)
        review += review_by.get(day, 0)
        depths.append(QueueDepth(day=day, open=waiting, submitted=review))
    return depths


def _by_day(session: Session, at: Any, what: Any, *conditions: ColumnElement[bool]) -> dict[date, int]:
    day = day_of(session, at)
    rows = session.execute(select(day, what).where(at.is_not(None), *conditions).group_by(day))
    return {as_date(day): count for day, count in rows}


def _before(changes: dict[date, int], day: date) -> int:
    return sum(change for at, change in changes.items() if at < day)


def day_of(session: Session, at: Any) -> Any:
    """Return the UTC day of a time, in SQL: text on SQLite, a date on PostgreSQL."""
    return func.date(func.timezone(_UTC, at)) if session.get_bind().dialect.name == "postgresql" else func.date(at)


def as_date(day: date | str) -> date:
    """Convert a day, as either database returns it, to a date."""
    return date.fromisoformat(day) if isinstance(day, str) else day


def midnight(day: date) -> datetime:
    """Return the first moment of a day, in UTC."""
    return datetime.combine(day, time(), UTC)
