"""Tables of webhooks: addresses that hear of events, their secrets, and what is sent to them."""

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint, text, true
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference

LONGEST_ADDRESS = 2000  # characters
LONGEST_ERROR = 300
# It stands in statements as it stands in the index, so that databases recognise it.
WAITING = text("webhook_deliveries.state = 'waiting'")
_WAITING = text("state = 'waiting'")
_HELD = text("held_until IS NOT NULL")


class Webhook(Base):
    """An address that hears of events of a project.

    `events` maps each wanted event to the time from which on it is wanted, in ISO 8601: earlier ones are not sent.
    """

    __tablename__ = "webhooks"
    __table_args__ = (Index("ix_webhooks_newest", "project_id", "created_at", "id"),)

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    url: Mapped[str] = mapped_column(String(LONGEST_ADDRESS))
    events: Mapped[dict[str, Any]] = mapped_column(default=dict)
    enabled: Mapped[bool] = mapped_column(Boolean, default=True, server_default=true())
    off_reason: Mapped[str] = mapped_column(String(LONGEST_ERROR), default="")  # why Glossator switched it off
    failing_since: Mapped[datetime | None]  # the first failed attempt since the last one that succeeded
    created_by: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]


class WebhookSecret(Base):
    """A secret that signs the messages of a webhook, or of a project's callbacks.

    It is stored as it is, because each message is signed with it. After a rotation the earlier one signs too until
    `expires_at`.
    """

    __tablename__ = "webhook_secrets"
    __table_args__ = (Index("ix_webhook_secrets_of", "project_id", "webhook_id"),)

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    webhook_id: Mapped[Reference | None]  # None: of the callbacks of the project
    secret: Mapped[str] = mapped_column(String(80))
    expires_at: Mapped[datetime | None]
    created_at: Mapped[Moment]


class WebhookDelivery(Base):
    """A message to one address, and how its sending went.

    No foreign key to the webhook: a removed one leaves its deliveries behind, which are hidden and deleted later.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        CheckConstraint("state in ('waiting', 'sent', 'failed')", name="state"),
        UniqueConstraint("webhook_id", "key"),
        Index("ix_webhook_deliveries_due", "next_at", "id", sqlite_where=_WAITING, postgresql_where=_WAITING),
        Index("ix_webhook_deliveries_held", "held_until", sqlite_where=_HELD, postgresql_where=_HELD),
        Index("ix_webhook_deliveries_newest", "project_id", "id"),
        Index("ix_webhook_deliveries_state", "project_id", "state", "id"),
        Index("ix_webhook_deliveries_webhook", "webhook_id", "state", "id"),
        Index("ix_webhook_deliveries_of", "webhook_id", "id"),
    )

    id: Mapped[Id]  # with a prefix, the header webhook-id of every attempt
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    webhook_id: Mapped[Reference | None]  # None: a callback
    url: Mapped[str | None] = mapped_column(String(LONGEST_ADDRESS))  # of a callback
    event: Mapped[str] = mapped_column(String(40))
    key: Mapped[str] = mapped_column(String(80))  # what happened: a webhook hears of it once
    body: Mapped[str] = mapped_column(Text)  # JSON; every attempt sends the same bytes
    forgets: Mapped[bool] = mapped_column(Boolean)  # the body is emptied when nothing more is sent
    state: Mapped[str] = mapped_column(String(10), default="waiting")
    attempts: Mapped[int] = mapped_column(default=0)  # since it was written, or sent again
    next_at: Mapped[Moment]  # of the next attempt
    held_until: Mapped[datetime | None]  # a process is sending it; afterwards another one may
    code: Mapped[int | None]  # HTTP status of the last answer
    error: Mapped[str] = mapped_column(String(LONGEST_ERROR), default="")  # one sentence
    tried_at: Mapped[datetime | None]  # the last attempt
    created_at: Mapped[Moment]
