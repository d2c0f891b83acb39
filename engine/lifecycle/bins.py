"""What the bins of documents, questions and projects have in common.

Each has a row for each thing in it. They are listed in pages, and a worker deletes for good what has lain there for
its days.
"""

import contextlib
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, func, select

from db.base import now
from db.tables import RemovedDocument, RemovedProject, RemovedQuestion
from engine.errors import Conflict
from engine.followers import catch_up
from engine.paging import Order
from engine.paging import Page as ListPage
from engine.workspace import Workspace

MOST_LISTED = 1000  # of one page
_LOOK_SECONDS = 3600.0  # between two looks of a process for what is due
_ERASE_SECONDS = 1.0  # of a poll that a worker deletes
_FIGURES_SECONDS = 5.0  # that a deletion waits for the figures
Bin = type[RemovedDocument] | type[RemovedQuestion] | type[RemovedProject]
_Line = TypeVar("_Line")
_log = logging.getLogger(__name__)
_lock = threading.Lock()
_looked_at: dict[str, float] = {}  # by what for, and database


def list_removed(
    workspace: Workspace,
    bin_rows: Bin,
    name: str,
    chosen: Select[*tuple[Any, ...]],
    make: Callable[..., _Line],
    limit: int,
    cursor: str | None,
) -> ListPage[_Line]:
    """Return a page of a bin, last removed first.

    Args:
        workspace: Open workspace.
        bin_rows: Table of the bin.
        name: Of the list, which its cursors are bound to.
        chosen: Statement for the values of a line; the last one is the time of removal.
        make: Makes a line of its values and the time of deletion.
        limit: Maximum number, at most MOST_LISTED.
        cursor: Of the page; None: the first page.

    Raises:
        Refused: The cursor is not one of this list.
    """
    order = Order(name, (bin_rows.removed_at, *bin_rows.__mapper__.primary_key), falls=True)
    days = timedelta(days=workspace.settings.bin_days)
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
    return ListPage((make(*row, row[-1] + days) for row in rows), following)


def line_values(line: Any) -> dict[str, Any]:
    """Return a line of a bin as JSON values, times in ISO 8601."""
    return {name: part.isoformat() if isinstance(part, datetime) else part for name, part in asdict(line).items()}


def count_removed(workspace: Workspace, bin_rows: Bin, project_id: str) -> int:
    """Return the number of rows in a bin of a project, without those that are being deleted."""
    with workspace.database.read() as session:
        chosen = select(func.count()).select_from(bin_rows).where(is_restorable(bin_rows, project_id))
        return session.scalar(chosen) or 0


def is_restorable(bin_rows: Bin, project_id: str) -> ColumnElement[bool]:
    """Return the condition that a row lies in a bin of a project, and is not being deleted."""
    return (bin_rows.project_id == project_id) & ~bin_rows.erasing


def look_after(
    workspace: Workspace,
    bin_rows: Bin,
    mark: Callable[[str, set[str]], object],
    erase: Callable[[Workspace, float], object],
) -> bool:
    """Delete what is chosen in a bin; once an hour, choose what has been there for `bin_days`. A chore of the worker.

    Args:
        workspace: Open workspace.
        bin_rows: Table of the bin.
        mark: Chooses some ids of a project.
        erase: Deletes what is chosen, for some seconds. It may raise Conflict: a later poll goes on.

    Returns:
        Whether this was the look of the hour.
    """
    is_hourly = is_due(f"{bin_rows.__tablename__} {workspace.database.url}")
    if is_hourly:
        [key] = bin_rows.__mapper__.primary_key
        over = bin_rows.removed_at < now() - timedelta(days=workspace.settings.bin_days), ~bin_rows.erasing
        by_project: dict[str, set[str]] = defaultdict(set)
        with workspace.database.read() as session:
            for project_id, row_id in session.execute(select(bin_rows.project_id, key).where(*over)):
                by_project[project_id].add(row_id)
        for project_id, ids in by_project.items():
            mark(project_id, ids)
    with contextlib.suppress(Conflict):  # a backup copies the files
        erase(workspace, _ERASE_SECONDS)
    return is_hourly


def is_due(look: str) -> bool:
    """Return whether this process has not looked for an hour; it has from now on. `look`: for what, and where."""
    with _lock:
        last = _looked_at.get(look)
        if last is not None and time.monotonic() - last < _LOOK_SECONDS:
            return False
        _looked_at[look] = time.monotonic()
        return True


def await_figures(workspace: Workspace, deleted: str) -> None:
    """Let the sums follow before the rows that they would be taken from are gone; nobody waits for ever."""
    if not catch_up(workspace, patience=_FIGURES_SECONDS):
        _log.warning("figures have not followed the deletion of the %s", deleted)
