"""Routes for webhooks of a project, their deliveries, and the secret of its callbacks."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import REVIEWERS
from annotator.deps import CurrentUser, TheWorkspace
from annotator.paging import ThePaging, pages
from engine.webhooks import (
    EVENT_TYPES,
    LONGEST_ADDRESS,
    CallbackSecretView,
    DeliveryView,
    EventType,
    NewWebhookView,
    WebhookView,
    deliveries,
    messages,
    webhooks,
)

router = APIRouter(tags=["webhooks"], dependencies=[REVIEWERS])
State = Literal["waiting", "sent", "failed"]
Address = Annotated[str, Field(min_length=1, max_length=LONGEST_ADDRESS, description="Address of the receiver.")]
Events = Annotated[list[EventType], Field(min_length=1, max_length=len(EVENT_TYPES), description="Events to send.")]


class WantedWebhook(BaseModel):
    """Address and events of a webhook to create."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"url": "https://example.org/hooks", "events": ["answer.accepted"]}]},
    )

    url: Address
    events: Events


class ChangedWebhook(BaseModel):
    """Parts of a webhook to change; omitted ones are kept."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [{"enabled": False}]})

    url: Address | None = None
    events: Events | None = None
    enabled: bool | None = None


class MadeSecret(BaseModel):
    """A new secret. It is shown only once."""

    secret: str


class QueuedDelivery(BaseModel):
    """Id of a delivery that waits to be sent."""

    id: str


@router.get("/projects/{project_id}/webhooks", responses=pages())
def list_webhooks(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    limit: Annotated[
        int, Query(ge=1, le=webhooks.MOST_LISTED, description="Maximum number of webhooks on a page.")
    ] = webhooks.MOST_LISTED,
) -> list[WebhookView]:
    """Return a page of the webhooks of a project, newest first, without their secrets."""
    return paging.send(webhooks.list_webhooks(workspace, project_id, limit=limit, cursor=paging.cursor))


@router.post("/projects/{project_id}/webhooks", status_code=201)
def create_webhook(
    project_id: str, wanted: WantedWebhook, workspace: TheWorkspace, user: CurrentUser
) -> NewWebhookView:
    """Create a webhook that is sent the events from now on. Its secret is shown only once. Audited."""
    return webhooks.create_webhook(workspace, project_id, wanted.url, wanted.events, by=user)


@router.patch("/webhooks/{webhook_id}")
def change_webhook(webhook_id: str, changed: ChangedWebhook, workspace: TheWorkspace, user: CurrentUser) -> WebhookView:
    """Change a webhook, or switch it off or on. Events of the time when it was off are not sent. Audited."""
    return webhooks.change_webhook(workspace, webhook_id, **changed.model_dump(), by=user)


@router.delete("/webhooks/{webhook_id}", status_code=204, response_class=Response)
def remove_webhook(webhook_id: str, workspace: TheWorkspace, user: CurrentUser) -> None:
    """Remove a webhook with its secrets and its log. Nothing more is sent to it. Audited."""
    webhooks.remove_webhook(workspace, webhook_id, by=user)


@router.post("/webhooks/{webhook_id}/secret", status_code=201)
def rotate_secret(webhook_id: str, workspace: TheWorkspace, user: CurrentUser) -> MadeSecret:
    """Create a new secret of a webhook. For a day, messages are signed with the earlier one too. Audited."""
    return MadeSecret(secret=webhooks.rotate_secret(workspace, webhook_id, by=user))


@router.post("/webhooks/{webhook_id}/test", status_code=202)
def send_test(webhook_id: str, workspace: TheWorkspace, user: CurrentUser) -> QueuedDelivery:
    """Send a test message to a webhook; its delivery is in the log. 409 when the webhook is off."""
    return QueuedDelivery(id=messages.send_test(workspace, webhook_id, by=user))


@router.get("/projects/{project_id}/webhook-deliveries", responses=pages())
def list_deliveries(
    project_id: str,
    workspace: TheWorkspace,
    paging: ThePaging,
    webhook: Annotated[str | None, Query(max_length=32, description="Id of a webhook: its deliveries only.")] = None,
    state: Annotated[State | None, Query(description="Deliveries in this state only.")] = None,
    limit: Annotated[
        int, Query(ge=1, le=deliveries.MOST_LISTED, description="Maximum number of deliveries on a page.")
    ] = deliveries.MOST_LISTED,
) -> list[DeliveryView]:
    """Return a page of the deliveries of a project, of its webhooks and callbacks, newest first."""
    page = deliveries.list_deliveries(
        workspace, project_id, webhook_id=webhook, state=state, limit=limit, cursor=paging.cursor
    )
    return paging.send(page)


@router.post("/webhook-deliveries/{delivery_id}/send", status_code=202)
def send_again(delivery_id: str, workspace: TheWorkspace, user: CurrentUser) -> DeliveryView:
    """Send a delivery again, with the same id and content. 409 when it cannot be sent now. Audited."""
    return deliveries.send_again(workspace, delivery_id, by=user)


@router.get("/projects/{project_id}/callback-secret")
def show_callback_secret(project_id: str, workspace: TheWorkspace) -> CallbackSecretView:
    """Return whether the project has a secret that signs callbacks, without the secret."""
    return webhooks.callback_secret(workspace, project_id)


@router.post("/projects/{project_id}/callback-secret", status_code=201)
def make_callback_secret(project_id: str, workspace: TheWorkspace, user: CurrentUser) -> MadeSecret:
    """Create the secret that signs callbacks. For a day, they are signed with an earlier one too. Audited."""
    return MadeSecret(secret=webhooks.rotate_callback_secret(workspace, project_id, by=user))
