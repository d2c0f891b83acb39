"""What a unit of work publishes to open screens, for tests."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import func, select

from db.changes import HIDDEN, Event
from db.tables import Change
from engine.workspace import Workspace


@contextmanager
def published_events(workspace: Workspace) -> Iterator[list[Event]]:
    """Fill a list with the changes that are stored while the block runs, in order."""
    with workspace.database.read() as session:
        before = session.scalar(select(func.max(Change.id))) or 0
    events: list[Event] = []
    yield events
    columns = Change.project_id, Change.topic, Change.subject_id, Change.question_id, Change.author_id
    with workspace.database.read() as session:
        rows = session.execute(
            select(*columns).where(Change.id > before, Change.topic.not_in(HIDDEN)).order_by(Change.id)
        )
        events += [Event(*row) for row in rows.tuples()]  # type: ignore[arg-type]
