"""Groups of documents and their split.

A group gets its split when its first document comes in, and keeps it for ever: what once judged a model never trains one.
Splits are drawn in blocks of ten groups, shuffled by the project's id (block randomisation), so that the shares hold
from the first ten documents on and still nobody can choose by the order of uploads.
"""

import random

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import Document, DocumentGroup, Project

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


def group_for(session: Session, project_id: str, sha256: str) -> DocumentGroup:
    """Return the group for a new document: that of the same content in the project, else a new one with its split.

    The caller holds the writing transaction. Locking the project's row lets uploads take their places one after the other on
    PostgreSQL, as they do on SQLite anyway.
    """
    session.scalar(select(Project.id).where(Project.id == project_id).with_for_update())
    same = session.scalar(
        select(DocumentGroup)
        .join(Document, Document.group_id == DocumentGroup.id)
        .where(Document.project_id == project_id, Document.sha256 == sha256)
    )
    if same is not None:
        return same
    newest = session.scalar(select(func.max(DocumentGroup.sequence)).where(DocumentGroup.project_id == project_id))
    sequence = 0 if newest is None else newest + 1
    group = DocumentGroup(project_id=project_id, sequence=sequence, split=split_of(project_id, sequence))
    session.add(group)
    session.flush()
    return group
