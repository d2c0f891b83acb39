"""What goes into the manifest of a snapshot, row by row: documents with their pages and words, answers, and what was left out."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Document, Page, PageWord
from engine.annotation.state import stored
from engine.curation.labels import Chosen, Label
from engine.curation.manifest import FORMAT, canonical
from engine.workspace import Workspace

QUARANTINED = "quarantined"  # stands for the split of a document that may neither train nor judge


def manifest_of(session: Session, workspace: Workspace, project_id: str, chosen: Chosen) -> dict[str, Any]:
    """Return the manifest of labels that were chosen; the words of their pages are stored as blobs."""
    documents = {
        label.document.id: (label.document, QUARANTINED if label.group.quarantined_at else label.group.split)
        for label in chosen.taken
    }
    return {
        "format": FORMAT,
        "project_id": project_id,
        "documents": [
            _document_json(session, workspace, document, split)
            for document, split in sorted(documents.values(), key=lambda pair: pair[0].id)
        ],
        "items": [_item_json(label) for label in _in_order(chosen.taken)],
        "left_out": [_left_out_json(label) for label in _in_order(chosen.left_out)],
        "passed_over": [label.revision.id for label in _in_order(chosen.passed_over)],
        "people": {
            row.person: {
                "reliability": row.reliability,
                "comparisons": row.comparisons,
                "gold_questions": row.gold_questions,
            }
            for row in chosen.people
        },
    }


def _in_order(labels: Sequence[Label]) -> list[Label]:
    return sorted(labels, key=lambda label: label.annotation.id)


def _item_json(label: Label) -> dict[str, Any]:
    return {
        "annotation_id": label.annotation.id,
        "revision_id": label.revision.id,
        "revision": label.revision.number,
        "status": label.revision.status,
        "question_id": label.annotation.question_id,
        "question": label.question,
        "author": label.author,
        "source": label.annotation.source,
        "model_version": label.model_version,
        "document_id": label.document.id,
        "state": stored(label.state),
        "weight": label.weight,
    }


def _left_out_json(label: Label) -> dict[str, Any]:
    return {
        "annotation_id": label.annotation.id,
        "revision_id": label.revision.id,
        "document_id": label.document.id,
        "document": label.document.name,
        "question": label.question,
        "author": label.author,
        "reasons": label.reasons,
    }


def _document_json(session: Session, workspace: Workspace, document: Document, split: str) -> dict[str, Any]:
    pages = session.scalars(select(Page).where(Page.document_id == document.id).order_by(Page.number)).all()
    return {
        "id": document.id,
        "sha256": document.sha256,
        "name": document.name,
        "split": split,
        "licence": document.licence,
        "source": document.source,
        "pages": [
            {
                "id": page.id,
                "number": page.number,
                "width": page.width,
                "height": page.height,
                "image_sha256": page.image_sha256,
                "image_media_type": page.image_media_type,
                "words_sha256": _freeze_words(session, workspace, page.id),
            }
            for page in pages
        ],
    }


def _freeze_words(session: Session, workspace: Workspace, page_id: str) -> str:
    """Store a page's words as a blob: mending OCR may retire words later, and a snapshot must not notice."""
    columns = (PageWord.number, PageWord.text, PageWord.x0, PageWord.y0, PageWord.x1, PageWord.y1, PageWord.line)
    rows = session.execute(
        select(*columns)
        .where(PageWord.page_id == page_id, PageWord.retired_at.is_(None))
        .order_by(PageWord.position, PageWord.number)
    )
    words = [
        {"number": number, "text": text, "box": [x0, y0, x1, y1], "line": line}
        for number, text, x0, y0, x1, y1, line in rows
    ]
    return workspace.blobs.put(canonical(words))
