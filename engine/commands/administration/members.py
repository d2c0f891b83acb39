"""`glossator projects members, invite, invitations, withdraw`: manage the members of a project."""

from typing import Annotated

import typer

from engine.accounts import invitations, members, users
from engine.commands.common import emit, here, list_table, output, print_list
from engine.paging import every
from engine.projects.projects import project_named

Project = Annotated[str, typer.Argument(help="Name of the project.")]
Name = Annotated[str, typer.Argument(help="Name of the user.")]
Role = Annotated[str, typer.Option(help="Role in the project: admin, reviewer or annotator.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def add_to(projects: typer.Typer) -> None:
    """Add the commands to `glossator projects`.

    Args:
        projects: the command group.
    """
    group = typer.Typer(no_args_is_help=True, help="List, add and remove members.")
    group.command("list")(list_members)
    group.command("add")(add)
    group.command("remove")(remove)
    projects.add_typer(group, name="members")
    projects.command("invite")(invite)
    projects.command("invitations")(list_invitations)
    projects.command("withdraw")(withdraw)


def list_members(project: Project, as_json: Json = False) -> None:
    """List the members of a project."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        listed = list(every(lambda cursor: members.members(workspace, project_id, cursor=cursor)))
    if as_json:
        emit({"members": [member.model_dump(mode="json") for member in listed]})
        return
    for member in listed:
        output.print(f"{member.name}  {member.role}{'  (disabled)' if member.disabled else ''}")


def add(project: Project, name: Name, role: Role = "annotator") -> None:
    """Add a member, or change a member's role."""
    with here() as workspace:
        member = members.put_member(
            workspace,
            project_named(workspace, project).id,
            users.user_named(workspace, name).id,
            role,
            by=users.ensure_local_user(workspace),
        )
    output.print(f"{member.name} is {member.role} in {project}.")


def remove(project: Project, name: Name) -> None:
    """Remove a member. Their answers are kept."""
    with here() as workspace:
        members.remove_member(
            workspace,
            project_named(workspace, project).id,
            users.user_named(workspace, name).id,
            by=users.ensure_local_user(workspace),
        )
    output.print(f"{name} was removed from {project}.")


def invite(
    project: Project,
    role: Role = "annotator",
    days: Annotated[float, typer.Option(help="Validity of the link in days.")] = 7,
    as_json: Json = False,
) -> None:
    """Create an invitation link for one person. It is shown only once."""
    with here() as workspace:
        made = invitations.invite(
            workspace, project_named(workspace, project).id, role, days, by=users.ensure_local_user(workspace)
        )
        address = invitations.address_of(workspace.settings, made.token)
    if as_json:
        emit({**made.model_dump(mode="json", exclude={"token"}), "url": address})
    else:
        until = f"{made.expires_at:%Y-%m-%d %H:%M} UTC"
        output.print(address, soft_wrap=True)
        output.print(f"Makes one person {role} in {project}. Valid until {until}.", soft_wrap=True)


def list_invitations(project: Project, as_json: Json = False) -> None:
    """List the invitations of a project with their states."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        listed = list(every(lambda cursor: invitations.invitations(workspace, project_id, cursor=cursor)))
    if as_json:
        emit({"invitations": [invitation.model_dump(mode="json") for invitation in listed]})
        return
    table = list_table("invitation", "role", "state", "by", "until", "used by")
    for invitation in listed:
        until = f"{invitation.expires_at:%Y-%m-%d %H:%M}"
        table.add_row(
            invitation.id, invitation.role, invitation.state, invitation.created_by, until, invitation.used_by or ""
        )
    print_list(table, "No invitations.")


def withdraw(invitation: Annotated[str, typer.Argument(help="Id of the invitation.")]) -> None:
    """Withdraw an invitation; its link stops working."""
    with here() as workspace:
        invitations.withdraw(workspace, invitation, by=users.ensure_local_user(workspace))
    output.print("Invitation withdrawn.")
