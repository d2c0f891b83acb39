"""Waiting for a condition, never for a time."""

import time
from collections.abc import Callable
from typing import Any

MOST_SECONDS = 120.0  # on a busy machine


def wait_until(seen: Callable[[], Any], seconds: float = MOST_SECONDS) -> None:
    """Wait until a condition holds; fail after so many seconds."""
    end = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < end, f"nothing came within {seconds:g} seconds"
        time.sleep(0.02)
