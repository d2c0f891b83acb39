"""Status of tasks as one person may see them: the query behind the queue and its counts. Reads only.

The status of one task follows from its answers (`status_of`). Searches and counts go over the states that are kept with
the tasks (db.task_states), and look at answers only where these concern the person.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    bindparam,
    case,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
    union,
)
from sqlalchemy.orm import Session, aliased

from db import statuses
from db.statuses import ANSWERED
from db.tables import Annotation, Member, PartAnswer, Project, Question, Revision, Task, TaskCount, User
from db.task_states import skip_of_task
from engine import leases
from engine.annotation.automatic_checks import needs_no_person
from engine.errors import NotFound
from engine.queries import not_removed

OPEN = (statuses.OPEN, statuses.PARTLY)  # anybody may answer
FULL = (statuses.SUBMITTED, statuses.DONE, statuses.AUTOMATIC)
STANDARD = (*OPEN, statuses.RETURNED, *FULL)
# Of a task's question. As a subquery, so that a search goes along the index of tasks and never begins with questions.
POSITION = select(Question.position).where(Question.id == Task.question_id).correlate(Task).scalar_subquery()
PLACE = (Task.priority, Task.document_id, POSITION, Task.id)  # the queue's order


class Place(NamedTuple):
    """Place of a task in the queue's order."""

    priority: int
    document_id: str
    position: int
    task_id: str


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """Status of a task: answers and leases, and what is left for one person."""

    place: Place
    question_id: str
    question: str
    wanted: int
    answered: int
    mine: bool  # answered by this person
    returned: bool  # this person's answer was rejected
    gold: bool  # has a gold answer by another person
    takeable: bool  # this person may take it now
    skipped: bool  # it waits for a reviewer, or cannot be answered


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
    skipped: int  # wait for a reviewer
    dismissed: int  # cannot be answered
    automatic: int  # answered automatically, not drawn for a check: neither open nor done
    in_progress: int  # open, and somebody holds it


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
    skipped: bool  # nobody gets it
    gold_by: str | None  # author of the known answer

    def count_reserved(self, user_id: str, present: Collection[str]) -> int:
        """Return the number of rejected answers of others who can return to them: each reserves a place."""
        return sum(
            status == "rejected" and author != user_id and author in present for author, status in self.statuses.items()
        )

    def status(self, task: Any, user_id: str, present: Collection[str]) -> TaskStatus:
        """Return the status of the task for a person."""
        own = self.statuses.get(user_id)
        mine, returned = own in ANSWERED, own == "rejected"
        others = sum(holder != user_id for holder in self.holders)
        short = self.is_open and self.answered + self.count_reserved(user_id, present) + others < self.wanted
        gold = not self.skipped and self.gold_by is not None and self.gold_by != user_id
        begun = gold and (own == "draft" or user_id in self.holders)
        return TaskStatus(
            place=_place(task),
            question_id=task.question_id,
            question=task.question,
            wanted=self.wanted,
            answered=self.answered,
            mine=mine,
            returned=returned,
            gold=gold,
            takeable=not (mine or self.skipped) and (returned or short or begun),
            skipped=self.skipped,
        )


def task_of(held: leases.Held) -> str:
    """Return the id of the task that a lease is for."""
    return held.subject.split(":")[1]


def status_of(
    session: Session, task_id: str, user_id: str, leased: Sequence[leases.Held] | None = None
) -> TaskStatus | None:
    """Return the current status of one task for a person, from its answers; None for a closed task or none.

    `leased`: the leases of tasks that hold now, where the caller has read them.
    """
    rows = session.execute(_ONE, {"task": task_id}).all()
    if not rows:
        return None
    row, statuses = rows[0], _statuses(rows)
    answered = sum(status in ANSWERED for status in statuses.values())
    answers = _Answers(
        wanted=row.wanted,
        answered=answered,
        is_open=answered < row.wanted and bool(row.by_people),
        statuses=statuses,
        holders=[
            each.holder
            for each in (leases.live(session, f"task:{task_id}:") if leased is None else leased)
            if task_of(each) == task_id
        ],
        skipped=row.skip is not None,
        gold_by=row.gold_by,
    )
    return answers.status(row, user_id, _present(rows))


def exceptions(
    session: Session, project_id: str, user_id: str, leased: Sequence[leases.Held] | None = None
) -> Exceptions:
    """Return the tasks about which their state alone does not say whether a person may take them.

    `leased`: the leases of tasks that hold now, where the caller has read them.
    """
    held: dict[str, list[str]] = {}
    for each in leases.live(session, "task:") if leased is None else leased:
        held.setdefault(task_of(each), []).append(each.holder)
    rows = session.execute(_SPECIAL, {"project": project_id, "user": user_id, "held": list(held)}).all()
    special: dict[str, list[Row[Any]]] = {}
    for row in rows:
        if row.state in STANDARD:
            special.setdefault(row.id, []).append(row)
    present = _present(rows)
    blocked: set[str] = set()
    more: list[Place] = []
    leased_here: list[Place] = []
    golden: list[str] = []
    own = in_progress = 0
    for task_id, given in special.items():
        row = given[0]
        answers = _Answers(
            row.wanted,
            row.answered,
            row.state in (*OPEN, statuses.RETURNED),
            _statuses(given),
            held.get(task_id, []),
            skipped=False,  # another state
            gold_by=row.gold_by,
        )
        status = answers.status(row, user_id, present)
        place = status.place
        in_progress += answers.is_open and task_id in held
        if row.state in OPEN:
            if not (status.mine or status.takeable):
                blocked.add(task_id)
        elif status.takeable:
            more.append(place)
            own += row.state == statuses.RETURNED and status.returned and user_id in present
        if status.takeable and user_id in answers.holders:
            leased_here.append(place)
        if status.gold and not status.mine:
            golden.append(task_id)
    return Exceptions(frozenset(blocked), more, leased_here, golden, own, in_progress)


def counts(session: Session, project_id: str, user_id: str, leased: Sequence[leases.Held] | None = None) -> Counts:
    """Return the counts of a project for a person; `leased` as in `exceptions`. Raises NotFound."""
    kept = session.execute(_COUNTS, {"project": project_id, "user": user_id}).all()
    if not kept:
        raise NotFound("There is no such project.")
    numbers: dict[str, int] = {state: number for state, number, _ in kept if state is not None}
    elsewhere: int = kept[0].elsewhere
    anybodys = sum(numbers.get(state, 0) for state in OPEN)
    returned = numbers.get(statuses.RETURNED, 0)
    special = exceptions(session, project_id, user_id, leased)
    return Counts(
        open=anybodys + returned,
        mine=anybodys - elsewhere - len(special.blocked) + len(special.more),
        submitted=numbers.get(statuses.SUBMITTED, 0),
        done=numbers.get(statuses.DONE, 0),
        skipped=numbers.get(statuses.SKIPPED, 0),
        dismissed=numbers.get(statuses.DISMISSED, 0),
        total=sum(numbers.get(state, 0) for state in (*STANDARD, statuses.SKIPPED, statuses.DISMISSED)),
        elsewhere=elsewhere,
        reserved=returned - special.own,
        automatic=numbers.get(statuses.AUTOMATIC, 0),
        in_progress=special.in_progress,
    )


def answered_by(user_id: str) -> ColumnElement[bool]:
    """Return the condition that a person has answered a task of state `partly`."""
    return exists().where(PartAnswer.task_id == Task.id, PartAnswer.author_id == user_id).correlate(Task)


def _place(row: Any) -> Place:
    return Place(row.priority, row.document_id, row.position, row.id)


def _statuses(rows: Iterable[Row[Any]]) -> dict[str, str]:
    """Return the statuses of the answers of one task, by author."""
    return {row.author_id: row.said for row in rows if row.author_id is not None}


def _present(rows: Iterable[Row[Any]]) -> set[str]:
    """Return those authors of rejected answers who can return to them."""
    return {row.author_id for row in rows if row.is_there}


def _with_answers(*which: ColumnElement[bool]) -> Select[Any]:
    """Return the statement for tasks with answers: a row for each answer, or one without.

    In one statement, because each costs a round trip to the database, and each step of each annotator runs it.

    Args:
        which: conditions on `_answer`.
    """
    known, gold = aliased(Revision), aliased(Annotation)
    member = exists().where(Member.user_id == User.id, Member.project_id == Task.project_id).correlate(User, Task)
    there = User.id == _answer.author_id, User.disabled_at.is_(None), or_(User.role == "admin", member)
    same = _answer.document_id == Task.document_id, _answer.question_id == Task.question_id
    return (
        select(
            Task.id,
            Task.document_id,
            Task.question_id,
            Task.wanted,
            Task.answered,
            Task.state,
            Task.priority,
            POSITION.label("position"),
            _TEXT.label("question"),
            gold.author_id.label("gold_by"),
            _answer.author_id,
            _answer.status.label("said"),
            case((_answer.status == "rejected", exists().where(*there).correlate(_answer, Task)), else_=false()).label(
                "is_there"
            ),
        )
        .select_from(Task)
        .outerjoin(known, known.id == Task.gold_revision_id)
        .outerjoin(gold, gold.id == known.annotation_id)
        .outerjoin(_answer, and_(*same, not_removed(_answer), *which))
    )


def _exceptional() -> Select[Any]:
    """Return the statement behind `exceptions`."""
    project: Any = bindparam("project")
    user: Any = bindparam("user")
    held: Any = bindparam("held", expanding=True)
    own = Annotation.project_id == project, Annotation.status == "rejected", Annotation.author_id == user
    same = and_(Annotation.document_id == Task.document_id, Annotation.question_id == Task.question_id)
    # The function keeps the database from walking the index of the queue: the person's answers are fewer.
    state = func.coalesce(Task.state, "").in_((statuses.RETURNED, *FULL))
    chosen = union(
        # Those that nobody else may take and of which the person's answer was rejected.
        select(Task.id).select_from(Annotation).join(Task, same).where(*own, state),
        select(Task.id).where(Task.project_id == project, Task.gold_revision_id > literal_column("''")),
        select(Task.id).where(Task.project_id == project, Task.id.in_(held)),
    )
    known = or_(_answer.status == "rejected", _answer.author_id == user)
    return _with_answers(known).where(Task.id.in_(chosen))


def _select_counts() -> Select[Any]:
    """Return the statement behind `counts`: a row for each state, or one without; none without the project."""
    mine = PartAnswer.project_id == bindparam("project"), PartAnswer.author_id == bindparam("user")
    elsewhere = select(func.count()).select_from(PartAnswer).where(*mine).scalar_subquery()
    return (
        select(TaskCount.state, TaskCount.number, elsewhere.label("elsewhere"))
        .select_from(Project)
        .outerjoin(TaskCount, TaskCount.project_id == Project.id)
        .where(Project.id == bindparam("project"))
    )


# Built once at import: each step of an annotator runs them.
_TEXT = select(Question.text).where(Question.id == Task.question_id).correlate(Task).scalar_subquery()
_answer = aliased(Annotation)
_ONE = (
    _with_answers()
    .add_columns((~needs_no_person()).label("by_people"), skip_of_task().label("skip"))
    .where(Task.id == bindparam("task"), Task.closed_at.is_(None))
)
_SPECIAL = _exceptional()
_COUNTS = _select_counts()
