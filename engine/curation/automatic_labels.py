"""Automatic answers as part of a dataset, for who asks for them: what no person has looked at, and is marked so. Reading only."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, select
from sqlalchemy.orm import Session

from db.tables import AutomaticAnswer, Document, DocumentGroup, Lease, ModelVersion, Question, Task
from engine.annotation.proposal import marked
from engine.curation.filters import Filters
from engine.curation.labels import AutomaticLabel, Known, with_living_words
from engine.curation.settled import standing
from engine.documents.page import READING


def automatic_labels(
    session: Session, known: Known, documents: Sequence[str], filters: Filters
) -> list[AutomaticLabel]:
    """Return the automatic answers on some documents that `filters` let pass; those of least weight too."""
    rows = session.execute(chosen_automatic(Task.document_id.in_(documents), filters).order_by(AutomaticAnswer.id))
    labels = [
        AutomaticLabel(answer, question_id, question, document, group, version, marked(answer.answer, answer.page_id))
        for answer, question_id, question, document, group, version in rows
    ]
    with_living_words(session, known, [label.state for label in labels])
    return labels


def chosen_automatic(of: ColumnElement[bool], filters: Filters) -> Select[Any, Any, Any, Any, Any, Any]:
    """Return the statement for the automatic answers that `filters` let pass."""
    chosen = (
        select(AutomaticAnswer, Question.id, Question.text, Document, DocumentGroup, ModelVersion)
        .join(Task, Task.id == AutomaticAnswer.task_id)
        .join(Question, Question.id == Task.question_id)
        .join(Document, Document.id == Task.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .join(ModelVersion, ModelVersion.id == AutomaticAnswer.model_version_id)
        .where(of, standing(), ~exists().where(Lease.subject == READING + Document.id))
    )
    return filters.narrowed(chosen, AutomaticAnswer.created_at)
