"""Comparison of all figures with what pages, tasks and answers say, and their repair."""

import time
from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import bindparam, delete, func, select
from sqlalchemy.orm import Session

from db.base import now
from db.changes import DIRTY_VALUES
from db.tables import Document, SkippedChange, TaskChange
from engine.followers import positions
from engine.followers.derived_table import Amounts, DerivedTable
from engine.followers.follower import AT_ONCE, Follower
from engine.followers.following import compare, store
from engine.followers.registry import FOLLOWERS
from engine.followers.runner import catch_up
from engine.tasks.opening.task_changes import QUESTIONS, VALUES
from engine.workspace import Workspace

PATIENCE_SECONDS = 10.0  # that a check waits until figures have caught up
_ATTEMPTS = 20  # at a repair while the followers are at work
Mismatch = tuple[str, str]  # name of a table or follower; id of a document, a question or the project
# Last document that has followed each change which goes on.
_PLACE = select(func.min(TaskChange.place)).where(
    TaskChange.project_id == bindparam("project"),
    TaskChange.kind.in_((QUESTIONS, VALUES)),
    TaskChange.finished_at.is_(None),
)


def find_mismatches(workspace: Workspace, project_id: str, followers: Sequence[Follower] = FOLLOWERS) -> list[Mismatch]:
    """Return where the stored figures of a project differ from what its documents say.

    Documents that change meanwhile are looked at twice, after the followers have caught up. Those that have still to
    follow a change of fields or conventions are left out (engine.tasks.opening.task_changes).
    """
    catch_up(workspace, patience=PATIENCE_SECONDS)
    suspects: list[tuple[DerivedTable, str]] = []
    with workspace.database.read() as session:
        following = session.scalar(_PLACE, {"project": project_id})
    for documents in _documents(workspace, project_id):
        with workspace.database.snapshot_read() as session:
            for follower in followers:
                late = following if DIRTY_VALUES in follower.topics else None
                ids = [document for document in documents if late is None or document <= late]
                for table, difference in compare(session, follower, ids).items():
                    suspects += [(table, document) for _, document in table.documents_of(difference)]
    if suspects:
        catch_up(workspace, patience=PATIENCE_SECONDS)
    with workspace.database.snapshot_read() as session:
        mismatches = [(table.name, document) for table, document in suspects if table.compare(session, [document])]
        for follower in followers:
            short = [table for table in follower.tables if any(_missing(session, table, project_id).values())]
            mismatches += [(table.sums_name, project_id) for table in short]
            if follower.mismatches is not None:
                mismatches += [(follower.name, subject) for subject in follower.mismatches(session, project_id)]
    return mismatches


def skipped_changes(workspace: Workspace, project_id: str) -> list[tuple[str, int, str]]:
    """Return (follower, id of the change, error) of the changes that could not be followed."""
    columns = SkippedChange.follower, SkippedChange.change_id, SkippedChange.error
    chosen = select(*columns).where(SkippedChange.project_id == project_id).order_by(SkippedChange.change_id)
    with workspace.database.read() as session:
        return list(session.execute(chosen).tuples())


def rebuild(workspace: Workspace, project_id: str, followers: Sequence[Follower] = FOLLOWERS) -> None:
    """Derive the figures of a project anew, some hundred documents in each transaction, while people work."""
    catch_up(workspace, patience=PATIENCE_SECONDS)
    for documents in _documents(workspace, project_id):
        for follower in followers:
            _repeat(lambda: _rebuild_documents(workspace, follower, documents))  # noqa: B023
    for follower in followers:
        _repeat(lambda: _rebuild_sums(workspace, follower, project_id))  # noqa: B023
    with workspace.database.write() as session:
        session.execute(delete(SkippedChange).where(SkippedChange.project_id == project_id))


def _rebuild_documents(workspace: Workspace, follower: Follower, documents: Sequence[str]) -> None:
    with workspace.database.snapshot_read() as session:
        position = positions.read_positions(session)[follower.name]
        differences = compare(session, follower, documents)
    if any(differences.values()):
        with workspace.database.write() as session:
            positions.claim(session, position, position.cursor)
            store(session, follower, differences, dict.fromkeys(documents, now().date()))


def _rebuild_sums(workspace: Workspace, follower: Follower, project_id: str) -> None:
    with workspace.database.snapshot_read() as session:
        position = positions.read_positions(session)[follower.name]
        missing = [(table, _missing(session, table, project_id)) for table in follower.tables]
        repair = follower.repair(session, project_id) if follower.repair is not None else None
    with workspace.database.write() as session:
        positions.claim(session, position, position.cursor)
        for table, amounts in missing:
            table.add(session, amounts)
        if repair is not None:
            repair(session)


def _repeat(act: Callable[[], object]) -> None:
    """Do something again while followers store work in between.

    Raises:
        Overtaken: They did so every time.
    """
    for attempt in range(_ATTEMPTS):
        try:
            act()
            return
        except positions.Overtaken:
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(0.05 * attempt)


def _missing(session: Session, table: DerivedTable, project_id: str) -> Amounts:
    """Return by how much the sums of a project fall short of its stored rows, and where they exceed them."""
    amounts = table.count(table.rows_of_project(session, project_id))
    amounts.subtract(table.stored_amounts(session, project_id))
    return amounts


def _documents(workspace: Workspace, project_id: str) -> Iterator[list[str]]:
    """Yield the ids of a project's documents, some hundred at once."""
    last = ""
    while True:
        with workspace.database.read() as session:
            behind = Document.project_id == project_id, Document.id > last
            ids = list(session.scalars(select(Document.id).where(*behind).order_by(Document.id).limit(AT_ONCE)))
        if not ids:
            return
        yield ids
        last = ids[-1]
