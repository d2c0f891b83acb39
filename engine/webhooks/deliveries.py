"""Deliveries of webhooks and callbacks: their log, sending again, and their end after some days."""

from datetime import datetime, timedelta

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, delete, or_, select

from db.base import now
from db.ids import first_id
from db.tables import User, Webhook, WebhookDelivery
from engine import audit
from engine.batches import Throttle
from engine.errors import Conflict, NotFound
from engine.paging import Order, Page
from engine.queries import existing
from engine.webhooks.addresses import host_of
from engine.workspace import Workspace

MOST_LISTED = 1000  # deliveries of one page


class DeliveryView(BaseModel):
    """A delivery: a message to one address, and how its sending went."""

    id: str
    webhook_id: str | None = Field(description="Its webhook; null: a callback of one request.")
    url: str
    event: str
    state: str = Field(description="waiting, sent or failed.")
    attempts: int = Field(description="Attempts since it was written or sent again.")
    code: int | None = Field(description="HTTP status of the last answer; null without one.")
    error: str = Field(description="Why the last attempt failed; empty otherwise.")
    created_at: datetime
    tried_at: datetime | None = Field(description="Time of the last attempt.")
    next_at: datetime | None = Field(description="Time of the next attempt; null when none follows.")
    content: bool = Field(description="Whether its content is still there, so that it can be sent again.")


def list_deliveries(
    workspace: Workspace,
    project_id: str,
    *,
    webhook_id: str | None = None,
    state: str | None = None,
    limit: int = MOST_LISTED,
    cursor: str | None = None,
) -> Page[DeliveryView]:
    """Return a page of the deliveries of a project, newest first; those of removed webhooks are left out.

    Args:
        workspace: Open workspace.
        project_id: The project.
        webhook_id: Of this webhook alone.
        state: Of this state alone, "waiting", "sent" or "failed".
        limit: Maximum number, at most MOST_LISTED.
        cursor: Of the page; None: the first page.

    Raises:
        Refused: The cursor is not one of this list.
    """
    order = Order(f"deliveries {project_id} {webhook_id} {state}", (WebhookDelivery.id,), falls=True)
    chosen = (
        select(WebhookDelivery, Webhook)
        .outerjoin(Webhook, Webhook.id == WebhookDelivery.webhook_id)
        .where(WebhookDelivery.project_id == project_id, or_(Webhook.id.is_not(None), is_callback()))
    )
    if webhook_id is not None:
        chosen = chosen.where(WebhookDelivery.webhook_id == webhook_id)
    if state is not None:
        chosen = chosen.where(WebhookDelivery.state == state)
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
    return Page([_view(delivery, webhook) for delivery, webhook in rows], following)


def send_again(workspace: Workspace, delivery_id: str, *, by: User) -> DeliveryView:
    """Let a delivery be sent again now, with the same id and content. Audited.

    Raises:
        NotFound: There is no such delivery, or its webhook was removed.
        Conflict: It is being sent, its content is deleted, or its webhook is switched off.
    """
    with workspace.database.write() as session:
        delivery = existing(session, WebhookDelivery, delivery_id, with_for_update=True)
        webhook = session.get(Webhook, delivery.webhook_id) if delivery.webhook_id is not None else None
        if webhook is None and delivery.webhook_id is not None:
            raise NotFound("There is no such delivery.")
        if delivery.held_until is not None and delivery.held_until > now():
            raise Conflict("The delivery is being sent. Wait a moment.")
        if not delivery.body:
            raise Conflict("The content of this delivery was deleted after it was sent. Request the result anew.")
        if webhook is not None and not webhook.enabled:
            raise Conflict("The webhook is switched off. Switch it on first.")
        delivery.state, delivery.attempts, delivery.next_at, delivery.held_until = "waiting", 0, now(), None
        host = host_of(webhook.url if webhook is not None else delivery.url or "")
        details = {"host": host, "event": delivery.event}
        audit.record(session, by.id, "webhooks.send_again", delivery.id, delivery.project_id, **details)
        return _view(delivery, webhook)


def prune(workspace: Workspace) -> None:
    """Delete deliveries older than the setting `webhook_days`. Several processes may do it at once."""
    oldest = now() - timedelta(days=workspace.settings.webhook_days)
    delete_deliveries(workspace, WebhookDelivery.id < first_id(oldest))


def delete_deliveries(workspace: Workspace, chosen: ColumnElement[bool]) -> None:
    """Delete deliveries in batches, oldest first; costs as much as there is to delete, and writes nothing for none.

    Args:
        workspace: Open workspace.
        chosen: Which ones.
    """
    throttle = Throttle()
    some = select(WebhookDelivery.id).where(chosen).order_by(WebhookDelivery.id)
    while True:
        with workspace.database.autocommit_read() as session:
            if session.scalar(some.limit(1)) is None:
                return
        with throttle, workspace.database.write() as session:
            throttle.start_timing()
            deletion = delete(WebhookDelivery).where(WebhookDelivery.id.in_(some.limit(throttle.size)))
            session.execute(deletion.execution_options(synchronize_session=False))


def is_callback() -> ColumnElement[bool]:
    """Return the condition that a delivery belongs to no webhook."""
    return WebhookDelivery.webhook_id.is_(None)


def _view(delivery: WebhookDelivery, webhook: Webhook | None) -> DeliveryView:
    return DeliveryView(
        id=delivery.id,
        webhook_id=delivery.webhook_id,
        url=webhook.url if webhook is not None else delivery.url or "",
        event=delivery.event,
        state=delivery.state,
        attempts=delivery.attempts,
        code=delivery.code,
        error=delivery.error,
        created_at=delivery.created_at,
        tried_at=delivery.tried_at,
        next_at=delivery.next_at if delivery.state == "waiting" else None,
        content=bool(delivery.body),
    )
