"""The audit trail.

Entries are written in the unit of work of their action, and never changed or deleted.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import AuditEntry, Project, User
from engine.workspace import Workspace

MOST = 500
SHOWN = 3  # questions listed in one line

# Clause behind the actor's name, by action. Names of details stand in braces.
_SENTENCES: Mapping[str, str] = {
    "projects.create": "created the project {name}",
    "settings.change": "changed settings: {changes}",
    "members.add": "made {name} a member as {role}",
    "members.role": "changed {name} from {before} to {role}",
    "members.remove": "removed {name}, who was {role}",
    "members.leave": "left the project",
    "invitations.create": "created an invitation as {role}, valid until {until} UTC",
    "invitations.revoke": "withdrew an invitation as {role}",
    "invitations.accept": "joined as {role}, invited by {inviter}",
    "models.promote": "promoted the model {model}",
    "models.promote.forced": "promoted the model {model} despite the gate: {reason}",
    "models.rollback": "rolled back to the model {model}",
    "standard_questions": "set the standard questions: {questions}",
    "gold": "set a gold question: {question} ({document})",
    "gold.none": "removed a gold question: {question} ({document})",
    "tasks.first": "moved {document} to the front of the queue",
    "stage.change": "set the stage: {stage} ({reason})",
    "stage.fall_back": "returned to the stage {stage}: {reason}",
    "answers.remove": "removed an answer of {author}: {question} ({document})",
    "answers.restore": "restored an answer of {author}: {question} ({document})",
    "automatic.undo": "withdrew {answers} automatic answers",
    "exports.make": "exported {answers} answers as {format}",
    "imports.make": "imported {answers} answers as {format}",
    "imports.stop": "stopped an import",
    "jobs.ask": "requested a job: {kind}",
    "jobs.cancel": "cancelled a job: {kind}",
    "jobs.retry": "retried a job: {kind}",
    "users.add": "added the user {name} as {role}",
    "users.role": "changed the user {name} from {before} to {role}",
    "users.disable": "disabled the user {name}",
    "users.enable": "enabled the user {name}",
    "users.password": "set a new password for {name}",
    "users.sessions": "ended all sessions of {name}",
    "users.session": "ended a session of {name}: {client}",
    "users.token": "created a token of {name} for {purpose}, valid {days} days, scope {scope}",
    "password.change": "changed their own password",
    "login.limited": "throttled logins as {name} from {address} after {failures} wrong passwords",
    "login.limited.more": "throttled logins {times} more times after wrong passwords",
}


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
    workspace: Workspace, project_id: str | None = None, *, before: str | None = None, limit: int = 100
) -> list[AuditLine]:
    """Return entries of the audit trail, newest first.

    Args:
        workspace: open workspace.
        project_id: limits the entries to one project.
        before: id of the last entry seen; older ones are returned.
        limit: maximum number, at most MOST.
    """
    chosen = (
        select(AuditEntry, User.name, Project.name)
        .outerjoin(User, User.id == AuditEntry.actor_id)
        .outerjoin(Project, Project.id == AuditEntry.project_id)
        .order_by(AuditEntry.created_at.desc(), AuditEntry.id.desc())
        .limit(max(1, min(limit, MOST)))
    )
    if project_id is not None:
        chosen = chosen.where(AuditEntry.project_id == project_id)
    with workspace.database.read() as session:
        if before is not None and (last := session.get(AuditEntry, before)) is not None:
            chosen = chosen.where(
                (AuditEntry.created_at < last.created_at)
                | ((AuditEntry.created_at == last.created_at) & (AuditEntry.id < last.id))
            )
        rows = session.execute(chosen).all()
    return [
        AuditLine(
            id=entry.id,
            created_at=entry.created_at,
            actor=actor or NOBODY,
            project=project,
            action=entry.action,
            subject=entry.subject,
            what=_what(entry),
            details=entry.details,
        )
        for entry, actor, project in rows
    ]


class _Known(dict[str, object]):
    def __missing__(self, name: str) -> str:
        return "?"


def _what(entry: AuditEntry) -> str:
    """Return the clause of an entry; entries of other versions, without a known clause, show their action."""
    action = "gold.none" if entry.action == "gold" and entry.details.get("annotation_id") is None else entry.action
    sentence = _SENTENCES.get(action, "{action}: {subject}")
    # Tokens from before scopes existed had all rights.
    known = {
        "scope": "admin",
        "action": entry.action,
        "subject": entry.subject,
        "model": entry.subject,
        **entry.details,
    }
    if isinstance(changes := known.get("changes"), dict):
        known["changes"] = ", ".join(f"{name} from {old} to {new}" for name, (old, new) in sorted(changes.items()))
    if isinstance(questions := known.get("questions"), list):
        known["questions"] = _some(questions)
    return sentence.format_map(_Known(known)).rstrip(": ")


def _some(questions: list[str]) -> str:
    """Return the first questions, and the number of further ones."""
    more = len(questions) - SHOWN
    return "; ".join(questions[:SHOWN]) + (f"; and {more} more" if more > 0 else "") if questions else "none"


NOBODY = "Glossator"  # actor of entries without a user
