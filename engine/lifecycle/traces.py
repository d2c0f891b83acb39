"""What else has words of a deleted document: audit trail, webhook messages, exports, freed parts of the database."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, delete, func, select, text
from sqlalchemy.orm import Session

from db.ids import new_id
from db.session import Database
from db.tables import Annotation, AuditEntry, Document, Job, Lease, Page, Task, WebhookDelivery
from engine import leases
from engine.interchange.export_files import EXPORT, path_of
from engine.lifecycle.transfer_names import find_transfers, forget_in_transfers
from engine.workspace import Workspace

DELETED = "a deleted document"  # in place of its name
STILL_THERE = (
    "The files of the database still have words of deleted documents, because somebody reads it. A worker overwrites "
    "them later."
)
_AT_ONCE = 500  # rows of one statement
_MERGED_PAGES = 500  # of the index of searched texts, in one unit of work
_WIPE_SECONDS = 60.0  # between two wipes of a deletion that goes on
_wiped_at: dict[str, float] = {}  # by database
_WIPE = "wipe"  # subject of the lease that notes a wipe; its holder is unique


@dataclass(frozen=True, slots=True)
class Naming:
    """What names a document, other than its rows: names that it has had, ids of messages, and of ended transfers.

    `newest`: id of the last message that was looked at.
    """

    names: frozenset[str]
    messages: Sequence[str]
    newest: str
    transfers: Sequence[str]


def find_naming(session: Session, document_id: str, project_id: str) -> Naming:
    """Return what names a document of a project. Reads all messages of the project, so in no unit of work."""
    renamed = select(AuditEntry.details).where(
        AuditEntry.subject == document_id, AuditEntry.action == "documents.rename"
    )
    names = {session.get_one(Document, document_id).name}
    names.update(details["before"] for details in session.scalars(renamed))
    newest = session.scalar(select(func.max(WebhookDelivery.id)).where(WebhookDelivery.project_id == project_id))
    messages = _messages(document_id, project_id).where(WebhookDelivery.id <= (newest or ""))
    transfers = find_transfers(session, project_id, names)
    return Naming(frozenset(names), session.scalars(messages).all(), newest or "", transfers)


def _messages(document_id: str, project_id: str) -> Select[str]:
    naming = WebhookDelivery.body.contains(document_id, autoescape=True)
    return select(WebhookDelivery.id).where(WebhookDelivery.project_id == project_id, naming)


def forget_names(session: Session, document_id: str, project_id: str, naming: Naming) -> None:
    """Replace the names of a document in audit trail and transfers, and delete the messages that tell of it."""
    tasks = session.scalars(select(Task.id).where(Task.document_id == document_id)).all()
    subjects = [
        document_id,
        *session.scalars(select(Annotation.id).where(Annotation.document_id == document_id)),
        *tasks,
        *(f"task:{task_id}" for task_id in tasks),
        *session.scalars(select(Page.id).where(Page.document_id == document_id)),
    ]
    for start in range(0, len(subjects), _AT_ONCE):
        chosen = select(AuditEntry).where(AuditEntry.subject.in_(subjects[start : start + _AT_ONCE]))
        for entry in session.scalars(chosen):
            entry.details = {key: DELETED if value in naming.names else value for key, value in entry.details.items()}
    meanwhile = _messages(document_id, project_id).where(WebhookDelivery.id > naming.newest)
    messages = [*naming.messages, *session.scalars(meanwhile)]
    for start in range(0, len(messages), _AT_ONCE):
        some = WebhookDelivery.id.in_(messages[start : start + _AT_ONCE])
        session.execute(delete(WebhookDelivery).where(some).execution_options(synchronize_session=False))
    forget_in_transfers(session, naming.transfers, document_id, naming.names)


def delete_exports(workspace: Workspace, project_id: str) -> None:
    """Delete the files of a project's ended exports, which are kept for a day: they may hold the document."""
    with workspace.database.read() as session:
        ended = select(Job.id).where(Job.project_id == project_id, Job.kind == EXPORT, Job.status == "done")
        jobs = session.scalars(ended).all()
    for job_id in jobs:
        path_of(workspace, job_id).unlink(missing_ok=True)


def note_wipe(session: Session) -> None:
    """Note, in the unit of work that deletes rows, that what they leave in the files must be overwritten (`wipe`)."""
    if session.get_bind().dialect.name == "sqlite":
        leases.acquire(session, _WIPE, new_id(), seconds=0.0)


def wipe(database: Database) -> bool:
    """Overwrite what deleted rows have left in the files of SQLite; PostgreSQL does it by itself (autovacuum).

    The index of searched texts keeps deleted tokens until its parts are merged, which goes on in short units of work.
    Then the log is written into the database and emptied. Where somebody reads or writes at that moment, a later call
    does it: nobody waits for it.

    Returns:
        Whether nothing is left.
    """
    if database.dialect != "sqlite":
        return True
    with database.autocommit_read() as session:
        noted = session.scalar(select(Lease.holder).where(Lease.subject == _WIPE))
    if noted is None:
        return True
    _wiped_at[str(database.url)] = time.monotonic()
    pages, changed = -_MERGED_PAGES, 2
    while changed >= 2:  # as SQLite's documentation of FTS5 says: less than two changes mean that nothing is left
        with database.write() as session:
            before = _count_changes(session)
            merge = text("INSERT INTO document_search (document_search, rank) VALUES ('merge', :pages)")
            session.connection().execute(merge, {"pages": pages})
            changed, pages = _count_changes(session) - before, _MERGED_PAGES
    if not database.empty_log():
        return False
    with database.write() as session:
        leases.release(session, _WIPE, noted)  # that of a later deletion stays
    return True


def wipe_at_times(database: Database) -> None:
    """Do as `wipe`, unless this process has done so within the last minute: the whole index is merged each time.

    For a deletion that goes on: whoever ends it calls `wipe`.
    """
    if time.monotonic() - _wiped_at.get(str(database.url), -_WIPE_SECONDS) >= _WIPE_SECONDS:
        wipe(database)


def _count_changes(session: Session) -> int:
    return int(session.connection().scalar(text("SELECT total_changes()")) or 0)
