"""Candidates of the queue: the tasks that a person may get next, in order. Reads only.

Each step of each annotator runs this, and a project may have 100,000 tasks. Begun tasks are therefore searched in the
person's documents only, and the rest document by document, skipping finished documents.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, case, exists, func, select, tuple_
from sqlalchemy.orm import Session

from db.tables import Annotation, Project, Question, Task
from engine import leases, statuses
from engine.annotation.automatic_checks import needs_no_person
from engine.projects import overlap
from engine.projects.project_settings import settings_of
from engine.tasks import task_status

_CANDIDATES = 20  # candidates of one search; other people may lease some of them first
_YOURS, _OVERLAP, _REST = (0, 1, 2), (3,), (4,)  # kinds of tasks, in the queue's order
_MOST_DOCUMENTS = 500  # of one query: databases limit its parameters


def candidates(session: Session, project_id: str, user_id: str, after: str | None) -> list[str]:
    """Return the ids of the tasks that the person may take, in the queue's order."""
    came_from = session.get(Task, after) if after is not None else None
    stands = task_status.status_of(session, came_from, user_id) if came_from is not None else None
    if came_from is not None and stands is not None and stands.takeable:
        # After a skipped task: go round in plain order, otherwise two drafts would alternate.
        at = task_status.columns(session, project_id, user_id)
        takeable = task_status.rows(project_id, at).join(Question, Question.id == Task.question_id).where(at.takeable)
        position = session.scalar(select(Question.position).where(Question.id == came_from.question_id)) or 0
        place = tuple_(Task.priority, Task.document_id, Question.position)
        later = place > (came_from.priority, came_from.document_id, position)
        last = Task.id == came_from.id
        order = (case((last, 2), (later, 0), else_=1), Task.priority, Task.document_id, Question.position, Task.id)
        return list(session.scalars(takeable.with_only_columns(Task.id).order_by(*order).limit(_CANDIDATES)))
    begun = _begun(session, project_id, user_id)
    search = _Search(session, project_id, user_id, after)
    ids = search.at(_YOURS, begun) if begun else []
    if ids:
        return ids
    several = Task.project_id == project_id, Task.closed_at.is_(None), Task.wanted > 1
    if session.scalar(select(exists().where(*several))):
        ids = search.at(_OVERLAP)
    ids += _untouched(search, _CANDIDATES - len(ids))
    return _gold(session, project_id, user_id, after) + ids if ids else []


@dataclass(frozen=True, slots=True)
class _Search:
    """Search for tasks that a person may take."""

    session: Session
    project_id: str
    user_id: str
    after: str | None

    def at(self, kinds: Sequence[int], documents: Collection[str] | None = None) -> list[str]:
        """Return the ids of tasks of these kinds in order, in the whole project or in some documents."""
        at = task_status.columns(self.session, self.project_id, self.user_id, documents)
        kind = case(
            (and_(at.own, Task.id != (self.after or "")), 0),
            (at.returned > 0, 1),
            (at.drafted > 0, 2),
            (and_(at.answered > 0, Task.wanted > 1), 3),
            else_=4,
        )
        found = task_status.rows(self.project_id, at).join(Question, Question.id == Task.question_id)
        found = found.where(at.takeable, kind.in_(kinds))
        if documents is not None:
            found = found.where(Task.document_id.in_(documents))
        if kinds == _OVERLAP:
            found = found.where(Task.wanted > 1)
        order = (kind, Task.priority, Task.document_id, Question.position, Task.id)
        return list(self.session.scalars(found.with_only_columns(Task.id).order_by(*order).limit(_CANDIDATES)))


def _begun(session: Session, project_id: str, user_id: str) -> set[str]:
    """Return the documents where the person holds a task or has an answer that is not submitted."""
    held = [task_status.task_of(each) for each in leases.live(session, "task:") if each.holder == user_id]
    open_answers = select(Annotation.document_id).where(
        Annotation.project_id == project_id,
        Annotation.author_id == user_id,
        Annotation.status.in_(["draft", "rejected"]),
    )
    holding = select(Task.document_id).where(Task.project_id == project_id, Task.id.in_(held))
    return {*session.scalars(open_answers), *session.scalars(holding)}


def _untouched(search: _Search, most: int) -> list[str]:
    """Return untouched tasks, document by document in queue order; finished ones are skipped by the query."""
    answers = select(func.count()).where(
        Annotation.document_id == Task.document_id,
        Annotation.question_id == Task.question_id,
        Annotation.status.in_(statuses.ANSWERED),
    )
    open_tasks = (
        Task.project_id == search.project_id,
        Task.closed_at.is_(None),
        answers.scalar_subquery() < Task.wanted,
        ~needs_no_person(),
    )
    place = tuple_(Task.priority, Task.document_id)
    ids: list[str] = []
    last, width = (-(2**31), ""), 4
    while len(ids) < most:
        some = search.session.execute(
            select(Task.priority, Task.document_id)
            .where(*open_tasks, place > last)
            .distinct()
            .order_by(Task.priority, Task.document_id)
            .limit(width)
        ).all()
        if not some:
            break
        ids += [each for each in search.at(_REST, {document for _, document in some}) if each not in ids]
        last, width = (some[-1][0], some[-1][1]), min(10 * width, _MOST_DOCUMENTS)
    return ids[:most]


def _gold(session: Session, project_id: str, user_id: str, after: str | None) -> list[str]:
    """Return a gold question when it is this person's turn; inserted unannounced among other tasks."""
    share = settings_of(session.get_one(Project, project_id)).gold_share
    if share <= 0:
        return []
    mine = (Annotation.document_id == Task.document_id) & (Annotation.question_id == Task.question_id)
    answered = session.scalar(
        select(func.count())
        .select_from(Task)
        .join(Annotation, mine & (Annotation.author_id == user_id) & Annotation.status.in_(statuses.ANSWERED))
        .where(Task.project_id == project_id, Task.closed_at.is_(None))
    )
    if not overlap.gold_is_due(user_id, answered or 0, share):
        return []
    at = task_status.columns(session, project_id, user_id)
    known = task_status.rows(project_id, at).where(at.gold, at.mine == 0, Task.id != (after or ""))
    ids = list(session.scalars(known.with_only_columns(Task.id)))
    return sorted(ids, key=lambda task_id: overlap.fraction(f"{user_id}:{task_id}"))[:1]
