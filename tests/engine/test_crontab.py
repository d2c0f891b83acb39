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


def test_a_fixed_hour_left_out_in_spring_is_due_right_after_it() -> None:
    found = due("30 2 * * *", datetime(2026, 3, 28, 12, tzinfo=UTC), 2, "Europe/Berlin")
    assert [at.astimezone(BERLIN).strftime("%d %H:%M") for at in found] == ["29 03:00", "30 02:30"]


def test_a_minute_with_a_star_is_due_at_both_passes_of_an_hour() -> None:
    autumn = due("*/30 2 * * *", datetime(2026, 10, 24, 12, tzinfo=UTC), 5, "Europe/Berlin")
    assert [at.astimezone(BERLIN).strftime("%d %H:%M %z") for at in autumn] == [
        "25 02:00 +0200",
        "25 02:30 +0200",
        "25 02:00 +0100",
        "25 02:30 +0100",
        "26 02:00 +0100",
    ]
    spring = due("*/30 2 * * *", datetime(2026, 3, 28, 12, tzinfo=UTC), 1, "Europe/Berlin")
    assert [at.astimezone(BERLIN).strftime("%d %H:%M") for at in spring] == ["30 02:00"]


def test_in_the_repeated_hour_nothing_due_before_comes_again() -> None:
    made = schedule("30 2 * * *", "Europe/Berlin")
    first_pass = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    second_pass = first_pass + timedelta(minutes=40)  # 02:10 once more
    assert made.next_after(second_pass) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
    assert made.latest(first_pass - timedelta(days=3), second_pass) == first_pass
    assert made.latest(first_pass, second_pass) is None


@pytest.mark.parametrize(
    ("before", "plainly"),
    [
        ("0 9 last * *", "0 9 l * *"),
        ("0 9 1,last 4 *", "0 9 1,30 4 *"),
        ("0 9 * * fri-sun", "0 9 * * 0,5,6"),
        ("0 9 * * 5-0", "0 9 * * 0,5,6"),
        ("0 9 * * sun-mon", "0 9 * * 0,1"),
        ("0 9 * * 1/2", "0 9 * * 1,3,5"),
        ("0 9 * * sat/2,mon/3", "0 9 * * 1,4,6"),
        ("0 9 * JAN-mar MON", "0 9 * 1-3 1"),
        ("5/20 9 * * *", "5,25,45 9 * * *"),
        (" 0  9 * *  * ", "0 9 * * *"),
    ],
)
def test_settings_of_earlier_versions_keep_their_times(before: str, plainly: str) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    assert due(before, begin, 40) == due(plainly, begin, 40)


@pytest.mark.parametrize("moment", [datetime(2026, 3, 29, 1, tzinfo=UTC), datetime(2026, 10, 25, 1, tzinfo=UTC)])
@pytest.mark.parametrize("expression", ["30 2 * * *", "*/20 2 * * *", "15 2,3 * * *", "0 * * * 0", "10 23 * * *"])
def test_the_latest_is_right_around_a_change_of_clocks(expression: str, moment: datetime) -> None:
    generator, made = random.Random(expression), schedule(expression, "Europe/Berlin")
    begin, every = moment - timedelta(hours=60), list[datetime]()
    while (at := made.next_after(every[-1] if every else begin)) is not None and at < moment + timedelta(hours=60):
        every.append(at)
    for _ in range(50):
        after = moment + timedelta(seconds=generator.randint(-150_000, 20_000))
        until = after + timedelta(seconds=generator.randint(0, 90_000))
        between = [at for at in every if after < at <= until]
        assert made.latest(after, until) == (between[-1] if between else None)


@pytest.mark.parametrize("expression", ["* * * * *", "*/15 8-18 * * 1-5", "30 2 * * *", "0 3 1 * *", "0 0 29 2 *"])
def test_the_latest_due_time_is_the_last_of_all_of_them(expression: str) -> None:
    generator, made = random.Random(expression), schedule(expression, "Europe/Berlin")
    for _ in range(25):
        after = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=generator.randrange(60 * 24 * 700))
        span = 3000 if expression.startswith("*") else 60 * 24 * generator.choice((1, 40, 900))
        until = after + timedelta(minutes=generator.randrange(span))
        every, at = [], made.next_after(after)
        while at is not None and at <= until:
            every.append(at)
            at = made.next_after(at)
        assert made.latest(after, until) == (every[-1] if every else None)


@pytest.mark.parametrize(
    ("expression", "zone", "sentence"),
    [
        ("@daily", "UTC", "write five fields"),
        ("* * * *", "UTC", "write five fields"),
        ("0 * * * * *", "UTC", "write five fields"),
        ("61 * * * *", "UTC", "the minute '61' is not valid; write 0 to 59"),
        ("0 24 * * *", "UTC", "the hour '24' is not valid; write 0 to 23"),
        ("*/0 * * * *", "UTC", "the minute '\\*/0' is not valid"),
        ("*/90 * * * *", "UTC", "with a step of at most 59"),
        ("0 9 * 13 *", "UTC", "the month '13' is not valid; write 1 to 12, or jan to dec"),
        ("0 9 * * 8", "UTC", "the day of the week '8' is not valid; write 0 to 7"),
        ("0 9 * * fri-mon", "UTC", "the earlier day first"),
        ("0 0 31 2 *", "UTC", "write 1 to 31, and a day that the month has"),
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
