"""`glossator users`: people who log in, their sessions and passwords."""

from typing import Annotated

import typer
from rich.table import Table

from engine.accounts import sessions, tokens, users
from engine.commands.common import console, emit, here, output

commands = typer.Typer(no_args_is_help=True, help="People who log in.")

Name = Annotated[str, typer.Argument(help="The user's name.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on the last line.")]
Password = Annotated[
    str, typer.Option(prompt=True, hide_input=True, confirmation_prompt=True, help="Asked for when left out.")
]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(commands, name="users")


@commands.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Name to log in with.")],
    role: Annotated[
        str, typer.Option(help="admin: of everything. reviewer, annotator: what projects make them.")
    ] = "annotator",
    password: Password = "",
    as_json: Json = False,
) -> None:
    """Add a user who can log in. Projects are seen by their members and by admins."""
    with here() as workspace:
        by = users.ensure_local_user(workspace)
        user = users.add_user(workspace, name, password, role, by=by.id)
    if as_json:
        emit({"user": users.user_view(user).model_dump(mode="json")})
    else:
        console.print(f"{user.name} can log in as {user.role}.", markup=False)


@commands.command("list")
def list_(as_json: Json = False) -> None:
    """List all users."""
    with here() as workspace:
        found = [users.user_view(user) for user in users.users(workspace)]
    if as_json:
        emit({"users": [user.model_dump(mode="json") for user in found]})
        return
    for user in found:
        output.print(f"{user.name}  {user.role}{'  (disabled)' if user.disabled else ''}", markup=False)


@commands.command("role")
def role(name: Name, role: Annotated[str, typer.Argument(help="admin, reviewer or annotator.")]) -> None:
    """Change what a user is everywhere: only admin means more than what projects say."""
    with here() as workspace:
        by = users.ensure_local_user(workspace)
        user = users.change_user(workspace, users.user_named(workspace, name).id, role=role, by=by)
    output.print(f"{user.name} is {user.role} now.", markup=False)


@commands.command("disable")
def disable(name: Name) -> None:
    """Keep a user from logging in, and end their sessions. What they did stays, under their name."""
    _able(name, disabled=True)


@commands.command("enable")
def enable(name: Name) -> None:
    """Let a disabled user log in again."""
    _able(name, disabled=False)


@commands.command("sessions")
def list_sessions(name: Name, as_json: Json = False) -> None:
    """List where a user is logged in, and their programs' tokens."""
    with here() as workspace:
        found = sessions.sessions(workspace, users.user_named(workspace, name).id)
    if as_json:
        emit({"sessions": [one.model_dump(mode="json", exclude={"current"}) for one in found]})
        return
    table = Table("session", "browser or token", "address", "scope", "since", "until", "last used")
    for one in found:
        times = [
            f"{each:%Y-%m-%d %H:%M}" if each else "" for each in (one.created_at, one.expires_at, one.last_used_at)
        ]
        table.add_row(one.id, one.client, one.address, one.scope or "", *times)
    output.print(table)


@commands.command("revoke")
def revoke(
    name: Name,
    session: Annotated[str | None, typer.Argument(help="Id of one session; without it, all of them.")] = None,
) -> None:
    """End a user's sessions, as after a lost machine."""
    with here() as workspace:
        user = users.user_named(workspace, name)
        if session is None:
            users.end_sessions(workspace, user.id, by=users.ensure_local_user(workspace))
        else:
            sessions.revoke(workspace, user.id, session, by=users.ensure_local_user(workspace).id)
    output.print(f"{name} is logged out {'there' if session else 'everywhere'}.", markup=False)


@commands.command("token")
def token(
    name: Name,
    purpose: Annotated[str, typer.Option("--for", help="What it is for; its owner sees that.")] = "scripts",
    days: Annotated[int, typer.Option(help="How long it lasts.")] = 365,
    scope: Annotated[
        str, typer.Option(help="; ".join(f"{name}: {what}" for name, what in tokens.SCOPES.items()) + ".")
    ] = "annotate",
    as_json: Json = False,
) -> None:
    """Print a token with which a program is this user: `Authorization: Bearer TOKEN`. It is shown once; revoke ends it."""
    with here() as workspace:
        by = users.ensure_local_user(workspace).id
        made = tokens.issue(workspace, name, purpose=purpose, days=days, scope=scope, by=by)
    if as_json:
        emit({"token": made, "user": name, "days": days, "scope": scope})
    else:
        console.print(f"{name}, for {purpose}, {days} days, scope {scope}. It is shown only now:", markup=False)
        output.print(made, markup=False, soft_wrap=True)


@commands.command("password")
def password(name: Name, password: Password = "") -> None:
    """Give a user a new password, and end their sessions."""
    with here() as workspace:
        user = users.user_named(workspace, name)
        users.set_password(workspace, user.id, password, by=users.ensure_local_user(workspace))
    console.print(f"{name} has a new password.", markup=False)


def _able(name: str, *, disabled: bool) -> None:
    with here() as workspace:
        by = users.ensure_local_user(workspace)
        users.change_user(workspace, users.user_named(workspace, name).id, disabled=disabled, by=by)
    output.print(f"{name} {'cannot log in any more' if disabled else 'can log in again'}.", markup=False)
