"""Candidates of the queue: the tasks that a person may get next, in order. Reads only.

Each step of each annotator runs this, and a project may have 800,000 tasks. Each search therefore goes along an index
in the queue's order and ends with the first tasks found: the person's own answers, tasks that some people have
answered, and the open ones. Tasks that the person left unanswered come when no other one is there.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, exists, func, literal, or_, select, union_all
from sqlalchemy.orm import Session

from db import statuses
from db.tables import Annotation, LeftTask, Project, Question, Skip, Task
from engine import leases
from engine.documents.reading.reading_state import waits_for_words
from engine.projects.project_settings import settings_of
from engine.tasks import task_status
from engine.tasks.opening import overlap
from engine.tasks.task_status import OPEN, PLACE, STANDARD, Exceptions, Place, answered_by

_CANDIDATES = 20  # candidates of one search; other people may lease some of them first


def candidates(session: Session, project_id: str, user_id: str, after: str | None) -> list[str]:
    """Return the ids of the tasks that the person may take, in the queue's order; none of an unknown project.

    `after`: the task that the person leaves; it comes when there is no other one.
    """
    leased = leases.live(session, "task:")
    special = task_status.exceptions(session, project_id, user_id, leased)
    search = _Search(session, project_id, user_id, special, after or "")
    ids = search.find_begun()
    if ids:
        return ids
    partly, untouched = search.first(search.partly(), search.tasks(statuses.OPEN))
    ids = _ids(partly + untouched)
    if ids:
        return _gold(search) + ids
    return search.find_left() or ([after] if after is not None else [])


def document_behind(session: Session, project_id: str, user_id: str, document_id: str) -> str | None:
    """Return the first other document with a task that nobody has begun and the person may take; None without one."""
    special = task_status.exceptions(session, project_id, user_id, leases.live(session, "task:"))
    search = _Search(session, project_id, user_id, special, "")
    elsewhere = search.tasks(statuses.OPEN).where(Task.document_id != document_id)
    places = search.first(elsewhere)[0]
    return places[0].document_id if places else None


@dataclass(frozen=True, slots=True)
class _Search:
    """Search for tasks that a person may take."""

    session: Session
    project_id: str
    user_id: str
    special: Exceptions
    after: str  # the task that the person leaves, or ""

    def is_left(self) -> ColumnElement[bool]:
        """Return the condition that the person left a task unanswered, or leaves it now."""
        left = exists().where(LeftTask.task_id == Task.id, LeftTask.person_id == self.user_id).correlate(Task)
        return or_(Task.id == self.after, left)

    def tasks(self, *states: str) -> Select[Any]:
        """Return the statement for tasks in these states that the person has not left; OCR must have read them."""
        within = Task.state == states[0] if len(states) == 1 else Task.state.in_(states)
        chosen = Task.project_id == self.project_id, within, ~waits_for_words(Task.document_id)
        return select(*PLACE).where(*chosen, ~self.is_left())

    def partly(self) -> Select[Any]:
        """Return the statement for open tasks that others have answered, and this person has not."""
        return self.tasks(statuses.PARTLY).where(~answered_by(self.user_id))

    def with_answer(self, status: str, *states: str) -> Select[Any]:
        """Return the statement for tasks in these states with an answer of the person that has this status."""
        own = (
            Annotation.project_id == self.project_id,
            Annotation.status == status,
            Annotation.author_id == self.user_id,
        )
        same = and_(Annotation.document_id == Task.document_id, Annotation.question_id == Task.question_id)
        # The function keeps the database from walking the index of the queue: the person's answers are fewer.
        state = func.coalesce(Task.state, "").in_(states)
        return select(*PLACE).select_from(Annotation).join(Task, same).where(*own, state, ~self.is_left())

    def first(self, *several: Select[Any]) -> list[list[Place]]:
        """Return the first tasks of each statement, in the queue's order."""
        # Blocked ones are few, and left out here: as conditions they would make the statement slow to plan.
        most = _CANDIDATES + len(self.special.blocked)
        parts = [
            select(chosen.add_columns(literal(at).label("part")).order_by(*PLACE).limit(most).subquery())
            for at, chosen in enumerate(several)
        ]
        places: list[list[Place]] = [[] for _ in several]
        for *place, at in self.session.execute(union_all(*parts)):
            places[at].append(Place(*place))
        return [
            [place for place in sorted(ranked) if place.task_id not in self.special.blocked][:_CANDIDATES]
            for ranked in places
        ]

    def find_begun(self) -> list[str]:
        """Return tasks that the person holds, then rejected answers, then drafts."""
        held = sorted(place for place in self.special.held if place.task_id != self.after)
        rejected, drafts = self.first(self.with_answer("rejected", *STANDARD), self.with_answer("draft", *OPEN))
        golden = {place.task_id for place in self.special.more}.intersection(self.special.gold)
        if golden:  # gold questions that others have answered
            begun = self.session.execute(self.with_answer("draft", *STANDARD).where(Task.id.in_(golden)))
            drafts = sorted({*drafts, *(Place(*row) for row in begun)})
        return _ids([*held, *rejected, *drafts])

    def find_left(self) -> list[str]:
        """Return the tasks that the person left and may still take, the one left longest ago first."""
        more = {place.task_id for place in self.special.more}.union(self.special.gold)
        takeable = or_(Task.state.in_(OPEN) & ~answered_by(self.user_id), Task.id.in_(more))
        # Gold questions stay answered whoever skips them.
        own = Skip.task_id == Task.id, Skip.person_id == self.user_id
        skipped = exists().where(*own, or_(Skip.verdict.is_(None), Skip.verdict == statuses.DISMISSED)).correlate(Task)
        chosen = (
            select(Task.id)
            .select_from(LeftTask)
            .join(Task, Task.id == LeftTask.task_id)
            .where(LeftTask.project_id == self.project_id, LeftTask.person_id == self.user_id)
            .where(Task.id != self.after, ~skipped, takeable, ~waits_for_words(Task.document_id))
            .order_by(LeftTask.left_at, LeftTask.task_id)
            .limit(_CANDIDATES + len(self.special.blocked))
        )
        ids = self.session.scalars(chosen)
        return [task_id for task_id in ids if task_id not in self.special.blocked][:_CANDIDATES]


def _ids(places: list[Place]) -> list[str]:
    """Return the ids of the first tasks, each once."""
    return list(dict.fromkeys(place.task_id for place in places))[:_CANDIDATES]


def _gold(search: _Search) -> list[str]:
    """Return a gold question when it is this person's turn; inserted unannounced among other tasks."""
    user_id = search.user_id
    if not search.special.gold:
        return []
    rows = search.session.execute(
        select(Task.id, Project, _number_answered(search))
        .join(Project, Project.id == Task.project_id)
        .where(Task.id.in_(search.special.gold), ~search.is_left())
    ).all()
    if not rows:
        return []
    _, project, answered = rows[0]
    share = settings_of(project).gold_share
    if share <= 0 or not overlap.gold_is_due(user_id, answered, share):
        return []
    return [min((row.id for row in rows), key=lambda task_id: overlap.fraction(f"{user_id}:{task_id}"))]


def _number_answered(search: _Search) -> ScalarSelect[int]:
    """Return the statement for the number of standard questions that the person has answered, from an index alone."""
    standard = select(Question.id).where(Question.project_id == search.project_id, Question.standard)
    mine = (
        Annotation.project_id == search.project_id,
        Annotation.status.in_(statuses.ANSWERED),
        Annotation.author_id == search.user_id,
        Annotation.question_id.in_(standard),
    )
    return select(func.count()).where(*mine).scalar_subquery()
