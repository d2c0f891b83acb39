"""How far the figures lag behind the changes, for health checks and for screens that show them."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.base import now
from db.changes import DIRTY
from db.tables import Change, FollowerPosition, SkippedChange


@dataclass(frozen=True, slots=True)
class Freshness:
    """State of the figures.

    Attributes:
        as_of: All that was committed until then is counted; the present time when nothing lags.
        lag_seconds: Since the oldest change that is not counted yet; 0.0 without any.
        skipped: Changes that could not be followed and are left out.
    """

    as_of: datetime
    lag_seconds: float
    skipped: int


def freshness(session: Session) -> Freshness:
    """Return how far the slowest follower has come; three short statements."""
    lowest = select(func.min(FollowerPosition.cursor)).scalar_subquery()
    waiting = select(Change.created_at).where(Change.id > lowest, Change.topic == DIRTY)
    oldest = session.scalar(waiting.order_by(Change.id).limit(1))
    skipped = session.scalar(select(func.count(SkippedChange.id))) or 0
    moment = now()
    as_of = min(oldest, moment) if oldest is not None else moment
    return Freshness(as_of, (moment - as_of).total_seconds(), skipped)
