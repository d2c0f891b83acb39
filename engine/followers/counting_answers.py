"""The answer that counts of each document and field: a person's, else an automatic one, else a survey's proposal."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import String, bindparam, cast, exists, select
from sqlalchemy.orm import Session, aliased

from db.statuses import AUTOMATIC
from db.tables import (
    Annotation,
    AutomaticAnswer,
    Document,
    Project,
    ProjectField,
    Question,
    Revision,
    SurveyAnswer,
    Task,
)
from engine.annotation.issuers import load_contexts
from engine.annotation.proposal import ProposedCell, table_state
from engine.annotation.state import AnnotationState, PageMark, Patch
from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext
from engine.queries import not_removed, replaces_person

PROPOSAL = "proposal"  # status of a survey's answer
_RANKS = {"accepted": 0, "fixed": 1, "submitted": 2, "draft": 3, "rejected": 4}
_THERE = 0.5  # probability from which a document counts as answering, as in engine.selection
AT_ONCE = 500  # rows of one statement: databases limit its parameters
Cell = tuple[str, str]  # document and question


@dataclass(frozen=True, slots=True)
class FieldsOf:
    """Fields of a document's project in their order, by question, and how the document prints values."""

    project_id: str
    fields: Mapping[str, FieldDefinition]
    context: LocaleContext


@dataclass(frozen=True, slots=True)
class CountingAnswer:
    """The answer that counts of a document to a field.

    Attributes:
        status: Of a person's answer; "automatic" or "proposal" else.
        state: What it marks.
        annotation_id: A person's answer.
        changed: A person edited the mark or the text.
        confidence: Of the model in its mark, or in "not in the document", 0..1.
    """

    status: str
    state: AnnotationState
    annotation_id: str | None = None
    changed: bool = False
    confidence: float | None = None


def load_fields_of(session: Session, ids: Collection[str]) -> dict[str, FieldsOf]:
    """Return the fields of each document's project, by document."""
    connection = session.connection()
    documents = connection.execute(_DOCUMENTS, {"ids": list(ids)}).all()
    projects = sorted({row.project_id for row in documents})
    fields: dict[str, dict[str, FieldDefinition]] = {project_id: {} for project_id in projects}
    for row in connection.execute(_FIELDS, {"ids": projects}):
        fields[row.project_id][row.question_id] = FieldDefinition.model_validate(row.definition)
    settings = {row.id: row.settings for row in connection.execute(_SETTINGS, {"ids": projects})}
    of_documents = {}
    for project_id in projects:
        here = [row.id for row in documents if row.project_id == project_id]
        for document_id, context in load_contexts(session, settings[project_id], here).items():
            of_documents[document_id] = FieldsOf(project_id, fields[project_id], context)
    return {row.id: of_documents[row.id] for row in documents}


def load_counting_answers(session: Session, fields: Mapping[str, FieldsOf]) -> dict[Cell, CountingAnswer]:
    """Return the answers that count; cells without any are left out.

    Of several people's answers to one field, the status decides, then the newest one.

    Args:
        session: For reading.
        fields: Fields by document, of all documents that are looked at.
    """
    found = _load_of_people(session, list(fields))
    gaps = {
        document: None
        for document, of_project in fields.items()
        if any((document, question) not in found for question in of_project.fields)
    }
    for ids in _batches(gaps):
        for cell, answer in _load_of_model(session, ids):
            found.setdefault(cell, answer)
    return {cell: answer for cell, answer in found.items() if cell[1] in fields[cell[0]].fields}


def _load_of_people(session: Session, ids: Collection[str]) -> dict[Cell, CountingAnswer]:
    connection = session.connection()
    best: dict[Cell, Any] = {}
    for row in connection.execute(_ANSWERS, {"ids": ids}):
        cell = row.document_id, row.question_id
        if cell not in best or (-_RANKS[row.status], row.id) > (-_RANKS[best[cell].status], best[cell].id):
            best[cell] = row
    found = {}
    cells = {row.id: (cell, row.status) for cell, row in best.items()}
    for some in _batches(cells):
        for row in connection.execute(_HEADS, {"ids": some}):
            cell, status = cells[row.annotation_id]
            state = AnnotationState.model_validate(row.state)
            found[cell] = CountingAnswer(status, state, row.annotation_id, bool(row.changed))
    return found


def _load_of_model(session: Session, ids: Collection[str]) -> Iterator[tuple[Cell, CountingAnswer]]:
    connection = session.connection()
    for status, statement in ((AUTOMATIC, _AUTOMATIC), (PROPOSAL, _PROPOSALS)):
        for row in connection.execute(statement, {"ids": ids}):
            there = row.answered >= _THERE and bool(row.answer["mask"]["counts"])
            state = _state_of(row.answer, row.page_id) if there else AnnotationState(no_answer=True)
            confidence = row.confidence if there else 1 - row.answered
            yield (row.document_id, row.question_id), CountingAnswer(status, state, confidence=confidence)


def _state_of(answer: Mapping[str, Any], page_id: str) -> AnnotationState:
    """Return what a model's answer marks; its other candidates are not read."""
    if cells := answer.get("cells"):
        return table_state([ProposedCell.model_validate(cell) for cell in cells])
    mask = Patch.model_validate(answer["mask"])
    return AnnotationState(pages={page_id: PageMark(words=answer["words"], mask=mask)})


def _batches(ids: Iterable[str]) -> Iterator[list[str]]:
    ordered = list(ids)
    for start in range(0, len(ordered), AT_ONCE):
        yield ordered[start : start + AT_ONCE]


_IDS: Any = bindparam("ids", expanding=True)
_DOCUMENTS = select(Document.id, Document.project_id).where(Document.id.in_(_IDS)).order_by(Document.id)
_SETTINGS = select(Project.id, Project.settings).where(Project.id.in_(_IDS))
_FIELDS = (
    select(ProjectField.project_id, ProjectField.question_id, ProjectField.definition)
    .join(Question, Question.id == ProjectField.question_id)
    .where(ProjectField.project_id.in_(_IDS), ProjectField.name.is_not(None))
    .order_by(Question.position, Question.id)
)
_ANSWERS = select(Annotation.id, Annotation.document_id, Annotation.question_id, Annotation.status).where(
    Annotation.document_id.in_(_IDS), not_removed(), Annotation.head > 0
)
_edited = aliased(Revision)
_HEADS = (
    select(
        Revision.annotation_id,
        Revision.state,
        exists()
        .where(_edited.annotation_id == Annotation.id, cast(_edited.edits, String) != "[]")
        .correlate(Annotation)
        .label("changed"),
    )
    .join(Annotation, (Annotation.id == Revision.annotation_id) & (Annotation.head == Revision.number))
    .where(Annotation.id.in_(_IDS))
)
_AUTOMATIC = (
    select(
        Task.document_id,
        Task.question_id,
        AutomaticAnswer.page_id,
        AutomaticAnswer.answer,
        AutomaticAnswer.answered,
        AutomaticAnswer.confidence,
    )
    .join(AutomaticAnswer, AutomaticAnswer.task_id == Task.id)
    .where(Task.document_id.in_(_IDS), replaces_person())
    .order_by(AutomaticAnswer.id)
)
_PROPOSALS = select(
    SurveyAnswer.document_id,
    SurveyAnswer.question_id,
    SurveyAnswer.page_id,
    SurveyAnswer.answer,
    SurveyAnswer.answered,
    SurveyAnswer.confidence,
).where(SurveyAnswer.document_id.in_(_IDS))
