"""Roles that follow from the groups of a person, as their provider of single sign-on names them.

What the setting group_roles names, groups decide alone, at each sign-in: a group that is gone takes its role along.
What it does not name, people decide here.
"""

from collections.abc import Collection

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from db.tables import Member, Project, User
from db.tables.people import Role
from engine import audit
from engine.accounts import members, names
from engine.accounts.permissions import RANK
from engine.settings import Settings

# Admins who can log in. In one order: two sign-ins at once would otherwise wait for each other.
_ADMINS = (
    select(User.id)
    .where(User.role == "admin", User.disabled_at.is_(None), User.name != names.LOCAL_NAME)
    .order_by(User.id)
)


def take_turn(session: Session, settings: Settings) -> None:
    """Lock the admins until the commit where groups decide who is one: two could otherwise lose the role at once."""
    if role_by_groups(settings, ()) is not None:
        session.scalars(_ADMINS.with_for_update(key_share=True)).all()


def is_admitted(settings: Settings, groups: Collection[str]) -> bool:
    """Return whether a person with these groups may sign in."""
    return not settings.group_required or any(group in settings.group_roles for group in groups)


def role_by_groups(settings: Settings, groups: Collection[str]) -> Role | None:
    """Return the role in the installation; None where no group has one, so that admins here decide."""
    roles = {group: role for group, role in settings.group_roles.items() if isinstance(role, str)}
    if not roles:
        return None
    return _highest([role for group, role in roles.items() if group in groups]) or "annotator"


def roles_in_projects(settings: Settings, groups: Collection[str]) -> dict[str, Role | None]:
    """Return the roles by project, named or by id, of every project of the setting; None: no member."""
    roles: dict[str, list[Role]] = {}
    for group, mapping in settings.group_roles.items():
        for project, role in mapping.items() if isinstance(mapping, dict) else ():
            held = roles.setdefault(project, [])
            if group in groups:
                held.append(role)  # type: ignore[arg-type]  # the settings have checked it
    return {project: _highest(held) for project, held in roles.items()}


def apply(session: Session, settings: Settings, user: User, groups: Collection[str]) -> None:
    """Give a person the roles of their groups inside the caller's unit of work, and take those of others; audited.

    Behind `take_turn`, which locks admins before the caller locks the person.

    The last admin who can log in stays admin, so that a mistake at the provider locks nobody out.
    """
    role = role_by_groups(settings, groups)
    if role is not None and role != user.role:
        if user.role == "admin" and not _another_admin(session, user):
            audit.record(session, user.id, "groups.last_admin", user.id)
        else:
            audit.record(session, user.id, "groups.user", user.id, before=user.role, role=role)
            user.role = role
    wanted = roles_in_projects(settings, groups)
    named = select(Project.id, Project.name).where(
        Project.bin_of.is_(None), or_(Project.id.in_(wanted), Project.name.in_(wanted))
    )
    for project_id, name in session.execute(named.order_by(Project.id)).all():
        held = [role for role in (wanted.get(project_id), wanted.get(name)) if role is not None]
        _change_member(session, project_id, user, _highest(held))


def _change_member(session: Session, project_id: str, user: User, role: Role | None) -> None:
    member = session.get(Member, (project_id, user.id))
    before = member.role if member is not None else None
    if role == before:
        return
    if member is None and role is not None:
        members.join(session, project_id, user.id, role)
        audit.record(session, user.id, "groups.join", user.id, project_id, role=role)
    elif member is not None and role is None:
        session.delete(member)
        audit.record(session, user.id, "groups.leave", user.id, project_id, role=before)
    elif member is not None and role is not None:
        member.role = role
        audit.record(session, user.id, "groups.member", user.id, project_id, before=before, role=role)


def _another_admin(session: Session, user: User) -> bool:
    return any(admin != user.id for admin in session.scalars(_ADMINS))


def _highest(roles: list[Role]) -> Role | None:
    return max(roles, key=RANK.__getitem__, default=None)
