"""The audit trail.

Entries are written in the unit of work of their action, and never changed or deleted.
"""

from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.tables import AuditEntry, Project, RemovedProject, User
from engine.audit_clauses import clause
from engine.paging import Order, Page
from engine.workspace import Workspace

MOST = 500
NOBODY = "Glossator"  # actor of entries without a user


class AuditLine(BaseModel):
    """An entry for people: time, actor, and `what` as one clause."""

    id: str
    created_at: datetime
    actor: str
    project: str | None
    action: str
    subject: str
    what: str
    details: dict[str, Any]


def record(
    session: Session, actor_id: str | None, action: str, subject: str, project_id: str | None = None, **details: object
) -> None:
    """Add an entry inside the caller's unit of work.

    Args:
        session: an open session.
        actor_id: id of the acting user; None: Glossator.
        action: action, a key of the table of clauses.
        subject: id or name of the subject.
        project_id: project, or None.
        details: JSON values that the clause needs.
    """
    session.add(AuditEntry(actor_id=actor_id, project_id=project_id, action=action, subject=subject, details=details))


def note(
    workspace: Workspace,
    actor_id: str | None,
    action: str,
    subject: str,
    project_id: str | None = None,
    **details: object,
) -> None:
    """Add an entry in a unit of work of its own, for actions without other changes.

    Arguments as of `record`.
    """
    with workspace.database.write() as session:
        record(session, actor_id, action, subject, project_id, **details)


def entries(
    workspace: Workspace,
    project_id: str | None = None,
    *,
    before: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Page[AuditLine]:
    """Return a page of the audit trail, newest first.

    Args:
        workspace: open workspace.
        project_id: limits the entries to one project.
        before: id of the last entry seen; older ones are returned.
        limit: maximum number, at most MOST.
        cursor: of the page; None: the first page.

    Raises:
        Refused: the cursor is not one of this list.
    """
    order = Order(f"audit {project_id or ''}", (AuditEntry.created_at, AuditEntry.id), falls=True)
    chosen = (
        select(AuditEntry, User.name, func.coalesce(RemovedProject.name, Project.name))
        .outerjoin(User, User.id == AuditEntry.actor_id)
        .outerjoin(Project, Project.id == AuditEntry.project_id)
        .outerjoin(RemovedProject, RemovedProject.project_id == Project.id)
    )
    if project_id is not None:
        chosen = chosen.where(AuditEntry.project_id == project_id)
    with workspace.database.read() as session:
        if before is not None and cursor is None and (last := session.get(AuditEntry, before)) is not None:
            cursor = order.cursor((last.created_at, last.id))
        rows, following = order.rows(session, chosen, max(1, min(limit, MOST)), cursor)
    lines = [
        AuditLine(
            id=entry.id,
            created_at=entry.created_at,
            actor=actor or NOBODY,
            project=project,
            action=entry.action,
            subject=entry.subject,
            what=clause(entry.action, entry.subject, entry.details),
            details=entry.details,
        )
        for entry, actor, project in rows
    ]
    return Page(lines, following)
