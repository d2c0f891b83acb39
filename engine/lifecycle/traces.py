"""What else has words of a deleted document: audit trail, webhook messages, exports, freed parts of the database."""

import time

from sqlalchemy import delete, select, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from db.session import Database
from db.tables import Annotation, AuditEntry, Document, Job, Page, Task, WebhookDelivery
from engine.interchange.export_files import EXPORT, path_of
from engine.workspace import Workspace

DELETED = "a deleted document"  # in place of its name
_MERGED_PAGES = 500  # of the index of searched texts, in one unit of work
_ATTEMPTS, _PAUSE = 20, 0.1  # seconds; readers may hold the log of SQLite


def forget_names(session: Session, document_id: str, project_id: str) -> None:
    """Replace the name of a document in the audit trail, and delete the messages that tell of it."""
    name = session.get_one(Document, document_id).name
    subjects = [
        document_id,
        *session.scalars(select(Annotation.id).where(Annotation.document_id == document_id)),
        *session.scalars(select(Task.id).where(Task.document_id == document_id)),
        *session.scalars(select(Page.id).where(Page.document_id == document_id)),
    ]
    for start in range(0, len(subjects), 500):
        chosen = select(AuditEntry).where(AuditEntry.subject.in_(subjects[start : start + 500]))
        for entry in session.scalars(chosen):
            entry.details = {key: DELETED if value == name else value for key, value in entry.details.items()}
    sent = select(WebhookDelivery.id).where(
        WebhookDelivery.project_id == project_id, WebhookDelivery.body.contains(document_id, autoescape=True)
    )
    session.execute(
        delete(WebhookDelivery)
        .where(WebhookDelivery.id.in_(session.scalars(sent).all()))
        .execution_options(synchronize_session=False)
    )


def delete_exports(workspace: Workspace, project_id: str) -> None:
    """Delete the files of a project's ended exports, which are kept for a day: they may hold the document."""
    with workspace.database.read() as session:
        ended = select(Job.id).where(Job.project_id == project_id, Job.kind == EXPORT, Job.status == "done")
        jobs = session.scalars(ended).all()
    for job_id in jobs:
        path_of(workspace, job_id).unlink(missing_ok=True)


def wipe(database: Database) -> None:
    """Overwrite what deleted rows have left in the files of SQLite; PostgreSQL does it by itself (autovacuum).

    The index of searched texts keeps deleted tokens until its parts are merged, which goes on in short units of work.
    Then the log is written into the database and emptied. Where a reader holds it, the next deletion does that.
    """
    if database.dialect != "sqlite":
        return
    pages, changed = -_MERGED_PAGES, 2
    while changed >= 2:  # as SQLite's documentation of FTS5 says: less than two changes mean that nothing is left
        with database.write() as session:
            before = _count_changes(session)
            merge = text("INSERT INTO document_search (document_search, rank) VALUES ('merge', :pages)")
            session.connection().execute(merge, {"pages": pages})
            changed, pages = _count_changes(session) - before, _MERGED_PAGES
    for _ in range(_ATTEMPTS):
        with database.autocommit_read() as session:
            try:
                busy, _, _ = session.execute(text("PRAGMA wal_checkpoint(TRUNCATE)")).one()
            except OperationalError:  # a writer is at work
                busy = 1
        if not busy:
            return
        time.sleep(_PAUSE)


def _count_changes(session: Session) -> int:
    return int(session.connection().scalar(text("SELECT total_changes()")) or 0)
