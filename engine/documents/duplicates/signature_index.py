"""Index of page signatures: finds similar pages by key, without comparing all."""

from collections.abc import Sequence

from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from db.tables import DocumentGroup, PageSignature, SignatureBand
from engine.documents.duplicates.page_signature import Signature, alike, bands_of

# Candidates that are compared with one page, those with the most common keys first. Without a limit, 100,000 copies of
# one form would all be compared; an equal page shares nearly all keys, so it is among the first.
MOST_CANDIDATES = 60


def remember(
    session: Session, project_id: str, group_id: str, document_id: str, page_id: str, signature: Signature
) -> None:
    """Store a page's signature and its keys in the caller's transaction."""
    row = PageSignature(
        page_id=page_id,
        document_id=document_id,
        group_id=group_id,
        picture=signature.picture,
        words=list(signature.words),
        text=signature.text,
    )
    session.add(row)
    session.flush()
    keys = sorted(set(bands_of(signature, project_id)))
    if keys:
        session.execute(insert(SignatureBand), [{"key": key, "signature_id": row.id} for key in keys])


def replace(
    session: Session, project_id: str, group_id: str, document_id: str, page_id: str, signature: Signature
) -> None:
    """Store another signature of a page in place of the one it had, in the caller's transaction."""
    old = select(PageSignature.id).where(PageSignature.page_id == page_id)
    session.execute(delete(SignatureBand).where(SignatureBand.signature_id.in_(old)))
    session.execute(delete(PageSignature).where(PageSignature.page_id == page_id))
    remember(session, project_id, group_id, document_id, page_id, signature)


def pages_like(
    session: Session, project_id: str, signature: Signature, *, but: str | None = None
) -> list[PageSignature]:
    """Return the signatures of a project's pages with equal content; `but`: document to skip."""
    keys = sorted(set(bands_of(signature, project_id)))
    if not keys:
        return []
    meeting = (
        select(SignatureBand.signature_id, func.count().label("common"))
        .join(PageSignature, PageSignature.id == SignatureBand.signature_id)
        .where(SignatureBand.key.in_(keys))
        .group_by(SignatureBand.signature_id)
        .order_by(func.count().desc(), SignatureBand.signature_id)
        .limit(MOST_CANDIDATES)
    )
    if but is not None:
        meeting = meeting.where(PageSignature.document_id != but)
    candidates = meeting.subquery()
    rows = session.scalars(select(PageSignature).join(candidates, candidates.c.signature_id == PageSignature.id))
    return [row for row in rows if alike(signature, signature_in(row))]


def groups_like(
    session: Session, project_id: str, signatures: Sequence[Signature], *, but: str | None = None
) -> list[DocumentGroup]:
    """Return the groups with a page like one of these, oldest first; `but`: document to skip."""
    ids = {row.group_id for signature in signatures for row in pages_like(session, project_id, signature, but=but)}
    return groups_of(session, ids)


def groups_of(session: Session, ids: set[str]) -> list[DocumentGroup]:
    """Return the groups of these ids, oldest first."""
    chosen = select(DocumentGroup).where(DocumentGroup.id.in_(ids)).order_by(DocumentGroup.sequence)
    return list(session.scalars(chosen)) if ids else []


def signatures_of(session: Session, document_id: str) -> list[Signature]:
    """Return the signatures of a document's pages."""
    rows = session.scalars(select(PageSignature).where(PageSignature.document_id == document_id))
    return [signature_in(row) for row in rows]


def signature_in(row: PageSignature) -> Signature:
    """Return the signature of a row."""
    return Signature(row.picture, tuple(row.words), row.text)
