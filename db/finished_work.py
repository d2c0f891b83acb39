"""Kept figures of finished work: each unit of work stores the finished masks and documents that it touched.

A finished mask is computed anew from the revisions of its answer, and a finished document from its tasks and masks, so
they cannot drift. Only the numbers of masks are counted up and down, by what changes under the lock of the answer.

Objects of the ORM are seen by events of their session. The code that runs other statements calls `touch`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Date,
    Integer,
    Select,
    and_,
    bindparam,
    cast,
    delete,
    event,
    exists,
    func,
    insert,
    inspect,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.orm import Session, aliased

from db.changes import ObservedSession
from db.statuses import REMOVED
from db.tables import (
    Annotation,
    Document,
    FinishedDocument,
    FinishedMask,
    Page,
    Prediction,
    Review,
    Revision,
    Task,
)

FINISHING = ("accept", "submit")  # actions of a person that finish a mask
CHOSEN = ("model", "random")  # reasons of choice that are compared
AT_ONCE = 500  # rows of one statement: databases limit its parameters
_TOUCHED = "finished_work"  # in the info of a session
_MOVED = "finished_masks"  # as well
_Counted = tuple[str, date, str, str]  # project, day, person and version ("": none)
# A literal, not a parameter: PostgreSQL must recognise the selected expression as the grouped one.
_UTC: Any = literal_column("'UTC'")


@dataclass(slots=True)
class _Touched:
    """Answers, tasks and documents that one unit of work has touched."""

    answers: dict[str, None] = field(default_factory=dict)
    tasks: dict[str, None] = field(default_factory=dict)
    documents: dict[str, None] = field(default_factory=dict)


def touch(session: Session, annotation_id: str) -> None:
    """Note an answer that may have become a finished mask, or is no longer one, or another one."""
    _touched(session).answers[annotation_id] = None


def touch_tasks(session: Session, ids: Iterable[str]) -> None:
    """Note tasks that were added, closed or reopened (db.task_states calls it)."""
    _touched(session).tasks.update(dict.fromkeys(ids))


def touch_documents(session: Session, ids: Iterable[str]) -> None:
    """Note documents whose tasks, masks or pages have changed."""
    _touched(session).documents.update(dict.fromkeys(ids))


def store(session: Session, locked: Collection[str] = ()) -> None:
    """Store the masks and documents that the unit of work touched; called once, before the commit and before `count`.

    `locked`: documents that are locked already.
    """
    session.flush()
    touched: _Touched | None = session.info.pop(_TOUCHED, None)
    if touched is None:
        return
    documents = dict(touched.documents)
    connection = session.connection()
    answers = _pieces(sorted(touched.answers))
    for some in answers:
        documents.update(dict.fromkeys(connection.scalars(_OF_ANSWERS, {"ids": some})))
    for some in _pieces(sorted(touched.tasks)):
        documents.update(dict.fromkeys(connection.scalars(_OF_TASKS, {"ids": some})))
    if connection.dialect.name == "postgresql":
        # Two people who finish two tasks of a document at once: the second waits, and then sees the other's mask.
        for some in _pieces(sorted(documents.keys() - set(locked))):
            connection.execute(_LOCK, {"ids": some}).all()
    moved: dict[_Counted, Counter[str]] = session.info.setdefault(_MOVED, defaultdict(Counter))
    for some in answers:
        for sign, statement in ((-1, _FORGET), (1, _KEEP[connection.dialect.name])):
            for mask in connection.execute(statement, {"ids": some}):
                numbers = moved[mask.project_id, mask.day, mask.person_id, mask.version_id or ""]
                numbers["masks"] += sign
                numbers["timed"] += sign * ((mask.seconds or 0) > 0)
                numbers["unchanged"] += sign * bool(mask.unchanged)
    for some in _pieces(sorted(documents)):
        connection.execute(_FORGET_DOCUMENTS, {"ids": some})
        connection.execute(_KEEP_DOCUMENTS, {"ids": some})


def count(session: Session) -> None:
    """Add to the numbers of masks; late, because others wait for these few rows until the commit."""
    moved: dict[_Counted, Counter[str]] = session.info.pop(_MOVED, {})
    rows = [
        {"project": project, "day": day, "person": person, "version": version}
        | {name: numbers[name] for name in ("masks", "timed", "unchanged")}
        for (project, day, person, version), numbers in sorted(moved.items())  # all in one order
        if any(numbers.values())
    ]
    if rows:
        session.connection().execute(_ADD, rows)


def add(session: Session, project_id: str, of: tuple[date, str, str], numbers: Sequence[int]) -> None:
    """Add to the numbers of a project's finished masks.

    Args:
        session: of the unit of work.
        project_id: project.
        of: day, person and version ("": none).
        numbers: of masks, timed and unchanged ones.
    """
    if not any(numbers):
        return
    given = dict(zip(("day", "person", "version", "masks", "timed", "unchanged"), (*of, *numbers), strict=True))
    session.connection().execute(_ADD, {"project": project_id, **given})


def masks(dialect: str, *which: ColumnElement[bool]) -> Select[Any]:
    """Return the statement for what FinishedMask keeps, in the order of its columns.

    Args:
        dialect: "sqlite" or "postgresql".
        which: conditions on Annotation.
    """
    first = (
        select(Revision.annotation_id, func.min(Revision.number).label("number"))
        .join(Annotation, Annotation.id == Revision.annotation_id)
        .where(Revision.action.in_(FINISHING), Annotation.status != REMOVED, *which)
        .group_by(Revision.annotation_id)
        .subquery()
    )
    opened, last, named, worked = aliased(Revision), aliased(Revision), aliased(Prediction), aliased(Revision)
    seconds = (
        select(func.sum(worked.seconds))
        .where(worked.annotation_id == first.c.annotation_id, worked.number <= first.c.number)
        .scalar_subquery()
    )
    newest = (
        select(Prediction.model_version_id)
        .where(Prediction.annotation_id == opened.annotation_id, Prediction.created_at <= opened.created_at)
        .order_by(Prediction.created_at.desc(), Prediction.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    objected = exists().where(Review.annotation_id == opened.annotation_id, Review.verdict.in_(("rejected", "fixed")))
    return (
        select(
            last.annotation_id,
            Annotation.project_id,
            Annotation.document_id,
            Annotation.question_id,
            func.coalesce(named.model_version_id, newest).label("version_id"),
            last.author_id.label("person_id"),
            last.created_at.label("at"),
            day_of(dialect, last.created_at).label("day"),
            seconds.label("seconds"),
            and_(last.number == 1, ~_changes(dialect, last.edits), ~objected).label("unchanged"),
        )
        .select_from(first)
        .join(Annotation, Annotation.id == first.c.annotation_id)
        .join(last, and_(last.annotation_id == first.c.annotation_id, last.number == first.c.number))
        .join(opened, and_(opened.annotation_id == first.c.annotation_id, opened.number == 1))
        .outerjoin(named, named.id == opened.prediction_id)
    )


def documents(*which: ColumnElement[bool]) -> Select[Any]:
    """Return the statement for what FinishedDocument keeps, in the order of its columns.

    Args:
        which: conditions on Task.
    """
    same = FinishedMask.document_id == Task.document_id, FinishedMask.question_id == Task.question_id
    unchanged = select(func.min(cast(FinishedMask.unchanged, Integer))).where(*same).scalar_subquery()
    one = (
        select(Task.document_id, Task.project_id, Task.chosen_by, unchanged.label("unchanged"))
        .where(Task.closed_at.is_(None), *which)
        .subquery()
    )
    pages = select(func.count(Page.id)).where(Page.document_id == one.c.document_id).scalar_subquery()
    return (
        select(
            one.c.document_id,
            one.c.project_id,
            func.min(one.c.chosen_by).label("chosen_by"),
            pages.label("pages"),
            (func.count() - func.sum(one.c.unchanged)).label("corrections"),
        )
        .group_by(one.c.document_id, one.c.project_id)
        .having(
            func.count() == func.count(one.c.unchanged),
            func.count() == func.count(one.c.chosen_by),
            func.min(one.c.chosen_by) == func.max(one.c.chosen_by),
            func.min(one.c.chosen_by).in_(CHOSEN),
        )
    )


def day_of(dialect: str, at: Any) -> Any:
    """Return the UTC day of a time, in SQL."""
    if dialect == "postgresql":
        return func.date(func.timezone(_UTC, at), type_=Date())
    return func.date(at, type_=Date())


def _changes(dialect: str, edits: Any) -> ColumnElement[bool]:
    """Return whether edits change words or pixels; placing a prompt does not."""
    if dialect == "postgresql":
        return func.jsonb_path_exists(edits, cast('$[*] ? (@.op != "prompts")', JSONPATH))
    each = func.json_each(edits).table_valued("value")
    return exists(select(1).select_from(each).where(func.json_extract(each.c.value, "$.op") != "prompts"))


def _touched(session: Session) -> _Touched:
    touched: _Touched = session.info.setdefault(_TOUCHED, _Touched())
    return touched


def _pieces(several: Collection[str]) -> list[list[str]]:
    ordered = list(several)
    return [ordered[start : start + AT_ONCE] for start in range(0, len(ordered), AT_ONCE)]


# Built once at import: each accepted answer runs them.
_IDS: Any = bindparam("ids", expanding=True)
_COUNTED = (
    FinishedMask.project_id,
    FinishedMask.day,
    FinishedMask.person_id,
    FinishedMask.version_id,
    FinishedMask.seconds,
    FinishedMask.unchanged,
)
_ADD = text(
    "INSERT INTO mask_counts (project_id, day, person_id, version_id, masks, timed, unchanged) "
    "VALUES (:project, :day, :person, :version, :masks, :timed, :unchanged) "
    "ON CONFLICT (project_id, day, person_id, version_id) DO UPDATE SET masks = mask_counts.masks + excluded.masks, "
    "timed = mask_counts.timed + excluded.timed, unchanged = mask_counts.unchanged + excluded.unchanged"
).bindparams(bindparam("day", type_=Date()))
_FORGET = delete(FinishedMask).where(FinishedMask.annotation_id.in_(_IDS)).returning(*_COUNTED)
_KEEP = {
    dialect: insert(FinishedMask)
    .from_select([each.name for each in FinishedMask.__table__.columns], masks(dialect, Annotation.id.in_(_IDS)))
    .returning(*_COUNTED)
    for dialect in ("sqlite", "postgresql")
}
_OF_ANSWERS = select(Annotation.document_id).where(Annotation.id.in_(_IDS))
_OF_TASKS = select(Task.document_id).where(Task.id.in_(_IDS)).distinct()
_LOCK = select(Document.id).where(Document.id.in_(_IDS)).order_by(Document.id).with_for_update(key_share=True)
_FORGET_DOCUMENTS = delete(FinishedDocument).where(FinishedDocument.document_id.in_(_IDS))
_KEEP_DOCUMENTS = insert(FinishedDocument).from_select(
    [each.name for each in FinishedDocument.__table__.columns], documents(Task.document_id.in_(_IDS))
)


def _see_flushed(session: ObservedSession, _context: Any) -> None:
    for row in session.new:
        objects = isinstance(row, Review) and row.verdict in ("rejected", "fixed")
        if objects or (isinstance(row, Revision) and row.action in FINISHING):
            touch(session, row.annotation_id)
        elif isinstance(row, Page):
            touch_documents(session, [row.document_id])
    for row in session.dirty:
        if isinstance(row, Annotation) and REMOVED in _values(row, "status"):
            touch(session, row.id)


def _values(row: Any, name: str) -> list[Any]:
    """Return the values of an attribute before and after a change, nothing where it has not changed."""
    history = inspect(row).attrs[name].history
    return [*history.added, *history.deleted] if history.has_changes() else []


event.listen(ObservedSession, "after_flush", _see_flushed)
