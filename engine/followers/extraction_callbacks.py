"""Callbacks of extractions are looked at when their documents have changed (engine.extraction.callbacks)."""

from collections.abc import Callable, Sequence

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from db.base import now
from db.tables import ExtractionCallback
from engine.followers.follower import Follower
from engine.followers.positions import DirtyChange


def wake_callbacks(
    session: Session, changes: Sequence[DirtyChange], documents: Sequence[str]
) -> Callable[[Session], None] | None:
    """Return what makes the callbacks of changed documents due; None where nobody waits for one of them."""
    waiting = ExtractionCallback.document_id.in_(documents)
    if session.scalar(select(ExtractionCallback.id).where(waiting).limit(1)) is None:
        return None

    def wake(session: Session) -> None:
        """Make them due; a look that is under way sees that it is late."""
        session.execute(update(ExtractionCallback).where(waiting).values(due_at=now()))

    return wake


FOLLOWER = Follower("extraction_callbacks", (), announce=wake_callbacks, pause_seconds=1.0)
