"""Statements that a database receives."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from engine.workspace import Workspace


@contextmanager
def heard(workspace: Workspace) -> Iterator[list[tuple[str, Any]]]:
    """Collect the statements with their parameters; of what begins and ends units of work only SQLite's BEGIN."""
    said: list[tuple[str, Any]] = []

    def hear(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        said.append((statement, values))

    event.listen(workspace.database.engine, "before_cursor_execute", hear)
    yield said
    event.remove(workspace.database.engine, "before_cursor_execute", hear)
