"""Pages of a project without accepted answers, frozen for a retraining: chosen by hash and kept with their words.

The list is one file of canonical JSON, stored as a blob like the files of a snapshot: it holds each page's words as
they were read at that moment, so a run is made again to the bit, whatever is corrected or read anew later.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import Document, Page
from engine.datasets.frozen_words import living_words
from engine.datasets.manifest import canonical, whole
from engine.errors import Refused
from engine.training.judging_files import judging_files
from engine.training.sources.corpus import UnlabelledPage
from engine.training.unlabelled.project_documents import without_labels
from engine.training.unlabelled.word_source import FEWEST_WORDS
from engine.workspace import Workspace
from model.examples import Example, Word

FORMAT = "glossator-unlabelled/1"
MOST_PAGES = 500  # of a run


@dataclass(frozen=True, slots=True)
class FrozenPages:
    """Frozen list: the SHA-256 of its file, its pages, and their documents."""

    sha256: str
    pages: int
    documents: int


def freeze_pages(workspace: Workspace, project_id: str, seed: int, most: int = MOST_PAGES) -> FrozenPages | None:
    """Freeze pages of a project's training documents without accepted answers; None where there is none.

    Documents follow each other by the hashes of their contents, from a place that the seed gives, so each run takes
    other ones. Of each document one page is taken, then of each a second one, until there are enough.

    Args:
        workspace: Open workspace.
        project_id: Project of the pages.
        seed: Seed of the run.
        most: Pages at most. As many documents are looked at, however many the project has.
    """
    with workspace.database.snapshot_read() as session:
        groups = _documents(session, project_id, seed, most)
        pages = _pages(session, list(groups), most)
        words = [
            [[text, *box] for _, text, *box, _ in own]
            for own in living_words(session, ((page.id, page.word_count) for page in pages))
        ]
    rows = [
        {
            "id": page.id,
            "document_id": page.document_id,
            "group_id": groups[page.document_id],
            "size": [page.width, page.height],
            "words": own,
        }
        for page, own in zip(pages, words, strict=True)
        if len(own) >= FEWEST_WORDS
    ]
    if not rows:
        return None
    sha256 = workspace.blobs.put(canonical({"format": FORMAT, "pages": rows}))
    return FrozenPages(sha256, len(rows), len({row["document_id"] for row in rows}))


def pages_of(workspace: Workspace, sha256: str) -> tuple[UnlabelledPage, ...]:
    """Return the pages of a frozen list.

    Raises:
        NotFound: The file is missing.
        Refused: The file was changed on disk, or has an unknown format.
    """
    content = json.loads(whole(workspace, sha256, of="the list of pages without labels"))
    if content.get("format") != FORMAT:
        raise Refused(f"The list {sha256[:12]} of pages without labels has an unknown format; update Glossator.")
    return tuple(
        UnlabelledPage(
            row["document_id"],
            row["group_id"],
            Example(tuple(Word(text, tuple(box)) for text, *box in row["words"]), tuple(row["size"]), ()),
        )
        for row in content["pages"]
    )


def _documents(session: Session, project_id: str, seed: int, most: int) -> dict[str, str]:
    """Return the groups of documents by id."""
    start = hashlib.sha256(f"unlabelled:{seed}".encode()).hexdigest()
    wanted = (
        without_labels(project_id)
        .with_only_columns(Document.id, Document.group_id, Document.sha256)
        .order_by(Document.sha256)
    )
    groups: dict[str, str] = {}
    for part in (Document.sha256 >= start, Document.sha256 < start):
        for document_id, group_id, sha256 in session.execute(wanted.where(part).limit(most - len(groups))):
            if sha256 not in judging_files():
                groups[document_id] = group_id
    return groups


def _pages(session: Session, documents: Sequence[str], most: int) -> list[Page]:
    """Return pages of documents by id: the first of each by the hash of its image, then the second ones, and so on."""
    place = func.row_number().over(partition_by=Page.document_id, order_by=(Page.image_sha256, Page.id))
    placed = (
        select(Page.id, place.label("place"))
        .where(Page.document_id.in_(documents), Page.word_count >= FEWEST_WORDS)
        .subquery()
    )
    chosen = (
        select(Page)
        .join(placed, placed.c.id == Page.id)
        .order_by(placed.c.place, Page.image_sha256, Page.id)
        .limit(most)
    )
    return sorted(session.scalars(chosen), key=lambda page: page.id)
