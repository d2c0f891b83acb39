"""Rows of one project, by table, as lines of JSON that any database of the same schema can take.

A row belongs to a project if it names the project, or a row that belongs to it.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Date, DateTime, LargeBinary, Table, literal, select
from sqlalchemy.orm import Session

import db.tables  # noqa: F401  (fills Base.metadata)
from db.base import Base, UtcDateTime
from engine.lifecycle.json_text import columns_as_text

_AT_ONCE = 2_000  # rows
# Secret, of an installation or a moment, or made anew: searched texts follow from names and words.
LEFT_OUT = {
    "bucket_objects", "changes", "document_texts", "extraction_callbacks", "followers", "identities", "invitations",
    "leases", "login_attempts", "login_sessions", "login_steps", "proposers", "quotas", "recovery_codes",
    "removed_documents", "removed_projects", "second_factors", "skipped_changes", "transferred_documents", "users",
    "webhook_deliveries", "webhook_secrets", "webhooks",
}  # fmt: skip
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")


def tables_of_project() -> list[Table]:
    """Return the tables that have rows of projects; those that others name come first."""
    tables = [table for table in Base.metadata.sorted_tables if table.name not in LEFT_OUT]
    return [table for table in tables if belongs(table, "") is not None]


def belongs(table: Table, project_id: str) -> ColumnElement[bool] | None:
    """Return the condition that a row belongs to a project; None for tables that have no such rows."""
    if table.name == "projects":
        return table.c.id == project_id
    own = table.c.project_id == project_id if "project_id" in table.c else None
    documents = Base.metadata.tables["documents"]
    if "document_id" in table.c and not table.c.document_id.nullable:  # its document may be in the bin
        of_document = table.c.document_id.in_(select(documents.c.id).where(documents.c.project_id == project_id))
        return of_document if own is None else own & of_document
    if own is not None:
        return own
    keys = sorted(table.foreign_keys, key=lambda key: (key.parent.nullable, key.parent.name))
    for key in keys:
        of_other = belongs(key.column.table, project_id) if key.column.table.name not in LEFT_OUT else None
        if of_other is not None:
            return key.parent.in_(select(key.column).where(of_other))
    return None


def names_of_others(session: Session, table: Table, project_id: str) -> bool:
    """Return whether a row of a project names a row of another project; initial models belong to none."""
    own = belongs(table, project_id)
    assert own is not None
    for key in table.foreign_keys:
        of_same = belongs(key.column.table, project_id) if key.column.table.name not in LEFT_OUT else None
        if of_same is None:
            continue
        if key.column.table.name == "model_versions":
            of_same |= key.column.table.c.project_id.is_(None)
        of_others = key.parent.is_not(None) & key.parent.not_in(select(key.column).where(of_same))
        if session.scalar(select(literal(1)).select_from(table).where(own, of_others).limit(1)) is not None:
            return True
    return False


def lines_of(session: Session, table: Table, condition: ColumnElement[bool]) -> Iterator[str]:
    """Yield the rows of a table as lines of JSON, by key."""
    chosen = select(*columns_as_text(table)).where(condition).order_by(*table.primary_key)
    for row in session.execute(chosen.execution_options(yield_per=_AT_ONCE)).mappings():
        yield json.dumps({name: _plain(value) for name, value in row.items()}, ensure_ascii=False)


def row_of(table: Table, line: str, other_ids: Mapping[str, str]) -> dict[str, Any]:
    """Return the row of a line, with ids that are others here, also in its JSON.

    Args:
        table: its table, with JSON as text.
        line: from `lines_of`.
        other_ids: id here by id there.
    """
    if other_ids:
        line = _ID.sub(lambda match: other_ids.get(match[0], match[0]), line)
    return {name: _typed(table.c[name].type, value) for name, value in json.loads(line).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else value


def _typed(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, UtcDateTime | DateTime):
        return datetime.fromisoformat(value)
    if isinstance(kind, Date):
        return date.fromisoformat(value)
    return bytes.fromhex(value) if isinstance(kind, LargeBinary) else value
