"""Invitations: links that make one person a member of a project.

The link contains a random token; the database stores its SHA-256 only. So a copy of the database grants no access.
"""

import secrets
from datetime import datetime, timedelta

from pydantic import BaseModel
from sqlalchemy import CursorResult, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db import changes
from db.base import now
from db.tables import Invitation, Member, Project, User
from engine import audit
from engine.accounts import login_throttle, members, names, passwords, permissions, sessions
from engine.accounts.digests import digest
from engine.accounts.users import check_role
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.paging import Order, Page
from engine.queries import existing
from engine.settings import Settings
from engine.workspace import Workspace

LONGEST_DAYS = 90
MOST_LISTED = 1000  # invitations of one page


class InvitationView(BaseModel):
    """An invitation as admins see it.

    `state`: open, used, expired, withdrawn, or void (its author is no longer admin).
    """

    id: str
    role: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    state: str
    used_by: str | None


class NewInvitation(InvitationView):
    """A new invitation. `token` is shown once and not stored."""

    token: str


class Offer(BaseModel):
    """Project, role and inviter of an open invitation."""

    project_id: str
    project: str
    role: str
    inviter: str
    expires_at: datetime


class Joined(BaseModel):
    """Result of an accepted invitation.

    `token`: of the new session; None when the user was logged in already.
    """

    project_id: str
    role: str
    token: str | None


def invite(workspace: Workspace, project_id: str, role: str, days: float = 7, *, by: User) -> NewInvitation:
    """Create an invitation.

    Args:
        workspace: open workspace.
        project_id: project to join.
        role: role of the invited person.
        days: validity of the link, at most LONGEST_DAYS.
        by: acting user.

    Raises:
        Refused: the role is unknown, or `days` is out of range.
        Forbidden: `by` is not an admin of the project.
    """
    check_role(role)
    if not 0 < days <= LONGEST_DAYS:
        raise Refused(f"The validity must be above 0 and at most {LONGEST_DAYS} days. Choose another number of days.")
    token = secrets.token_urlsafe(32)
    with workspace.database.write() as session:
        existing(session, Project, project_id)
        if permissions.role_in(session, by, project_id) != "admin":
            raise Forbidden("Only an admin of the project can invite people. Ask one of them.")
        invitation = Invitation(
            token_sha256=digest(token),
            project_id=project_id,
            role=role,
            created_by=by.id,
            expires_at=now() + timedelta(days=days),
        )
        session.add(invitation)
        session.flush()
        until = f"{invitation.expires_at:%Y-%m-%d %H:%M}"
        audit.record(session, by.id, "invitations.create", invitation.id, project_id, role=role, until=until)
        return NewInvitation(**_view(session, invitation).model_dump(), token=token)


def invitations(
    workspace: Workspace, project_id: str, *, limit: int = 200, cursor: str | None = None
) -> Page[InvitationView]:
    """Return a page of the invitations of a project, newest first.

    `limit`: at most MOST_LISTED. Raises Refused for the cursor of another list.
    """
    order = Order(f"invitations {project_id}", (Invitation.created_at, Invitation.id), falls=True)
    chosen = select(Invitation).where(Invitation.project_id == project_id)
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
        return Page([_view(session, row) for (row,) in rows], following)


def withdraw(workspace: Workspace, invitation_id: str, *, by: User) -> None:
    """Withdraw an invitation; withdrawing it again has no effect.

    Args:
        workspace: open workspace.
        invitation_id: id of the invitation.
        by: acting user.

    Raises:
        NotFound: there is no such invitation.
        Forbidden: `by` is not an admin of the project.
        Conflict: the invitation has been used.
    """
    with workspace.database.write() as session:
        invitation = session.scalar(select(Invitation).where(Invitation.id == invitation_id).with_for_update())
        if invitation is None:
            raise NotFound("There is no such invitation.")
        if permissions.role_in(session, by, invitation.project_id) != "admin":
            raise Forbidden("Only an admin of the project can withdraw invitations. Ask one of them.")
        if invitation.used_at is not None:
            raise Conflict("The invitation has been used. Remove the member instead.")
        if invitation.revoked_at is None:
            invitation.revoked_at = now()
            audit.record(
                session, by.id, "invitations.revoke", invitation.id, invitation.project_id, role=invitation.role
            )


def offer(workspace: Workspace, token: str) -> Offer:
    """Return the offer of an invitation link. Writes nothing.

    Raises:
        NotFound: the invitation is unknown, used, expired, withdrawn or void.
    """
    with workspace.database.read() as session:
        invitation = _open(session, token)
        project = session.get_one(Project, invitation.project_id)
        inviter = session.get_one(User, invitation.created_by)
        return Offer(
            project_id=project.id,
            project=project.name,
            role=invitation.role,
            inviter=inviter.name,
            expires_at=invitation.expires_at,
        )


def accept_as(workspace: Workspace, token: str, user: User) -> Joined:
    """Add a logged-in user as a member; a user with at least that role keeps it, and the link stays open.

    Raises:
        NotFound: the invitation is not open.
    """
    with workspace.database.read() as session:
        _open(session, token)  # checked first, so that an invalid link takes no write lock
    with workspace.database.write() as session:
        invitation = _open(session, token)
        member = session.get(Member, (invitation.project_id, user.id))
        role = permissions.role_in(session, user, invitation.project_id)
        if role is not None and permissions.RANK[role] >= permissions.RANK[invitation.role]:
            return Joined(project_id=invitation.project_id, role=role, token=None)
        _use(session, invitation, user)
        if member is None:
            members.join(session, invitation.project_id, user.id, invitation.role)
        else:
            member.role = invitation.role
        return Joined(project_id=invitation.project_id, role=invitation.role, token=None)


def accept_new(
    workspace: Workspace, token: str, name: str, password: str, *, client: str = "", address: str = ""
) -> Joined:
    """Create a user as a member and log them in.

    Hashing is expensive, and a link allows any number of attempts. So refusals come before the hash, and taken names
    are counted (engine.accounts.login_throttle).

    Args:
        workspace: open workspace.
        token: token of the link.
        name: name of the new user.
        password: password of the new user.
        client: user agent of the browser.
        address: client address.

    Raises:
        NotFound: the invitation is not open.
        Refused: the name or password is invalid.
        Conflict: the name is taken.
        TooMany: too many taken names were tried.
    """
    with workspace.database.read() as session:
        opened = _open(session, token)
    if workspace.settings.password_login != "everyone":
        raise Refused("New accounts have no password here. Log in with single sign-on, then open the link again.")
    name = names.check_new_name(name)
    passwords.check(password, name)
    taken = Conflict(f"The name {name!r} is taken. If it is yours, log in, then open the link again.")
    with login_throttle.throttled_joining(workspace, opened.id, address) as attempt:
        with workspace.database.read() as session:
            if names.is_taken(session, name):
                raise taken
        stored = passwords.hash_password(password, name)
        try:
            with workspace.database.write() as session:
                invitation = _open(session, token)
                names.check_free(session, name)
                login_throttle.record_success(session, attempt)
                user = User(name=name, role="annotator", password_hash=stored)
                session.add(user)
                session.flush()
                _use(session, invitation, user)
                members.join(session, invitation.project_id, user.id, invitation.role)
                begun = sessions.begin(workspace, session, user.id, client=client, address=address)
                return Joined(project_id=invitation.project_id, role=invitation.role, token=begun)
        except (IntegrityError, Conflict):  # another user took the name in the meantime
            raise taken from None


def address_of(settings: Settings, token: str) -> str:
    """Return an invitation link for the command line, with the first allowed host, else host and port."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    server = f"http://{host}:{settings.port}"
    if settings.allowed_hosts:
        server = f"{'https' if settings.secure_cookies else 'http'}://{settings.allowed_hosts[0]}"
    return f"{server}{settings.root_path}/invite/{token}"


def _open(session: Session, token: str) -> Invitation:
    invitation = session.scalar(select(Invitation).where(Invitation.token_sha256 == digest(token)))
    if invitation is None:
        raise NotFound("There is no such invitation. Check that the link is complete.")
    state = _state(session, invitation)
    if state != "open":
        why = {
            "used": "has been used",
            "expired": "has expired",
            "withdrawn": "was withdrawn",
            "void": "is no longer valid",
        }[state]
        raise NotFound(f"This invitation {why}. Ask for a new one.")
    return invitation


def _state(session: Session, invitation: Invitation) -> str:
    if invitation.used_at is not None:
        return "used"
    if invitation.revoked_at is not None:
        return "withdrawn"
    if invitation.expires_at <= now():
        return "expired"
    inviter = session.get_one(User, invitation.created_by)
    holds = inviter.disabled_at is None and permissions.role_in(session, inviter, invitation.project_id) == "admin"
    return "open" if holds else "void"


def _use(session: Session, invitation: Invitation, user: User) -> None:
    """Mark a link as used; the conditional update lets only one of two simultaneous users pass."""
    used = session.execute(
        update(Invitation)
        .where(Invitation.id == invitation.id, Invitation.used_at.is_(None), Invitation.revoked_at.is_(None))
        .values(used_at=now(), used_by=user.id)
        .execution_options(synchronize_session=False)
    )
    assert isinstance(used, CursorResult)
    if used.rowcount != 1:
        raise NotFound("This invitation has been used. Ask for a new one.")
    changes.publish(session, "members", invitation.project_id)
    inviter = session.get_one(User, invitation.created_by).name
    audit.record(
        session,
        user.id,
        "invitations.accept",
        invitation.id,
        invitation.project_id,
        role=invitation.role,
        inviter=inviter,
    )


def _view(session: Session, invitation: Invitation) -> InvitationView:
    used_by = session.get(User, invitation.used_by) if invitation.used_by else None
    return InvitationView(
        id=invitation.id,
        role=invitation.role,
        created_by=session.get_one(User, invitation.created_by).name,
        created_at=invitation.created_at,
        expires_at=invitation.expires_at,
        state=_state(session, invitation),
        used_by=used_by.name if used_by else None,
    )
