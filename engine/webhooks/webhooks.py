"""Webhooks of a project: created, changed, removed, and their secrets."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from db.base import now
from db.tables import Project, User, Webhook, WebhookDelivery, WebhookSecret
from engine import audit
from engine.errors import Conflict, Refused
from engine.paging import Order, Page
from engine.queries import existing
from engine.webhooks.addresses import check_url, host_of
from engine.webhooks.deliveries import delete_deliveries
from engine.webhooks.events import EVENT_TYPES
from engine.webhooks.signing import add_secret
from engine.workspace import Workspace

MOST_LISTED = 1000  # webhooks of one page
MOST_WEBHOOKS = 100  # of a project


class WebhookView(BaseModel):
    """A webhook as reviewers see it.

    `off_reason`: why Glossator switched it off; empty otherwise. `failing_since`: first failed attempt since the last
    success.
    """

    id: str
    url: str
    events: list[str]
    enabled: bool
    off_reason: str
    failing_since: datetime | None
    created_by: str
    created_at: datetime


class NewWebhookView(WebhookView):
    """A new webhook. `secret` is shown once."""

    secret: str


class CallbackSecretView(BaseModel):
    """Whether a project has a secret for callbacks, and since when."""

    exists: bool
    created_at: datetime | None


def create_webhook(
    workspace: Workspace, project_id: str, url: str, events: Sequence[str], *, by: User
) -> NewWebhookView:
    """Create a webhook that hears of events from now on. Audited.

    Args:
        workspace: Open workspace.
        project_id: Project whose events it hears of.
        url: Address of the receiver.
        events: Kinds of events, of EVENT_TYPES.
        by: Acting user.

    Raises:
        NotFound: There is no such project.
        Refused: The address or an event is not allowed.
        Conflict: The project has too many webhooks.
    """
    check_url(url, workspace.settings)
    wanted = _check_events(events)
    with workspace.database.write() as session:
        existing(session, Project, project_id)
        number = session.scalar(select(func.count(Webhook.id)).where(Webhook.project_id == project_id)) or 0
        if number >= MOST_WEBHOOKS:
            raise Conflict(f"A project has at most {MOST_WEBHOOKS} webhooks. Remove one first.")
        instant = now()
        since = dict.fromkeys(wanted, instant.isoformat())
        webhook = Webhook(project_id=project_id, url=url, events=since, created_by=by.id, created_at=instant)
        session.add(webhook)
        session.flush()
        secret = add_secret(session, project_id, webhook.id)
        audit.record(
            session, by.id, "webhooks.create", webhook.id, project_id, host=host_of(url), events=", ".join(wanted)
        )
        return NewWebhookView(**_view(session, webhook).model_dump(), secret=secret)


def list_webhooks(
    workspace: Workspace, project_id: str, *, limit: int = MOST_LISTED, cursor: str | None = None
) -> Page[WebhookView]:
    """Return a page of the webhooks of a project, newest first. Raises Refused for the cursor of another list."""
    order = Order(f"webhooks {project_id}", (Webhook.created_at, Webhook.id), falls=True)
    chosen = select(Webhook).where(Webhook.project_id == project_id)
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
        return Page([_view(session, row) for (row,) in rows], following)


def change_webhook(
    workspace: Workspace,
    webhook_id: str,
    *,
    url: str | None = None,
    events: Sequence[str] | None = None,
    enabled: bool | None = None,
    by: User,
) -> WebhookView:
    """Change a webhook; None leaves something as it is. Audited.

    Events that it wants anew, and all events of one that is switched on, are sent from now on.

    Raises:
        NotFound: There is no such webhook.
        Refused: The address or an event is not allowed.
    """
    if url is not None:
        check_url(url, workspace.settings)
    wanted = _check_events(events) if events is not None else None
    with workspace.database.write() as session:
        webhook = existing(session, Webhook, webhook_id, with_for_update=True)
        before = _view(session, webhook)
        instant = now().isoformat()
        if url is not None:
            webhook.url = url
        if wanted is not None:
            webhook.events = {kind: webhook.events.get(kind, instant) for kind in wanted}
        if enabled is not None and enabled != webhook.enabled:
            webhook.enabled, webhook.off_reason, webhook.failing_since = enabled, "", None
            if enabled:
                webhook.events = dict.fromkeys(webhook.events, instant)
        after = _view(session, webhook)
        if clauses := _differences(before, after):
            details = {"host": host_of(before.url), "changed": ", ".join(clauses)}
            audit.record(session, by.id, "webhooks.change", webhook.id, webhook.project_id, **details)
        return after


def remove_webhook(workspace: Workspace, webhook_id: str, *, by: User) -> None:
    """Remove a webhook with its secrets, then its log; nothing more is sent to it. Audited.

    Raises NotFound when there is none.
    """
    with workspace.database.write() as session:
        webhook = existing(session, Webhook, webhook_id)
        audit.record(session, by.id, "webhooks.remove", webhook.id, webhook.project_id, host=host_of(webhook.url))
        gone = delete(WebhookSecret).where(
            WebhookSecret.project_id == webhook.project_id, WebhookSecret.webhook_id == webhook.id
        )
        session.execute(gone.execution_options(synchronize_session=False))
        session.delete(webhook)
    delete_deliveries(workspace, WebhookDelivery.webhook_id == webhook_id)


def rotate_secret(workspace: Workspace, webhook_id: str, *, by: User) -> str:
    """Return a new secret of a webhook; the earlier one signs beside it for a day. Audited. NotFound as above."""
    with workspace.database.write() as session:
        webhook = existing(session, Webhook, webhook_id)
        audit.record(session, by.id, "webhooks.rotate", webhook.id, webhook.project_id, host=host_of(webhook.url))
        return add_secret(session, webhook.project_id, webhook.id)


def rotate_callback_secret(workspace: Workspace, project_id: str, *, by: User) -> str:
    """Return a new secret of a project's callbacks; an earlier one signs beside it for a day. Audited.

    Raises NotFound when there is no such project.
    """
    with workspace.database.write() as session:
        existing(session, Project, project_id)
        audit.record(session, by.id, "webhooks.callbacks", project_id, project_id)
        return add_secret(session, project_id, None)


def callback_secret(workspace: Workspace, project_id: str) -> CallbackSecretView:
    """Return whether a project has a secret for callbacks, without it."""
    newest = select(func.max(WebhookSecret.created_at)).where(
        WebhookSecret.project_id == project_id, WebhookSecret.webhook_id.is_(None)
    )
    with workspace.database.read() as session:
        created_at = session.scalar(newest)
    return CallbackSecretView(exists=created_at is not None, created_at=created_at)


def _check_events(events: Sequence[str]) -> list[str]:
    unknown = sorted(set(events) - set(EVENT_TYPES))
    if unknown or not events:
        sentence = f"There is no event {unknown[0]!r}." if unknown else "Choose at least one event."
        raise Refused(f"{sentence} Events are {', '.join(EVENT_TYPES)}.")
    return [kind for kind in EVENT_TYPES if kind in events]


def _differences(before: WebhookView, after: WebhookView) -> list[str]:
    """Return what an audit entry says about a change; paths of addresses may hold secrets and are left out."""
    clauses = []
    if after.url != before.url:
        clauses.append(f"it is now sent to {host_of(after.url)}")
    if after.events != before.events:
        clauses.append(f"it now hears of {', '.join(after.events)}")
    if after.enabled != before.enabled:
        clauses.append(f"it is now {'on' if after.enabled else 'off'}")
    return clauses


def _in_order(events: dict[str, object]) -> list[str]:
    return [kind for kind in EVENT_TYPES if kind in events]


def _view(session: Session, webhook: Webhook) -> WebhookView:
    return WebhookView(
        id=webhook.id,
        url=webhook.url,
        events=_in_order(webhook.events),
        enabled=webhook.enabled,
        off_reason=webhook.off_reason,
        failing_since=webhook.failing_since,
        created_by=session.get_one(User, webhook.created_by).name,
        created_at=webhook.created_at,
    )
