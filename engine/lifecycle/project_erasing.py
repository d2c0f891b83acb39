"""Deleting the projects of the bin for good: documents, files and all other rows.

A project is marked first, and can no longer be restored. Its documents go one by one, then its files, then its rows in
short units of work, so that others write in between. Files go before the rows that name them: whoever is interrupted
finds the names again, and goes on at the next poll. What other projects need stays.
"""

import logging
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, ForeignKey, Table, case, delete, false, or_, select, tuple_, update
from sqlalchemy.orm import Session

from db import changes
from db.base import Base
from db.blobs import PUT_SECONDS
from db.tables import AuditEntry, Document, Job, Project, Quota, RemovedProject, Run
from engine import audit, blob_turns
from engine.batches import Throttle, in_batches
from engine.jobs import queue
from engine.lifecycle import bins, traces
from engine.lifecycle.archive_rows import belongs
from engine.lifecycle.erasing import erase_document
from engine.lifecycle.project_bin import mark_project
from engine.lifecycle.row_deletion import DELETED
from engine.queries import is_bin_of
from engine.storage.named_blobs import named_blobs
from engine.training.retraining.cleanup import run_folder
from engine.workspace import Workspace

TEXT = "(deleted)"  # in the audit trail, in place of what was said of a deleted project
_OF_PEOPLE = ("members.", "invitations.", "jobs.")  # actions whose details say nothing of the project
_TRANSFERS = ("documents.copy", "documents.move", "documents.move.undo", "documents.take")  # details name the other
_ID = re.compile(r"(?:[a-z]+:)?(?:[0-9a-f]{32}|[0-9a-f]{64})")  # subjects of the audit trail that are no text
# Deleted with documents; kept for a while for followers; and those that go last.
_LAST = {*(table.name for table in DELETED), "changes", "audit_entries", "projects", "removed_projects"}
_DERIVED = {"survey_answers", "document_signatures"}  # of another project, by a model of this one: made anew
_AT_ONCE = 100  # documents of one statement
_AGAIN_SECONDS = 600.0  # until a worker looks again at files that were stored lately: it reads all names
_waits: dict[str, float] = {}  # project -> time of this process at which a worker looks again
_log = logging.getLogger(__name__)


def erase_marked_projects(workspace: Workspace, seconds: float | None = None) -> int:
    """Delete the chosen projects; return how many are deleted now.

    A project of which a job still runs waits for its end, and one with files that were stored within the last hour
    until that is over: somebody may just store the same.

    Args:
        workspace: Open workspace.
        seconds: Time after which the rest is left for later; None: until all are deleted.

    Raises:
        Conflict: A backup copies the files, or another process empties the bin.
    """
    with workspace.database.autocommit_read() as session:
        chosen = select(RemovedProject.project_id).where(RemovedProject.erasing).order_by(RemovedProject.removed_at)
        marked = session.scalars(chosen).all()
    if not marked:
        return 0
    ends = None if seconds is None else time.monotonic() + seconds
    erased = 0
    with blob_turns.turn(workspace.database, "deletion of a project"):
        for project_id in marked:
            if ends is not None and _waits.get(project_id, 0.0) > time.monotonic():
                continue
            erased += _erase(workspace, project_id, ends)
            if _is_over(ends):
                break
    if erased == len(marked):
        traces.wipe(workspace.database)
    else:
        traces.wipe_at_times(workspace.database)
    return erased


def look_after(workspace: Workspace) -> None:
    """Delete what is chosen, and choose what has been in the bin for `bin_days`; a chore of the worker."""

    def mark(project_id: str, _: set[str]) -> None:
        mark_project(workspace, project_id, None)

    bins.look_after(workspace, RemovedProject, mark, erase_marked_projects)


def _erase(workspace: Workspace, project_id: str, ends: float | None) -> bool:
    """Delete a project; return whether all of it is gone."""
    if _has_jobs(workspace, project_id):
        return False
    with workspace.database.read() as session:
        ids = [*session.scalars(select(Project.id).where(*is_bin_of(project_id))), project_id]
    if not _erase_documents(workspace, project_id, ids, ends):
        return False
    traces.delete_exports(workspace, project_id)
    _delete_checkpoints(workspace, project_id)
    if not _delete_files(workspace, ids):
        _waits[project_id] = time.monotonic() + _AGAIN_SECONDS
        return False
    _waits.pop(project_id, None)
    for each in ids:
        for table in _tables():
            if not _delete_rows(workspace, table, each, ends):
                return False
    _forget_names(workspace, project_id)
    _clean_audit_trail(workspace, project_id)
    with workspace.database.write() as session:
        session.execute(delete(RemovedProject).where(RemovedProject.project_id == project_id))
        session.execute(delete(Quota).where(Quota.subject_id == project_id))
        for each in ids:
            session.execute(delete(Project).where(Project.id == each))
        changes.publish(session, "projects", None)
        audit.record(session, None, "projects.delete", project_id)
        traces.note_wipe(session)
    _log.info("project %s is deleted for good", project_id)
    return True


def _is_over(ends: float | None) -> bool:
    return ends is not None and time.monotonic() >= ends


def _has_jobs(workspace: Workspace, project_id: str) -> bool:
    """Stop the jobs of a project; return whether one has not ended yet."""
    opened = select(Job.id).where(Job.project_id == project_id, Job.status.in_(queue.OPEN))
    with workspace.database.write() as session:
        for job_id in session.scalars(opened).all():
            queue.cancel(session, job_id)
        session.flush()
        return session.scalar(opened.limit(1)) is not None


def _erase_documents(workspace: Workspace, project_id: str, ids: Sequence[str], ends: float | None) -> bool:
    chosen = select(Document.id).where(Document.project_id.in_(ids)).order_by(Document.id).limit(_AT_ONCE)
    while True:
        with workspace.database.autocommit_read() as session:
            some = session.scalars(chosen).all()
        if not some:
            return True
        for document_id in some:
            with Throttle():  # it rests as long as it took
                erase_document(workspace, document_id, project_id)
            if _is_over(ends):
                return False


def _delete_files(workspace: Workspace, ids: Sequence[str]) -> bool:
    """Delete the files that rows of these projects name and no other row; return False while one was put lately."""
    since = time.time() - PUT_SECONDS  # before the look at the rows: of what was put before, they are there

    def own(table: Table) -> ColumnElement[bool]:
        conditions = [condition for each in ids if (condition := belongs(table, each)) is not None]
        return or_(false(), *conditions)

    def of_others(table: Table) -> ColumnElement[bool]:
        return case((own(table), 1), else_=0) == 0  # a row without a project is another's

    blobs = workspace.blobs
    with workspace.database.snapshot_read() as session:
        candidates = {name for name in named_blobs(session, blobs, own) if blobs.size(name.hex()) is not None}
        if candidates:
            candidates -= named_blobs(session, blobs, of_others)
    deleted = [blobs.remove_unless_put(name.hex(), since) for name in sorted(candidates)]
    return all(deleted)


def _delete_checkpoints(workspace: Workspace, project_id: str) -> None:
    """Delete what runs that failed have left to be tried again."""
    with workspace.database.read() as session:
        runs = session.scalars(select(Run.id).where(Run.project_id == project_id)).all()
    for run_id in runs:
        shutil.rmtree(run_folder(workspace, run_id), ignore_errors=True)


def _tables() -> Iterator[Table]:
    """Yield the tables with rows of projects that are left when the documents are gone; those that name others first.

    What belongs to a project by its documents alone is gone with them.
    """
    for table in reversed(Base.metadata.sorted_tables):
        if table.name not in _LAST and belongs(table, "") is not None:
            yield table


def _release(workspace: Workspace, table: Table, project_id: str) -> None:
    """Let no row name a row of the project any more: proposals that went to another project with their document."""
    own = belongs(table, project_id)
    for other in Base.metadata.sorted_tables:
        for key in other.foreign_keys:
            if key.column.table is table and (key.parent.nullable or other.name in _DERIVED):
                _release_from(workspace, key, select(key.column).where(own))  # type: ignore[arg-type]


def _release_from(workspace: Workspace, key: ForeignKey, named: Any) -> None:
    other: Any = key.parent.table
    primary = list(other.primary_key)
    with workspace.database.read() as session:  # a table may be long, and its rows are found without a lock
        rows = session.execute(select(*primary).where(key.parent.in_(named))).all()

    def act(session: Session, some: Sequence[Any]) -> None:
        chosen = tuple_(*primary).in_([tuple(row) for row in some])
        if key.parent.nullable:
            session.execute(update(other).where(chosen).values({key.parent.name: None}))
        else:
            session.execute(delete(other).where(chosen))

    in_batches(workspace, rows, act)


def _delete_rows(workspace: Workspace, table: Table, project_id: str, ends: float | None) -> bool:
    """Delete the rows of a project in a table; return whether all are gone. Each call gets on, however short it is."""
    own: Any = belongs(table, project_id)
    primary = list(table.primary_key)
    throttle = Throttle()
    is_first = True
    while True:
        with workspace.database.read() as session:
            rows = session.execute(select(*primary).where(own).limit(throttle.size)).all()
        if not rows:
            return True
        if is_first:
            _release(workspace, table, project_id)
            is_first = False
        with throttle, workspace.database.write() as session:
            throttle.start_timing()
            session.execute(delete(table).where(tuple_(*primary).in_([tuple(row) for row in rows])))
        if _is_over(ends):
            return False


def _forget_names(workspace: Workspace, project_id: str) -> None:
    """Replace the names of the project, unless another one has them now, where documents came from it or went to it."""
    renamed = AuditEntry.project_id == project_id, AuditEntry.action == "projects.rename"
    with workspace.database.read() as session:
        names = set(session.scalars(select(RemovedProject.name).where(RemovedProject.project_id == project_id)))
        for details in session.scalars(select(AuditEntry.details).where(*renamed)):
            names |= {details["before"], details["name"]}
        names.difference_update(session.scalars(select(Project.name)))
        names.difference_update(
            session.scalars(select(RemovedProject.name).where(RemovedProject.project_id != project_id))
        )
        chosen = select(AuditEntry.id, AuditEntry.details).where(AuditEntry.action.in_(_TRANSFERS))
        ids = [
            entry_id
            for entry_id, details in session.execute(chosen.execution_options(yield_per=_AT_ONCE)).tuples()
            if names & {details.get("to"), details.get("source")}
        ]

    def act(session: Session, some: Sequence[str]) -> None:
        for entry in session.scalars(select(AuditEntry).where(AuditEntry.id.in_(some))):
            entry.details = {
                key: TEXT if key in ("to", "source") and value in names else value
                for key, value in entry.details.items()
            }

    in_batches(workspace, ids, act)


def _clean_audit_trail(workspace: Workspace, project_id: str) -> None:
    """Leave what was done, by whom and when, without texts of the project."""
    with workspace.database.read() as session:
        ids = session.scalars(select(AuditEntry.id).where(AuditEntry.project_id == project_id)).all()

    def act(session: Session, some: Sequence[str]) -> None:
        for entry in session.scalars(select(AuditEntry).where(AuditEntry.id.in_(some))):
            entry.project_id = None
            if not _ID.fullmatch(entry.subject):
                entry.subject = TEXT
            if not entry.action.startswith(_OF_PEOPLE):
                entry.details = {
                    key: value if isinstance(value, int | float) else TEXT for key, value in entry.details.items()
                }

    in_batches(workspace, ids, act)
