"""Days on the page are those of the reader's time zone, which a cookie tells."""

from zoneinfo import ZoneInfo

import gradio as gr
import pytest
from starlette.requests import Request

from annotator.gradio.event_zone import COOKIE, with_offset, zone_of


def request_with(cookie: str) -> gr.Request:
    return gr.Request(Request({"type": "http", "headers": [(b"cookie", cookie.encode())]}))


@pytest.mark.parametrize(
    ("cookie", "zone"),
    [
        (f"{COOKIE}=Pacific%2FKiritimati", "Pacific/Kiritimati"),
        (f"{COOKIE}=..%2Fetc", "UTC"),
        (f"{COOKIE}=", "UTC"),
        ("other=1", "UTC"),
    ],
)
def test_the_zone_of_the_browser_is_read_from_its_cookie(cookie: str, zone: str) -> None:
    assert zone_of(request_with(cookie)).key == zone


def test_a_local_day_becomes_a_time_with_its_offset() -> None:
    zone = ZoneInfo("Pacific/Kiritimati")
    assert with_offset("2026-11-29", zone) == "2026-11-29T00:00:00+14:00"
    assert with_offset("2026-07-01", ZoneInfo("Europe/Berlin")) == "2026-07-01T00:00:00+02:00"
    assert with_offset("2026-11-29T08:00:00+01:00", zone) == "2026-11-29T08:00:00+01:00"
    assert with_offset("tomorrow", zone) == "tomorrow"
