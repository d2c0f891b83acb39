"""Depth of the queue by day: tasks that wait for an answer, answers that wait for a reviewer."""

from datetime import date, timedelta

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import QueueDay


class QueueDepth(BaseModel):
    """Depth at the end of a day: tasks without enough answers, and answers without a verdict."""

    day: date
    open: int
    submitted: int


def queue_depth(session: Session, project_id: str, first: date, last: date) -> list[QueueDepth]:
    """Return the depth at the end of each day, `first` to `last`, as it was on that day."""
    chosen = select(QueueDay.day, QueueDay.open, QueueDay.submitted).where(QueueDay.project_id == project_id)
    moved = {row.day: (row.open, row.submitted) for row in session.execute(chosen)}
    if not moved:
        return []
    begin = max(first, min(moved))
    waiting = sum(number for day, (number, _) in moved.items() if day < begin)
    review = sum(number for day, (_, number) in moved.items() if day < begin)
    depths = []
    for day in (begin + timedelta(days=at) for at in range((last - begin).days + 1)):
        more, more_review = moved.get(day, (0, 0))
        waiting, review = waiting + more, review + more_review
        depths.append(QueueDepth(day=day, open=waiting, submitted=review))
    return depths
