"""Crontab expressions in a time zone: when they come due, in UTC. Pure functions over cronsim.

The five fields mean what cron(5) and Debian's cron say. Sunday is 0 or 7. Where both the day of the month and the day
of the week are restricted, either of them is enough. When the clocks change, a fixed time ("30 2 * * *") comes due
once: in autumn at its first pass, in spring right after the hour that is left out. Where the minute or the hour
begins with "*", every pass counts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

_FIELDS = ("minute", "hour", "day-of-month", "month", "day-of-week")  # as cronsim names them
_ALLOWED = (
    "0 to 59",
    "0 to 23",
    "1 to 31, and a day that the month has",
    "1 to 12, or jan to dec",
    "0 to 7, or sun to sat, the earlier day first",
)
_LONGEST_STEPS = (59, 23, 30, 11)  # cronsim reads a longer step, as in "*/90" minutes, as the first value alone
_BEGINNING = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Schedule:
    """Times that come due again and again. Moments go in with a time zone and come out in UTC."""

    expression: str  # five fields as cronsim reads them
    zone: ZoneInfo

    def next_after(self, moment: datetime) -> datetime | None:
        """Return the first due time after `moment`; None where there is none within fifty years."""
        # In the repeated hour of autumn cronsim begins with times of its first pass, which are over.
        return next((at for at in self._times(moment) if at > moment), None)

    def latest(self, after: datetime, until: datetime) -> datetime | None:
        """Return the last due time after `after` and not after `until`; None where there is none."""
        # Backwards, cronsim begins before the moment it is given, and may skip times in a repeated hour: see below.
        second_after = until.replace(microsecond=0) + timedelta(seconds=1)
        latest_time = next((at for at in self._times(second_after, reverse=True) if at <= until), None)
        if latest_time is not None and latest_time <= after:
            latest_time = None
        following = self.next_after(latest_time or after)
        while following is not None and following <= until:
            latest_time, following = following, self.next_after(following)
        return latest_time

    def _times(self, begin: datetime, *, reverse: bool = False) -> Iterator[datetime]:
        for local in CronSim(self.expression, begin.astimezone(self.zone), reverse):
            yield local.astimezone(UTC)


@lru_cache(256)
def schedule(expression: str, time_zone: str = "UTC") -> Schedule:
    """Return the schedule of a crontab expression in a time zone.

    Args:
        expression: Five fields, as in "30 2 * * 1-5". Seconds and nicknames such as "@daily" are refused.
        time_zone: A name of the IANA database, as "Europe/Berlin".

    Raises:
        ValueError: One sentence that says what is wrong and what to write.
    """
    zone = zone_named(time_zone)
    fields = expression.lower().split()
    if len(fields) != len(_FIELDS):
        raise ValueError(
            f"{expression!r} is no crontab expression: write five fields (minute, hour, day of the month, month, "
            'day of the week), as in "30 2 * * 1-5"'
        )
    for at, most in enumerate(_LONGEST_STEPS):
        if any(int(step) > most for step in re.findall(r"/(\d+)", fields[at])):
            raise ValueError(f"{_wrong(expression, fields, at)}, with a step of at most {most}")
    made = Schedule(_as_cronsim_reads(fields), zone)
    try:
        never = made.next_after(_BEGINNING) is None
    except CronSimError as error:
        name = str(error).removeprefix("Bad ")
        raise ValueError(_wrong(expression, fields, _FIELDS.index(name))) from None
    if never:
        raise ValueError(f"{expression!r} never comes due; change its day or its month")
    return made


def zone_named(name: str) -> ZoneInfo:
    """Return a time zone of the IANA database. ValueError, one sentence, for a name that is not in it."""
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, OSError):  # unknown, no name at all, a folder of names
        raise ValueError(
            f'{name!r} is no time zone; write a name of the IANA database, such as "UTC" or "Europe/Berlin"'
        ) from None


def _as_cronsim_reads(fields: list[str]) -> str:
    """Return the expression as cronsim reads it; earlier versions allowed more in two fields."""
    minute, hour, day, month, weekday = fields
    day = re.sub(r"\blast\b", "L", day)
    weekday = re.sub(r"\b(mon|tue|wed|thu|fri|sat|[1-7])-(?:sun|0)\b", r"\1-7", weekday)  # fri-sun
    weekday = re.sub(r"(?<![\w-])(?:sat|6)/\d+", "6", weekday)
    weekday = re.sub(r"(?<![\w-])(\w+)/", r"\1-6/", weekday)  # 1/2 is Monday, Wednesday, Friday; not Sunday, as 7
    return " ".join((minute, hour, day, month, weekday))


def _wrong(expression: str, fields: list[str], at: int) -> str:
    name = _FIELDS[at].replace("day-of-", "day of the ")
    return f"{expression!r} is no crontab expression: the {name} {fields[at]!r} is not valid; write {_ALLOWED[at]}"
