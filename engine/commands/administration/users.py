"""`glossator users`: manage users, their sessions, passwords and tokens."""

from typing import Annotated

import typer

from engine.accounts import identities, sessions, tokens, users
from engine.commands.common import confirm, console, emit, fail, here, list_table, output, print_list
from engine.lifecycle import traces
from engine.lifecycle.person_erasing import erase_person
from engine.paging import every

commands = typer.Typer(no_args_is_help=True, help="Manage users, sessions, passwords and tokens.")

Name = Annotated[str, typer.Argument(help="Name of the user.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
Password = Annotated[
    str,
    typer.Option(
        prompt=True,
        hide_input=True,
        confirmation_prompt=True,
        show_default=False,
        help="Password; prompted for when omitted.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(commands, name="users")


@commands.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Login name.")],
    role: Annotated[
        str, typer.Option(help="admin: all rights everywhere. reviewer, annotator: rights by project membership.")
    ] = "annotator",
    password: Password = "",
    as_json: Json = False,
) -> None:
    """Add a user."""
    with here() as workspace:
        by = users.ensure_local_user(workspace)
        user = users.add_user(workspace, name, password, role, by=by.id)
        view = users.user_view(workspace, user)
    if as_json:
        emit({"user": view.model_dump(mode="json")})
    else:
        console.print(f"{user.name} can log in as {user.role}.")


@commands.command("list")
def list_(as_json: Json = False) -> None:
    """List all users."""
    with here() as workspace:
        views = list(every(lambda cursor: users.user_views(workspace, cursor=cursor)))
    if as_json:
        emit({"users": [user.model_dump(mode="json") for user in views]})
        return
    for user in views:
        marks = [("  (disabled)", user.disabled), ("  (second factor)", user.second_factor)]
        output.print(f"{user.name}  {user.role}{''.join(mark for mark, shown in marks if shown)}")


@commands.command("role")
def role(name: Name, role: Annotated[str, typer.Argument(help="New role: admin, reviewer or annotator.")]) -> None:
    """Change the role of a user. Only admin grants rights beyond project membership."""
    with here() as workspace:
        by = users.ensure_local_user(workspace)
        user = users.change_user(workspace, users.user_named(workspace, name).id, role=role, by=by)
    output.print(f"{user.name} is now {user.role}.")


@commands.command("disable")
def disable(name: Name) -> None:
    """Disable a user and end their sessions. Their answers are kept."""
    _able(name, disabled=True)


@commands.command("enable")
def enable(name: Name) -> None:
    """Enable a disabled user."""
    _able(name, disabled=False)


@commands.command("erase")
def erase(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: Json = False,
) -> None:
    """Erase a person: a label replaces the name everywhere, and the login is deleted. The work is kept.

    It cannot be undone. Snapshots that still have the name are listed.
    """
    with here() as workspace:
        by = users.ensure_local_user(workspace)
        user = users.user_named(workspace, name)
        confirm(f"Erase {name}? The answers are kept. This cannot be undone.", yes=yes)
        erased = erase_person(workspace, user.id, by=by)
        overwritten = traces.wipe(workspace.database)
    if as_json:
        emit({"id": erased.id, "name": erased.name, "stays": erased.stays, "overwritten": overwritten})
        return
    output.print(f"{name} is now {erased.name}.")
    for sentence in (*erased.stays, *(() if overwritten else (traces.STILL_THERE,))):
        output.print(sentence, soft_wrap=True)


@commands.command("sessions")
def list_sessions(name: Name, as_json: Json = False) -> None:
    """List the sessions and tokens of a user."""
    with here() as workspace:
        views = sessions.sessions(workspace, users.user_named(workspace, name).id)
    if as_json:
        emit({"sessions": [login.model_dump(mode="json", exclude={"current"}) for login in views]})
        return
    table = list_table("session", "browser or token", "address", "scope", "created", "expires", "last used")
    for login in views:
        times = [
            f"{time:%Y-%m-%d %H:%M}" if time else ""
            for time in (login.created_at, login.expires_at, login.last_used_at)
        ]
        table.add_row(login.id, login.client, login.address, login.scope or "", *times)
    print_list(table, "No sessions and no tokens.")


@commands.command("revoke")
def revoke(
    name: Name,
    session: Annotated[str | None, typer.Argument(help="Id of a session or token; default: all.")] = None,
) -> None:
    """End sessions and tokens of a user."""
    with here() as workspace:
        user = users.user_named(workspace, name)
        if session is None:
            users.end_sessions(workspace, user.id, by=users.ensure_local_user(workspace))
        else:
            sessions.revoke(workspace, user.id, session, by=users.ensure_local_user(workspace).id)
    output.print(f"{'One session' if session else 'All sessions'} of {name} ended.")


@commands.command("token")
def token(
    name: Name,
    purpose: Annotated[str, typer.Option("--for", help="Purpose, shown to the user.")] = "scripts",
    days: Annotated[int, typer.Option(help="Validity in days.")] = 365,
    scope: Annotated[
        str, typer.Option(help="; ".join(f"{name}: {what}" for name, what in tokens.SCOPES.items()) + ".")
    ] = "annotate",
    as_json: Json = False,
) -> None:
    """Create a token for programs that act as a user. It is shown only once.

    Programs send it as `Authorization: Bearer TOKEN`. `glossator users revoke` ends it.
    """
    with here() as workspace:
        by = users.ensure_local_user(workspace).id
        made = tokens.issue(workspace, name, purpose=purpose, days=days, scope=scope, by=by)
    if as_json:
        emit({"token": made, "user": name, "days": days, "scope": scope})
    else:
        console.print(f"Token of {name} for {purpose}, {days} days, scope {scope}. It is shown only now:")
        output.print(made, soft_wrap=True)


@commands.command("password")
def password(name: Name, password: Password = "") -> None:
    """Set the password of a user and end their sessions."""
    with here() as workspace:
        user = users.user_named(workspace, name)
        users.set_password(workspace, user.id, password, by=users.ensure_local_user(workspace))
    console.print(f"Password of {name} changed.")


@commands.command("link")
def link(
    name: Name,
    person: Annotated[
        str, typer.Argument(help="Id of the person at the provider: its claim sub, or the proxy's header.")
    ],
    proxy: Annotated[
        bool, typer.Option("--proxy", help="A trusted proxy names the person, not OpenID Connect.")
    ] = False,
) -> None:
    """Let a person of single sign-on sign in as an existing user, instead of with an account of their own."""
    with here() as workspace:
        issuer = identities.PROXY if proxy else workspace.settings.oidc_issuer
        if not issuer:
            fail("No provider is set. Set GLOSSATOR_OIDC_ISSUER first, or use --proxy.")
        by = users.ensure_local_user(workspace)
        identities.link(workspace, name, person, issuer=issuer, by=by.id)
    output.print(f"{person} of {issuer} now signs in as {name}.", soft_wrap=True)


@commands.command("unlink")
def unlink(name: Name) -> None:
    """Let no person of single sign-on sign in as a user any more, and end the user's sessions."""
    with here() as workspace:
        identities.unlink(workspace, name, by=users.ensure_local_user(workspace).id)
    output.print(f"Nobody signs in as {name} through a provider any more.")


@commands.command("reset-second-factor")
def reset_second_factor(name: Name) -> None:
    """Remove the second factor of a user, as when its device is lost, and end their sessions."""
    with here() as workspace:
        user = users.user_named(workspace, name)
        users.reset_second_factor(workspace, user.id, by=users.ensure_local_user(workspace))
    output.print(f"{name} has no second factor now, and is logged out everywhere.")


def _able(name: str, *, disabled: bool) -> None:
    with here() as workspace:
        by = users.ensure_local_user(workspace)
        users.change_user(workspace, users.user_named(workspace, name).id, disabled=disabled, by=by)
    output.print(f"{name} is {'disabled' if disabled else 'enabled'}.")
