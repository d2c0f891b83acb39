"""Checks of values before they count without a person: the confidence that a field asks for, types, and rules."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.statuses import ANSWERED
from db.tables import Annotation, Project, Revision, SurveyAnswer
from engine.annotation.issuers import load_contexts
from engine.annotation.state import AnnotationState
from engine.annotation.survey_answers import fresh
from engine.annotation.texts import answer_texts
from engine.annotation.values import view_values
from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext, Value
from engine.fields.project_fields import load_fields
from engine.fields.read_value import read_value
from engine.fields.rules import broken_rules, fields_named
from engine.fields.types import FieldType
from engine.queries import is_head

_Contexts = Mapping[str, LocaleContext]  # how documents print values, by document
_UNREAD = (FieldType.STRING, FieldType.ADDRESS, FieldType.SIGNATURE, FieldType.REGION)


@dataclass(frozen=True, slots=True)
class ValueChecks:
    """Fields of a project, and its settings, which say how its papers print values."""

    project_id: str
    version_id: str
    fields: Mapping[str, FieldDefinition]  # by question
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, session: Session, project_id: str, version_id: str) -> "ValueChecks":
        """Load the fields of a project whose survey answers of a version are checked."""
        settings = session.get_one(Project, project_id).settings
        fields = {field.id: field.definition for field in load_fields(session, project_id)}
        return cls(project_id, version_id, fields, settings)

    def least(self, threshold: float) -> float:
        """Return the lowest confidence at which any answer could count, given the project's threshold."""
        return min([threshold, *(self.threshold_of(question, threshold) for question in self.fields)])

    def threshold_of(self, question_id: str, threshold: float) -> float:
        """Return the confidence from which an answer to a question counts: its field's own, else the project's."""
        field = self.fields.get(question_id)
        return threshold if field is None or field.confidence is None else field.confidence

    def fit(self, session: Session, answers: Sequence[SurveyAnswer], threshold: float) -> set[tuple[str, str]]:
        """Return the document and question of those answers that may count without a person.

        The confidence is high enough, the text can be read as the field's type in one way, and no rule that names the
        field is broken by the values of the paper: those that people gave, else those that the model proposes.
        """
        sure = [answer for answer in answers if answer.confidence >= self.threshold_of(answer.question_id, threshold)]
        contexts = load_contexts(session, self.settings, sorted({answer.document_id for answer in sure}))
        typed = [answer for answer in sure if self._is_readable(answer, contexts)]
        documents = {answer.document_id for answer in typed if answer.question_id in self.fields}
        suspect = self._suspects(session, {document: contexts[document] for document in documents})
        return {
            (answer.document_id, answer.question_id)
            for answer in typed
            if answer.question_id not in self.fields
            or self.fields[answer.question_id].name not in suspect[answer.document_id]
        }

    def _is_readable(self, answer: SurveyAnswer, contexts: _Contexts) -> bool:
        """Return whether a text can be read as its field's type in one way; texts and marks need no reading.

        A table never counts without a person: how sure its rows are has not been measured on a project's papers.
        """
        field = self.fields.get(answer.question_id)
        if field is not None and field.type is FieldType.TABLE:
            return False
        return field is None or field.type in _UNREAD or _value(field, answer, contexts) is not None

    def _suspects(self, session: Session, documents: _Contexts) -> dict[str, set[str]]:
        """Return the fields of broken rules, and those that the rules name, by document."""
        if not any(field.rules for field in self.fields.values()):
            return defaultdict(set)
        values = self._load_proposals(session, documents)
        for document_id, given in self._load_answers(session, documents).items():
            values[document_id].update(given)
        definitions = list(self.fields.values())
        suspects: dict[str, set[str]] = defaultdict(set)
        for document_id, by_name in values.items():
            for name in broken_rules(definitions, by_name, required=False):
                suspects[document_id] |= {name, *fields_named(definitions, name)}
        return suspects

    def _load_proposals(self, session: Session, documents: _Contexts) -> dict[str, dict[str, list[Value]]]:
        chosen = select(SurveyAnswer).where(
            SurveyAnswer.document_id.in_(sorted(documents)),
            SurveyAnswer.question_id.in_(sorted(self.fields)),
            fresh(self.version_id),
        )
        values: dict[str, dict[str, list[Value]]] = defaultdict(dict)
        for answer in session.scalars(chosen):
            field = self.fields[answer.question_id]
            value = _value(field, answer, documents)
            if value is not None:
                values[answer.document_id][field.name] = [value]
        return values

    def _load_answers(self, session: Session, documents: _Contexts) -> dict[str, dict[str, list[Value]]]:
        """Return the values that people gave, the newest answer to each field."""
        chosen = (
            select(Annotation.document_id, Annotation.question_id, Revision.state)
            .join(Revision, is_head())
            .where(
                Annotation.document_id.in_(sorted(documents)),
                Annotation.question_id.in_(sorted(self.fields)),
                Annotation.status.in_(ANSWERED),
            )
            .order_by(Revision.created_at, Annotation.id)
        )
        rows = [
            (document, question, AnnotationState.model_validate(state))
            for document, question, state in session.execute(chosen)
        ]
        parts = [state.single_values() for _, _, state in rows]
        texts = iter(answer_texts(session, [part for of_answer in parts for part in of_answer]))
        values: dict[str, dict[str, list[Value]]] = defaultdict(dict)
        for (document_id, question_id, state), of_answer in zip(rows, parts, strict=True):
            field = self.fields[question_id]
            printed = [next(texts) for _ in of_answer]
            views = view_values(field, state, printed, documents[document_id])
            values[document_id][field.name] = [view.value for view in views if view.value is not None]
        return values


def _value(field: FieldDefinition, answer: SurveyAnswer, contexts: _Contexts) -> Value | None:
    return read_value(field, str(answer.answer.get("text", "")), None, contexts[answer.document_id]).value
