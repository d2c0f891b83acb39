"""Kept sums of documents: each unit of work stores the numbers of the documents that it touched.

The numbers of a document are computed anew from its pages, tasks and answers, so they cannot drift. Only the sums of a
project are counted up and down, by what changes under the lock of the document's row.

Objects of the ORM and statements that update answers are seen by events of their session. The code that runs other
statements calls `touch`, or `task_states.mark_tasks_dirty`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Integer,
    and_,
    bindparam,
    case,
    cast,
    delete,
    event,
    func,
    insert,
    inspect,
    literal,
    null,
    or_,
    select,
    text,
    true,
    union_all,
)
from sqlalchemy.orm import ORMExecuteState, Session

from db.changes import ObservedSession
from db.statuses import ACCEPTED, ANSWERED, REMOVED
from db.tables import Annotation, Document, DocumentFigures, Page, ProjectFigures, Task

EVERYBODY = ""  # instead of a person
AT_ONCE = 200  # documents of one statement
_TOUCHED = "document_figures"  # in the info of a session


class Figures(NamedTuple):
    """Numbers of a document, or a person's of it; see DocumentFigures."""

    pages: int = 0
    questions: int = 0
    accepted: int = 0
    compared: int = 0


_NOTHING = Figures()
_Of = tuple[str, str]  # a document, or a project, and a person or EVERYBODY


@dataclass(slots=True)
class _Touched:
    """What one unit of work has touched, and what it has to add to the sums."""

    documents: dict[str, None] = field(default_factory=dict)
    tasks: dict[str, None] = field(default_factory=dict)
    moved: dict[_Of, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


def touch(session: Session, document_ids: Iterable[str]) -> None:
    """Note documents whose pages, tasks or statuses of answers have changed."""
    _touched(session).documents.update(dict.fromkeys(document_ids))


def touch_tasks(session: Session, ids: Iterable[str]) -> None:
    """Note tasks that were added, closed or reopened, or that want another number of answers."""
    _touched(session).tasks.update(dict.fromkeys(ids))


def lock(session: Session, document_ids: Collection[str]) -> None:
    """Lock documents until the commit, before tasks of theirs are changed by statements. Of no effect on SQLite.

    A save locks its document and then its task; in the other order the two would wait for each other.
    """
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        connection.execute(_LOCK, {"ids": list(document_ids)}).all()


def store(session: Session) -> list[str]:
    """Store the numbers of the touched documents; called once, before the commit and before `count`.

    Returns the ids of the documents, which are locked now.
    """
    session.flush()
    touched: _Touched | None = session.info.get(_TOUCHED)
    if touched is None:
        return []
    connection = session.connection()
    tasks = sorted(touched.tasks)
    for begin in range(0, len(tasks), AT_ONCE):
        given = {"ids": tasks[begin : begin + AT_ONCE]}
        touched.documents.update(dict.fromkeys(connection.scalars(_OF_TASKS, given)))
    ordered = sorted(touched.documents)  # all in one order: no two units of work wait for each other
    for begin in range(0, len(ordered), AT_ONCE):
        some = ordered[begin : begin + AT_ONCE]
        # Two people who answer two questions of a document at once: the second waits, and then sees the other's.
        lock(session, some)
        _store(session, some, touched)
    return ordered


def count(session: Session) -> None:
    """Add to the sums of projects; late, because others wait for these few rows until the commit."""
    touched: _Touched | None = session.info.pop(_TOUCHED, None)
    if touched is None:
        return
    rows = [
        {"project": project_id, "person": person_id, "documents": 0, **_NOTHING._asdict(), **moved}
        for (project_id, person_id), moved in sorted(touched.moved.items())  # all in one order
        if any(moved.values())
    ]
    if rows:
        session.connection().execute(_ADD, rows)


def count_again(session: Session, project_id: str) -> None:
    """Set the sums of a project to what its documents say; the project is locked."""
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        # Units of work that have counted commit first, and are then seen; the others count after this one.
        connection.execute(text("LOCK TABLE project_figures IN EXCLUSIVE MODE"))
    connection.execute(delete(ProjectFigures).where(ProjectFigures.project_id == project_id))
    columns = [each.name for each in ProjectFigures.__table__.columns]
    connection.execute(insert(ProjectFigures).from_select(columns, sums(project_id)))


def sums(project_id: str) -> Any:
    """Return the statement for what ProjectFigures keeps of a project, in the order of its columns."""
    of = DocumentFigures
    documents = func.sum(case((of.person_id == EVERYBODY, 1), else_=0))
    numbers = (cast(func.sum(each), Integer) for each in (of.pages, of.questions, of.accepted, of.compared))
    chosen = select(of.project_id, of.person_id, documents, *numbers).where(of.project_id == project_id)
    return chosen.group_by(of.project_id, of.person_id)


def computed(session: Session, ids: Collection[str]) -> dict[_Of, Figures]:
    """Return the numbers of documents, as their pages, tasks and answers say, by document and person."""
    connection = session.connection()
    questions: dict[str, set[str]] = defaultdict(set)
    accepted: dict[str, set[str]] = defaultdict(set)
    shared: dict[str, set[str]] = defaultdict(set)
    answered: dict[_Of, set[str]] = defaultdict(set)
    for document_id, question_id, author_id, status, several in connection.execute(_EVERY, {"ids": list(ids)}):
        questions[document_id].add(question_id)
        if several:
            shared[document_id].add(question_id)
        if status in ACCEPTED:
            accepted[document_id].add(question_id)
        if status in ANSWERED:
            answered[document_id, author_id].add(question_id)
    found = {}
    for document_id, pages in connection.execute(_PAGES, {"ids": list(ids)}):
        compared = accepted[document_id] & shared[document_id]
        numbers = len(questions[document_id]), len(accepted[document_id]), len(compared)
        found[document_id, EVERYBODY] = Figures(pages, *numbers)
    for (document_id, person_id), theirs in answered.items():
        if seen := len(theirs & accepted[document_id] & shared[document_id]):
            found[document_id, person_id] = Figures(compared=seen)
    return found


def kept(session: Session, ids: Collection[str]) -> dict[_Of, Figures]:
    """Return the numbers of documents as they are kept."""
    rows = session.connection().execute(_KEPT, {"ids": list(ids)})
    return {(row.document_id, row.person_id): Figures(*row[2:]) for row in rows}


def _store(session: Session, ids: Collection[str], touched: _Touched) -> None:
    connection = session.connection()
    so, there = computed(session, ids), kept(session, ids)
    changed = {each for each in so.keys() | there.keys() if so.get(each) != there.get(each)}
    if not changed:
        return
    found = connection.execute(_PROJECTS, {"ids": list({document_id for document_id, _ in changed})})
    projects = dict(found.tuples().all())
    gone = [{"document": document_id, "person": person_id} for document_id, person_id in sorted(changed - so.keys())]
    if gone:
        connection.execute(_FORGET, gone)
    rows = [
        {"document_id": of[0], "person_id": of[1], "project_id": projects[of[0]], **so[of]._asdict()}
        for of in sorted(changed & so.keys())
    ]
    if rows:
        connection.execute(_KEEP, rows)
    for of in changed:
        moved = touched.moved[projects[of[0]], of[1]]
        moved["documents"] += (of[1] == EVERYBODY) * ((of in so) - (of in there))
        for name, now, before in zip(Figures._fields, so.get(of, _NOTHING), there.get(of, _NOTHING), strict=True):
            moved[name] += now - before


def _touched(session: Session) -> _Touched:
    touched: _Touched = session.info.setdefault(_TOUCHED, _Touched())
    return touched


# Built once at import: each accepted answer runs them.
_IDS: Any = bindparam("ids", expanding=True)
_OF_TASKS = select(Task.document_id).where(Task.id.in_(_IDS)).distinct()
_LOCK = select(Document.id).where(Document.id.in_(_IDS)).order_by(Document.id).with_for_update(key_share=True)
_PROJECTS = select(Document.id, Document.project_id).where(Document.id.in_(_IDS))
_PAGES = select(
    Document.id, select(func.count(Page.id)).where(Page.document_id == Document.id).scalar_subquery()
).where(Document.id.in_(_IDS))
_SHARED = case((or_(Task.wanted > 1, Task.gold_revision_id.is_not(None)), 1), else_=0)
_EVERY = union_all(
    select(Annotation.document_id, Annotation.question_id, Annotation.author_id, Annotation.status, literal(0)).where(
        Annotation.document_id.in_(_IDS), Annotation.status != REMOVED
    ),
    select(Task.document_id, Task.question_id, null(), null(), _SHARED).where(
        Task.document_id.in_(_IDS), Task.closed_at.is_(None)
    ),
)
_KEPT = select(
    DocumentFigures.document_id,
    DocumentFigures.person_id,
    DocumentFigures.pages,
    DocumentFigures.questions,
    DocumentFigures.accepted,
    DocumentFigures.compared,
).where(DocumentFigures.document_id.in_(_IDS))
_TABLE: Any = DocumentFigures.__table__
_FORGET = delete(_TABLE).where(
    and_(_TABLE.c.document_id == bindparam("document"), _TABLE.c.person_id == bindparam("person"))
)
_KEEP = text(
    "INSERT INTO document_figures (document_id, person_id, project_id, pages, questions, accepted, compared) "
    "VALUES (:document_id, :person_id, :project_id, :pages, :questions, :accepted, :compared) "
    "ON CONFLICT (document_id, person_id) DO UPDATE SET pages = excluded.pages, questions = excluded.questions, "
    "accepted = excluded.accepted, compared = excluded.compared"
)
_ADD = text(
    "INSERT INTO project_figures (project_id, person_id, documents, pages, questions, accepted, compared) "
    "VALUES (:project, :person, :documents, :pages, :questions, :accepted, :compared) "
    "ON CONFLICT (project_id, person_id) DO UPDATE SET documents = project_figures.documents + excluded.documents, "
    "pages = project_figures.pages + excluded.pages, questions = project_figures.questions + excluded.questions, "
    "accepted = project_figures.accepted + excluded.accepted, compared = project_figures.compared + excluded.compared"
)


def _see_flushed(session: ObservedSession, _context: Any) -> None:
    fresh = set(session.new)
    for row in (*session.new, *session.dirty, *session.deleted):
        if isinstance(row, Document) and row in fresh:
            touch(session, [row.id])
        elif (
            (isinstance(row, Page) and row not in session.dirty)
            or (isinstance(row, Annotation) and (row in fresh or _has_changed(row, "status")))
            or (
                isinstance(row, Task) and (row in fresh or _has_changed(row, "wanted", "closed_at", "gold_revision_id"))
            )
        ):
            touch(session, [row.document_id])


def _has_changed(row: Any, *names: str) -> bool:
    attributes = inspect(row).attrs
    return any(attributes[name].history.has_changes() for name in names)


def _see_statement(state: ORMExecuteState) -> None:
    table = state.bind_mapper.class_ if state.bind_mapper is not None else None
    if state.is_update and table is Annotation:
        where: ColumnElement[bool] | None = getattr(state.statement, "whereclause", None)
        changed = select(Annotation.document_id).where(true() if where is None else where).distinct()
        given = state.parameters if isinstance(state.parameters, Mapping) else {}
        touch(state.session, state.session.connection().scalars(changed, given))
    elif state.is_insert and table is Document:
        rows: Any = state.parameters if isinstance(state.parameters, list) else [state.parameters or {}]
        touch(state.session, [row["id"] for row in rows if "id" in row])


event.listen(ObservedSession, "after_flush", _see_flushed)
event.listen(ObservedSession, "do_orm_execute", _see_statement)
