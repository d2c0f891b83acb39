"""An event loop of its own for a test of asynchronous code.

Playwright's loop still runs in the thread of pytest where browser tests went before, and `asyncio.run` refuses
to start another there.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_on_own_loop(act: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Await `act()` in another thread; what it raises is raised here."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(act())).result()
