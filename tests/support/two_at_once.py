"""Two acts at once: the second one begins while the first one is stopped in the middle of its unit of work."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import event, text

from db.changes import ObservedSession
from engine.workspace import Workspace
from tests.support.waiting import wait_until

POSTGRESQL = pytest.mark.parametrize(
    "database_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


def overlapping(
    workspace: Workspace, first: Callable[[], Any], second: Callable[[], Any], at: str = "before_commit"
) -> tuple[Any, Any]:
    """Do two acts at once, and return what they return.

    The first one stops in its first unit of work, until the second one has ended, or waits for a lock.

    Args:
        workspace: On PostgreSQL: SQLite has one writer.
        first: The act that stops.
        second: The act that begins then.
        at: Event of the session at which it stops: "before_commit", or "before_flush", when it has read and not yet
            written.
    """
    holds, let_go, threads = threading.Event(), threading.Event(), list[int]()

    def stop(session: ObservedSession, *_: Any) -> None:
        if threading.get_ident() in threads and not session.in_nested_transaction() and not holds.is_set():
            holds.set()
            let_go.wait()

    def run() -> Any:
        threads.append(threading.get_ident())
        return first()

    event.listen(ObservedSession, at, stop)
    try:
        with ThreadPoolExecutor(2) as pool:
            try:
                ahead = pool.submit(run)
                wait_until(lambda: holds.is_set() or ahead.done())
                assert holds.is_set(), ahead.exception()
                behind = pool.submit(second)
                wait_until(lambda: behind.done() or waits_for_lock(workspace))
            finally:
                let_go.set()
            return ahead.result(), behind.result()
    finally:
        event.remove(ObservedSession, at, stop)


def waits_for_lock(workspace: Workspace) -> bool:
    """Return whether somebody waits for a lock of the database."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    with workspace.database.engine.connect() as connection:
        return bool(connection.scalar(text(waiting)))
