"""Pages of lists: each begins behind the last row of the page before (keyset pagination), which a cursor names.

A page costs what its own rows cost, however far down it is. A row that comes between two pages moves no other row.
"""

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, tuple_
from sqlalchemy.orm import Session

from db.base import UtcDateTime
from engine.errors import Refused

_FOREIGN = "The cursor belongs to another list. Ask for the first page, without a cursor."
_LARGEST = 2**63
_Line = TypeVar("_Line")
_Made = TypeVar("_Made")
First = Callable[[Session, Select[*tuple[Any, ...]], int], Sequence[Sequence[Any]]]


class Page(list[_Line]):
    """The lines of one page. `next`: cursor of the page behind; None on the last."""

    def __init__(self, lines: Iterable[_Line] = (), following: str | None = None) -> None:
        super().__init__(lines)
        self.next = following

    def map(self, make: Callable[[_Line], _Made]) -> "Page[_Made]":
        """Return the page with something made of each line."""
        return Page(map(make, self), self.next)


@dataclass(frozen=True, slots=True)
class Order:
    """The order of a list, which its cursors are bound to.

    name: of the list, with everything that a cursor of it must not be used for elsewhere, as "tasks" and the project.
    keys: columns that the list is sorted by, none of them null; together they are unique.
    falls: largest first.
    """

    name: str
    keys: tuple[Any, ...]
    falls: bool = False

    def rows(
        self,
        session: Session,
        chosen: Select[*tuple[Any, ...]],
        limit: int,
        cursor: str | None,
        first: First | None = None,
    ) -> tuple[list[Any], str | None]:
        """Return the rows of a page, and the cursor of the page behind.

        Args:
            session: open session.
            chosen: statement for the list, without an order.
            limit: maximum number of rows.
            cursor: of the page; None: the first page.
            first: returns the first rows of the ordered statement, so many of them; None: all rows belong to the list.

        Raises:
            Refused: the cursor is not one of this list.
        """
        last = self.parse(cursor) if cursor is not None else ()
        ordered = chosen.add_columns(*self.keys).order_by(*(key.desc() if self.falls else key for key in self.keys))
        fetched = (first or _first)(session, ordered.where(*self._behind(last)), limit + 1)
        several = len(self.keys)
        following = None
        if len(fetched) > limit:
            following = self.cursor(fetched[limit - 1][-several:] if limit else ())
        return [tuple(row[:-several]) for row in fetched[:limit]], following

    def cursor(self, values: Sequence[Any] = ()) -> str:
        """Return the cursor of the page behind the row with these keys; without keys, of the first page."""
        plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
        return base64.urlsafe_b64encode(json.dumps([self.name, *plain]).encode()).decode().rstrip("=")

    def parse(self, cursor: str) -> list[Any]:
        """Return the keys of a cursor, none for the first page. Raises Refused for one of another list."""
        name, *values = _content(cursor)
        if name != self.name or len(values) not in (0, len(self.keys)):
            raise Refused(_FOREIGN)
        try:
            return [_parse_value(*pair) for pair in zip(self.keys, values, strict=False)]
        except (ValueError, OverflowError):
            raise Refused(_FOREIGN) from None

    def _behind(self, values: Sequence[Any]) -> Iterator[ColumnElement[bool]]:
        """Yield the conditions of the rows behind the one with these keys."""
        if not values:
            return
        last = tuple_(*values, types=[key.type for key in self.keys])
        yield tuple_(*self.keys) < last if self.falls else tuple_(*self.keys) > last
        if len(self.keys) > 1:  # said apart: an index may hold the first key alone
            yield self.keys[0] <= values[0] if self.falls else self.keys[0] >= values[0]


def rows_of(
    session: Session, parts: Sequence[tuple[Order, Select[*tuple[Any, ...]]]], limit: int, cursor: str | None
) -> tuple[list[Any], str | None]:
    """Return the rows of a page of a list that has several parts, one behind the other; see `Order.rows`.

    Each part follows its own index. `parts`: their orders and statements.
    """
    names = [order.name for order, _ in parts]
    begin = 0
    if cursor is not None:
        name = _content(cursor)[0]
        if name not in names:
            raise Refused(_FOREIGN)
        begin = names.index(name)
    rows: list[Any] = []
    for order, chosen in parts[begin:]:
        some, following = order.rows(session, chosen, limit - len(rows), cursor)
        rows += some
        if following is not None:
            return rows, following
        cursor = None
    return rows, None


def every(page: Callable[[str | None], Page[_Line]]) -> Iterator[_Line]:
    """Yield the lines of all pages. `page`: returns the page of a cursor, the first one for None."""
    cursor = None
    while True:
        lines = page(cursor)
        yield from lines
        cursor = lines.next
        if cursor is None:
            return


def _first(session: Session, chosen: Select[*tuple[Any, ...]], number: int) -> Sequence[Sequence[Any]]:
    return session.execute(chosen.limit(number)).all()


def _content(cursor: str) -> list[Any]:
    """Return the name and the keys that a cursor holds. Raises Refused for anything else."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        content = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        content = None
    if not isinstance(content, list) or not content:
        raise Refused(_FOREIGN)
    return content


def _parse_value(key: Any, value: Any) -> Any:
    """Return a value of a cursor as the column's type. Raises ValueError for another type."""
    kind = datetime if isinstance(key.type, UtcDateTime) else key.type.python_type
    if kind is datetime and isinstance(value, str):
        instant = datetime.fromisoformat(value)
        if instant.utcoffset() is None:
            raise ValueError(value)
        return instant.astimezone(UTC)
    fits = type(value) is kind
    if isinstance(value, str):
        fits = fits and "\0" not in value
        value.encode()  # half a surrogate pair fits no database
    elif isinstance(value, int):
        fits = fits and abs(value) < _LARGEST
    if not fits:
        raise ValueError(value)
    return value
