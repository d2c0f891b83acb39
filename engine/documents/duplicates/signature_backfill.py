"""Backfill of signatures for documents of earlier versions, with quarantine of duplicates found."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image
from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from db.tables import Document, DocumentGroup, Page, PageSignature, PageWord
from engine.documents.duplicates import signature_index
from engine.documents.duplicates.groups import home_of, lock, quarantine, reason
from engine.documents.duplicates.page_signature import Signature, signature_of
from engine.documents.reading.reading_state import is_being_read
from engine.workspace import Workspace

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Signed:
    """Result of a backfill: number of documents, and the names of those quarantined."""

    documents: int
    quarantined: list[str]


def find_unsigned(workspace: Workspace) -> list[str]:
    """Return the ids of documents with unsigned pages, oldest first, without those being read."""
    signed = exists().where(PageSignature.page_id == Page.id)
    with workspace.database.read() as session:
        chosen = (
            select(Document.id).join(Page, Page.document_id == Document.id).where(~signed, ~is_being_read()).distinct()
        )
        return list(session.scalars(chosen.order_by(Document.id)))


def sign(workspace: Workspace, on_document: Callable[[int, int], None] | None = None) -> Signed:
    """Compute the signatures of all unsigned documents; resumable.

    No group changes its split. Of duplicates in different splits, the holdout document is quarantined, because models
    may have trained on the other one; of two holdout documents, the one signed later.
    """
    waiting = find_unsigned(workspace)
    quarantined: list[str] = []
    for done, document_id in enumerate(waiting, 1):
        try:
            quarantined += _sign_pages(workspace, document_id)
        except (LookupError, OSError):  # an image is missing on disk: the other documents are still signed
            _log.exception("the document %s cannot be signed", document_id)
        if on_document is not None:
            on_document(done, len(waiting))
    return Signed(len(waiting), quarantined)


def _sign_pages(workspace: Workspace, document_id: str) -> list[str]:
    signatures = _compute_signatures(workspace, document_id)
    with workspace.database.write() as session:
        document = session.get_one(Document, document_id)
        home = home_of(session, document)
        lock(session, home)
        for page_id, signature in signatures.items():
            if session.scalar(select(PageSignature.id).where(PageSignature.page_id == page_id)) is None:
                signature_index.remember(session, home, document.group_id, document_id, page_id, signature)
        return [_quarantine(session, odd_document) for odd_document in _at_odds(session, document)]


def _compute_signatures(workspace: Workspace, document_id: str) -> dict[str, Signature]:
    """Return the signatures by page. Blobs are read before the write transaction, because it takes time."""
    signatures: dict[str, Signature] = {}
    with workspace.database.read() as session:
        pages = session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)).all()
        for page in pages:
            words = session.scalars(
                select(PageWord.text)
                .where(PageWord.page_id == page.id, PageWord.retired_at.is_(None))
                .order_by(PageWord.position, PageWord.number)
            ).all()
            with workspace.blobs.open(page.image_sha256) as file, Image.open(file) as image:
                signatures[page.id] = signature_of(image, words)
    return signatures


def _at_odds(session: Session, document: Document) -> list[Document]:
    """Return the documents to quarantine, now that this one is signed."""
    own = session.get_one(DocumentGroup, document.group_id)
    pages = signature_index.signatures_of(session, document.id)
    groups = signature_index.groups_like(session, home_of(session, document), pages, but=document.id)
    others = [group for group in groups if group.split != own.split and group.quarantined_at is None]
    if own.quarantined_at is not None or not others:
        return []
    if own.split != "train":
        return [document]
    ids = {
        row.document_id
        for page in pages
        for row in signature_index.pages_like(session, home_of(session, document), page, but=document.id)
    }
    judging = select(Document).where(Document.id.in_(ids), Document.group_id.in_([group.id for group in others]))
    return list(session.scalars(judging.order_by(Document.id)))


def _quarantine(session: Session, document: Document) -> str:
    """Quarantine a document, add the reason to its warnings, and return its name."""
    quarantine(session, document)
    document.warnings = "\n".join([*document.warnings.splitlines(), reason(session, document)])
    return document.name
