"""Check of the texts that searches look in (db.document_texts) against names and words, and their repair.

Documents are checked and repaired in batches, so that people work on. SQLite's index is checked and rebuilt as a whole
under the write lock; saves wait meanwhile.
"""

from collections.abc import Iterator

from sqlalchemy import select, text
from sqlalchemy.exc import DatabaseError

from db import changes, document_texts
from db.tables import Document
from engine.workspace import Workspace


def check(workspace: Workspace, project_id: str | None = None) -> list[str]:
    """Return ids of the documents of a project, or of all, whose texts are not what their names and words say."""
    differing: list[str] = []
    for some in _documents(workspace, project_id):
        with workspace.database.snapshot_read() as session:
            differing += document_texts.mismatches(session, [document_id for document_id, _ in some])
    return differing


def index_is_whole(workspace: Workspace) -> bool:
    """Return whether the index over the texts holds them; PostgreSQL sees to that itself."""
    if workspace.database.dialect != "sqlite":
        return True
    try:
        with workspace.database.write() as session:  # FTS5 takes commands as insertions
            session.execute(text("INSERT INTO document_search (document_search, rank) VALUES ('integrity-check', 1)"))
    except DatabaseError:
        return False
    return True


def rebuild(workspace: Workspace, project_id: str | None = None) -> None:
    """Make the texts of a project's documents, or of all, anew, and the index where it does not hold them."""
    if not index_is_whole(workspace):  # first: FTS5 cannot remove from an index what it does not hold
        with workspace.database.write() as session:
            session.execute(text("INSERT INTO document_search (document_search) VALUES ('rebuild')"))
    for some in _documents(workspace, project_id):
        with workspace.database.write() as session:
            document_texts.mark_documents_dirty(session, [document_id for document_id, _ in some])
            for project in {of_document for _, of_document in some}:
                changes.publish(session, "documents", project)


def _documents(workspace: Workspace, project_id: str | None) -> Iterator[list[tuple[str, str]]]:
    """Yield ids of documents and of their projects, some at once."""
    last = ""
    while True:
        chosen = select(Document.id, Document.project_id).where(Document.id > last)
        if project_id is not None:
            chosen = chosen.where(Document.project_id == project_id)
        with workspace.database.read() as session:
            some = session.execute(chosen.order_by(Document.id).limit(document_texts.AT_ONCE)).tuples().all()
        if not some:
            return
        yield list(some)
        last = some[-1][0]
