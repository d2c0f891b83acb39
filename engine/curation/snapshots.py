"""Snapshots: a choice of accepted answers, frozen, so that training and exports never read what people still change.

The choice is written down as a manifest (engine.curation.manifest) and named by its SHA-256: the same choice is the same snapshot.

Where several people's answers to one question of one document are accepted (overlap, known answers), one of them is taken, so
that the question counts once in training and export: the known answer of a task, else one that a reviewer judged or mended, else
the newest. Drafts and rejected answers are taken only where they are asked for, then each of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import Select, case, exists, func, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session, aliased

from db.tables import (
    Annotation,
    Document,
    DocumentGroup,
    Lease,
    ModelVersion,
    Page,
    PageWord,
    Prediction,
    Question,
    Revision,
    Snapshot,
    Task,
    User,
)
from engine.annotation.state import AnnotationState, stored
from engine.annotation.word_list import living
from engine.annotation.words import listed
from engine.curation.manifest import FORMAT, FrozenItem, canonical, items_of
from engine.documents.page import READING
from engine.errors import Refused
from engine.workspace import Workspace

ACCEPTED = ("accepted", "fixed")  # fixed: accepted, after the reviewer mended it
QUARANTINED = "quarantined"  # stands for the split of a document that may neither train nor judge


class Counts(TypedDict):
    """What a snapshot holds."""

    annotations: int
    documents: int
    by_split: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which answers a snapshot takes. None means all."""

    splits: tuple[str, ...] | None = None
    statuses: tuple[str, ...] = ACCEPTED
    quarantined: bool = False


def freeze(
    workspace: Workspace,
    project_id: str,
    *,
    split: str | Sequence[str] | None = None,
    statuses: Sequence[str] = ACCEPTED,
    quarantined: bool = False,
    by: User | None = None,
) -> Snapshot:
    """Freeze a project's answers and return the snapshot; the same choice again returns the one there is.

    `split`: the splits to take, None for all. `statuses`: of the annotations' newest revisions. `quarantined`: also take
    documents that joined groups of different splits. Refused when there is nothing to freeze.
    """
    splits = (split,) if isinstance(split, str) else tuple(split) if split is not None else None
    filters = Filters(splits=splits, statuses=tuple(statuses), quarantined=quarantined)
    with workspace.database.read() as session:
        manifest = _manifest(session, workspace, project_id, filters)
    if not manifest["items"]:
        raise Refused(
            "There is no accepted answer"
            + (f" on a document of the split {' or '.join(splits)}" if splits else "")
            + " to freeze yet."
        )
    sha256 = workspace.blobs.put(canonical(manifest))
    counts = _counts(manifest)
    try:
        with workspace.database.write() as session:
            there = _stored(session, project_id, sha256)
            if there is not None:
                return there
            snapshot = Snapshot(
                project_id=project_id,
                sha256=sha256,
                filters=asdict(filters),
                counts=dict(counts),
                created_by=by.id if by else None,
            )
            session.add(snapshot)
            session.flush()
            return snapshot
    except IntegrityError:  # on PostgreSQL somebody froze the same at the same moment
        with workspace.database.read() as session:
            there = _stored(session, project_id, sha256)
        if there is None:
            raise
        return there


def load(workspace: Workspace, snapshot: Snapshot) -> Iterator[FrozenItem]:
    """Yield what a snapshot holds, by annotation. Refused when its manifest is not what it was."""
    return items_of(workspace, snapshot.sha256)


def accepted_revisions(session: Session, project_id: str, splits: tuple[str, ...] | None = None) -> dict[str, datetime]:
    """Return what `freeze` would take now: the ids of the revisions, and when each was made."""
    chosen = _chosen(project_id, Filters(splits=splits)).with_only_columns(Revision.id, Revision.created_at)
    return {row.id: row.created_at for row in session.execute(chosen)}


def _chosen(project_id: str, filters: Filters) -> Select[Any, Any, Any, Any, Any, Any, Any]:
    # The proposal that was corrected may be named by an earlier revision than the head.
    earlier = aliased(Revision)
    proposal = (
        select(earlier.prediction_id)
        .where(earlier.annotation_id == Annotation.id, earlier.prediction_id.is_not(None))
        .where(earlier.number <= Annotation.head)
        .order_by(earlier.number.desc())
        .limit(1)
        .scalar_subquery()
    )
    # One statement: what it sees is one moment of the database, also on PostgreSQL.
    chosen = (
        select(Annotation, Revision, Question.text, User.name, Document, DocumentGroup, ModelVersion.checkpoint_sha256)
        .join(Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head))
        .join(Question, Question.id == Annotation.question_id)
        .join(User, User.id == Annotation.author_id)
        .join(Document, Document.id == Annotation.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .outerjoin(Prediction, Prediction.id == proposal)
        .outerjoin(ModelVersion, ModelVersion.id == Prediction.model_version_id)
        # A document whose pages are still coming in may yet move to another group, and so to another split.
        .where(~exists().where(Lease.subject == READING + Document.id))
        .where(Annotation.project_id == project_id, Revision.status.in_(filters.statuses))
    )
    kept = _one_a_question(project_id, [status for status in filters.statuses if status in ACCEPTED])
    chosen = chosen.where(Revision.status.not_in(ACCEPTED) | Annotation.id.in_(kept))
    if not filters.quarantined:
        chosen = chosen.where(DocumentGroup.quarantined_at.is_(None))
    if filters.splits is not None:
        chosen = chosen.where(DocumentGroup.split.in_(filters.splits))
    return chosen


def _one_a_question(project_id: str, statuses: Sequence[str]) -> Select[tuple[str]]:
    """Return the statement for the one accepted answer that is taken of each question of each document."""
    gold = (
        select(Task.id)
        .join(Revision, Revision.id == Task.gold_revision_id)
        .where(Revision.annotation_id == Annotation.id)
        .exists()
    )
    head = aliased(Revision)
    trust = case((gold, 0), (or_(head.status == "fixed", head.author_id != Annotation.author_id), 1), else_=2)
    place = func.row_number().over(
        partition_by=(Annotation.document_id, Annotation.question_id),
        order_by=(trust, head.created_at.desc(), Annotation.id.desc()),
    )
    ranked = (
        select(Annotation.id, place.label("place"))
        .join(head, (head.annotation_id == Annotation.id) & (head.number == Annotation.head))
        .where(Annotation.project_id == project_id, head.status.in_(statuses))
        .subquery()
    )
    return select(ranked.c.id).where(ranked.c.place == 1)


def _manifest(session: Session, workspace: Workspace, project_id: str, filters: Filters) -> dict[str, Any]:
    documents: dict[str, tuple[Document, str]] = {}
    items = []
    of_project = (
        select(Page.id).join(Document, Document.id == Page.document_id).where(Document.project_id == project_id)
    )
    mended = set(session.scalars(of_project.where(Page.words_version > 0)))
    for annotation, revision, question, author, document, group, model_version in session.execute(
        _chosen(project_id, filters)
    ):
        documents[document.id] = (document, QUARANTINED if group.quarantined_at else group.split)
        items.append(
            {
                "annotation_id": annotation.id,
                "revision_id": revision.id,
                "revision": revision.number,
                "status": revision.status,
                "question_id": annotation.question_id,
                "question": question,
                "author": author,
                "source": annotation.source,
                "model_version": model_version,
                "document_id": document.id,
                "state": stored(_with_living_words(session, AnnotationState.model_validate(revision.state), mended)),
            }
        )
    return {
        "format": FORMAT,
        "project_id": project_id,
        "documents": [
            _document_json(session, workspace, document, split)
            for document, split in sorted(documents.values(), key=lambda pair: pair[0].id)
        ],
        "items": sorted(items, key=lambda item: str(item["annotation_id"])),
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


def _with_living_words(session: Session, state: AnnotationState, mended: set[str]) -> AnnotationState:
    """Return a state whose marks name words that stand on their pages: those in the place of words mended since."""
    for page_id in mended & state.pages.keys():
        mark, words = state.pages[page_id], listed(session, page_id)
        if not {word.number for word in words if word.retired}.isdisjoint(mark.words):
            mark.words = [word.number for word in living(mark.words, words) if not word.retired]
    return state


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


def _counts(manifest: dict[str, Any]) -> Counts:
    split_of = {document["id"]: document["split"] for document in manifest["documents"]}
    by_split: dict[str, int] = {}
    for item in manifest["items"]:
        split = split_of[item["document_id"]]
        by_split[split] = by_split.get(split, 0) + 1
    return Counts(annotations=len(manifest["items"]), documents=len(split_of), by_split=by_split)


def _stored(session: Session, project_id: str, sha256: str) -> Snapshot | None:
    return session.scalar(select(Snapshot).where(Snapshot.project_id == project_id, Snapshot.sha256 == sha256))
