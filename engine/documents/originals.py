"""Files of documents as they were uploaded."""

from dataclasses import dataclass
from pathlib import Path

from db.tables import Document
from engine.queries import existing
from engine.text import file_name
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Original:
    """The file of a document: where it lies, not to be changed, and its name, safe as the name of a file."""

    path: Path
    name: str


def original_of(workspace: Workspace, document_id: str) -> Original:
    """Return the file of a document; from a bucket, it is fetched first.

    Raises:
        NotFound: There is no such document.
        BlobMissing: Its file is missing.
    """
    with workspace.database.read() as session:
        document = existing(session, Document, document_id)
    return Original(workspace.blobs.path(document.sha256), file_name(document.name, otherwise="document"))
