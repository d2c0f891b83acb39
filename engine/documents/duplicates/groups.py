"""Groups of documents and their split.

A group gets its split when its first document comes in, and keeps it for ever: what once judged a model never trains one.
Splits are drawn in blocks of ten groups, shuffled by the project's id (block randomisation), so that the shares hold
from the first ten documents on and still nobody can choose by the order of uploads.

A document with a page that the project has already, in whatever scan, belongs to the group of that page. One that would join groups of
different splits is quarantined: it goes into a group of its own that neither trains nor judges, and those groups stay as they are.

A document of many pages has a group from its first page on, and is settled when its last one is in: until then no snapshot
takes it (engine.datasets.snapshots), so that it may still move to where a later page belongs.
"""

import random
from collections.abc import Sequence

from sqlalchemy import exists, func, select, update
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Document, DocumentGroup, PageSignature, Project
from engine.documents.duplicates.page_signature import Signature
from engine.documents.duplicates.signature_index import groups_like, signatures_of
from engine.text import listed as joined

BLOCK = ("train",) * 7 + ("recent",) * 2 + ("frozen",)


def split_of(project_id: str, sequence: int) -> str:
    """Return the split of the `sequence`-th group (from 0) of a project. The first group of a project always trains."""
    block, place = divmod(sequence, len(BLOCK))
    order = list(BLOCK)
    rng = random.Random(f"{project_id}:{block}")
    rng.shuffle(order)
    if block == 0 and order[0] != "train":
        other = rng.choice([at for at, split in enumerate(order) if split == "train"])
        order[0], order[other] = order[other], order[0]
    return order[place]


def group_for(session: Session, project_id: str, sha256: str, signatures: Sequence[Signature] = ()) -> DocumentGroup:
    """Return the group for a new document: that of the same content or of a page like one of its own, else a new one.

    Where its pages belong to groups of different splits, it gets a group of its own in quarantine. The caller holds the writing
    transaction, which has the project to itself from here on: of two documents that come in at once, the second one finds the first.
    """
    lock(session, project_id)
    same = session.scalar(
        select(DocumentGroup)
        .join(Document, Document.group_id == DocumentGroup.id)
        .where(Document.project_id == project_id, Document.sha256 == sha256)
    )
    if same is not None:
        return same
    found = groups_like(session, project_id, signatures)
    return (
        (_common(found) or _new_group(session, project_id, quarantined=True))
        if found
        else _new_group(session, project_id)
    )


def settle(session: Session, document: Document) -> str | None:
    """Give a document whose pages are all in the group that they belong to; return a sentence where it is quarantined.

    For documents that no snapshot has taken yet. It moves to the group of the pages that are like its own; in a group that it shares
    with others already, it stays, or is quarantined where pages of its own belong to another split.
    """
    lock(session, document.project_id)
    own = session.get_one(DocumentGroup, document.group_id)
    pages = signatures_of(session, document.id)
    found = groups_like(session, document.project_id, pages, but=document.id)
    others = [group for group in found if group.id != own.id]
    if others and own.quarantined_at is None:
        if _alone(session, document):
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
    """Put a document that no snapshot has taken yet into another group, with what is remembered of its pages."""
    document.group_id = group.id
    session.execute(
        update(PageSignature)
        .where(PageSignature.document_id == document.id)
        .values(group_id=group.id)
        .execution_options(synchronize_session=False)
    )
    session.flush()


def quarantine(session: Session, document: Document) -> None:
    """Keep a document from training and from judging. Others of its group go on as they are, in their split."""
    if _alone(session, document):
        session.get_one(DocumentGroup, document.group_id).quarantined_at = now()
        session.flush()
    else:
        move(session, document, _new_group(session, document.project_id, quarantined=True))


def _common(groups: Sequence[DocumentGroup]) -> DocumentGroup | None:
    """The oldest of groups of one split, or the quarantined one where there is no other; None where splits differ."""
    living = [group for group in groups if group.quarantined_at is None]
    if not living:
        return groups[0]
    return living[0] if len({group.split for group in living}) == 1 else None


def _alone(session: Session, document: Document) -> bool:
    """Whether a group has never held a page of any other document than this one."""
    mine = document.group_id
    shared = exists().where(Document.group_id == mine, Document.id != document.id)
    remembered = exists().where(PageSignature.group_id == mine, PageSignature.document_id != document.id)
    return not session.scalar(select(shared | remembered))


def reason(session: Session, document: Document) -> str:
    """Return why a document is in quarantine, in a sentence that names what it shows the same as."""
    groups = groups_like(session, document.project_id, signatures_of(session, document.id), but=document.id)
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
        like = f"{_few(trains)}, which the model learns from, and as {_few(judges)}, by which it is judged"
    elif trains:
        like = f"{_few(trains)}, which the model learns from"
    elif judges:
        like = f"{_few(judges)}, by which the model is judged"
    else:
        like = "another document in quarantine"
    return f"It shows the same as {like}: so it neither trains nor judges."


def _few(names: Sequence[str]) -> str:
    """At most two names, and how many more there are."""
    return joined(list(names)) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} others"


def lock(session: Session, project_id: str) -> None:
    """Have the groups of a project to oneself until the commit: on PostgreSQL, as on SQLite anyway."""
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
