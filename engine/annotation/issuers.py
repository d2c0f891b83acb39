"""Issuers of papers, and how each of them prints values.

The issuer of a document is what a person accepted for the field that names it (FieldDefinition.issuer). A convention
that is remembered for an issuer goes before that of the project.
"""

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from db.statuses import ACCEPTED
from db.tables import Annotation, ProjectField, Revision
from engine.accounts.visibility import hidden_answers
from engine.annotation.state import AnnotationState
from engine.annotation.texts import shown_texts
from engine.fields.normalisation import LocaleContext
from engine.fields.read_value import context_of, issuer_name
from engine.queries import is_head


def load_issuers(session: Session, documents: Collection[str], viewer_id: str | None = None) -> dict[str, str]:
    """Return the issuers of those documents whose issuer a person has accepted; of several answers the newest.

    Args:
        session: For reading.
        documents: Ids.
        viewer_id: An annotator from whom some answers are hidden; None: all answers count.
    """
    accepted = _ACCEPTED if viewer_id is None else _ACCEPTED.where(~hidden_answers(viewer_id))
    rows = session.execute(accepted, {"documents": list(documents)}).all()
    states = [AnnotationState.model_validate(row.state) for row in rows]
    texts = shown_texts(session, [next(iter(state.single_values()), state) for state in states])
    issuers = {row.document_id: issuer_name(text) for row, text in zip(rows, texts, strict=True)}
    return {document: issuer for document, issuer in issuers.items() if issuer}


def load_contexts(
    session: Session, settings: Mapping[str, Any], documents: Collection[str]
) -> dict[str, LocaleContext]:
    """Return how documents of a project print values.

    Args:
        session: For reading.
        settings: Of the project. Where they remember nothing of any issuer, nothing is read.
        documents: Ids.
    """
    issuers = load_issuers(session, documents) if settings.get("issuer_conventions") else {}
    of_project = context_of(settings)
    return {
        document: context_of(settings, issuers[document]) if document in issuers else of_project
        for document in documents
    }


def load_context(session: Session, settings: Mapping[str, Any], document_id: str) -> LocaleContext:
    """Return how a document of a project prints values; see `load_contexts`."""
    return load_contexts(session, settings, [document_id])[document_id]


_ACCEPTED = (
    select(Annotation.document_id, Revision.state)
    .join(Revision, is_head())
    .join(ProjectField, ProjectField.question_id == Annotation.question_id)
    .where(
        Annotation.document_id.in_(bindparam("documents", expanding=True)),
        Annotation.status.in_(ACCEPTED),
        ProjectField.name.is_not(None),
        ProjectField.definition["issuer"].as_boolean(),
    )
    .order_by(Revision.created_at, Annotation.id)
)
