"""Erasing a person: a label stands wherever the name stood, the login is gone, and the work is kept.

The person is locked out first. Then the name is replaced in short units of work, so that others write in between;
whoever is interrupted repeats the request. What was frozen is kept, and a sentence says so.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Text, cast, delete, or_, select, type_coerce, union, update
from sqlalchemy.orm import Session

from db import changes
from db.base import now
from db.session import as_json
from db.tables import (
    Annotation,
    AuditEntry,
    Identity,
    Invitation,
    Lease,
    LoginAttempt,
    LoginSession,
    Member,
    Quota,
    Review,
    Skip,
    User,
    WebhookDelivery,
)
from engine import audit
from engine.accounts import login_steps, names, second_factor, sessions, users
from engine.batches import in_batches
from engine.errors import NotFound, Refused
from engine.lifecycle import traces
from engine.lifecycle.holders import snapshots_naming
from engine.workspace import Workspace

KEPT = ("id", "role", "created_at", "disabled_at")  # columns of a user that say nothing of the person
# Actions whose detail `name` is that of a person.
_OF_PEOPLE = ("users.", "members.", "login.", "sign_in.", "second_factor.", "quotas.person")
_SIGNS = "erasing"  # among the preferences of a person whose names are being replaced
_NAMES = ("author", "inviter", "person")  # further details that name a person


@dataclass(slots=True)
class ErasedPerson:
    """The id, the label in place of the name, and a sentence for each copy that still has the name."""

    id: str
    name: str
    stays: list[str] = field(default_factory=list)


def erase_person(workspace: Workspace, user_id: str, *, by: User) -> ErasedPerson:
    """Replace the name of a person, and delete password, logins, tokens, memberships and preferences. Audited.

    Answers, verdicts and history stay, under the label. Repeating it goes on where it was interrupted. It reads the
    audit trail and the messages of webhooks once.

    Args:
        workspace: Open workspace.
        user_id: The person.
        by: Acting admin.

    Raises:
        NotFound: There is no such user.
        Refused: The user is `by`, the local user, or the only admin.
        Forbidden: `by` is no longer an admin.
    """
    user = users.user_by_id(workspace, user_id)
    erased = ErasedPerson(user_id, names.label_of_erased(user_id))
    if user.name != erased.name:
        if user_id == by.id:
            raise Refused("You cannot erase yourself. Ask another admin.")
        _check_other_admin(workspace, user)
        signs = _lock_out(workspace, user, erased.name, by)
    else:
        signs = user.preferences.get(_SIGNS, [])  # of a call that was interrupted
        if not signs:
            return erased
    for sign in signs:  # what somebody has written of the person meanwhile
        _replace_name(workspace, user_id, sign, erased.name)
    with workspace.database.write() as session:
        closed = sessions.lock_user(session, user_id)
        if closed is not None:
            closed.preferences = {}
        traces.note_wipe(session)
    traces.wipe(workspace.database)
    erased.stays = [
        f"{held[0].upper()}{held[1:]} still has the name {signs[0]}: what was frozen does not change."
        for held in snapshots_naming(workspace, signs[0])
    ]
    return erased


def _lock_out(workspace: Workspace, user: User, label: str, by: User) -> list[str]:
    """Replace the name of a person and close the account; return the name, and what else says who it was."""
    with workspace.database.read() as session:
        subjects = session.scalars(select(Identity.subject).where(Identity.user_id == user.id)).all()
        signs = [user.name, *subjects, *_former_names(session, user.id, subjects, user.name)]
    users.change_user(workspace, user.id, disabled=True, by=by)
    workspace.deferred_writes.flush()  # attempts to log in, which have the name
    for sign in signs:
        _replace_name(workspace, user.id, sign, label)
    _delete_exports(workspace, user.id)
    with workspace.database.write() as session:
        _close_account(session, user.id, signs, label)
        audit.record(session, by.id, "users.erase", user.id, name=label)
        traces.note_wipe(session)
    return signs


def _check_other_admin(workspace: Workspace, user: User) -> None:
    others = select(User.id).where(
        User.role == "admin", User.disabled_at.is_(None), User.id != user.id, User.name != names.LOCAL_NAME
    )
    with workspace.database.read() as session:
        is_last = user.role == "admin" and session.scalar(others.limit(1)) is None
    if is_last:
        raise Refused(f"{user.name} is the only admin. Make another user an admin first.")


def _former_names(session: Session, user_id: str, subjects: Sequence[str], name: str) -> list[str]:
    """Return earlier names and ids of a person in the audit trail; what others are called now is left out."""
    entries = select(AuditEntry.action, AuditEntry.details).where(AuditEntry.subject.in_([user_id, *subjects]))
    former = {
        details[key]
        for action, details in session.execute(entries).tuples()
        for key in ("name", "person")
        if action.startswith(_OF_PEOPLE) and isinstance(details.get(key), str)
    } - {name}
    return sorted(former.difference(session.scalars(select(User.name).where(User.name.in_(former)))))


def _close_account(session: Session, user_id: str, signs: list[str], label: str) -> None:
    """Empty the row of a user but for the signs, and delete what belongs to the person alone.

    Whoever is interrupted before these were replaced a second time finds them there.
    """
    user = sessions.lock_user(session, user_id)
    if user is None:
        raise NotFound("There is no such user.")
    second_factor.forget(session, user_id)
    login_steps.end_all(session, user_id)
    for column in User.__table__.columns:
        if column.name not in KEPT:
            setattr(user, column.name, None if column.nullable else {})
    user.name, user.role, user.disabled_at = label, "annotator", user.disabled_at or now()
    user.preferences = {_SIGNS: signs}
    for member in session.scalars(select(Member).where(Member.user_id == user_id)):
        session.delete(member)
    for statement in (
        delete(LoginSession).where(LoginSession.user_id == user_id),
        delete(Identity).where(Identity.user_id == user_id),
        delete(Quota).where(Quota.subject_id == user_id),
        delete(LoginAttempt).where(LoginAttempt.name == signs[0]),
        delete(Lease).where(Lease.holder == user_id),
        update(Invitation)
        .where(Invitation.created_by == user_id, Invitation.used_at.is_(None), Invitation.revoked_at.is_(None))
        .values(revoked_at=now()),
    ):
        session.execute(statement.execution_options(synchronize_session=False))
    changes.publish(session, "users", None, user_id)


def _replace_name(workspace: Workspace, user_id: str, name: str, label: str) -> None:
    """Replace the name in the audit trail and in messages to webhooks."""
    details: Any = cast(type_coerce(AuditEntry.details, Text), Text)
    written = as_json(name)
    entries = select(AuditEntry.id).where(or_(AuditEntry.subject == name, details.contains(written, autoescape=True)))
    messages = select(WebhookDelivery.id).where(
        WebhookDelivery.body.contains(user_id, autoescape=True), ~WebhookDelivery.body.contains(label, autoescape=True)
    )

    def in_entry(entry: AuditEntry) -> None:
        if entry.subject == name:
            entry.subject = label
        named = (*_NAMES, "name") if entry.action.startswith(_OF_PEOPLE) else _NAMES
        entry.details = {
            key: label if key in named and value == name else value for key, value in entry.details.items()
        }
        if "address" in entry.details and entry.details.get("name") == label:
            entry.details = entry.details | {"address": "an address"}

    def in_message(message: WebhookDelivery) -> None:
        message.body = json.dumps(_renamed(json.loads(message.body), user_id, label), ensure_ascii=False)

    for chosen, table, replace in ((entries, AuditEntry, in_entry), (messages, WebhookDelivery, in_message)):
        _in_rows(workspace, chosen, table, replace)


def _in_rows(workspace: Workspace, chosen: Any, table: Any, replace: Callable[[Any], None]) -> None:
    with workspace.database.read() as session:
        ids = session.scalars(chosen).all()

    def act(session: Session, some: Sequence[str]) -> None:
        for row in session.scalars(select(table).where(table.id.in_(some)).with_for_update()):
            replace(row)

    in_batches(workspace, ids, act)


def _renamed(value: Any, user_id: str, label: str) -> Any:
    """Return JSON in which the object with the id of the person has another name."""
    if isinstance(value, list):
        return [_renamed(each, user_id, label) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("id") == user_id and "name" in value:
        return value | {"name": label}
    return {key: _renamed(each, user_id, label) for key, each in value.items()}


def _delete_exports(workspace: Workspace, user_id: str) -> None:
    """Delete the files of ended exports of projects in which the person has worked: they name who did what."""
    reviewed = select(Annotation.project_id).join(Review, Review.annotation_id == Annotation.id)
    work = union(
        select(Annotation.project_id).where(Annotation.author_id == user_id),
        reviewed.where(Review.reviewer_id == user_id),
        select(Skip.project_id).where(or_(Skip.person_id == user_id, Skip.decided_by == user_id)),
    )
    with workspace.database.read() as session:
        projects = session.scalars(work).all()
    for project_id in projects:
        traces.delete_exports(workspace, project_id)
