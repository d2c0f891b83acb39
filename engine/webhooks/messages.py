"""Messages to webhooks: written from events, for a test, and for a callback of one request."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.base import now
from db.ids import new_id
from db.tables import User, Webhook, WebhookDelivery
from engine.errors import Conflict, Refused
from engine.queries import existing
from engine.webhooks.addresses import check_url
from engine.webhooks.events import Event, find_events
from engine.webhooks.signing import load_secrets
from engine.workspace import Workspace

TEST = "webhook.test"
LONGEST_BODY = 20_000_000  # characters
_LONGEST_UNIT = timedelta(hours=1)  # between an event's time and its change; later events have their own changes
_AT_ONCE = 500  # rows of one statement: databases limit its parameters


class SeenChange(Protocol):
    """A change: where and when."""

    @property
    def project_id(self) -> str | None:
        """Return the id of the project."""

    @property
    def at(self) -> datetime:
        """Return its time."""


def announce_events(
    session: Session, changes: Sequence[SeenChange], documents: Sequence[str]
) -> Callable[[Session], None] | None:
    """Return the function that writes the messages which follow from changes; None without any.

    A message that is there already is not written again.

    Args:
        session: For reading.
        changes: Changes of any projects.
        documents: Ids of the documents that they name.
    """
    projects = {change.project_id for change in changes if change.project_id is not None}
    webhooks = _listening(session, sorted(projects))
    if not webhooks:
        return None
    listening = {webhook.project_id for webhook in webhooks}
    wanted = {kind for webhook in webhooks for kind in webhook.events}
    since = min(change.at for change in changes if change.project_id in listening) - _LONGEST_UNIT
    events = find_events(session, sorted(listening), documents, since, wanted)
    instant = now()
    rows = [
        _row(webhook.project_id, event.type, body_of(event.type, event.at, event.data), instant)
        | {"webhook_id": webhook.id, "key": event.key}
        for event in events
        for webhook in webhooks
        if webhook.project_id == event.project_id and _hears(webhook, event)
    ]
    for place, row in enumerate(rows):  # sent in this order
        row["next_at"] += timedelta(microseconds=place)
    return (lambda writing: _store(writing, rows)) if rows else None


def send_test(workspace: Workspace, webhook_id: str, *, by: User) -> str:
    """Queue a test message to a webhook; return the id of the delivery.

    Raises:
        NotFound: There is no such webhook.
        Conflict: It is switched off.
    """
    with workspace.database.write() as session:
        webhook = existing(session, Webhook, webhook_id)
        if not webhook.enabled:
            raise Conflict("The webhook is switched off. Switch it on first.")
        instant = now()
        data = {"webhook": {"id": webhook.id}, "by": {"id": by.id, "name": by.name}}
        row = _row(webhook.project_id, TEST, body_of(TEST, instant, data), instant)
        delivery = WebhookDelivery(**row, webhook_id=webhook.id, key=f"{TEST}:{row['id']}")
        session.add(delivery)
        return delivery.id


def send_once(
    workspace: Workspace,
    project_id: str,
    url: str,
    event_type: str,
    payload: Mapping[str, Any],
    *,
    forgets: bool = False,
) -> str:
    """Queue a message to an address that one request has named (a callback); return the id of the delivery.

    It is signed with the secret of the project's callbacks (engine.webhooks.webhooks.rotate_callback_secret), and sent
    and tried again as the messages of webhooks are.

    Args:
        workspace: Open workspace.
        project_id: Project whose secret signs it.
        url: Address of the receiver.
        event_type: `type` of the message, at most 40 characters, as "extraction.done".
        payload: `data` of the message: JSON.
        forgets: Whether the content is deleted when it was sent, or given up; it cannot be sent again then.

    Raises:
        Refused: The address may not be used, the message is too large, or the project has no secret for callbacks.
    """
    check_callback(workspace, project_id, url)
    instant = now()
    body = body_of(event_type, instant, payload)
    if len(body) > LONGEST_BODY:
        raise Refused("The result is too large for a callback. Leave the callback out and fetch the result.")
    row = _row(project_id, event_type, body, instant)
    with workspace.database.write() as session:
        session.add(WebhookDelivery(**row | {"forgets": forgets}, url=url, key=row["id"]))
    return str(row["id"])


def check_callback(workspace: Workspace, project_id: str, url: str) -> None:
    """Check that a request may name an address for its callback, before it is done.

    Raises:
        Refused: The address may not be used, or the project has no secret for callbacks.
    """
    check_url(url, workspace.settings)
    with workspace.database.read() as session:
        if not load_secrets(session, project_id, None):
            raise Refused(
                "The project has no secret for callbacks. Create one first, on the tab People or by "
                "POST /api/projects/{project_id}/callback-secret."
            )


def body_of(event_type: str, at: datetime, data: Mapping[str, Any]) -> str:
    """Return the JSON text of a message."""
    stamp = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    message = {"type": event_type, "timestamp": stamp, "data": data}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def _listening(session: Session, projects: Sequence[str]) -> list[Webhook]:
    webhooks: list[Webhook] = []
    for start in range(0, len(projects), _AT_ONCE):
        some = Webhook.project_id.in_(projects[start : start + _AT_ONCE])
        webhooks += session.scalars(select(Webhook).where(some, Webhook.enabled.is_(True)).order_by(Webhook.id))
    return webhooks


def _hears(webhook: Webhook, event: Event) -> bool:
    since = webhook.events.get(event.type)
    return since is not None and event.at >= datetime.fromisoformat(since)


def _row(project_id: str, event_type: str, body: str, moment: datetime) -> dict[str, Any]:
    return {
        "id": new_id(), "project_id": project_id, "event": event_type, "body": body, "forgets": False,
        "state": "waiting", "attempts": 0, "next_at": moment, "error": "", "created_at": moment,
    }  # fmt: skip


def _store(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    connection = session.connection()
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(WebhookDelivery.__table__)
    connection.execute(statement.on_conflict_do_nothing(index_elements=["webhook_id", "key"]), list(rows))
