"""Views of documents for the user interface. Reads only."""

from collections.abc import Collection, Sequence
from datetime import datetime

from pydantic import BaseModel, Field
from sqlalchemy import func, literal, select
from sqlalchemy.orm import Session, aliased

from db.tables import EVERYBODY, Document, DocumentFigures, DocumentGroup, Page
from engine.accounts import visibility
from engine.documents.lists.thumbnails import image_version
from engine.documents.reading.reading_state import state_of
from engine.queries import existing
from engine.workspace import Workspace


class DocumentLine(BaseModel):
    """Document in a project's list."""

    id: str
    name: str
    media_type: str
    pages: int
    words: int
    questions: int = Field(description="Questions of the document: the standard ones, and others that were asked.")
    accepted: int = Field(description="Those of its questions that have an accepted answer.")
    cover_page_id: str | None
    cover_image: str | None = Field(
        None, description="Version of its image, for addresses: another once it was turned."
    )
    warnings: list[str]
    same_as: str | None = Field(None, description="The project's first document with a page like one of this document.")
    quarantined: bool = Field(False, description="Excluded from training and evaluation; the warnings give the reason.")
    created_at: datetime


class PageLine(BaseModel):
    """Page of a document; width and height are pixels of its rendering."""

    id: str
    number: int = Field(description="Number in the document, from 1.")
    width: int
    height: int
    words: int = Field(description="Number of its words.")
    text_source: str = Field(
        description="Source of the words: layer (of the PDF), ocr, layer+ocr (OCR read what the layer lacks), given "
        "(by an import) or none."
    )
    image: str = Field(description="Version of its image: another once the page was turned.")


class DocumentView(BaseModel):
    """Document with its pages."""

    id: str
    name: str
    project_id: str
    warnings: list[str]
    pages: list[PageLine]
    reading: int | None = Field(description="Expected number of pages while they are being read, or will be.")
    cut_off: bool = Field(False, description="Reading ended early, so pages are missing; it can be resumed.")


class PageImage(BaseModel):
    """Stored image of a page; workspace.blobs holds its bytes."""

    sha256: str
    media_type: str


def lines_of(
    session: Session, project_id: str, ids: Collection[str], viewer_id: str | None = None
) -> list[DocumentLine]:
    """Return the lines of those of these documents that the project has, newest first, at the cost of these alone.

    Args:
        session: for reading.
        project_id: the project.
        ids: ids of documents.
        viewer_id: the user; None sees all answers. Answers hidden from the user are not counted.
    """
    wanted = (Document.project_id == project_id) & Document.id.in_(ids)
    words = (
        select(func.sum(Page.word_count)).where(Page.document_id == Document.id).correlate(Document).scalar_subquery()
    )
    everybody, own = aliased(DocumentFigures), aliased(DocumentFigures)
    hides = viewer_id is not None and not visibility.sees_all(session, project_id, viewer_id)
    # Answers that are compared are hidden until one has answered.
    hidden = everybody.compared - func.coalesce(own.compared, 0) if hides else literal(0)
    rows = session.execute(
        select(
            Document,
            func.coalesce(everybody.pages, 0),
            words,
            func.coalesce(everybody.questions, 0),
            func.coalesce(everybody.accepted - hidden, 0),
            Page.id,
            Page.image_sha256,
            DocumentGroup.quarantined_at,
        )
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .outerjoin(everybody, (everybody.document_id == Document.id) & (everybody.person_id == EVERYBODY))
        .outerjoin(own, (own.document_id == Document.id) & (own.person_id == viewer_id))
        .outerjoin(Page, (Page.document_id == Document.id) & (Page.number == 1))
        .where(wanted)
        .order_by(Document.id.desc())
    ).all()
    first = _first_of_groups(session, [document for document, *_ in rows])
    return [
        DocumentLine(
            id=document.id,
            name=document.name,
            media_type=document.media_type,
            pages=page_count,
            words=int(word_count or 0),
            questions=questions,
            accepted=accepted,
            cover_page_id=cover,
            cover_image=image_version(image) if image else None,
            warnings=document.warnings.splitlines(),
            same_as=first[document.group_id].name if first[document.group_id].id != document.id else None,
            quarantined=quarantined_at is not None,
            created_at=document.created_at,
        )
        for document, page_count, word_count, questions, accepted, cover, image, quarantined_at in rows
    ]


def _first_of_groups(session: Session, documents: Sequence[Document]) -> dict[str, Document]:
    """Return the first document of each group that these are in, by group."""
    groups = {document.group_id for document in documents}
    first = select(func.min(Document.id)).where(Document.group_id.in_(groups)).group_by(Document.group_id)
    first_documents = session.scalars(select(Document).where(Document.id.in_(first)))
    return {document.group_id: document for document in first_documents}


def document_view(workspace: Workspace, document_id: str) -> DocumentView:
    """Return a document with its pages in order. Raises NotFound."""
    with workspace.database.read() as session:
        document = existing(session, Document, document_id)
        # Queried before the pages: a page read in between is then included.
        state = state_of(session, document_id)
        pages = session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)).all()
    return DocumentView(
        reading=state.pages,
        cut_off=state.cut_off,
        id=document.id,
        name=document.name,
        project_id=document.project_id,
        warnings=[*document.warnings.splitlines(), *([state.failure] if state.failure else [])],
        pages=[page_line(page) for page in pages],
    )


def page_line(page: Page) -> PageLine:
    """Return the line of a page."""
    return PageLine(
        id=page.id,
        number=page.number,
        width=page.width,
        height=page.height,
        words=page.word_count,
        text_source=page.text_source,
        image=image_version(page.image_sha256),
    )


def line_of_page(workspace: Workspace, page_id: str) -> PageLine:
    """Return the line of a page. Raises NotFound."""
    with workspace.database.read() as session:
        return page_line(existing(session, Page, page_id))


def document_of(workspace: Workspace, page_id: str) -> str:
    """Return the id of a page's document. Raises NotFound."""
    with workspace.database.read() as session:
        return existing(session, Page, page_id).document_id


def page_image(workspace: Workspace, page_id: str) -> PageImage:
    """Return the stored image of a page. Raises NotFound."""
    with workspace.database.read() as session:
        page = existing(session, Page, page_id)
    return PageImage(sha256=page.image_sha256, media_type=page.image_media_type)
