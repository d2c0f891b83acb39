"""Store pages of the grounded format as documents of a project: one page, one document.

The words are those of the set; nothing is read by OCR.
"""

import hashlib
import json
from pathlib import Path

from PIL import Image
from sqlalchemy import select

from db.tables import Document, Page
from engine.documents.ingest import add_page, finish, new_document, signature_of_page
from engine.documents.reading.page import Beginning, ReadPage, ReadWord
from engine.errors import Refused
from engine.grounded import GroundedPage
from engine.tasks.opening.open_tasks import open_missing
from engine.workspace import Workspace
from model.examples import Word
from model.layout import read_layout

_MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg"}


def add_grounded_page(
    workspace: Workspace, project_id: str, page: GroundedPage, folder: Path, *, origin: str, user_id: str | None = None
) -> tuple[Document, Page]:
    """Store a page as a document of the project, and return the document and its page.

    A word keeps its index in the set as its number. The bytes of the image are kept as they are.

    Args:
        workspace: Where the document is stored.
        project_id: The project that it goes into.
        page: The page, with its words.
        folder: The folder that the path of the page's image is relative to.
        origin: Where the document comes from, for the document's row.
        user_id: Who adds it; None for nobody.

    Raises:
        Refused: There is no image, it is neither PNG nor JPEG, or its size is not that of the page.
    """
    path = folder / str(page.image)
    if page.image is None or not path.is_file():
        raise Refused(f"The page {page.page_id} has no image at {path}.")
    try:
        with Image.open(path) as image:
            image.load()
            kind, size = image.format, image.size
    except (OSError, Image.DecompressionBombError) as error:
        raise Refused(f"The image {path} of the page {page.page_id} cannot be read: {error}") from None
    if kind not in _MEDIA_TYPES or size != (page.width, page.height):
        raise Refused(
            f"The image {path} is {kind} of {size[0]} x {size[1]} pixels; the page {page.page_id} needs PNG or JPEG of "
            f"{page.width} x {page.height}."
        )
    image_sha256 = workspace.blobs.put_file(path)
    content = _content(page, image_sha256)
    sha256 = workspace.blobs.put(content)
    read = _as_read(page, path)
    signature = signature_of_page(read)
    with workspace.database.write() as session:
        document = new_document(
            session,
            project_id,
            sha256,
            Beginning(_MEDIA_TYPES[kind], None, 1),
            name=path.name,
            byte_count=len(content),
            user_id=user_id,
            origin=origin,
            signatures=[signature],
        )
        add_page(session, document, read, image_sha256, signature)
        finish(session, document, ())
        open_missing(session, project_id, document.id)
        return document, session.scalars(select(Page).where(Page.document_id == document.id)).one()


def grounded_page_in(workspace: Workspace, project_id: str, page: GroundedPage, folder: Path) -> tuple[Document, Page]:
    """Return the document and the page as which `add_grounded_page` stored a page in the project.

    Raises:
        Refused: The page's image cannot be read, or the project has no such document.
    """
    try:
        image_sha256 = hashlib.sha256((folder / str(page.image)).read_bytes()).hexdigest()
    except OSError as error:
        raise Refused(f"The image of the page {page.page_id} cannot be read: {error}") from None
    sha256 = hashlib.sha256(_content(page, image_sha256)).hexdigest()
    wanted = (
        select(Document, Page)
        .join(Page, Page.document_id == Document.id)
        .where(Document.project_id == project_id, Document.sha256 == sha256)
    )
    with workspace.database.read() as session:
        row = session.execute(wanted).first()
    if row is None:
        raise Refused(f"The project has no document with the page {page.page_id}.")
    return row[0], row[1]


def _content(page: GroundedPage, image_sha256: str) -> bytes:
    return json.dumps([page.page_id, image_sha256, [[word.text, *word.box] for word in page.words]]).encode()


def _as_read(page: GroundedPage, path: Path) -> ReadPage:
    lines = read_layout([Word(word.text, word.box) for word in page.words]).line.tolist()
    words = tuple(ReadWord(word.text, word.box, line) for word, line in zip(page.words, lines, strict=True))
    return ReadPage(1, page.width, page.height, path, 0, "given" if words else "none", words)
