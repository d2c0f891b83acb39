"""Members of projects and their roles."""

from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Member, Project, User
from engine import audit
from engine.accounts import permissions
from engine.accounts.users import check_role
from engine.errors import Conflict, Forbidden, NotFound
from engine.paging import Order, Page
from engine.queries import existing
from engine.workspace import Workspace

MOST_LISTED = 1000  # members of one page


class MemberView(BaseModel):
    """A member of a project. Admins of the installation have all rights without membership."""

    user_id: str
    name: str
    role: str
    since: datetime
    disabled: bool


def members(
    workspace: Workspace, project_id: str, *, limit: int = MOST_LISTED, cursor: str | None = None
) -> Page[MemberView]:
    """Return a page of the members of a project by name.

    `limit`: at most MOST_LISTED. Raises Refused for the cursor of another list.
    """
    order = Order(f"members {project_id}", (User.name,))
    chosen = select(Member, User).join(User, User.id == Member.user_id).where(Member.project_id == project_id)
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
    return Page((_view(member, user) for member, user in rows), following)


def put_member(workspace: Workspace, project_id: str, user_id: str, role: str, *, by: User) -> MemberView:
    """Add a member, or change a member's role.

    Args:
        workspace: open workspace.
        project_id: project.
        user_id: user to add or change.
        role: new role.
        by: acting user.

    Raises:
        Refused: the role is unknown.
        Forbidden: `by` is not an admin of the project.
        NotFound: project or user does not exist.
        Conflict: the project would be left without an admin.
    """
    check_role(role)
    with workspace.database.write() as session:
        _take_turn(session, project_id)
        _check_admin(session, project_id, by)
        user = existing(session, User, user_id)
        member = session.get(Member, (project_id, user_id))
        if member is None:
            member = join(session, project_id, user_id, role)
            audit.record(session, by.id, "members.add", user.id, project_id, name=user.name, role=role)
        elif member.role != role:
            _check_admin_stays(session, project_id, member, by)
            audit.record(
                session, by.id, "members.role", user.id, project_id, name=user.name, before=member.role, role=role
            )
            member.role = role
        return _view(member, user)


def remove_member(workspace: Workspace, project_id: str, user_id: str, *, by: User) -> None:
    """Remove a member; members may remove themselves. Their answers are kept.

    Args:
        workspace: open workspace.
        project_id: project.
        user_id: member to remove.
        by: acting user.

    Raises:
        Forbidden: `by` is neither the member nor an admin of the project.
        NotFound: the user is not a member.
        Conflict: the project would be left without an admin.
    """
    with workspace.database.write() as session:
        _take_turn(session, project_id)
        if user_id != by.id:
            _check_admin(session, project_id, by)
        member = session.get(Member, (project_id, user_id))
        if member is None:
            raise NotFound("This user is not a member of the project. Reload the list.")
        _check_admin_stays(session, project_id, member, by)
        name = session.get_one(User, user_id).name
        action = "members.leave" if user_id == by.id else "members.remove"
        audit.record(session, by.id, action, user_id, project_id, name=name, role=member.role)
        session.delete(member)


def join(session: Session, project_id: str, user_id: str, role: str) -> Member:
    """Add a member inside the caller's unit of work."""
    member = Member(project_id=project_id, user_id=user_id, role=role)
    session.add(member)
    session.flush()
    return member


def _take_turn(session: Session, project_id: str) -> None:
    """Lock the project's members: on PostgreSQL two admins could otherwise remove each other at once."""
    if session.scalar(select(Project.id).where(Project.id == project_id).with_for_update()) is None:
        raise NotFound("There is no such project.")


def _check_admin(session: Session, project_id: str, by: User) -> None:
    if permissions.role_in(session, by, project_id) != "admin":
        raise Forbidden("Only an admin of the project can change its members. Ask one of them.")


def _check_admin_stays(session: Session, project_id: str, member: Member, by: User) -> None:
    """Refuse a change that leaves the project without an admin, except by admins of the installation."""
    if member.role != "admin" or by.role == "admin":
        return
    another = session.scalar(
        select(Member.user_id)
        .join(User, User.id == Member.user_id)
        .where(
            Member.project_id == project_id,
            Member.role == "admin",
            Member.user_id != member.user_id,
            User.disabled_at.is_(None),
        )
        .limit(1)
    )
    if another is None:
        raise Conflict("The project would be left without an admin. Make another member admin first.")


def _view(member: Member, user: User) -> MemberView:
    return MemberView(
        user_id=user.id,
        name=user.name,
        role=member.role,
        since=member.created_at,
        disabled=user.disabled_at is not None,
    )
