"""Status of tasks as one person may see them: the query behind the queue and its counts. Reads only."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, and_, case, func, literal, or_, select
from sqlalchemy.orm import Session

from db.tables import Annotation, Member, Revision, Task, User
from engine.annotation.automatic_checks import needs_no_person
from engine.leases import Held, live
from engine.projects.priority import begun
from engine.queries import standing
from engine.statuses import ACCEPTED, ANSWERED


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """Status of a task: answers and leases, and what is left for one person."""

    task_id: str
    document_id: str
    question_id: str
    wanted: int
    answered: int
    mine: bool  # answered by this person
    returned: bool  # this person's answer was rejected
    gold: bool  # has a gold answer by another person
    takeable: bool  # this person may take it now


@dataclass(frozen=True, slots=True)
class Counts:
    """Number of tasks by status, as one person sees them."""

    open: int
    mine: int
    submitted: int
    done: int
    total: int
    answered_by_me: int
    elsewhere: int  # open, answered by this person: another person is needed
    reserved: int  # open and rejected, waiting for their author
    automatic: int  # answered automatically, not drawn for a check: neither open nor done
    in_progress: int  # open, and somebody holds it


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns for conditions and counts; each is a number per task."""

    answered: ColumnElement[int]
    accepted: ColumnElement[int]
    mine: ColumnElement[int]
    returned: ColumnElement[int]
    drafted: ColumnElement[int]
    reserved: ColumnElement[int]
    held: ColumnElement[int]
    own: ColumnElement[bool]
    gold: ColumnElement[bool]
    holders: Collection[str]  # tasks that other people hold
    source: Any = field(repr=False)

    @property
    def takeable(self) -> ColumnElement[bool]:
        """Return the condition that the person may take the task: rejected, not fully answered, or begun gold."""
        short = and_(self.answered + self.reserved + self.held < Task.wanted, ~needs_no_person())
        begun = and_(self.gold, or_(self.drafted > 0, self.own))
        return and_(self.mine == 0, or_(self.returned > 0, short, begun))


def task_of(held: Held) -> str:
    """Return the id of the task that a lease is for."""
    return held.subject.split(":")[1]


def columns(session: Session, project_id: str, user_id: str, documents: Collection[str] | None = None) -> Columns:
    """Return the columns for the open tasks of a project, or of some documents, with current leases."""
    author = Annotation.author_id
    # A rejected answer reserves a place for its author, as long as they can return to it.
    present = author.in_(
        select(User.id)
        .outerjoin(Member, and_(Member.user_id == User.id, Member.project_id == project_id))
        .where(User.disabled_at.is_(None), or_(User.role == "admin", Member.user_id.is_not(None)))
    )
    per_task = (
        select(
            Annotation.document_id,
            Annotation.question_id,
            number_of(Annotation.status.in_(ANSWERED)).label("answered"),
            number_of(Annotation.status.in_(ACCEPTED)).label("accepted"),
            number_of(Annotation.status.in_(ANSWERED), author == user_id).label("mine"),
            number_of(Annotation.status == "rejected", author == user_id).label("returned"),
            number_of(Annotation.status == "draft", author == user_id).label("drafted"),
            number_of(Annotation.status == "rejected", author != user_id, present).label("reserved"),
        )
        .where(Annotation.project_id == project_id, standing())
        .group_by(Annotation.document_id, Annotation.question_id)
    )
    if documents is not None:
        per_task = per_task.where(Annotation.document_id.in_(documents))
    given = per_task.subquery()
    held = live(session, "task:")
    holders = Counter(task_of(each) for each in held if each.holder != user_id)
    own = [task_of(each) for each in held if each.holder == user_id]
    known_by = select(Annotation.author_id).join(Revision, Revision.annotation_id == Annotation.id)
    gold_author = known_by.where(Revision.id == Task.gold_revision_id).scalar_subquery()
    return Columns(
        **{name: func.coalesce(given.c[name], 0) for name in _COUNTED},
        held=case(dict(holders), value=Task.id, else_=0) if holders else literal(0, Integer),
        own=Task.id.in_(own),
        gold=and_(Task.gold_revision_id.is_not(None), gold_author != user_id),
        holders=list(holders),
        source=given,
    )


def rows(project_id: str, at: Columns) -> Select[*tuple[Any, ...]]:
    """Return the statement that yields every open task with the columns for `status_of`."""
    return (
        select(
            Task.id,
            Task.document_id,
            Task.question_id,
            Task.wanted,
            at.answered,
            at.mine > 0,
            at.returned > 0,
            at.gold,
            at.takeable,
        )
        .outerjoin(
            at.source, and_(at.source.c.document_id == Task.document_id, at.source.c.question_id == Task.question_id)
        )
        .where(Task.project_id == project_id, Task.closed_at.is_(None))
    )


def status_of(session: Session, task: Task, user_id: str) -> TaskStatus | None:
    """Return the current status of one task for a person; None for a closed task."""
    at = columns(session, task.project_id, user_id, [task.document_id])
    row = session.execute(rows(task.project_id, at).where(Task.id == task.id)).first()
    return TaskStatus(*row) if row is not None else None


def counts(session: Session, project_id: str, user_id: str) -> Counts:
    """Return the counts of a project for a person."""
    at = columns(session, project_id, user_id)
    is_open = and_(at.answered < Task.wanted, ~needs_no_person())
    here = and_(Task.project_id == project_id, Task.closed_at.is_(None))
    of_task = and_(at.source.c.document_id == Task.document_id, at.source.c.question_id == Task.question_id)
    total = session.scalar(select(func.count()).where(here)) or 0
    # Most tasks are untouched or finished: answers are counted only for tasks that have one, and other tasks are read
    # only when somebody holds them.
    touched = session.execute(
        select(
            func.count(),
            number_of(is_open),
            number_of(at.takeable),
            number_of(at.answered >= Task.wanted, at.accepted < Task.wanted),
            number_of(at.accepted >= Task.wanted),
            number_of(at.mine > 0),
            number_of(is_open, at.mine > 0),
            number_of(is_open, at.reserved > 0),
            number_of(needs_no_person()),
        )
        .select_from(at.source)
        .join(Task, of_task)
        .where(here)
    ).one()
    answers, still_open, takeable, submitted, done, mine, elsewhere, reserved, overtaken = map(int, touched)
    automatic = session.scalar(select(func.count()).where(here, needs_no_person())) or 0
    leased = [task_of(each) for each in live(session, "task:")]
    in_progress = (
        select(func.count()).select_from(Task).outerjoin(at.source, of_task).where(here, Task.id.in_(leased), is_open)
    )
    full = select(func.count()).where(here, Task.id.in_(at.holders), Task.wanted <= at.held, ~begun())
    untouched = total - answers - (automatic - overtaken)
    return Counts(
        open=still_open + untouched,
        mine=takeable + untouched - (session.scalar(full) or 0),
        submitted=submitted,
        done=done,
        total=total,
        answered_by_me=mine,
        elsewhere=elsewhere,
        reserved=reserved,
        automatic=automatic,
        in_progress=(session.scalar(in_progress) or 0) if leased else 0,
    )


_COUNTED = ("answered", "accepted", "mine", "returned", "drafted", "reserved")


def number_of(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    """Return the number of rows on which all conditions hold."""
    return func.count().filter(and_(*conditions))
