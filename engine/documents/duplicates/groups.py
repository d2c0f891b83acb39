"""Groups of documents and their split.

A group gets its split with its first document and keeps it forever: documents that evaluated a model never train one.
Splits are drawn in blocks of ten groups, shuffled by the project's id (block randomisation). The shares therefore hold
from the first ten documents on, and the order of uploads cannot choose a split.

A document with a page like one in the project belongs to that page's group. A document that would join groups of
different splits is quarantined: it gets a group of its own, excluded from training and evaluation.

A long document gets a group with its first page, and may move until its last page is stored. Until then no snapshot
takes it (engine.datasets.snapshots).
"""

import random
from collections.abc import Collection, Sequence

from sqlalchemy import exists, func, or_, select, update
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Document, DocumentGroup, PageSignature, Project
from engine.documents.duplicates.page_signature import Signature
from engine.documents.duplicates.signature_index import groups_like, signatures_of
from engine.text import join_names as joined

LIKE_ANOTHER = "It shows the same page as "  # how the reason of a quarantine begins, which names documents
BLOCK = ("train",) * 7 + ("recent",) * 2 + ("frozen",)


def split_of(project_id: str, sequence: int) -> str:
    """Return the split of the `sequence`-th group (from 0) of a project. The first group always trains."""
    block, place = divmod(sequence, len(BLOCK))
    order = list(BLOCK)
    rng = random.Random(f"{project_id}:{block}")
    rng.shuffle(order)
    if block == 0 and order[0] != "train":
        train_place = rng.choice([at for at, split in enumerate(order) if split == "train"])
        order[0], order[train_place] = order[train_place], order[0]
    return order[place]


def group_for(session: Session, project_id: str, sha256: str, signatures: Sequence[Signature] = ()) -> DocumentGroup:
    """Return the group for a new document: that of equal content, of a similar page, or a new one.

    A document whose pages match groups of different splits gets a quarantined group. The caller holds the write
    transaction; this locks the project's groups, so that simultaneous duplicates find each other.
    """
    lock(session, project_id)
    same = session.scalar(
        select(DocumentGroup)
        .join(Document, Document.group_id == DocumentGroup.id)
        .where(Document.project_id == project_id, Document.sha256 == sha256)
    )
    if same is not None:
        return same
    groups = groups_like(session, project_id, signatures)
    return (
        (_common(groups) or _new_group(session, project_id, quarantined=True))
        if groups
        else _new_group(session, project_id)
    )


def settle(session: Session, document: Document, *, may_move: bool = True) -> str | None:
    """Move a completely read document to its pages' group; return a sentence when it is quarantined.

    A document that shares its group, or may not move, stays, or is quarantined when its pages match another split.

    Args:
        session: Of the unit of work that adds the last pages.
        document: The document.
        may_move: Whether no snapshot can hold the document yet. One that trained must never judge, nor the reverse.
    """
    own = session.get_one(DocumentGroup, document.group_id)
    lock(session, own.project_id)
    pages = signatures_of(session, document.id)
    groups = groups_like(session, own.project_id, pages, but=document.id)
    others = [group for group in groups if group.id != own.id]
    if others and own.quarantined_at is None:
        if may_move and _alone(session, document):
            common = _common(others)
            if common is not None:
                move(session, document, common)
            else:
                quarantine(session, document)
        elif any(group.quarantined_at is None and group.split != own.split for group in others):
            quarantine(session, document)
    settled = session.get_one(DocumentGroup, document.group_id)
    return None if settled.quarantined_at is None else reason(session, document)


def move(session: Session, document: Document, group: DocumentGroup) -> None:
    """Move a document without a snapshot to another group, with its page signatures."""
    document.group_id = group.id
    session.execute(
        update(PageSignature)
        .where(PageSignature.document_id == document.id)
        .values(group_id=group.id)
        .execution_options(synchronize_session=False)
    )
    session.flush()


def quarantine(session: Session, document: Document) -> None:
    """Exclude a document from training and evaluation; others of its group keep their split."""
    if _alone(session, document):
        session.get_one(DocumentGroup, document.group_id).quarantined_at = now()
        session.flush()
    else:
        move(session, document, _new_group(session, home_of(session, document), quarantined=True))


def _common(groups: Sequence[DocumentGroup]) -> DocumentGroup | None:
    """Return the oldest of groups of one split, else a quarantined one; None when splits differ."""
    living = [group for group in groups if group.quarantined_at is None]
    if not living:
        return groups[0]
    return living[0] if len({group.split for group in living}) == 1 else None


def _alone(session: Session, document: Document) -> bool:
    """Return whether a group has only ever held pages of this document."""
    mine = document.group_id
    shared = exists().where(Document.group_id == mine, Document.id != document.id)
    remembered = exists().where(PageSignature.group_id == mine, PageSignature.document_id != document.id)
    return not session.scalar(select(shared | remembered))


def reason(session: Session, document: Document) -> str:
    """Return why a document is quarantined, in a sentence that names its duplicates."""
    groups = groups_like(session, home_of(session, document), signatures_of(session, document.id), but=document.id)
    ids = [group.id for group in groups if group.quarantined_at is None]
    rows = session.execute(
        select(Document.name, DocumentGroup.split)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .where(Document.group_id.in_(ids), Document.id != document.id)
        .order_by(DocumentGroup.sequence, Document.id)
    ).all()
    trains = [name for name, split in rows if split == "train"]
    judges = [name for name, split in rows if split != "train"]
    if trains and judges:
        like = f"{_few(trains)}, a training document, and as {_few(judges)}, a holdout document"
    elif trains:
        like = f"{_few(trains)}, a training document"
    elif judges:
        like = f"{_few(judges)}, a holdout document"
    else:
        like = "another document in quarantine" if groups else "a document that was deleted"
    return f"{LIKE_ANOTHER}{like}. It is excluded from training and evaluation."


def give_reasons_anew(session: Session, project_id: str, names: Collection[str]) -> None:
    """Say anew why documents are in quarantine, where the reason may name a document that was deleted.

    Args:
        session: Of the unit of work that has deleted its rows.
        project_id: Project of its group.
        names: Names that it has had.
    """
    named = [Document.warnings.contains(name, autoescape=True) for name in names]
    chosen = (
        select(Document)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .where(DocumentGroup.project_id == project_id, DocumentGroup.quarantined_at.is_not(None), or_(*named))
    )
    for document in session.scalars(chosen).all():
        lines = document.warnings.splitlines()
        if any(each.startswith(LIKE_ANOTHER) for each in lines):
            anew = reason(session, document)
            document.warnings = "\n".join(anew if each.startswith(LIKE_ANOTHER) else each for each in lines)


def home_of(session: Session, document: Document) -> str:
    """Return the project whose pages a document is compared with: the one of its group, also while it is in the bin."""
    return session.get_one(DocumentGroup, document.group_id).project_id


def _few(names: Sequence[str]) -> str:
    """Return at most two names, and the number of the others."""
    return joined(list(names)) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} others"


def lock(session: Session, project_id: str) -> None:
    """Lock the groups of a project until the commit: needed on PostgreSQL, implicit on SQLite."""
    session.scalar(select(Project.id).where(Project.id == project_id).with_for_update(key_share=True))


def _new_group(session: Session, project_id: str, *, quarantined: bool = False) -> DocumentGroup:
    newest = session.scalar(select(func.max(DocumentGroup.sequence)).where(DocumentGroup.project_id == project_id))
    sequence = 0 if newest is None else newest + 1
    group = DocumentGroup(
        project_id=project_id,
        sequence=sequence,
        split=split_of(project_id, sequence),
        quarantined_at=now() if quarantined else None,
    )
    session.add(group)
    session.flush()
    return group
