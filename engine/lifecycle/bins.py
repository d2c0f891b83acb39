"""What the bins of documents, questions and projects have in common: a row for each thing in them, listed in pages."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, func, select

from db.tables import RemovedDocument, RemovedProject, RemovedQuestion
from engine.paging import Order
from engine.paging import Page as ListPage
from engine.workspace import Workspace

MOST_LISTED = 1000  # of one page
Bin = type[RemovedDocument] | type[RemovedQuestion] | type[RemovedProject]
_Line = TypeVar("_Line")


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
