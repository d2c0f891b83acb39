"""A table whose rows are derived from documents, and the sums of its rows.

The rows of a document are computed anew from its pages, tasks and answers, so they cannot drift. Sums are moved by the
difference between the computed rows and the stored ones. Only the follower writes either, one transaction after the
other (engine.followers.turns).
"""

from collections import Counter, namedtuple
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import isclose
from typing import Any

from sqlalchemy import Table, bindparam, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.base import Base

Row = Any  # a named tuple of the table's columns; computed rows are plain tuples in their order
Amounts = Counter[tuple[Any, ...]]  # (key..., name of a number) -> amount
_SECONDS_APART = 1e-6  # databases may add seconds in another order


@dataclass(frozen=True, slots=True)
class Difference:
    """Rows that are computed and not stored, and the reverse; of a changed row both."""

    added: list[Row]
    gone: list[Row]

    def __bool__(self) -> bool:
        return bool(self.added or self.gone)


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums of the rows of a derived table.

    Attributes:
        table: Its columns are the key of a sum, beginning with `project_id`, and the numbers.
        count: Returns what a row adds: (values of the key, {name of a number: amount}), once or several times.
    """

    table: type[Base]
    count: Callable[[Any], Iterable[tuple[tuple[Any, ...], Mapping[str, int]]]]


class DerivedTable:
    """Rows of one table, derived from documents.

    Args:
        table: It has the columns `document_id` and `project_id`.
        compute: Returns the rows of some documents, as their pages, tasks and answers say.
        sums: Sums of the rows, if any are kept.
    """

    def __init__(
        self, table: type[Base], compute: Callable[[Session, Collection[str]], Iterable[Row]], sums: Sums | None = None
    ) -> None:
        self.name = table.__tablename__
        self.sums_name = sums.table.__tablename__ if sums is not None else self.name
        self._table: Table = table.__table__  # type: ignore[assignment]
        self._compute, self._sums = compute, sums
        names = [column.name for column in self._table.columns]
        self._row: Any = namedtuple(f"{table.__name__}Row", names)  # type: ignore[misc]
        keys = [column.name for column in self._table.primary_key.columns]
        self._key = [names.index(key) for key in keys]
        self._document, self._project = names.index("document_id"), names.index("project_id")
        self._stored = select(self._table).where(self._table.c.document_id.in_(bindparam("ids", expanding=True)))
        self._forget = delete(self._table).where(*(self._table.c[key] == bindparam(f"key_{key}") for key in keys))
        self._key_parameters = [f"key_{key}" for key in keys]
        self._store = insert(self._table)

    def compare(self, session: Session, ids: Collection[str]) -> Difference:
        """Return how the computed rows of some documents differ from the stored ones."""
        computed = {self._key_of(row): self._row(*row) for row in self._compute(session, ids)}
        rows = session.connection().execute(self._stored, {"ids": list(ids)})
        stored = {self._key_of(row): self._row(*row) for row in rows}
        changed = [
            key
            for key in computed.keys() | stored.keys()
            if key not in computed or key not in stored or not _is_same(computed[key], stored[key])
        ]
        added = [computed[key] for key in changed if key in computed]
        return Difference(added, [stored[key] for key in changed if key in stored])

    def store(self, session: Session, difference: Difference) -> None:
        """Store the computed rows in place of the others, and move the sums."""
        connection = session.connection()
        if difference.gone:
            keys = [dict(zip(self._key_parameters, self._key_of(row), strict=True)) for row in difference.gone]
            connection.execute(self._forget, keys)
        if difference.added:
            connection.execute(self._store, [row._asdict() for row in difference.added])  # type: ignore[attr-defined]
        amounts = self.count(difference.added)
        amounts.subtract(self.count(difference.gone))
        self.add(session, amounts)

    def documents_of(self, difference: Difference) -> list[tuple[str, str]]:
        """Return (project, document) of the rows of a difference, each once."""
        rows = (*difference.added, *difference.gone)
        return list(dict.fromkeys((row[self._project], row[self._document]) for row in rows))

    def rows_of_project(self, session: Session, project_id: str) -> Iterator[Row]:
        """Yield the stored rows of a project."""
        chosen = select(self._table).where(self._table.c.project_id == project_id)
        for row in session.connection().execute(chosen.execution_options(yield_per=1000)):
            yield self._row(*row)

    def count(self, rows: Iterable[Row]) -> Amounts:
        """Return what rows add to the sums."""
        amounts: Amounts = Counter()
        if self._sums is not None:
            for row in rows:
                for key, numbers in self._sums.count(row):
                    for name, amount in numbers.items():
                        amounts[*key, name] += amount
        return amounts

    def stored_amounts(self, session: Session, project_id: str) -> Amounts:
        """Return the sums of a project as they are stored; zeros are left out."""
        amounts: Amounts = Counter()
        if self._sums is not None:
            keys, numbers = _key_and_numbers(self._sums.table)
            table: Any = self._sums.table.__table__
            for row in session.connection().execute(select(table).where(table.c.project_id == project_id)).mappings():
                for name in numbers:
                    amounts[*(row[key] for key in keys), name] += row[name]
        return Counter({key: amount for key, amount in amounts.items() if amount})

    def add(self, session: Session, amounts: Mapping[tuple[Any, ...], int]) -> None:
        """Add amounts to the sums."""
        if self._sums is not None:
            add_amounts(session, self._sums.table, amounts)

    def _key_of(self, row: Any) -> Row:
        return tuple(row[place] for place in self._key)


def add_amounts(session: Session, table: type[Base], amounts: Mapping[tuple[Any, ...], int]) -> None:
    """Add amounts, by key and name of a number, to the rows of a table of sums; missing rows begin at 0."""
    keys, numbers = _key_and_numbers(table)
    rows: dict[tuple[Any, ...], dict[str, int]] = {}
    for (*key, name), amount in amounts.items():
        if amount:
            rows.setdefault(tuple(key), dict.fromkeys(numbers, 0))[name] += amount
    if not rows:
        return
    connection = session.connection()
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table)
    columns: Any = table.__table__.columns
    moved = {name: columns[name] + statement.excluded[name] for name in numbers}
    parameters = [dict(zip(keys, key, strict=True)) | amount for key, amount in sorted(rows.items())]
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=moved), parameters)


def _key_and_numbers(table: type[Base]) -> tuple[list[str], list[str]]:
    keys = [column.name for column in table.__table__.primary_key.columns]  # type: ignore[attr-defined]
    return keys, [column.name for column in table.__table__.columns if column.name not in keys]


def _is_same(computed: Row, stored: Row) -> bool:
    return all(
        isclose(a, b, abs_tol=_SECONDS_APART) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(computed, stored, strict=True)
    )
