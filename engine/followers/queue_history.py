"""History of a project's queue, computed from its tasks and revisions: the days (queue_days) are made of it anew.

Takes a second or more in a large project; each day keeps its own figures, so only a repair reads it.
"""

from collections import defaultdict
from datetime import date
from typing import Any

from sqlalchemy import ColumnElement, case, func, select, union_all
from sqlalchemy.orm import Session

from db.statuses import ANSWERED
from db.tables import Annotation, AutomaticAnswer, Revision, Task
from engine.followers.sql_days import day_of
from engine.queries import not_removed, replaces_person


def days(session: Session, project_id: str) -> dict[date, tuple[int, int]]:
    """Return by day how many tasks without enough answers, and answers without a verdict, came less those that went.

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
        .where(Annotation.project_id == project_id, not_removed())
        .subquery()
    )
    submits, submitted = steps.c.status == "submitted", steps.c.before == "submitted"
    moved = func.count().filter(submits & ~submitted) - func.count().filter(~submits & submitted)
    moves: dict[date, list[int]] = defaultdict(lambda: [0, 0])
    for day, number in _by_day(session, Task.created_at, func.count(), mine).items():
        moves[day][0] += number
    for day, number in _by_day(session, ended.c.at, func.count()).items():
        moves[day][0] -= number
    for day, number in _by_day(session, steps.c.at, moved).items():
        moves[day][1] += number
    return {day: (some[0], some[1]) for day, some in sorted(moves.items())}


def _by_day(session: Session, at: Any, what: Any, *conditions: ColumnElement[bool]) -> dict[date, int]:
    day = day_of(session.get_bind().dialect.name, at)
    rows = session.execute(select(day, what).where(at.is_not(None), *conditions).group_by(day))
    return dict(rows.tuples().all())
