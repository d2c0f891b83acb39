"""Candidates of the queue: the tasks that a person may get next, in order. Reads only.

Each step of each annotator runs this, and a project may have 800,000 tasks. Each search therefore goes along an index
in the queue's order and ends with the first tasks found: the person's own answers, tasks that some people have
answered, and the open ones.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, literal, not_, or_, select, tuple_, union_all
from sqlalchemy.orm import Session

from db import statuses
from db.tables import Annotation, Project, Question, Task
from engine import leases
from engine.documents.reading.reading_state import waits_for_words
from engine.projects.project_settings import settings_of
from engine.tasks import task_status
from engine.tasks.opening import overlap
from engine.tasks.task_status import OPEN, PLACE, POSITION, STANDARD, Exceptions, Place, answered_by

_CANDIDATES = 20  # candidates of one search; other people may lease some of them first


def candidates(session: Session, project_id: str, user_id: str, after: str | None) -> list[str]:
    """Return the ids of the tasks that the person may take, in the queue's order; none of an unknown project."""
    leased = leases.live(session, "task:")
    search = _Search(session, project_id, user_id, task_status.exceptions(session, project_id, user_id, leased))
    stands = task_status.status_of(session, after, user_id, leased) if after is not None else None
    if stands is not None and stands.takeable:
        # After a skipped task: go round in plain order, otherwise two drafts would alternate.
        return search.round(stands.place)
    ids = search.find_begun(after)
    if ids:
        return ids
    partly, untouched = search.first(search.partly(), search.tasks(statuses.OPEN))
    ids = _ids(partly + untouched)
    return _gold(search, after) + ids if ids else []


@dataclass(frozen=True, slots=True)
class _Search:
    """Search for tasks that a person may take."""

    session: Session
    project_id: str
    user_id: str
    special: Exceptions

    def tasks(self, *states: str) -> Select[Any]:
        """Return the statement for the project's tasks in these states; OCR must have read their pages."""
        one = Task.state == states[0] if len(states) == 1 else Task.state.in_(states)
        return select(*PLACE).where(Task.project_id == self.project_id, one, ~waits_for_words(Task.document_id))

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
        return select(*PLACE).select_from(Annotation).join(Task, same).where(*own, state)

    def first(self, *several: Select[Any]) -> list[list[Place]]:
        """Return the first tasks of each statement, in the queue's order."""
        # Blocked ones are few, and left out here: as conditions they would make the statement slow to plan.
        most = _CANDIDATES + len(self.special.blocked)
        parts = [
            select(chosen.add_columns(literal(at).label("part")).order_by(*PLACE).limit(most).subquery())
            for at, chosen in enumerate(several)
        ]
        found: list[list[Place]] = [[] for _ in several]
        for *place, at in self.session.execute(union_all(*parts)):
            found[at].append(Place(*place))
        return [
            [place for place in sorted(one) if place.task_id not in self.special.blocked][:_CANDIDATES] for one in found
        ]

    def find_begun(self, after: str | None) -> list[str]:
        """Return tasks that the person holds, then rejected answers, then drafts."""
        held = sorted(place for place in self.special.held if place.task_id != after)
        rejected, drafts = self.first(self.with_answer("rejected", *STANDARD), self.with_answer("draft", *OPEN))
        golden = {place.task_id for place in self.special.more}.intersection(self.special.gold)
        if golden:  # gold questions that others have answered
            begun = self.session.execute(self.with_answer("draft", *STANDARD).where(Task.id.in_(golden)))
            drafts = sorted({*drafts, *(Place(*row) for row in begun)})
        return _ids([*held, *rejected, *drafts])

    def round(self, came_from: Place) -> list[str]:
        """Return the tasks that follow in the queue's order, then those before; the one that was left is the last."""
        here = came_from[:3]
        # Two columns of the index are compared as one; the third on its own.
        place = tuple_(Task.priority, Task.document_id)
        until_here = and_(Task.document_id == here[1], Task.priority == here[0], here[2] >= POSITION)
        later: list[ColumnElement[bool]] = [place >= here[:2], not_(until_here)]
        earlier: list[ColumnElement[bool]] = [place <= here[:2], or_(place < here[:2], until_here)]
        sources = [self.tasks(statuses.OPEN), self.partly()]
        follow = sorted(
            {place for place in self.special.more if place[:3] > here}.union(
                *self.first(*(source.where(*later) for source in sources))
            )
        )
        if len(follow) < _CANDIDATES:
            before = {place for place in self.special.more if place[:3] <= here}.union(
                *self.first(*(source.where(*earlier) for source in sources))
            )
            follow += sorted(before, key=lambda place: (place.task_id == came_from.task_id, place))
            if len(follow) > _CANDIDATES:
                follow = follow[:_CANDIDATES]
        return _ids(follow)


def _ids(places: list[Place]) -> list[str]:
    """Return the ids of the first tasks, each once."""
    return list(dict.fromkeys(place.task_id for place in places))[:_CANDIDATES]


def _gold(search: _Search, after: str | None) -> list[str]:
    """Return a gold question when it is this person's turn; inserted unannounced among other tasks."""
    user_id = search.user_id
    if not search.special.gold:
        return []
    share = settings_of(search.session.get_one(Project, search.project_id)).gold_share
    if share <= 0:
        return []
    if not overlap.gold_is_due(user_id, _count_answered(search), share):
        return []
    ids = [task_id for task_id in search.special.gold if task_id != after]
    return sorted(ids, key=lambda task_id: overlap.fraction(f"{user_id}:{task_id}"))[:1]


def _count_answered(search: _Search) -> int:
    """Return the number of standard questions that the person has answered, from an index alone."""
    standard = select(Question.id).where(Question.project_id == search.project_id, Question.standard)
    mine = (
        Annotation.project_id == search.project_id,
        Annotation.status.in_(statuses.ANSWERED),
        Annotation.author_id == search.user_id,
        Annotation.question_id.in_(standard),
    )
    return search.session.scalar(select(func.count()).where(*mine)) or 0
