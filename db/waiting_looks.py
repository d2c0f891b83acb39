"""Kept label reviews that wait: each unit of work stores which of the labels that it touched wait for a reviewer.

Whether a label waits is computed anew from its reviews and its newest revision, so it cannot drift. Only the numbers of
labels are counted up and down, by what changes under the lock of the annotation's row.

Objects of the ORM are seen by events of their session. The code that runs other statements calls `touch`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, delete, event, func, inspect, select, text
from sqlalchemy.orm import Session

from db.changes import ObservedSession
from db.statuses import ACCEPTED, REMOVED
from db.tables import Annotation, LabelReview, LookCount, Revision, WaitingLook

EVERYBODY = ""  # instead of a person
AT_ONCE = 500  # annotations of one statement: databases limit its parameters
_TOUCHED = "waiting_looks"  # in the info of a session
_MOVED = "look_counts"  # as well
_Of = tuple[str, str]  # project, and a person or EVERYBODY


class Waiting(NamedTuple):
    """A label that waits, and the two people who may not review it: its author, and who has edited it last."""

    annotation_id: str
    project_id: str
    author_id: str
    editor_id: str

    def counts(self) -> set[_Of]:
        """Return the numbers in which it counts."""
        return {(self.project_id, person) for person in (EVERYBODY, self.author_id, self.editor_id)}


def touch(session: Session, ids: Iterable[str]) -> None:
    """Note annotations that may wait now, or no longer."""
    touched: dict[str, None] = session.info.setdefault(_TOUCHED, {})
    touched.update(dict.fromkeys(ids))


def store(session: Session) -> None:
    """Store which of the touched annotations wait; called once, before the commit, `task_states.lock` and `count`."""
    session.flush()
    touched: dict[str, None] | None = session.info.pop(_TOUCHED, None)
    if touched is None:
        return
    moved: Counter[_Of] = session.info.setdefault(_MOVED, Counter())
    ordered = sorted(touched)  # all in one order: no two units of work wait for each other
    connection = session.connection()
    for begin in range(0, len(ordered), AT_ONCE):
        given = {"ids": ordered[begin : begin + AT_ONCE]}
        if connection.dialect.name == "postgresql":
            # A label is doubted while somebody changes it: the second one waits here, and then sees the other's.
            connection.execute(_LOCK, given).all()
        so = {each.annotation_id: each for each in _rows(session, waiting().where(_HERE), given)}
        there = {each.annotation_id: each for each in _rows(session, kept().where(_KEPT_HERE), given)}
        changed = sorted(each for each in so.keys() | there.keys() if so.get(each) != there.get(each))
        if gone := [each for each in changed if each in there]:
            connection.execute(_FORGET, {"ids": gone})
            moved.subtract(of for each in gone for of in there[each].counts())
        if came := [so[each] for each in changed if each in so]:
            connection.execute(_KEEP, [each._asdict() for each in came])
            moved.update(of for each in came for of in each.counts())


def count(session: Session) -> None:
    """Add to the numbers of projects; late, because others wait for these few rows until the commit."""
    moved: Counter[_Of] = session.info.pop(_MOVED, Counter())
    add(session, moved)


def add(session: Session, moved: Mapping[_Of, int]) -> None:
    """Add to the numbers of labels that wait, by project and person."""
    rows = [
        {"project": project_id, "person": person_id, "number": number}
        for (project_id, person_id), number in sorted(moved.items())  # all in one order
        if number
    ]
    if rows:
        session.connection().execute(_ADD, rows)


def number(project_id: Any, reviewer_id: Any) -> Select[int]:
    """Return the statement for the number of labels that wait for a reviewer: all, but for their own."""
    of_project = select(func.sum(LookCount.number)).where(LookCount.project_id == project_id)
    every = of_project.where(LookCount.person_id == EVERYBODY).scalar_subquery()
    own = of_project.where(LookCount.person_id == reviewer_id).scalar_subquery()
    return select(func.coalesce(every, 0) - func.coalesce(own, 0))


def waiting() -> Select[str, str, str, str]:
    """Return the statement for the labels that wait, in the order of `Waiting`."""
    return (
        select(Annotation.id, Annotation.project_id, Annotation.author_id, Revision.author_id.label("editor_id"))
        .select_from(LabelReview)
        .join(Annotation, Annotation.id == LabelReview.annotation_id)
        .join(Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head))
        .where(
            Annotation.status != REMOVED,
            LabelReview.verdict.is_(None),
            LabelReview.revision_id == Revision.id,
            Revision.status.in_(ACCEPTED),
        )
        .distinct()
    )


def kept() -> Select[str, str, str, str]:
    """Return the statement for the labels that are kept as waiting, in the order of `Waiting`."""
    return select(WaitingLook.annotation_id, WaitingLook.project_id, WaitingLook.author_id, WaitingLook.editor_id)


def apart(session: Session, project_id: str) -> list[str]:
    """Return the ids of a project's labels that wait and are not kept so, or the reverse."""
    so = set(_rows(session, waiting().where(LabelReview.project_id == project_id)))
    there = set(_rows(session, kept().where(WaitingLook.project_id == project_id)))
    return sorted({each.annotation_id for each in so ^ there})


def miscounted(session: Session, project_id: str) -> dict[_Of, int]:
    """Return by how much the numbers of a project fall short of its kept labels, where they do."""
    found: Counter[_Of] = Counter()
    for each in _rows(session, kept().where(WaitingLook.project_id == project_id)):
        found.update(each.counts())
    numbers = select(LookCount.person_id, LookCount.number).where(LookCount.project_id == project_id)
    for person_id, stored in session.execute(numbers):
        found[project_id, person_id] -= stored
    return {of: by for of, by in found.items() if by}


def _rows(session: Session, chosen: Select[str, str, str, str], given: dict[str, Any] | None = None) -> list[Waiting]:
    return [Waiting(*row) for row in session.connection().execute(chosen, given or {})]


_IDS: Any = bindparam("ids", expanding=True)
_HERE = LabelReview.annotation_id.in_(_IDS)
_KEPT_HERE = WaitingLook.annotation_id.in_(_IDS)
_LOCK = select(Annotation.id).where(Annotation.id.in_(_IDS)).order_by(Annotation.id).with_for_update(key_share=True)
_FORGET = delete(WaitingLook).where(_KEPT_HERE)
_KEEP = text(
    "INSERT INTO waiting_looks (annotation_id, project_id, author_id, editor_id) "
    "VALUES (:annotation_id, :project_id, :author_id, :editor_id)"
)
_ADD = text(
    "INSERT INTO look_counts (project_id, person_id, number) VALUES (:project, :person, :number) "
    "ON CONFLICT (project_id, person_id) DO UPDATE SET number = look_counts.number + excluded.number"
)


def _see_flushed(session: ObservedSession, _context: Any) -> None:
    for row in (*session.new, *session.dirty, *session.deleted):
        if isinstance(row, LabelReview):
            touch(session, [row.annotation_id])
        elif isinstance(row, Annotation) and row in session.dirty:
            history = inspect(row).attrs.status.history
            if history.has_changes() and {*history.deleted} & {*ACCEPTED, REMOVED}:
                touch(session, [row.id])


event.listen(ObservedSession, "after_flush", _see_flushed)
