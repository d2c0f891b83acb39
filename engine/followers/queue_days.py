"""Depth of the queue by day: what a document adds to it, or takes from it, is counted on the day of its change."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date
from typing import Any

from sqlalchemy import bindparam, delete, func, literal, select, union_all
from sqlalchemy.orm import Session

from db.base import now
from db.statuses import SUBMITTED, WAITING
from db.tables import Annotation, Document, QueueDay, QueueDocument, Task
from engine.followers.derived_table import Amounts, DerivedTable, Row, add_amounts
from engine.followers.follower import Differences, Follower
from engine.followers.queue_history import days as history_of

_NUMBERS = ("open", "submitted")


def compute_queue(session: Session, ids: Collection[str]) -> Iterator[Row]:
    """Yield the rows of QueueDocument of some documents, as their tasks and answers say."""
    for row in session.connection().execute(_WAITING, {"ids": list(ids)}):
        yield tuple(row)


def _add_to_days(session: Session, differences: Differences, days: Mapping[str, date]) -> None:
    amounts: Amounts = Counter()
    for sign, row in _signed_rows(differences):
        for name in _NUMBERS:
            amounts[row.project_id, days[row.document_id], name] += sign * getattr(row, name)
    add_amounts(session, QueueDay, amounts)


def _signed_rows(differences: Differences) -> Iterator[tuple[int, Any]]:
    for difference in differences.values():
        yield from ((1, row) for row in difference.added)
        yield from ((-1, row) for row in difference.gone)


def _missing(session: Session, project_id: str) -> dict[str, int]:
    """Return how many tasks and answers more wait than the days add up to."""
    missing: Counter[str] = Counter()
    for sign, table in ((1, QueueDocument), (-1, QueueDay)):
        sums = (func.coalesce(func.sum(getattr(table, name)), 0) for name in _NUMBERS)
        row = session.execute(select(*sums).where(table.project_id == project_id)).one()  # type: ignore[attr-defined]
        for name, amount in zip(_NUMBERS, row, strict=True):
            missing[name] += sign * int(amount)
    return {name: amount for name, amount in missing.items() if amount}


def _find_mismatches(session: Session, project_id: str) -> list[str]:
    return [project_id] if _missing(session, project_id) else []


def _repair(session: Session, project_id: str) -> Callable[[Session], None]:
    """Compute the days from tasks and revisions; what they do not explain counts today."""
    amounts: Amounts = Counter()
    for day, numbers in history_of(session, project_id).items():
        amounts.update({(project_id, day, name): amount for name, amount in zip(_NUMBERS, numbers, strict=True)})

    def set_days(session: Session) -> None:
        session.connection().execute(delete(QueueDay).where(QueueDay.project_id == project_id))
        add_amounts(session, QueueDay, amounts)
        today = now().date()
        missing = _missing(session, project_id).items()
        add_amounts(session, QueueDay, {(project_id, today, name): amount for name, amount in missing})

    return set_days


_IDS: Any = bindparam("ids", expanding=True)
_parts = union_all(
    select(Task.document_id, literal(1).label("open"), literal(0).label("submitted")).where(
        Task.document_id.in_(_IDS), Task.state.in_(WAITING)
    ),
    select(Annotation.document_id, literal(0), literal(1)).where(
        Annotation.document_id.in_(_IDS), Annotation.status == SUBMITTED
    ),
).subquery()
_WAITING = (
    select(_parts.c.document_id, Document.project_id, func.sum(_parts.c.open), func.sum(_parts.c.submitted))
    .join(Document, Document.id == _parts.c.document_id)
    .group_by(_parts.c.document_id, Document.project_id)
)
FOLLOWER = Follower(
    "queue_days",
    (DerivedTable(QueueDocument, compute_queue),),
    then=_add_to_days,
    mismatches=_find_mismatches,
    repair=_repair,
)
