"""Places of the followers in the changes, and the dirty documents behind them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.base import now
from db.changes import DIRTY, OF_EVENTS
from db.tables import Change, FollowerPosition, SkippedChange
from engine import changes

MOST_ATTEMPTS = 5  # at a change that cannot be followed; then it is skipped
_FIRST_RETRY = timedelta(seconds=1)  # twice as long after each further attempt
_LONGEST_ERROR = 500


@dataclass(frozen=True, slots=True)
class Position:
    """Place of a follower, as it was read."""

    name: str
    cursor: int
    writes: int
    attempts: int
    retry_at: datetime | None


@dataclass(frozen=True, slots=True)
class DirtyChange:
    """A change that names dirty documents; without any where it concerns something else, or many."""

    id: int
    project_id: str | None
    documents: tuple[str, ...]
    at: datetime

    @property
    def day(self) -> date:
        """Return its day in UTC."""
        return self.at.date()


@dataclass(frozen=True, slots=True)
class Reading:
    """Changes behind a place.

    Attributes:
        dirty: Those that name documents, in order.
        settled: Where the next reading begins; nothing before it can still be committed.
        newest: Id of the newest change that was read.
    """

    dirty: Sequence[DirtyChange]
    settled: int
    newest: int


class Overtaken(Exception):
    """Another process has stored work of the follower since its place was read."""


def read_positions(session: Session) -> dict[str, Position]:
    """Return the places of all followers, by name."""
    columns = (
        FollowerPosition.name,
        FollowerPosition.cursor,
        FollowerPosition.writes,
        FollowerPosition.attempts,
        FollowerPosition.retry_at,
    )
    return {row[0]: Position(*row) for row in session.execute(select(*columns)).tuples()}


def read_dirty(
    session: Session, cursor: int, followed: Collection[int], limit: int, topics: Collection[str] = ()
) -> Reading:
    """Return the changes behind a place.

    Args:
        session: For reading.
        cursor: The place.
        followed: Ids of changes behind it that were followed before; they are left out.
        limit: Most changes that are read.
        topics: Topics whose changes name documents, beside DIRTY.
    """
    columns = Change.id, Change.created_at, Change.project_id, Change.topic, Change.subject_id, Change.documents
    chosen = select(*columns).where(Change.id > cursor).order_by(Change.id).limit(limit)
    rows = session.execute(chosen).all()
    wanted = {DIRTY, *topics}
    dirty = [
        DirtyChange(row.id, row.project_id, _documents(row), row.created_at)
        for row in rows
        if row.topic in wanted and row.id not in followed and (row.topic in OF_EVENTS or _documents(row))
    ]
    settled = changes.find_last_settled(cursor, ((row.id, row.created_at) for row in rows))
    return Reading(dirty, settled, rows[-1].id if rows else cursor)


def _documents(row: Any) -> tuple[str, ...]:
    if row.topic in OF_EVENTS:
        return ()
    return tuple(row.documents or ([row.subject_id] if row.subject_id else ()))


def claim(session: Session, position: Position, cursor: int) -> Position:
    """Move a follower to a place, in the transaction that stores its work; return its new position.

    Raises:
        Overtaken: Another process has moved it since `position` was read.
    """
    moved = (
        update(FollowerPosition)
        .where(FollowerPosition.name == position.name, FollowerPosition.writes == position.writes)
        .values(cursor=cursor, writes=position.writes + 1, attempts=0, retry_at=None, error=None)
        .execution_options(synchronize_session=False)
    )
    if session.execute(moved).rowcount != 1:  # type: ignore[attr-defined]
        raise Overtaken
    return Position(position.name, cursor, position.writes + 1, 0, None)


def note_failure(session: Session, position: Position, error: Exception) -> None:
    """Note a failed attempt at the next change, and when it is tried again."""
    attempts = position.attempts + 1
    retry_at = now() + _FIRST_RETRY * 2 ** (attempts - 1)
    noted = (
        update(FollowerPosition)
        .where(FollowerPosition.name == position.name, FollowerPosition.writes == position.writes)
        .values(attempts=attempts, retry_at=retry_at, error=_sentence(error))
    )
    session.execute(noted.execution_options(synchronize_session=False))


def skip(session: Session, follower: str, change: DirtyChange, error: Exception) -> None:
    """Note a change that a follower leaves out for good."""
    session.add(
        SkippedChange(
            follower=follower,
            change_id=change.id,
            project_id=change.project_id,
            documents=list(change.documents),
            error=_sentence(error),
        )
    )


def _sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_ERROR]
