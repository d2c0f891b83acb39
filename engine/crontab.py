"""Crontab expressions in a time zone: when they come due, in UTC. Pure functions on APScheduler's cron triggers.

The five fields mean what cron(5) says, which APScheduler's own reading does not: Sunday is 0 or 7, and where both the day of the
month and the day of the week are restricted, either of them is enough. A fixed hour that the clocks go through twice in autumn is
due once, at its first time; one that they leave out in spring is due as soon as they have.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger

_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(?P<first>[a-z]{3}|\d)(?:-(?P<last>[a-z]{3}|\d))?(?:/(?P<step>\d+))?")
# Back from a moment, the widest first that may hold nothing due: the latest due time is looked for in few steps.
_WINDOWS = tuple(timedelta(hours=hours) for hours in (2, 26, 24 * 8, 24 * 32, 24 * 367, 24 * 366 * 8))
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something is due again and again."""

    trigger: BaseTrigger
    zone: tzinfo
    any_hour: bool  # the hour field begins with *: both passes through a repeated hour count

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first due time after `moment`, in UTC; None where there is none within eight years."""
        latest = moment + _WINDOWS[-1]
        while True:
            found: datetime | None = self.trigger.get_next_fire_time(None, (moment + _TICK).astimezone(self.zone))
            if found is None or found > latest:
                return None
            if self.any_hour or not found.fold:
                return found.astimezone(UTC)
            moment = found.astimezone(UTC)

    def latest(self, after: datetime, until: datetime) -> datetime | None:
        """Return the last due time after `after` and not after `until`, in UTC; None where there is none."""
        for window in _WINDOWS:
            start = max(after, until - window)
            found, following = None, self.next_after(start)
            while following is not None and following <= until:
                found, following = following, self.next_after(following)
            if found is not None or start == after:
                return found
        return None


@lru_cache(256)
def schedule(expression: str, time_zone: str = "UTC") -> Schedule:
    """Return the schedule of a crontab expression ("30 2 * * 1-5") in a time zone ("Europe/Berlin").

    ValueError, one sentence that says what is wrong, for an expression or a zone that cannot be, or that never comes due.
    """
    zone = zone_named(time_zone)
    fields = expression.lower().split()
    if len(fields) != 5:
        raise ValueError(
            f"{expression!r} is no crontab expression: it has five fields (minute, hour, day of the month, month, day of the "
            'week), as in "30 2 * * 1-5"'
        )
    minute, hour, day, month, weekday = fields
    dates = {"minute": minute, "hour": hour, "month": month}
    days = _weekdays(weekday)
    try:
        if day.startswith("*") or weekday.startswith("*"):
            trigger: BaseTrigger = CronTrigger(**dates, day=day, day_of_week=days, timezone=zone)
        else:
            trigger = OrTrigger(
                [CronTrigger(**dates, day=day, timezone=zone), CronTrigger(**dates, day_of_week=days, timezone=zone)]
            )
    except ValueError as error:
        raise ValueError(f"{expression!r} is no crontab expression: {_lowered(str(error))}") from None
    made = Schedule(trigger, zone, hour.startswith("*"))
    if made.next_after(datetime(2024, 1, 1, tzinfo=UTC)) is None:  # a leap year, so that the 29th of February comes
        raise ValueError(f"{expression!r} never comes due; look at its day and month")
    return made


def zone_named(name: str) -> ZoneInfo:
    """Return a time zone of the IANA database. ValueError, one sentence, for a name that is not in it."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown, no name at all, a folder of names
        raise ValueError(
            f'{name!r} is no time zone; write a name of the IANA database, such as "UTC" or "Europe/Berlin"'
        ) from None


def _weekdays(field: str) -> str:
    """The field's days by name: APScheduler counts from Monday, cron from Sunday."""
    if field.startswith("*"):
        found = re.fullmatch(r"\*(?:/(\d+))?", field)
        if found is None or found[1] == "0":
            raise ValueError(f"{field!r} is no day of the week; write for example 1-5 or mon,thu")
        chosen = set(range(0, 7, int(found[1] or 1)))
        return "*" if len(chosen) == 7 else ",".join(_DAYS[at] for at in sorted(chosen))
    chosen = set()
    for part in field.split(","):
        matched = _PART.fullmatch(part)
        ends = [_day(matched[name]) for name in ("first", "last") if matched[name]] if matched else []
        if matched is None or None in ends or matched["step"] == "0":
            raise ValueError(f"{field!r} is no day of the week; write for example 1-5 or mon,thu")
        first, last = ends[0] or 0, ends[-1] or 0
        if len(ends) == 1 and matched["step"]:
            last = 6
        if last < first and last == 0:
            last = 7  # fri-sun
        if last < first:
            raise ValueError(f"{part!r} goes backwards; write the days of the week from the earlier to the later")
        chosen |= {at % 7 for at in range(first, last + 1, int(matched["step"] or 1))}
    return ",".join(_DAYS[at] for at in sorted(chosen))


def _day(name: str) -> int | None:
    if name.isdigit():
        return int(name) if int(name) <= 7 else None
    return _DAYS.index(name) if name in _DAYS else None


def _lowered(sentence: str) -> str:
    return (sentence[:1].lower() + sentence[1:]).rstrip(".")
