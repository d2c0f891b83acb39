"""The rows of a document, deleted in the order of their references."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Delete, bindparam, delete, select, update
from sqlalchemy.orm import Session

from db import changes
from db.tables import (
    Annotation,
    AskedDocument,
    AutomaticAnswer,
    BrokenRules,
    BucketObject,
    Document,
    DocumentFigures,
    DocumentSignature,
    DocumentText,
    ExtractionCallback,
    FieldValue,
    FinishedDocument,
    FinishedMask,
    Job,
    LabelReview,
    LeftTask,
    OutsideAnswer,
    OutsideReading,
    Page,
    PageSignature,
    PageWidget,
    PageWord,
    PartAnswer,
    Prediction,
    QueueDocument,
    RemovedDocument,
    ReplacedImage,
    Review,
    Revision,
    SignatureBand,
    Skip,
    SurveyAnswer,
    Task,
    TransferredDocument,
    ValueFlag,
    WaitingReview,
    WordEdit,
)
from engine.documents.reading.reading_state import key_of, key_of_another

PAGES_AT_ONCE = 10

_DOCUMENT: Any = bindparam("document")
_PAGES: Any = bindparam("pages", expanding=True)
_KEYS: Any = bindparam("keys", expanding=True)
_answers = select(Annotation.id).where(Annotation.document_id == _DOCUMENT)
_tasks = select(Task.id).where(Task.document_id == _DOCUMENT)
_signatures = select(PageSignature.id).where(PageSignature.document_id == _DOCUMENT)
_pages_of_document = select(Page.id).where(Page.document_id == _DOCUMENT)


def _of(table: Any) -> Any:
    return table.__table__


def _rows(table: Any, column: str, chosen: Any) -> Any:
    """Return the statement that deletes the rows whose column is among the chosen ids, or is the document."""
    condition = _of(table).c[column] == chosen if chosen is _DOCUMENT else _of(table).c[column].in_(chosen)
    return delete(_of(table)).where(condition)


_WORDS = [_rows(table, "page_id", _PAGES) for table in (PageWord, PageWidget, WordEdit)]
_STATEMENTS = [
    update(_of(Task)).where(_of(Task).c.document_id == _DOCUMENT).values(gold_revision_id=None),
    update(_of(BucketObject)).where(_of(BucketObject).c.document_id == _DOCUMENT).values(document_id=None),
    *(
        _rows(table, "document_id", _DOCUMENT)
        for table in (
            FinishedMask, FinishedDocument, QueueDocument, DocumentFigures, AskedDocument, WaitingReview, FieldValue,
            ValueFlag, BrokenRules, OutsideAnswer, OutsideReading, SurveyAnswer, DocumentSignature, DocumentText,
            ExtractionCallback, TransferredDocument,
        )
    ),
    *(_rows(table, "task_id", _tasks) for table in (AutomaticAnswer, PartAnswer, LeftTask, Skip)),
    *(_rows(table, "annotation_id", _answers) for table in (LabelReview, Review, Revision, Prediction)),
    *(_rows(table, "page_id", _pages_of_document) for table in (Prediction, ReplacedImage)),
    _rows(Annotation, "document_id", _DOCUMENT),
    _rows(Task, "document_id", _DOCUMENT),
    _rows(SignatureBand, "signature_id", _signatures),
    _rows(PageSignature, "document_id", _DOCUMENT),
    _rows(Page, "document_id", _DOCUMENT),
    _rows(RemovedDocument, "document_id", _DOCUMENT),
    _rows(Document, "id", _DOCUMENT),
]  # fmt: skip
DELETED: list[Any] = [statement.table for statement in (*_WORDS, *_STATEMENTS) if isinstance(statement, Delete)]
_JOBS = delete(_of(Job)).where(_of(Job).c.asked_as.in_(_KEYS))


def delete_words(session: Session, pages: Sequence[str]) -> None:
    """Delete words, their corrections and form fields of pages, at most PAGES_AT_ONCE at a time."""
    for statement in _WORDS:
        session.connection().execute(statement, {"pages": list(pages)})


def delete_document(session: Session, document_id: str, pages: Sequence[str]) -> None:
    """Delete all rows of a document, whose words are deleted already, and the jobs that read it.

    Args:
        session: Of the unit of work.
        document_id: The document.
        pages: Ids of its pages.
    """
    connection = session.connection()
    for start in range(0, len(pages), PAGES_AT_ONCE):
        delete_words(session, pages[start : start + PAGES_AT_ONCE])  # read in between
    for statement in _STATEMENTS:
        connection.execute(statement, {"document": document_id})
    connection.execute(_JOBS, {"keys": [key_of(document_id), key_of_another(document_id)]})
    changes.publish(session, "jobs", None)
