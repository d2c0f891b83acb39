"""Days in SQL."""

from typing import Any

from sqlalchemy import Date, func, literal_column

# A literal, not a parameter: PostgreSQL must recognise the selected expression as the grouped one.
_UTC: Any = literal_column("'UTC'")


def day_of(dialect: str, at: Any) -> Any:
    """Return the UTC day of a time, in SQL.

    Args:
        dialect: "sqlite" or "postgresql".
        at: A column or expression of a time.
    """
    if dialect == "postgresql":
        return func.date(func.timezone(_UTC, at), type_=Date())
    return func.date(at, type_=Date())
