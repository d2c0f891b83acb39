"""Days in UTC, in SQL and out of it, alike on both databases."""

from datetime import UTC, date, datetime, time
from typing import Any

from sqlalchemy import func, literal_column
from sqlalchemy.orm import Session

# Not a parameter: PostgreSQL must see that what is selected is what is grouped by.
_UTC: Any = literal_column("'UTC'")


def day_of(session: Session, at: Any) -> Any:
    """Return the day of a time in UTC, in SQL: text on SQLite, a date on PostgreSQL, whose sessions have a zone of their own."""
    return func.date(func.timezone(_UTC, at)) if session.get_bind().dialect.name == "postgresql" else func.date(at)


def as_date(day: date | str) -> date:
    """Return a day as the databases give it."""
    return date.fromisoformat(day) if isinstance(day, str) else day


def midnight(day: date) -> datetime:
    """Return the moment at which a day begins."""
    return datetime.combine(day, time(), UTC)
