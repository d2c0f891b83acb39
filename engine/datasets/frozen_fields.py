"""Fields of a project as a snapshot freezes them: what an export needs to make values of printed texts.

Guidelines, examples and confidences change no value, so a snapshot does not depend on them. Snapshots made before there
were fields have none: each of their questions is a plain text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from db.tables import Project
from engine.fields.definition import FieldDefinition
from engine.fields.kinds import kind_of_type
from engine.fields.names import name_of_question
from engine.fields.normalisation import LocaleContext
from engine.fields.project_fields import StoredField, load_fields
from engine.fields.read_value import context_of
from engine.fields.types import FieldType
from engine.projects.project_settings import settings_of
from model.kinds import Kind

_FROZEN = (
    "name", "question", "type", "several", "required", "choices", "currency", "country", "rules", "issuer", "columns",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FrozenFields:
    """Fields in their order by the id of the question, and what is known about how the papers print values."""

    fields: Mapping[str, FieldDefinition]
    context: LocaleContext
    settings: Mapping[str, Any] = field(default_factory=dict)  # locale and conventions, also of issuers

    def context_for(self, issuer: str | None) -> LocaleContext:
        """Return how the papers of an issuer print values; None: one that is not known."""
        return self.context if issuer is None else context_of(self.settings, issuer)


def freeze_fields(session: Session, project_id: str) -> dict[str, Any]:
    """Return the part of a manifest's head about fields, locale and conventions; empty where there are none."""
    settings = settings_of(session.get_one(Project, project_id))
    fields = load_fields(session, project_id)
    head: dict[str, Any] = {}
    if fields:
        head["fields"] = [{"id": field.id, **_row(field)} for field in fields]
    if settings.locale:
        head["locale"] = settings.locale
    if settings.conventions:
        head["conventions"] = dict(sorted(settings.conventions.items()))
    if settings.issuer_conventions:
        head["issuer_conventions"] = dict(sorted(settings.issuer_conventions.items()))
    return head


def fields_of_head(head: Mapping[str, Any], questions: Iterable[tuple[str, str]]) -> FrozenFields:
    """Return the fields of a manifest's head.

    Args:
        head: Of the manifest.
        questions: Ids and texts of the answered questions, for a snapshot without fields: each is a plain text.
    """
    settings = {name: head[name] for name in ("locale", "conventions", "issuer_conventions") if name in head}
    context = context_of(settings)
    if "fields" in head:
        rows = {row["id"]: {name: row[name] for name in row if name != "id"} for row in head["fields"]}
        return FrozenFields({key: FieldDefinition.model_validate(row) for key, row in rows.items()}, context, settings)
    return FrozenFields(_plain(questions), context)


def frozen_kinds(head: Mapping[str, Any]) -> dict[str, Kind]:
    """Return the kinds of value that the fields of a manifest's head want, by the id of the question."""
    kinds = {row["id"]: kind_of_type(FieldType(row.get("type", FieldType.STRING))) for row in head.get("fields", [])}
    return {key: kind for key, kind in kinds.items() if kind is not None}


def _plain(questions: Iterable[tuple[str, str]]) -> dict[str, FieldDefinition]:
    names: set[str] = set()
    fields: dict[str, FieldDefinition] = {}
    for key, text in questions:
        name = name_of_question(text, names)
        names.add(name)
        fields[key] = FieldDefinition(name=name, question=text)
    return fields


def _row(field: StoredField) -> dict[str, Any]:
    content = field.definition.model_dump(mode="json", exclude_defaults=True)
    return {name: content[name] for name in _FROZEN if name in content}
