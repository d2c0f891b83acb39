"""Estimates for the tab Export: the number of answers that a choice would take, and the answered questions."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, case, exists, func, select, union_all

from db.statuses import ACCEPTED, AUTOMATIC
from db.tables import (
    Annotation,
    AutomaticAnswer,
    Document,
    DocumentGroup,
    ModelVersion,
    Prediction,
    Question,
    Revision,
    Task,
)
from engine.datasets.automatic_labels import chosen_automatic, find_trusted_versions
from engine.datasets.filters import Filters
from engine.datasets.snapshots import proposal_of
from engine.documents.reading.reading_state import is_being_read
from engine.queries import in_force, is_newest, not_removed
from engine.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated number of answers and documents of a choice; an upper bound unless `exact`."""

    answers: int
    documents: int
    exact: bool


def would_take(workspace: Workspace, project_id: str, filters: Filters) -> Estimate:
    """Return an estimate of the answers that `freeze_with` would take now.

    Counted by the database: weights and quality checks are not applied. Without times and models, an index tells the
    answers of each document; with them, the newest revision of every answer is read.
    """
    parts: list[Select[str, int]] = []
    if set(filters.statuses) - {AUTOMATIC}:
        parts.append(_by_document(project_id, filters))
    with workspace.database.read() as session:
        versions = find_trusted_versions(session, project_id) if AUTOMATIC in filters.statuses else []
        if versions:
            automatic = chosen_automatic(AutomaticAnswer.project_id == project_id, versions, filters)
            parts.append(automatic.with_only_columns(Task.document_id, func.count()).group_by(Task.document_id))
        if not parts:
            return Estimate(0, 0, exact=True)
        taken = (union_all(*parts) if len(parts) > 1 else parts[0]).subquery()
        document_id, answers = taken.c
        of_documents = document_id.distinct() if len(parts) > 1 else document_id
        counted = select(func.coalesce(func.sum(answers), 0), func.count(of_documents))
        if conditions := filters.of_groups():
            counted = (
                counted.join_from(taken, Document, Document.id == document_id)
                .join(DocumentGroup, DocumentGroup.id == Document.group_id)
                .where(*conditions)
            )
        answer_count, documents = session.execute(counted).one()
    return Estimate(int(answer_count), documents, exact=filters.agreement is None and filters.unfit and not versions)


def _by_document(project_id: str, filters: Filters) -> Select[str, int]:
    """Return the statement for the number of people's answers by document, before conditions on groups."""
    statuses = sorted(set(filters.statuses) - {AUTOMATIC})
    # One accepted answer counts for a question of a document; other answers count each.
    counted: ColumnElement[int] = func.count(Annotation.question_id.distinct())
    if set(statuses) - set(ACCEPTED):
        accepted = Annotation.status.in_(ACCEPTED)
        counted = func.count(case((accepted, Annotation.question_id)).distinct()) + func.count(case((~accepted, 1)))
    of_project = Annotation.project_id == project_id, Annotation.status.in_(statuses), not_removed()
    being_read = select(Document.id).where(Document.project_id == project_id, is_being_read())
    chosen = select(Annotation.document_id, counted).where(*of_project, Annotation.document_id.not_in(being_read))
    if filters.questions is not None:
        asked = Question.project_id == project_id, Question.text.in_(filters.questions)
        chosen = chosen.where(Annotation.question_id.in_(select(Question.id).where(*asked)))
    if times := filters.of_times(Revision.created_at):
        chosen = chosen.join(Revision, is_newest()).where(*times)
    if models := filters.of_models():
        chosen = chosen.join(Prediction, Prediction.id == proposal_of())
        chosen = chosen.join(ModelVersion, ModelVersion.id == Prediction.model_version_id).where(*models)
    return chosen.group_by(Annotation.document_id)


def questions_answered(workspace: Workspace, project_id: str) -> list[str]:
    """Return the answered questions of a project, automatically answered ones included, alphabetically."""
    with workspace.database.read() as session:
        asked = select(Question.text).where(Question.project_id == project_id)
        of_project = Annotation.project_id == project_id  # and not in its bin
        answered = exists().where(Annotation.question_id == Question.id, Annotation.head > 0, not_removed(), of_project)
        of_question = (
            AutomaticAnswer.task_id == Task.id,
            Task.question_id == Question.id,
            Task.project_id == project_id,
        )
        by_trusted = AutomaticAnswer.model_version_id.in_(find_trusted_versions(session, project_id))
        automatic = exists().where(*of_question, in_force(), by_trusted)
        return list(session.scalars(asked.where(answered | automatic).order_by(Question.text)))
