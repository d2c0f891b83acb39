"""Status of tasks as one person may see them: the query behind the queue and its counts. Reads only.

The status of one task follows from its answers (`status_of`). Searches and counts go over the states that are kept with
the tasks (db.task_states), and look at answers only where these concern the person.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, exists, func, literal_column, or_, select, union
from sqlalchemy.orm import Session

from db import task_states
from db.tables import Annotation, Member, PartAnswer, Question, Revision, Task, TaskCount, User
from engine import leases
from engine.annotation.automatic_checks import needs_no_person
from engine.queries import standing
from engine.statuses import ANSWERED

OPEN = (task_states.OPEN, task_states.PARTLY)  # anybody may answer
FULL = (task_states.SUBMITTED, task_states.DONE, task_states.AUTOMATIC)
STANDARD = (*OPEN, task_states.RETURNED, *FULL)
# Of a task's question. As a subquery, so that a search goes along the index of tasks and never begins with questions.
POSITION = select(Question.position).where(Question.id == Task.question_id).correlate(Task).scalar_subquery()
PLACE = (Task.priority, Task.document_id, POSITION, Task.id)  # the queue's order


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
    elsewhere: int  # open, answered by this person: another person is needed
    reserved: int  # open and rejected, waiting for other people who gave the answers
    automatic: int  # answered automatically, not drawn for a check: neither open nor done
    in_progress: int  # open, and somebody holds it


class Place(NamedTuple):
    """Place of a task in the queue's order."""

    priority: int
    document_id: str
    position: int
    task_id: str


@dataclass(frozen=True, slots=True)
class Exceptions:
    """Tasks about which their state alone does not say whether a person may take them.

    A person may take every open task, except the `blocked` ones and those that they answered, and also the `more`.
    """

    blocked: frozenset[str]  # open, but other people hold them
    more: list[Place]  # not open, but the person's answer was rejected, or is a begun gold question
    held: list[Place]  # held by the person, who may take them
    gold: list[str]  # gold questions of others that the person has not answered
    own: int  # of `more`, those whose place is reserved for the person
    in_progress: int  # open or returned, and somebody holds them


@dataclass(frozen=True, slots=True)
class _Answers:
    """What a person may do with a task follows from these."""

    wanted: int
    answered: int
    is_open: bool  # needs answers by people
    statuses: Mapping[str, str]  # author -> status of their answer; rejected ones, and the person's own
    holders: Collection[str]  # people who hold the task
    gold_by: str | None  # author of the known answer

    def reserved(self, user_id: str, present: Collection[str]) -> int:
        """Return the number of rejected answers of others who can return to them: each reserves a place."""
        return sum(
            status == "rejected" and author != user_id and author in present for author, status in self.statuses.items()
        )

    def status(self, task: Any, user_id: str, present: Collection[str]) -> TaskStatus:
        """Return the status of the task for a person."""
        own = self.statuses.get(user_id)
        mine, returned = own in ANSWERED, own == "rejected"
        others = sum(holder != user_id for holder in self.holders)
        short = self.is_open and self.answered + self.reserved(user_id, present) + others < self.wanted
        gold = self.gold_by is not None and self.gold_by != user_id
        begun = gold and (own == "draft" or user_id in self.holders)
        return TaskStatus(
            task_id=task.id,
            document_id=task.document_id,
            question_id=task.question_id,
            wanted=self.wanted,
            answered=self.answered,
            mine=mine,
            returned=returned,
            gold=gold,
            takeable=not mine and (returned or short or begun),
        )


def task_of(held: leases.Held) -> str:
    """Return the id of the task that a lease is for."""
    return held.subject.split(":")[1]


def status_of(session: Session, task: Task, user_id: str) -> TaskStatus | None:
    """Return the current status of one task for a person, from its answers; None for a closed task."""
    row = session.execute(
        select(
            Task.id, Task.document_id, Task.question_id, Task.wanted, Task.gold_revision_id, ~needs_no_person()
        ).where(Task.id == task.id, Task.closed_at.is_(None))
    ).first()
    if row is None:
        return None
    of_task = Annotation.document_id == row.document_id, Annotation.question_id == row.question_id
    statuses = dict(
        session.execute(select(Annotation.author_id, Annotation.status).where(*of_task, standing())).tuples().all()
    )
    answered = sum(status in ANSWERED for status in statuses.values())
    known = _gold_authors(session, [row.gold_revision_id])
    answers = _Answers(
        wanted=row.wanted,
        answered=answered,
        is_open=answered < row.wanted and bool(row[5]),
        statuses=statuses,
        holders=[each.holder for each in leases.live(session, f"task:{row.id}:")],
        gold_by=known.get(row.gold_revision_id),
    )
    waiting = {author for author, status in statuses.items() if status == "rejected" and author != user_id}
    return answers.status(row, user_id, _present(session, task.project_id, waiting))


def exceptions(
    session: Session, project_id: str, user_id: str, leased: Sequence[leases.Held] | None = None
) -> Exceptions:
    """Return the tasks about which their state alone does not say whether a person may take them.

    `leased`: the leases of tasks that hold now, where the caller has read them.
    """
    held: dict[str, list[str]] = {}
    for each in leases.live(session, "task:") if leased is None else leased:
        held.setdefault(task_of(each), []).append(each.holder)
    chosen = union(
        _returned_to(project_id, user_id),
        select(Task.id).where(Task.project_id == project_id, Task.gold_revision_id > literal_column("''")),
        select(Task.id).where(Task.project_id == project_id, Task.id.in_(list(held))),
    )
    rows = session.execute(_SPECIAL.where(Task.id.in_(chosen))).all()
    special = {row.id: row for row in rows if row.state in STANDARD}
    if not special:
        return Exceptions(frozenset(), [], [], [], 0, 0)
    statuses: dict[str, dict[str, str]] = {task_id: {} for task_id in special}
    given = select(Task.id, Annotation.author_id, Annotation.status).join(Annotation, _of_task)
    known = or_(Annotation.status == "rejected", Annotation.author_id == user_id)
    for task_id, author, said in session.execute(given.where(Task.id.in_(chosen), known, standing())):
        statuses.get(task_id, {})[author] = said
    gold = _gold_authors(session, [row.gold_revision_id for row in special.values()])
    waiting = {author for each in statuses.values() for author, said in each.items() if said == "rejected"}
    present = _present(session, project_id, waiting)
    blocked: set[str] = set()
    more: list[Place] = []
    leased_here: list[Place] = []
    golden: list[str] = []
    own = in_progress = 0
    for task_id, row in special.items():
        answers = _Answers(
            row.wanted,
            row.answered,
            row.state in (*OPEN, task_states.RETURNED),
            statuses[task_id],
            held.get(task_id, []),
            gold.get(row.gold_revision_id),
        )
        status = answers.status(row, user_id, present)
        place = Place(row.priority, row.document_id, row.position, row.id)
        in_progress += answers.is_open and task_id in held
        if row.state in OPEN:
            if not (status.mine or status.takeable):
                blocked.add(task_id)
        elif status.takeable:
            more.append(place)
            own += row.state == task_states.RETURNED and status.returned and user_id in present
        if status.takeable and user_id in answers.holders:
            leased_here.append(place)
        if status.gold and not status.mine:
            golden.append(task_id)
    return Exceptions(frozenset(blocked), more, leased_here, golden, own, in_progress)


def counts(session: Session, project_id: str, user_id: str, leased: Sequence[leases.Held] | None = None) -> Counts:
    """Return the counts of a project for a person; `leased` as in `exceptions`."""
    kept = select(TaskCount.state, TaskCount.number).where(TaskCount.project_id == project_id)
    numbers = dict(session.execute(kept).tuples().all())
    anybodys = sum(numbers.get(state, 0) for state in OPEN)
    returned = numbers.get(task_states.RETURNED, 0)
    mine = PartAnswer.project_id == project_id, PartAnswer.author_id == user_id
    elsewhere = session.scalar(select(func.count()).select_from(PartAnswer).where(*mine)) or 0
    special = exceptions(session, project_id, user_id, leased)
    return Counts(
        open=anybodys + returned,
        mine=anybodys - elsewhere - len(special.blocked) + len(special.more),
        submitted=numbers.get(task_states.SUBMITTED, 0),
        done=numbers.get(task_states.DONE, 0),
        total=sum(numbers.get(state, 0) for state in STANDARD),
        elsewhere=elsewhere,
        reserved=returned - special.own,
        automatic=numbers.get(task_states.AUTOMATIC, 0),
        in_progress=special.in_progress,
    )


def answered_by(user_id: str) -> ColumnElement[bool]:
    """Return the condition that a person has answered a task of state `partly`."""
    return exists().where(PartAnswer.task_id == Task.id, PartAnswer.author_id == user_id).correlate(Task)


def _returned_to(project_id: str, user_id: str) -> Select[Any]:
    """Return the statement for the tasks that nobody else may take and of which a person's answer was rejected."""
    own = Annotation.project_id == project_id, Annotation.status == "rejected", Annotation.author_id == user_id
    # The function keeps the database from walking the index of the queue: the person's answers are fewer.
    state = func.coalesce(Task.state, "").in_((task_states.RETURNED, *FULL))
    return select(Task.id).select_from(Annotation).join(Task, _of_task).where(*own, state)


_of_task = and_(Annotation.document_id == Task.document_id, Annotation.question_id == Task.question_id)
_SPECIAL: Select[Any] = select(
    Task.id,
    Task.document_id,
    Task.question_id,
    Task.wanted,
    Task.answered,
    Task.state,
    Task.gold_revision_id,
    Task.priority,
    POSITION.label("position"),
)


def _gold_authors(session: Session, revisions: Iterable[str | None]) -> dict[str | None, str]:
    """Return the authors of the known answers of gold questions, by revision."""
    ids = [each for each in revisions if each is not None]
    if not ids:
        return {}
    chosen = select(Revision.id, Annotation.author_id).join(Annotation, Annotation.id == Revision.annotation_id)
    return dict(session.execute(chosen.where(Revision.id.in_(ids))).tuples().all())


def _present(session: Session, project_id: str, people: Collection[str]) -> set[str]:
    """Return those people who can return to a rejected answer in the project."""
    if not people:
        return set()
    member = and_(Member.user_id == User.id, Member.project_id == project_id)
    chosen = select(User.id).outerjoin(Member, member).where(User.id.in_(people), User.disabled_at.is_(None))
    return set(session.scalars(chosen.where(or_(User.role == "admin", Member.user_id.is_not(None)))))
