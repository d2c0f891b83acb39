"""Numbers of documents, and their sums by project: pages, bytes, questions, and those that are accepted or compared."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import bindparam, case, exists, func, literal, null, or_, select, union_all
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED, ANSWERED, REMOVED
from db.tables import (
    EVERYBODY,
    Annotation,
    Document,
    DocumentFigures,
    Page,
    ProjectFigures,
    RemovedDocument,
    Task,
    TransferredDocument,
)
from engine.followers.derived_table import DerivedTable, Row, Sums
from engine.followers.follower import Follower


def compute_figures(session: Session, ids: Collection[str]) -> Iterator[Row]:
    """Yield the rows of DocumentFigures of some documents, as their pages, tasks and answers say."""
    connection = session.connection()
    questions: dict[str, set[str]] = defaultdict(set)
    accepted: dict[str, set[str]] = defaultdict(set)
    shared: dict[str, set[str]] = defaultdict(set)
    answered: dict[tuple[str, str], set[str]] = defaultdict(set)
    for document_id, question_id, author_id, status, several in connection.execute(
        _ANSWERS_AND_TASKS, {"ids": list(ids)}
    ):
        questions[document_id].add(question_id)
        if several:
            shared[document_id].add(question_id)
        if status in ACCEPTED:
            accepted[document_id].add(question_id)
        if status in ANSWERED:
            answered[document_id, author_id].add(question_id)
    projects = {}
    for document_id, project_id, uploader_id, bytes_, pages in connection.execute(_PAGES, {"ids": list(ids)}):
        projects[document_id] = project_id
        numbers = len(questions[document_id]), len(accepted[document_id])
        compared = len(accepted[document_id] & shared[document_id])
        yield document_id, EVERYBODY, project_id, pages, *numbers, compared, bytes_, uploader_id or ""
    for (document_id, person_id), theirs in answered.items():
        compared = len(theirs & accepted[document_id] & shared[document_id])
        if compared and document_id in projects:
            yield document_id, person_id, projects[document_id], 0, 0, 0, compared, 0, ""


def is_counted(session: Session, document_id: str) -> bool:
    """Return whether a document still counts in the sums."""
    return session.scalar(select(DocumentFigures.document_id).filter_by(document_id=document_id).limit(1)) is not None


def count_figures(row: Any) -> Iterable[tuple[tuple[Any, ...], Mapping[str, int]]]:
    """Yield what a row adds to ProjectFigures."""
    numbers = {name: getattr(row, name) for name in ("pages", "questions", "accepted", "compared")}
    if row.person_id != EVERYBODY:
        yield (row.project_id, row.person_id), numbers
        return
    size = {"documents": 1, "bytes": row.bytes}
    yield (row.project_id, EVERYBODY), size | numbers
    if row.uploader_id:
        yield (row.project_id, row.uploader_id), size


_IDS: Any = bindparam("ids", expanding=True)
_ERASING = exists().where(RemovedDocument.document_id == Document.id, RemovedDocument.erasing)  # nobody's any more
# The original of a move, in the bin: the document in the other project counts for its uploader.
_MOVED_AWAY = exists().where(TransferredDocument.origin_id == Document.id, TransferredDocument.moved) & exists().where(
    RemovedDocument.document_id == Document.id
)
_PAGES = select(
    Document.id,
    Document.project_id,
    case((_MOVED_AWAY, null()), else_=Document.created_by),
    Document.byte_count,
    select(func.count(Page.id)).where(Page.document_id == Document.id).scalar_subquery(),
).where(Document.id.in_(_IDS), ~_ERASING)
_SHARED = case((or_(Task.wanted > 1, Task.gold_revision_id.is_not(None)), 1), else_=0)
_ANSWERS_AND_TASKS = union_all(
    select(Annotation.document_id, Annotation.question_id, Annotation.author_id, Annotation.status, literal(0)).where(
        Annotation.document_id.in_(_IDS), Annotation.status != REMOVED
    ),
    select(Task.document_id, Task.question_id, null(), null(), _SHARED).where(
        Task.document_id.in_(_IDS), Task.closed_at.is_(None)
    ),
)
FOLLOWER = Follower(
    "document_figures", (DerivedTable(DocumentFigures, compute_figures, Sums(ProjectFigures, count_figures)),)
)
