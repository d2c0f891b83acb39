"""Finished masks by the days of a time zone."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import FinishedMask


def masks_by_local_day(
    session: Session, project_id: str, first: date, last: date, zone: ZoneInfo, only: str | None = None
) -> dict[tuple[date, str], int]:
    """Return the numbers of finished masks by day and person, from an index of the masks' times.

    Args:
        session: An open session.
        project_id: The project.
        first: First day.
        last: Last day, inclusive.
        zone: Whose days they are.
        only: Id of the person whose masks alone are counted; None: everybody's.
    """
    numbers: Counter[tuple[date, str]] = Counter()
    whose = [] if only is None else [FinishedMask.person_id == only]
    for begin, end in _days(first, last, zone):
        chosen = (
            select(FinishedMask.person_id, func.count())
            .where(FinishedMask.project_id == project_id, FinishedMask.at >= begin, FinishedMask.at < end, *whose)
            .group_by(FinishedMask.person_id)
        )
        day = begin.astimezone(zone).date()
        for person, number in session.execute(chosen).tuples():
            numbers[day, person] += number
    return dict(numbers)


def _days(first: date, last: date, zone: ZoneInfo) -> Iterator[tuple[datetime, datetime]]:
    """Yield beginning and end of each day, in UTC; a day of a change of clocks has 23 or 25 hours."""
    day = first
    while day <= last:
        following = day + timedelta(days=1)
        begin, end = (datetime.combine(each, time.min, zone).astimezone(UTC) for each in (day, following))
        yield begin, end
        day = following
