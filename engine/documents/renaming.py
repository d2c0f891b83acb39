"""New names of documents: people give them, and lists, searches and later exports follow."""

from db import document_texts
from db.tables import Document
from db.tables.documents import key_of_name
from engine import audit
from engine.errors import Conflict, Refused
from engine.queries import existing
from engine.text import LONGEST_FILE_NAME, check_name
from engine.workspace import Workspace

_WHAT = "A document's name"


def rename_document(
    workspace: Workspace, document_id: str, name: str, by: str | None, *, before: str | None = None
) -> None:
    """Rename a document. Audited; the same name again changes nothing.

    Args:
        workspace: Open workspace.
        document_id: The document.
        name: Its new name.
        by: Id of the acting user.
        before: Name that the person saw; None: do not check.

    Raises:
        Refused: The name is invalid.
        NotFound: There is no such document.
        Conflict: Somebody renamed the document since the person saw `before`.
    """
    check_name(name, _WHAT, longest=LONGEST_FILE_NAME)
    if "/" in name or "\\" in name:
        raise Refused(f"{_WHAT} must not contain a slash. Remove it.")
    if len(name.encode()) > LONGEST_FILE_NAME:
        raise Refused(f"{_WHAT} is at most {LONGEST_FILE_NAME} bytes long in UTF-8. Choose a shorter one.")
    with workspace.database.write() as session:
        document = existing(session, Document, document_id, with_for_update={"key_share": True})
        if document.name == name:
            return
        if before is not None and document.name != before:
            raise Conflict(f"Somebody renamed {before} to {document.name} meanwhile. Your name was not stored.")
        audit.record(session, by, "documents.rename", document.id, document.project_id, before=document.name, name=name)
        document.name, document.name_key = name, key_of_name(name)
        document_texts.mark_names_dirty(session, [document.id])
