"""Changes as their readers get them: in order, none lost, each once; and old ones deleted.

A cursor is the id of a change; everything up to it has been read. On PostgreSQL, ids are given before the commit, so a
smaller one may become visible after a larger one. A cursor therefore stops before a gap in the ids until the gap is so
old that no commit can fill it any more. Behind it, the same changes are read again; that costs a repeated look, and
nothing is lost.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from db.base import now
from db.changes import EVENT_FOLLOWER, HIDDEN, OF_EVENTS, Topic
from db.tables import Change, FollowerPosition
from engine.batches import Throttle
from engine.workspace import Workspace

KEPT = timedelta(hours=1)
LATE = timedelta(seconds=30)  # between the id of a change and its commit, at most; they follow each other at once
MOST = 5000  # changes that are returned one by one; of more, everything may have changed
LOADING = timedelta(seconds=3)  # a page that begins to listen may have fetched something so long ago
_NEWEST = 500  # newest changes among which a new reader looks for its place


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """A stored change; see `db.changes.Topic` for its subject."""

    id: int
    project_id: str | None
    topic: Topic
    subject_id: str | None
    question_id: str | None
    author_id: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Changes since a cursor.

    Attributes:
        events: In the order of their ids.
        next: Where the next reading begins.
        all: Whether the changes since the cursor are not known any more, so that everything may have changed.
    """

    events: Sequence[StoredEvent]
    next: int
    all: bool = False


_COLUMNS = (
    Change.id,
    Change.project_id,
    Change.topic,
    Change.subject_id,
    Change.question_id,
    Change.author_id,
    Change.created_at,
)


def newest(session: Session, back: timedelta = timedelta()) -> int:
    """Return the cursor of a reader that begins now, or `back` ago; 0 before the first change."""
    rows = session.execute(select(Change.id, Change.created_at).order_by(Change.id.desc()).limit(_NEWEST)).all()
    ids = [(row.id, row.created_at) for row in reversed(rows)]
    begins = now() - back
    before = takewhile(lambda row: row[1] <= begins, ids) if back else ids
    return find_last_settled(0 if not ids or ids[0][0] == 1 else ids[0][0], before)


def recent(session: Session) -> list[StoredEvent]:
    """Return the newest changes, in order; some hundreds at most."""
    rows = session.execute(select(*_COLUMNS).order_by(Change.id.desc()).limit(_NEWEST)).tuples()
    events = [StoredEvent(*row) for row in rows]  # type: ignore[arg-type]
    return [event for event in reversed(events) if event.topic not in HIDDEN]


def since(session: Session, cursor: int) -> EventBatch:
    """Return the changes behind a cursor, in one short query while there are none.

    Args:
        session: An open session; `Database.autocommit_read` is enough.
        cursor: From `newest` or an earlier `News`.
    """
    # The change at the cursor is read too: while it is there, nothing behind it was deleted.
    chosen = select(*_COLUMNS).where(Change.id >= cursor).order_by(Change.id).limit(MOST + 2)
    rows = [StoredEvent(*row) for row in session.execute(chosen).tuples()]  # type: ignore[arg-type]
    known = rows[0].id == max(cursor, 1) if rows else cursor == 0
    if not known or len(rows) > MOST + 1:
        return EventBatch((), newest(session), all=True)
    behind = [row for row in rows if row.id > cursor]
    events = [row for row in behind if row.topic not in HIDDEN]
    return EventBatch(events, find_last_settled(cursor, [(row.id, row.created_at) for row in behind]))


def touched_documents(
    session: Session, project_id: str, cursor: int, whole: Collection[Topic] = ()
) -> tuple[int, set[str] | None]:
    """Return the next cursor, and the documents that have changed behind one, with their words and answers.

    Args:
        session: An open session.
        project_id: Of the documents.
        cursor: From `newest` or an earlier call.
        whole: Topics of which any change may concern every document.

    Returns:
        The cursor, and the ids; None in their place where any document may have changed.
    """
    batch = since(session, cursor)
    events = [event for event in batch.events if event.project_id in (project_id, None)]
    subjects = {event.subject_id for event in events if event.topic in ("answers", "documents")}
    if batch.all or None in subjects or any(event.topic in whole for event in events):
        return batch.next, None
    return batch.next, {subject for subject in subjects if subject is not None}


def prune(workspace: Workspace) -> None:
    """Delete the changes of more than an hour ago, except the newest, and those that a follower has still to follow.

    Readers that have read the newest miss nothing.

    Costs as much as there is to delete, in batches. Several processes may do it at once.
    """
    with workspace.database.autocommit_read() as session:
        recent = select(Change.id).where(Change.created_at >= now() - KEPT).order_by(Change.id).limit(1)
        first = session.scalar(recent) or session.scalar(select(func.max(Change.id)))
        lowest = select(func.min(FollowerPosition.cursor)).scalar_subquery()
        of_events = select(FollowerPosition.cursor).where(FollowerPosition.name == EVENT_FOLLOWER).scalar_subquery()
        for place, kind in ((lowest, Change.documents.is_not(None)), (of_events, Change.topic.in_(OF_EVENTS))):
            unread = select(Change.id).where(Change.id > place, kind).order_by(Change.id).limit(1)
            to_follow = session.scalar(unread)
            first = min(first, to_follow) if first is not None and to_follow is not None else first
        if first is None or session.scalar(select(Change.id).where(Change.id < first).limit(1)) is None:
            return
    throttle = Throttle()
    while True:
        with throttle, workspace.database.write() as session:
            throttle.start_timing()
            # From the oldest on: the reader of a cursor behind a deleted change learns that it has missed some.
            old = select(Change.id).where(Change.id < first).order_by(Change.id).limit(throttle.size)
            deletion = delete(Change).where(Change.id.in_(old)).execution_options(synchronize_session=False)
            if session.execute(deletion).rowcount < 1:  # type: ignore[attr-defined]
                return


def find_last_settled(cursor: int, ids: Iterable[tuple[int, datetime]]) -> int:
    """Return the last id before the first gap that may still be filled.

    Args:
        cursor: The id before them; everything up to it is settled.
        ids: Ids with their times, in order.
    """
    filled = now() - LATE
    for number, created_at in ids:
        if number > cursor + 1 and created_at > filled:
            break
        cursor = max(cursor, number)
    return cursor
