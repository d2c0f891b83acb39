"""Times in sentences: UTC on the wire, the reader's own clock where they are shown."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from engine.tasks.queue.queue_view import clock, to_local_time


@pytest.fixture(params=["Asia/Kolkata", "America/New_York"])
def elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_a_sentence_tells_the_time_of_the_machine_that_shows_it(elsewhere: str) -> None:
    moment = datetime.now(UTC).replace(microsecond=0)
    sentence = f"Ann holds it until {clock(moment)}, and bill 14:03:22 stays as it is."
    assert f"until {moment.astimezone():%H:%M:%S}, and bill 14:03:22" in to_local_time(sentence)
    assert "UTC" not in to_local_time(sentence) and clock(moment) in sentence
