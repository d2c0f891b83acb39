"""Crontab expressions: due when cron(5) says so, through both changes of the clocks, and refused in one sentence."""

import random
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from engine.crontab import schedule

BERLIN = ZoneInfo("Europe/Berlin")


def due(expression: str, after: datetime, count: int, zone: str = "UTC") -> list[datetime]:
    found, made = [], schedule(expression, zone)
    for _ in range(count):
        after = made.next_after(after) or pytest.fail(f"{expression} is never due after {after}")
        found.append(after)
    return found


def listed(field: str, lowest: int, highest: int) -> set[int]:
    """The values of a field of cron(5), the slow way."""
    values: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        low, high = (lowest, highest) if span == "*" else (int(first), int(last or (highest if step else first)))
        values |= set(range(low, high + 1, int(step or 1)))
    return values


def minutes_of(expression: str, begin: datetime, end: datetime) -> list[datetime]:
    """Every due minute of an expression in UTC, by looking at each minute as cron(5) is written."""
    minute, hour, day, month, weekday = expression.split()
    found, at = [], begin
    while at < end:
        days = at.day in listed(day, 1, 31)
        weekdays = at.isoweekday() % 7 in {value % 7 for value in listed(weekday, 0, 7)}
        if day.startswith("*") or weekday.startswith("*"):
            fits = days and weekdays
        else:
            fits = days or weekdays
        if (
            fits
            and at.minute in listed(minute, 0, 59)
            and at.hour in listed(hour, 0, 23)
            and at.month in listed(month, 1, 12)
        ):
            found.append(at)
        at += timedelta(minutes=1)
    return found


@pytest.mark.parametrize(
    "expression",
    ["30 2 * * *", "*/20 9-17 * * 1-5", "0 0 1,15 * 1", "15 6 * * 0", "15 6 * * 7", "0 12 28-31 1,2 *", "5 0 * 2 5-7"],
)
def test_times_are_those_that_a_look_at_every_minute_finds(expression: str) -> None:
    begin, end = datetime(2026, 1, 30, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC)
    wanted = minutes_of(expression, begin, end)
    assert len(wanted) >= 3
    assert due(expression, begin - timedelta(minutes=1), len(wanted)) == wanted


def test_sunday_is_0_and_7_and_monday_is_1() -> None:
    friday = datetime(2026, 3, 6, 12, tzinfo=UTC)
    assert [at.strftime("%a") for at in due("0 9 * * 1", friday, 2)] == ["Mon", "Mon"]
    assert due("0 9 * * 0", friday, 2) == due("0 9 * * 7", friday, 2) == due("0 9 * * sun", friday, 2)
    assert [at.strftime("%a") for at in due("0 9 * * fri-sun", friday, 4)] == ["Sat", "Sun", "Fri", "Sat"]
    assert [at.strftime("%a") for at in due("0 9 * * */3", friday, 3)] == ["Sat", "Sun", "Wed"]


def test_a_fixed_hour_that_comes_twice_in_autumn_is_due_once() -> None:
    found = due("30 2 * * *", datetime(2026, 10, 24, 12, tzinfo=UTC), 3, "Europe/Berlin")
    assert [at.astimezone(BERLIN).strftime("%d %H:%M %z") for at in found] == [
        "25 02:30 +0200",
        "26 02:30 +0100",
        "27 02:30 +0100",
    ]
    hourly = due("0 * * * *", datetime(2026, 10, 24, 22, 30, tzinfo=UTC), 4, "Europe/Berlin")
    assert [second - first for first, second in pairwise(hourly)] == [timedelta(hours=1)] * 3


def test_a_fixed_hour_that_is_left_out_in_spring_is_due_once() -> None:
    found = due("30 2 * * *", datetime(2026, 3, 28, 12, tzinfo=UTC), 2, "Europe/Berlin")
    assert [at.astimezone(BERLIN).strftime("%d %H:%M") for at in found] == ["29 03:30", "30 02:30"]


@pytest.mark.parametrize("expression", ["* * * * *", "*/15 8-18 * * 1-5", "30 2 * * *", "0 3 1 * *", "0 0 29 2 *"])
def test_the_latest_due_time_is_the_last_of_all_of_them(expression: str) -> None:
    generator, made = random.Random(expression), schedule(expression, "Europe/Berlin")
    for _ in range(25):
        after = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=generator.randrange(60 * 24 * 700))
        span = 600 if expression.startswith("* *") else 60 * 24 * generator.choice((1, 40, 900))
        until = after + timedelta(minutes=generator.randrange(span))
        every, at = [], made.next_after(after)
        while at is not None and at <= until:
            every.append(at)
            at = made.next_after(at)
        assert made.latest(after, until) == (every[-1] if every else None)


@pytest.mark.parametrize(
    ("expression", "zone", "sentence"),
    [
        ("@daily", "UTC", "five fields"),
        ("* * * *", "UTC", "five fields"),
        ("61 * * * *", "UTC", "higher than the maximum"),
        ("*/0 * * * *", "UTC", "no crontab expression"),
        ("0 9 * * 8", "UTC", "no day of the week"),
        ("0 9 * * fri-mon", "UTC", "goes backwards"),
        ("0 0 31 2 *", "UTC", "never comes due"),
        ("0 9 * * *", "Mars/Olympus", "no time zone"),
        ("0 9 * * *", "", "no time zone"),
        ("0 9 * * *", "../etc/passwd", "no time zone"),
        ("0 9 * * *", "Europe", "no time zone"),
    ],
)
def test_what_cannot_be_is_one_sentence(expression: str, zone: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as refused:
        schedule(expression, zone)
    assert "\n" not in str(refused.value)
