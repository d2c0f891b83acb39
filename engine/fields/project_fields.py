"""Fields of a project: its standard questions in their order, with names and types; versions, and changes of the list.

A field is known by the id of its question. A changed wording keeps the question and its answers; the model is asked
anew. Every change of a definition is a new version.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from db.tables import Document, FieldVersion, Project, ProjectField, Question, RemovedQuestion, SurveyAnswer, User
from db.tables.documents import LONGEST_KEY, search_key
from engine import audit
from engine.errors import Conflict, NotFound, Refused
from engine.fields.definition import FieldDefinition
from engine.fields.field_list import check_list
from engine.fields.kinds import kind_of_type
from engine.fields.names import name_of_question
from engine.fields.parse_definition import parse_definition
from engine.fields.types import FieldType
from engine.plurals import count
from engine.queries import existing
from engine.tasks.opening import open_tasks, task_changes
from engine.text import check_question, join_names, quote_file_name
from engine.workspace import Workspace


class StoredField(FieldDefinition):
    """A field of a project."""

    id: str = Field(description="Id of its question.")
    version: int = Field(description="Number of its newest version, from 1.")
    position: int = Field(description="Place in the list, from 0.")

    @property
    def definition(self) -> FieldDefinition:
        """Return the definition alone."""
        return FieldDefinition(**{name: getattr(self, name) for name in FieldDefinition.model_fields})


class WantedField(FieldDefinition):
    """A field as somebody wants it; with an `id`, that field is changed, and keeps its answers."""

    id: Annotated[str, Field(max_length=32)] | None = None

    @property
    def definition(self) -> FieldDefinition:
        """Return the definition alone."""
        return FieldDefinition(**{name: getattr(self, name) for name in FieldDefinition.model_fields})


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A change of the list, before it is saved.

    Attributes:
        name: Name of the field, the new one.
        kind: "added", "changed" or "removed".
        documents: Number of documents whose answers it touches.
        sentence: What it does to them.
    """

    name: str
    kind: str
    documents: int
    sentence: str


@dataclass(frozen=True, slots=True)
class FieldAt:
    """A version of a field, with who made it."""

    number: int
    definition: dict[str, Any]
    person: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class _Match:
    """A wanted field with the question that it is, if there is one."""

    wanted: FieldDefinition
    question: Question | None
    field: ProjectField | None

    @property
    def kind_changes(self) -> bool:
        """Whether the model looks for another kind of value from now on. False of a field that is new."""
        if self.question is None:
            return False
        if self.field is None:
            return kind_of_type(self.wanted.type) is not None or self.wanted.type is FieldType.TABLE
        before = FieldDefinition.model_validate(self.field.definition)
        return _asks_otherwise(before, self.wanted)


def project_fields(workspace: Workspace, project_id: str) -> list[StoredField]:
    """Return the fields of a project in their order."""
    with workspace.database.read() as session:
        return load_fields(session, project_id)


def field_versions(workspace: Workspace, project_id: str, question_id: str) -> list[FieldAt]:
    """Return the versions of a field, the newest first. Raises NotFound."""
    with workspace.database.read() as session:
        field = existing(session, ProjectField, question_id)
        if field.project_id != project_id:
            raise NotFound("There is no such field.")
        chosen = (
            select(FieldVersion, User.name)
            .outerjoin(User, User.id == FieldVersion.created_by)
            .where(FieldVersion.question_id == question_id)
            .order_by(FieldVersion.number.desc())
        )
        return [FieldAt(row.number, row.definition, name, row.created_at) for row, name in session.execute(chosen)]


def replace_fields(
    workspace: Workspace,
    project_id: str,
    wanted: Sequence[FieldDefinition],
    by: str,
    before: Mapping[str, int] | None = None,
) -> list[StoredField]:
    """Replace the fields of a project; return them. Audited.

    A wanted field is the one with its `id`, else the one with its question, else the one with its name. Opens tasks for
    every document; tasks of removed fields close, and reopen with their answers when the field returns. In a large
    project the tasks follow in batches (engine.tasks.opening.task_changes).

    Args:
        workspace: Open workspace.
        project_id: The project.
        wanted: New list, in order.
        by: Acting user's id.
        before: Ids and versions of the list that the person started from.

    Raises:
        Refused: A field is invalid, or two fields have one name or one question.
        Conflict: The list is no longer `before`; nothing is changed.
    """
    with workspace.database.write() as session:
        project = open_tasks.lock_project(session, project_id)
        present = load_fields(session, project_id)
        if before is not None:
            _check_unchanged(before, present)
        store_fields(session, project, wanted, by)
        goes_on = task_changes.ask(session, project, task_changes.QUESTIONS, by)
        listed = load_fields(session, project_id)
    if goes_on:
        task_changes.follow_now(workspace, project_id)
    return listed


def store_fields(session: Session, project: Project, wanted: Sequence[FieldDefinition], by: str) -> None:
    """Store the fields of a locked project inside the caller's unit of work, which asks its tasks to follow. Audited.

    Raises Refused as `replace_fields`.
    """
    matches = _match(session, project.id, wanted)
    for field in session.scalars(
        select(ProjectField).where(ProjectField.project_id == project.id, ProjectField.name.is_not(None))
    ):
        field.name = None  # names change places without meeting each other
        session.get_one(Question, field.question_id).standard = False
    session.flush()
    stale: list[str] = []  # questions that the model must answer anew
    for position, match in enumerate(matches):
        question = match.question
        if question is None:
            check_question(match.wanted.question)
            question = Question(project_id=project.id, text=match.wanted.question, created_by=by)
            session.add(question)
            session.flush()
        elif question.text != match.wanted.question:
            check_question(match.wanted.question)
            question.text = match.wanted.question
            question.text_key = search_key(question.text)[:LONGEST_KEY]
            stale.append(question.id)
        if match.kind_changes:
            stale.append(question.id)
        question.standard, question.position = True, position
        _define(session, question, match, by)
    # What the model answered to the old words, or for a type of another kind, is no answer any more.
    session.execute(delete(SurveyAnswer).where(SurveyAnswer.question_id.in_(stale)))
    audit.record(
        session,
        by,
        "standard_questions",
        f"project:{project.id}",
        project.id,
        questions=[definition.question for definition in wanted],
        fields=[definition.name for definition in wanted],
    )
    session.flush()


def preview_changes(workspace: Workspace, project_id: str, wanted: Sequence[FieldDefinition]) -> list[FieldChange]:
    """Return what `replace_fields` would do, change by change. Raises Refused as it does."""
    with workspace.database.read() as session:
        existing(session, Project, project_id)
        present = {field.id: field for field in load_fields(session, project_id)}
        documents = session.scalar(select(func.count()).where(Document.project_id == project_id)) or 0
        changes = []
        for match in _match(session, project_id, wanted):
            question = match.question
            before = present.pop(question.id) if question is not None and question.id in present else None
            answered = question.documents if question is not None else 0
            if before is None:
                back = f" Its answers in {count(answered, 'document')} come back." if answered else ""
                sentence = f"{count(documents, 'document').capitalize()} get a task for it.{back}"
                changes.append(FieldChange(match.wanted.name, "added", documents, sentence))
            elif says := _differences(before.definition, match.wanted, answered):
                changes.append(FieldChange(match.wanted.name, "changed", answered, says))
        for field in present.values():
            answered = session.get_one(Question, field.id).documents
            stay = f" Its answers in {count(answered, 'document')} are kept, and come back with it." if answered else ""
            changes.append(FieldChange(field.name, "removed", answered, f"Its tasks close.{stay}"))
    return changes


def load_fields(session: Session, project_id: str) -> list[StoredField]:
    """Return the fields of a project in their order."""
    chosen = (
        select(ProjectField, Question.position)
        .join(Question, Question.id == ProjectField.question_id)
        .where(ProjectField.project_id == project_id, ProjectField.name.is_not(None))
        .order_by(Question.position, Question.id)
    )
    return [
        StoredField(**field.definition, id=field.question_id, version=field.version, position=position)
        for field, position in session.execute(chosen)
    ]


def known_definitions(session: Session, project_id: str, texts: Sequence[str]) -> dict[str, FieldDefinition]:
    """Return the definitions of those questions that are or were fields of a project, by question.

    A field that was taken out has a name that no other one has meanwhile.
    """
    chosen = (
        select(Question.text, ProjectField)
        .join(ProjectField, ProjectField.question_id == Question.id)
        .where(Question.project_id == project_id, Question.text.in_(texts))
    )
    known = dict(session.execute(chosen).tuples().all())
    names = {field.name for field in known.values() if field.name is not None}
    definitions = {}
    for text, field in known.items():
        definition = FieldDefinition.model_validate(field.definition)
        if field.name is None and definition.name in names:
            definition = definition.model_copy(update={"name": name_of_question(text, names)})
        names.add(definition.name)
        definitions[text] = definition
    return definitions


def definition_of(text: str, taken: Container[str]) -> FieldDefinition:
    """Return the definition of a plain question: a text. Raises Refused for an invalid question."""
    return parse_definition({"name": name_of_question(text, taken), "question": text}, FieldDefinition)


def _match(session: Session, project_id: str, wanted: Sequence[FieldDefinition]) -> list[_Match]:
    """Return the wanted fields with the questions that they are. Raises Refused."""
    check_list(wanted)
    texts = [definition.question for definition in wanted]
    ids = [definition.id for definition in wanted if isinstance(definition, WantedField) and definition.id]
    in_project = Question.project_id == project_id
    # Statements of one condition each: of several together, SQLite would read all questions of the project.
    by_text = {row.text: row for row in session.scalars(select(Question).where(in_project, Question.text.in_(texts)))}
    by_id = {row.id: row for row in session.scalars(select(Question).where(in_project, Question.id.in_(ids)))}
    named = select(ProjectField).where(ProjectField.project_id == project_id, ProjectField.name.is_not(None))
    by_name = {field.name: session.get_one(Question, field.question_id) for field in session.scalars(named)}
    removed = set(session.scalars(select(RemovedQuestion.question_id).where(RemovedQuestion.project_id == project_id)))
    taken: set[str] = set()
    matches: list[_Match] = []
    for definition in wanted:
        key = definition.id if isinstance(definition, WantedField) else None
        if key is not None and key not in by_id:
            raise Conflict(f"The field {definition.name} is not in this project any more. Reload the list.")
        question = by_id[key] if key else by_text.get(definition.question) or by_name.get(definition.name)
        if question is not None and question.id in removed:
            raise Refused(
                f"The question {quote_file_name(question.text)} lies in the bin with its answers. Restore it there, or "
                "delete it for good and ask anew."
            )
        if question is not None and question.id in taken:
            question = None  # its name went to another field of the list
        same = by_text.get(definition.question)
        if same is not None and question is not None and same.id != question.id:
            raise Refused(
                f"The project has the question {quote_file_name(definition.question)} already, with answers of its "
                f"own. Word the question of {definition.name} differently."
            )
        if question is not None:
            taken.add(question.id)
        field = session.get(ProjectField, question.id) if question is not None else None
        plain = FieldDefinition(**{name: getattr(definition, name) for name in FieldDefinition.model_fields})
        matches.append(_Match(plain, question, field))
    return matches


def _define(session: Session, question: Question, match: _Match, by: str) -> None:
    """Store the definition of a field, as a new version if it is another."""
    content = match.wanted.model_dump(mode="json")
    field = match.field
    if field is None:
        field = ProjectField(question_id=question.id, project_id=question.project_id, version=0, definition={})
        session.add(field)
    field.name = match.wanted.name
    if field.version and FieldDefinition.model_validate(field.definition) == match.wanted:
        return  # also where it was stored before the definition had all of its parts
    field.version, field.definition = field.version + 1, content
    session.flush()  # the version names its field
    session.add(FieldVersion(question_id=question.id, number=field.version, definition=content, created_by=by))


def _differences(before: FieldDefinition, after: FieldDefinition, answered: int) -> str:
    """Return what a change of a definition does, as sentences; "" where nothing changes."""
    papers = count(answered, "document")
    says = []
    if before.name != after.name:
        says.append(f"Programs find {before.name} under the name {after.name}.")
    if before.question != after.question:
        says.append(f"The model is asked the new question everywhere. The answers in {papers} stay.")
    if (before.type, before.choices, before.currency, before.country, before.columns) != (
        after.type,
        after.choices,
        after.currency,
        after.country,
        after.columns,
    ):
        says.append(f"The values in {papers} are made anew from what is printed. The marks stay.")
    if _asks_otherwise(before, after):
        says.append("The model is asked everywhere again, because it looks for another kind of value.")
    if before.several and not after.several:
        says.append("Only the first value of each document counts.")
    if (before.required, before.rules) != (after.required, after.rules):
        says.append(f"The rules are checked anew in {papers}.")
    if not says and before != after:
        says.append("No answer changes.")
    return " ".join(says)


def _asks_otherwise(before: FieldDefinition, after: FieldDefinition) -> bool:
    """Return whether a field looks for another kind of value, or for a table with other columns."""
    if FieldType.TABLE in (before.type, after.type):
        return (before.type, before.columns) != (after.type, after.columns)
    return kind_of_type(before.type) is not kind_of_type(after.type)


def _check_unchanged(before: Mapping[str, int], present: Sequence[StoredField]) -> None:
    versions = {field.id: field.version for field in present}
    if versions == dict(before):
        return
    changed = [field.name for field in present if before.get(field.id) != field.version]
    what = f"changed {join_names(changed)}" if changed else "took fields out"
    raise Conflict(
        f"Somebody else {what} meanwhile, so nothing was saved. Reload the list, and make your change again."
    )
