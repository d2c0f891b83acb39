"""Kept states of tasks: each unit of work stores the states of the tasks that it changed, in its own transaction.

The state of a task follows from its answers; the queue reads the kept one. It is computed anew from the answers of the
task, never counted up or down, so it cannot drift. Only the numbers of tasks by state are counted up and down, by what
changes under the lock of the task's row.

A rejected answer reserves a place for its author while the author is there (db.presence).

Objects of the ORM and statements that update answers are seen by events of their session. The code that runs other
statements, past the ORM or on tasks, calls `mark_dirty` or `mark_tasks_dirty`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Select,
    and_,
    bindparam,
    delete,
    event,
    exists,
    func,
    insert,
    inspect,
    or_,
    select,
    text,
    true,
    tuple_,
    update,
)
from sqlalchemy.orm import ORMExecuteState, Session

from db import dirty_documents, presence
from db.changes import ObservedSession
from db.presence import author_is_there
from db.statuses import (
    ACCEPTED,
    ANSWERED,
    AUTOMATIC,
    CLOSED,
    DISMISSED,
    DONE,
    NEW,
    OPEN,
    PARTLY,
    RETURNED,
    SKIPPED,
    SUBMITTED,
)
from db.tables import Annotation, AutomaticAnswer, Document, Member, PartAnswer, Project, Skip, Task, User

AT_ONCE = 500  # tasks of one statement: databases limit its parameters
_DIRTY = "task_states"  # in the info of a session
_Moved = defaultdict[tuple[str, str], int]  # (project, state) -> tasks that came, less those that went


@dataclass(slots=True)
class _Dirty:
    """Tasks whose states one unit of work must compute anew, by question of a document or by id."""

    pairs: dict[tuple[str, str], None] = field(default_factory=dict)
    tasks: dict[str, None] = field(default_factory=dict)
    returns: bool = False  # an answer was rejected: whether its author is there must not change meanwhile


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a task."""

    answered: int
    state: str


@dataclass(frozen=True, slots=True)
class Compared:
    """A task with what is kept, and what its answers say."""

    task_id: str
    project_id: str
    document_id: str
    kept: Kept
    computed: Kept


def mark_dirty(session: Session, document_id: str, question_id: str) -> None:
    """Note that an answer to this question of a document has changed its status."""
    _dirty_of(session).pairs[document_id, question_id] = None


def note_rejection(session: Session) -> None:
    """Note that an answer was rejected, so that its author neither comes nor goes before the commit."""
    _dirty_of(session).returns = True


def mark_tasks_dirty(session: Session, ids: Iterable[str]) -> None:
    """Note tasks that were added, closed or reopened, or that want another number of answers."""
    _dirty_of(session).tasks.update(dict.fromkeys(ids))


def state_of(
    *, wanted: int, answered: int, reserved: int, accepted: int, automatic: bool, skip: str | None, closed: bool
) -> str:
    """Return the state of a task.

    Args:
        wanted: answers by different people that it needs.
        answered: answers that are submitted or accepted.
        reserved: rejected answers whose authors are still there to fix them.
        accepted: answers that are accepted.
        skip: SKIPPED or DISMISSED after somebody skipped it (engine.tasks.skips), else None.
        automatic: whether an automatic answer replaces a person's.
        closed: whether its question is no longer a standard one.
    """
    if closed:
        return CLOSED
    if answered < wanted and skip is not None:
        return skip
    if answered < wanted and automatic:
        return AUTOMATIC
    if answered < wanted:
        return RETURNED if answered + reserved >= wanted else PARTLY if answered else OPEN
    return SUBMITTED if accepted < wanted else DONE


def store(session: Session) -> None:
    """Store the states of the dirty tasks; called once, before the commit."""
    session.flush()
    dirty: _Dirty | None = session.info.pop(_DIRTY, None)
    if dirty is None:
        return
    moved: _Moved = defaultdict(int)
    ids = dict.fromkeys(dirty.tasks)
    if len(dirty.pairs) == 1 and not ids and not dirty.returns:  # a save
        [(document_id, question_id)] = dirty.pairs
        if _refresh(session, _ONE, {"document": document_id, "question": question_id}, moved):
            count(session, moved)
            return
    _lock_projects(session, dirty)
    for some in _batches(list(dirty.pairs)):
        # The documents on their own too: SQLite finds no pairs in an index.
        of_documents = Task.document_id.in_({document_id for document_id, _ in some})
        chosen = select(Task.id).where(of_documents, tuple_(Task.document_id, Task.question_id).in_(some))
        ids.update(dict.fromkeys(session.connection().scalars(chosen)))
    for some in _batches(sorted(ids)):
        _refresh(session, _SEVERAL, {"ids": some}, moved, dirty.tasks)
    count(session, moved)  # the last statement, because others wait for these few rows until the commit


def compare_tasks(session: Session, chosen: Collection[str]) -> list[Compared]:
    """Return tasks with what is kept of them and what follows from their answers, in one statement."""
    return _compare_tasks(session, _SEVERAL, {"ids": list(chosen)})


def count(session: Session, moved: Mapping[tuple[str, str], int]) -> None:
    """Add to the numbers of tasks by project and state."""
    counted = [
        {"project": project_id, "state": state, "number": number}
        for (project_id, state), number in sorted(moved.items())  # all in one order: no two wait for each other
        if number and state != NEW
    ]
    if counted:
        session.connection().execute(_COUNT, counted)


def part_again(session: Session, ids: Collection[str]) -> None:
    """Set who has answered some tasks of state `partly` to what the answers say."""
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        connection.execute(_LOCK.where(_SEVERAL), {"ids": list(ids)}).all()
    connection.execute(_FORGET_PARTS, {"ids": list(ids)})
    connection.execute(_KEEP_PARTS, {"ids": list(ids)})


def _dirty_of(session: Session) -> _Dirty:
    dirty: _Dirty = session.info.setdefault(_DIRTY, _Dirty())
    return dirty


def _refresh(
    session: Session,
    chosen: ColumnElement[bool],
    parameters: dict[str, Any],
    moved: _Moved,
    dirty_tasks: Collection[str] = (),
) -> bool:
    """Compute the states of the chosen tasks and store those that changed; return whether there are any tasks.

    Adds to `moved`, by project and state, how many tasks came and went. Documents of `dirty_tasks`, and of tasks
    whose state changed, become dirty.
    """
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        # Two people who answer a task at once: the second one waits here, and then sees the answer of the first.
        # Only what is locked is looked at: the next statement may see a task that was opened in between.
        chosen, parameters = _SEVERAL, {"ids": connection.scalars(_LOCK.where(chosen), parameters).all()}
        if not parameters["ids"]:
            return False
    tasks = _compare_tasks(session, chosen, parameters)
    becomes: dict[Kept, list[str]] = defaultdict(list)
    for task in tasks:
        if task.computed.state != task.kept.state or task.task_id in dirty_tasks:
            dirty_documents.mark_dirty(session, task.project_id, [task.document_id])
        if task.computed == task.kept:
            continue
        becomes[task.computed].append(task.task_id)
        if task.computed.state != task.kept.state:
            moved[task.project_id, task.computed.state] += 1
            moved[task.project_id, task.kept.state] -= 1
    for computed, ids in becomes.items():
        connection.execute(_KEEP.values(answered=computed.answered, state=computed.state), {"ids": ids})
    shared = [task.task_id for task in tasks if PARTLY in (task.kept.state, task.computed.state)]
    if shared:
        connection.execute(_FORGET_PARTS, {"ids": shared})
        connection.execute(_KEEP_PARTS, {"ids": shared})
    return bool(tasks)


def _compare_tasks(session: Session, chosen: ColumnElement[bool], parameters: dict[str, Any]) -> list[Compared]:
    return [
        Compared(
            row.id,
            row.project_id,
            row.document_id,
            Kept(row.answered, row.state),
            Kept(
                row.answers,
                state_of(
                    wanted=row.wanted,
                    answered=row.answers,
                    reserved=row.reserved,
                    accepted=row.acceptances,
                    automatic=row.automatic,
                    skip=row.skip,
                    closed=row.closed_at is not None,
                ),
            ),
        )
        for row in session.connection().execute(_COMPARE.where(chosen), parameters)
    ]


def _lock_projects(session: Session, dirty: _Dirty) -> None:
    """Lock the projects of several tasks, of rejected answers, or of answers to questions without a task.

    Statements on many tasks lock their rows in any order; they lock the project first, and so does this. A question
    that becomes a standard one at this moment has tasks that are not seen yet: whoever opens them holds the project.
    """
    connection = session.connection()
    if connection.dialect.name != "postgresql":
        return
    projects: set[str] = set()
    for some in _batches(list(dirty.tasks)):
        projects.update(connection.scalars(select(Task.project_id).where(Task.id.in_(some)).distinct()))
    for some in _batches(list({document_id for document_id, _ in dirty.pairs})):
        projects.update(connection.scalars(select(Document.project_id).where(Document.id.in_(some)).distinct()))
    chosen = select(Project.id).where(Project.id.in_(projects)).order_by(Project.id)
    connection.execute(chosen.with_for_update(key_share=True)).all()


def _batches(several: Sequence[Any]) -> list[Sequence[Any]]:
    return [several[start : start + AT_ONCE] for start in range(0, len(several), AT_ONCE)]


def _answers(statuses: Collection[str], *which: ColumnElement[bool]) -> Any:
    """Return the number of a task's answers of these statuses, as a column."""
    return select(func.count()).where(_SAME, Annotation.status.in_(statuses), *which).scalar_subquery()


def _automatic() -> Any:
    in_force = AutomaticAnswer.withdrawn_at.is_(None), AutomaticAnswer.verdict.is_(None)
    return exists().where(AutomaticAnswer.task_id == Task.id, *in_force, AutomaticAnswer.audit.is_(False))


def skip_of_task() -> ScalarSelect[str | None]:
    """Return SKIPPED where a reviewer has to decide on a skip of a task, DISMISSED after that verdict, else None."""
    verdict = func.coalesce(Skip.verdict, SKIPPED)  # it sorts behind the verdict: a newer skip waits again
    undecided = or_(Skip.verdict.is_(None), Skip.verdict == DISMISSED)
    return select(func.max(verdict)).where(Skip.task_id == Task.id, undecided).correlate(Task).scalar_subquery()


def part_answers() -> Select[str, str, str]:
    """Return the statement for what PartAnswer keeps: task, author and project."""
    statement = select(Task.id, Annotation.author_id, Task.project_id).join(Annotation, _SAME)
    return statement.where(Task.state == PARTLY, Annotation.status.in_(ANSWERED))


_SAME = and_(Annotation.document_id == Task.document_id, Annotation.question_id == Task.question_id)
# Built once at import: each save runs them.
_ONE = and_(Task.document_id == bindparam("document"), Task.question_id == bindparam("question"))
_SEVERAL = Task.id.in_(bindparam("ids", expanding=True))
_LOCK: Select[Any] = select(Task.id).order_by(Task.id).with_for_update(key_share=True)
_COMPARE: Select[Any] = select(
    Task.id,
    Task.project_id,
    Task.document_id,
    Task.wanted,
    Task.closed_at,
    Task.answered,
    Task.state,
    _answers(ANSWERED).label("answers"),
    _answers(ACCEPTED).label("acceptances"),
    _answers(("rejected",), author_is_there()).label("reserved"),
    _automatic().label("automatic"),
    skip_of_task().label("skip"),
)
_KEEP = update(Task.__table__).where(_SEVERAL)  # type: ignore[arg-type]
_FORGET_PARTS = delete(PartAnswer).where(PartAnswer.task_id.in_(bindparam("ids", expanding=True)))
_KEEP_PARTS = insert(PartAnswer).from_select(["task_id", "author_id", "project_id"], part_answers().where(_SEVERAL))
_COUNT = text(
    "INSERT INTO task_counts (project_id, state, number) VALUES (:project, :state, :number) "
    "ON CONFLICT (project_id, state) DO UPDATE SET number = task_counts.number + excluded.number"
)


def _see_flushed(session: ObservedSession, _context: Any) -> None:
    for row in (*session.new, *session.deleted, *session.dirty):
        if isinstance(row, Annotation):
            mark_dirty(session, row.document_id, row.question_id)
            if row.status == "rejected" and _has_changed(row, "status"):
                note_rejection(session)
        elif isinstance(row, AutomaticAnswer | Skip):
            _dirty_of(session).tasks[row.task_id] = None
        elif isinstance(row, Task) and (row in session.new or _has_changed(row, "wanted", "closed_at")):
            mark_tasks_dirty(session, [row.id])
        elif isinstance(row, Member) and row not in session.dirty:
            _mark_all_dirty(session, presence.of_member(session, row, comes=row in session.new))
        elif isinstance(row, User) and row in session.dirty and _has_changed(row, "role", "disabled_at"):
            _mark_all_dirty(session, presence.of_user(session, row))


def _mark_all_dirty(session: Session, pairs: Iterable[tuple[str, str]]) -> None:
    for document_id, question_id in pairs:
        mark_dirty(session, document_id, question_id)


def _has_changed(row: Any, *names: str) -> bool:
    attributes = inspect(row).attrs
    return any(attributes[name].history.has_changes() for name in names)


def _see_statement(state: ORMExecuteState) -> None:
    table = state.bind_mapper.class_ if state.bind_mapper is not None else None
    if not state.is_update or table not in (Annotation, AutomaticAnswer):
        return
    where: ColumnElement[bool] = getattr(state.statement, "whereclause", None)  # type: ignore[assignment]
    changed = and_(true(), where) if where is not None else true()
    connection = state.session.connection()
    if table is AutomaticAnswer:
        automatic = connection.scalars(select(AutomaticAnswer.task_id).where(changed))
        _dirty_of(state.session).tasks.update(dict.fromkeys(automatic))
        return
    for document_id, question_id in connection.execute(
        select(Annotation.document_id, Annotation.question_id).where(changed)
    ):
        mark_dirty(state.session, document_id, question_id)
        note_rejection(state.session)  # perhaps: statements on many answers are rare


event.listen(ObservedSession, "after_flush", _see_flushed)
event.listen(ObservedSession, "do_orm_execute", _see_statement)
