"""`glossator webhooks`: webhooks of a project, their secrets and their deliveries."""

from itertools import islice
from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import emit, here, list_table, output, print_list
from engine.commands.lookups import project_to_change
from engine.paging import every
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.webhooks import EVENT_TYPES, deliveries, messages, webhooks

TheProject = Annotated[str, typer.Option("--project", help="Name of the project.")]
Webhook = Annotated[str, typer.Argument(help="Id of the webhook.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Manage webhooks, and see what was sent to them.")
    group.command("list")(list_webhooks)
    group.command("add")(add)
    group.command("on")(switch_on)
    group.command("off")(switch_off)
    group.command("remove")(remove)
    group.command("secret")(secret)
    group.command("callback-secret")(callback_secret)
    group.command("test")(test)
    group.command("deliveries")(list_deliveries)
    group.command("send")(send)
    app.add_typer(group, name="webhooks")


def list_webhooks(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """List the webhooks of a project."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        listed = list(every(lambda cursor: webhooks.list_webhooks(workspace, project_id, cursor=cursor)))
    if as_json:
        emit({"webhooks": [webhook.model_dump(mode="json") for webhook in listed]})
        return
    table = list_table("id", "address", "events", "state")
    for webhook in listed:
        state = "on" if webhook.enabled else f"off. {webhook.off_reason}".rstrip(". ")
        table.add_row(webhook.id, webhook.url, ", ".join(webhook.events), state)
    print_list(table, "No webhooks. Add one: glossator webhooks add URL")


def add(
    url: Annotated[str, typer.Argument(help="Address of the receiver: https://...")],
    project: TheProject = DEFAULT_NAME,
    event: Annotated[
        list[str] | None, typer.Option(help=f"Event to send, repeatable; all without it: {', '.join(EVENT_TYPES)}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a webhook. Its secret is shown only once."""
    with here() as workspace:
        made = webhooks.create_webhook(
            workspace,
            project_to_change(workspace, project).id,
            url,
            event or EVENT_TYPES,
            by=ensure_local_user(workspace),
        )
    if as_json:
        emit(made.model_dump(mode="json"))
        return
    output.print(f"Created the webhook {made.id}. Its secret is shown only once:")
    output.print(made.secret, soft_wrap=True)


def switch_on(webhook: Webhook) -> None:
    """Switch a webhook on; it is sent the events from now on."""
    _switch(webhook, True)


def switch_off(webhook: Webhook) -> None:
    """Switch a webhook off."""
    _switch(webhook, False)


def _switch(webhook: str, enabled: bool) -> None:
    with here() as workspace:
        webhooks.change_webhook(workspace, webhook, enabled=enabled, by=ensure_local_user(workspace))
    output.print(f"The webhook is now {'on' if enabled else 'off'}.")


def remove(webhook: Webhook) -> None:
    """Remove a webhook with its secrets and its log."""
    with here() as workspace:
        webhooks.remove_webhook(workspace, webhook, by=ensure_local_user(workspace))
    output.print("The webhook was removed.")


def secret(webhook: Webhook) -> None:
    """Create a new secret of a webhook. For a day, messages are signed with the earlier one too."""
    with here() as workspace:
        made = webhooks.rotate_secret(workspace, webhook, by=ensure_local_user(workspace))
    output.print(made, soft_wrap=True)


def callback_secret(project: TheProject = DEFAULT_NAME) -> None:
    """Create the secret that signs callbacks of a project. For a day, they are signed with an earlier one too."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        made = webhooks.rotate_callback_secret(workspace, project_id, by=ensure_local_user(workspace))
    output.print(made, soft_wrap=True)


def test(webhook: Webhook) -> None:
    """Queue a test message; a running server or worker sends it."""
    with here() as workspace:
        made = messages.send_test(workspace, webhook, by=ensure_local_user(workspace))
    output.print(f"Queued the delivery {made}.")


def list_deliveries(
    project: TheProject = DEFAULT_NAME,
    failed: Annotated[bool, typer.Option("--failed", help="Failed deliveries only.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of deliveries.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List deliveries of webhooks and callbacks, newest first."""
    state = "failed" if failed else None
    with here() as workspace:
        project_id = project_named(workspace, project).id
        lines = every(
            lambda cursor: deliveries.list_deliveries(
                workspace, project_id, state=state, limit=min(limit, deliveries.MOST_LISTED), cursor=cursor
            )
        )
        listed = list(islice(lines, limit))
    if as_json:
        emit({"deliveries": [line.model_dump(mode="json") for line in listed]})
        return
    table = list_table("id", "event", "state", "attempts", "status", "error")
    for line in listed:
        table.add_row(line.id, line.event, line.state, str(line.attempts), str(line.code or ""), line.error)
    print_list(table, "No deliveries.")


def send(delivery: Annotated[str, typer.Argument(help="Id of the delivery.")]) -> None:
    """Queue a delivery to be sent again; a running server or worker sends it."""
    with here() as workspace:
        deliveries.send_again(workspace, delivery, by=ensure_local_user(workspace))
    output.print("The delivery waits to be sent.")
