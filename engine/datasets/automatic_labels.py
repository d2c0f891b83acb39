"""Automatic answers in datasets: adds unreviewed, auto-accepted answers when requested. Reads only."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, select
from sqlalchemy.orm import Session, load_only

from db.statuses import ACCEPTED
from db.tables import Annotation, AutomaticAnswer, Document, DocumentGroup, ModelVersion, Project, Question, Task
from engine.annotation import automatic_checks
from engine.annotation.proposal import read_state
from engine.datasets.filters import Filters
from engine.datasets.labels import AutomaticLabel, ProjectFacts, with_living_words
from engine.documents.reading.reading_state import is_being_read
from engine.projects.project_settings import settings_of
from engine.queries import in_force


def find_trusted_versions(session: Session, project_id: str) -> list[str]:
    """Return the ids of versions with automatic answers in force, without those whose audit failed."""
    answered = select(AutomaticAnswer.model_version_id).where(AutomaticAnswer.project_id == project_id, in_force())
    target = settings_of(session.get_one(Project, project_id)).precision_target
    versions = session.scalars(answered.distinct()).all()
    return [
        version_id
        for version_id in versions
        if automatic_checks.failed_audit_sentence(session, project_id, version_id, target) is None
    ]


def automatic_labels(
    session: Session, known: ProjectFacts, documents: Sequence[str], versions: Sequence[str], filters: Filters
) -> list[AutomaticLabel]:
    """Return the automatic answers of some versions on some documents that pass `filters`, of any weight."""
    on_these = Task.document_id.in_(documents) & Document.id.in_(
        documents
    )  # PostgreSQL does not derive one condition from the other
    rows = session.execute(chosen_automatic(on_these, versions, filters).order_by(AutomaticAnswer.id))
    labels = [
        AutomaticLabel(
            answer, question_id, question, document, group, version, read_state(answer.answer, answer.page_id)
        )
        for answer, question_id, question, document, group, version in rows
    ]
    labels = [label for label in labels if label.state.pages]
    with_living_words(session, known, [label.state for label in labels])
    return labels


def chosen_automatic(
    of: ColumnElement[bool], versions: Sequence[str], filters: Filters
) -> Select[Any, Any, Any, Any, Any, Any]:
    """Return the statement for the automatic answers of some versions that pass `filters`."""
    by_a_person = exists().where(
        Annotation.document_id == Task.document_id,
        Annotation.question_id == Task.question_id,
        Annotation.status.in_(ACCEPTED),
    )
    chosen = (
        select(AutomaticAnswer, Question.id, Question.text, Document, DocumentGroup, ModelVersion)
        .join(Task, Task.id == AutomaticAnswer.task_id)
        .join(Question, Question.id == Task.question_id)
        .join(Document, Document.id == Task.document_id)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .join(ModelVersion, ModelVersion.id == AutomaticAnswer.model_version_id)
        .options(load_only(ModelVersion.project_id, ModelVersion.number, ModelVersion.checkpoint_sha256))
        .where(of, in_force(), AutomaticAnswer.model_version_id.in_(versions))
        .where(~by_a_person, ~is_being_read())
    )
    return filters.narrow(chosen, AutomaticAnswer.created_at)
