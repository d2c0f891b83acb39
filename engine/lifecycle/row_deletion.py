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
from engine.lifecycle.table_statements import delete_where, table_of

PAGES_AT_ONCE = 10

_DOCUMENT: Any = bindparam("document")
_PAGES: Any = bindparam("pages", expanding=True)
_KEYS: Any = bindparam("keys", expanding=True)
_answers = select(Annotation.id).where(Annotation.document_id == _DOCUMENT)
_tasks = select(Task.id).where(Task.document_id == _DOCUMENT)
_signatures = select(PageSignature.id).where(PageSignature.document_id == _DOCUMENT)
_pages_of_document = select(Page.id).where(Page.document_id == _DOCUMENT)


_WORDS = [delete_where(table, "page_id", _PAGES) for table in (PageWord, PageWidget, WordEdit)]
_STATEMENTS = [
    update(table_of(Task)).where(table_of(Task).c.document_id == _DOCUMENT).values(gold_revision_id=None),
    update(table_of(BucketObject)).where(table_of(BucketObject).c.document_id == _DOCUMENT).values(document_id=None),
    *(
        delete_where(table, "document_id", _DOCUMENT)
        for table in (
            FinishedMask, FinishedDocument, QueueDocument, DocumentFigures, AskedDocument, WaitingReview, FieldValue,
            ValueFlag, BrokenRules, OutsideAnswer, OutsideReading, SurveyAnswer, DocumentSignature, DocumentText,
            ExtractionCallback, TransferredDocument,
        )
    ),
    *(delete_where(table, "task_id", _tasks) for table in (AutomaticAnswer, PartAnswer, LeftTask, Skip)),
    *(delete_where(table, "annotation_id", _answers) for table in (LabelReview, Review, Revision, Prediction)),
    *(delete_where(table, "page_id", _pages_of_document) for table in (Prediction, ReplacedImage)),
    delete_where(Annotation, "document_id", _DOCUMENT),
    delete_where(Task, "document_id", _DOCUMENT),
    delete_where(SignatureBand, "signature_id", _signatures),
    delete_where(PageSignature, "document_id", _DOCUMENT),
    delete_where(Page, "document_id", _DOCUMENT),
    delete_where(RemovedDocument, "document_id", _DOCUMENT),
    delete_where(Document, "id", _DOCUMENT),
]  # fmt: skip
DELETED: list[Any] = [statement.table for statement in (*_WORDS, *_STATEMENTS) if isinstance(statement, Delete)]
_JOBS = delete(table_of(Job)).where(table_of(Job).c.asked_as.in_(_KEYS))


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
