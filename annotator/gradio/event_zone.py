"""The time zone of a person, as the page tells it in a cookie: days on the page are theirs."""

from datetime import datetime
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import gradio as gr

from engine.crontab import zone_named

COOKIE = "glossator_zone"  # written by annotator/static/core/time_zone.js


def zone_of(request: gr.Request) -> ZoneInfo:
    """Return the time zone of the browser of a Gradio event; UTC where it tells none."""
    try:
        return zone_named(unquote(request.cookies.get(COOKIE, "UTC")))
    except ValueError:
        return ZoneInfo("UTC")


def with_offset(text: str, zone: ZoneInfo) -> str:
    """Return a day or time as ISO 8601 with the offset of a zone; one that has an offset, or is none, unchanged."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return text  # refused with a sentence where it is read
    return text if instant.tzinfo else instant.replace(tzinfo=zone).isoformat()
