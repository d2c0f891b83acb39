"""Statements on tables, past the ORM: no event of a session sees them, and their callers publish what they change."""

from typing import Any

from sqlalchemy import BindParameter, delete

from db.base import Base


def table_of(rows: type[Base]) -> Any:
    """Return the table of a kind of rows."""
    return rows.__table__


def delete_where(rows: type[Base], column: str, chosen: Any) -> Any:
    """Return the statement that deletes rows by a column: equal to a parameter, or among several, or selected, ids."""
    named = table_of(rows).c[column]
    is_single = isinstance(chosen, BindParameter) and not chosen.expanding
    return delete(table_of(rows)).where(named == chosen if is_single else named.in_(chosen))
