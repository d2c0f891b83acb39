"""Secrets of webhooks, and the headers that sign a message.

Source: Standard Webhooks, https://www.standardwebhooks.com. A rotated secret signs beside the new one for a day, so
that the receiver has time to take the new one over.
"""

import base64
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import Session
from standardwebhooks.webhooks import Webhook as Signer

from db.base import now
from db.tables import WebhookSecret

OVERLAP = timedelta(hours=24)  # an earlier secret signs so long beside the new one
_BYTES = 32  # of randomness
_PREFIX = "whsec_"
_ID_PREFIX = "msg_"


def add_secret(session: Session, project_id: str, webhook_id: str | None) -> str:
    """Make the secret of a webhook, or of a project's callbacks (None), and return it.

    Earlier secrets go on signing for OVERLAP.
    """
    instant = now()
    for earlier in session.scalars(select(WebhookSecret).where(_of(project_id, webhook_id), _valid(instant))):
        end = instant + OVERLAP
        earlier.expires_at = min(earlier.expires_at, end) if earlier.expires_at is not None else end
    secret = _PREFIX + base64.b64encode(secrets.token_bytes(_BYTES)).decode()
    session.add(WebhookSecret(project_id=project_id, webhook_id=webhook_id, secret=secret, created_at=instant))
    return secret


def load_secrets(session: Session, project_id: str, webhook_id: str | None) -> list[str]:
    """Return the secrets that sign now, the newest first."""
    chosen = select(WebhookSecret.secret).where(_of(project_id, webhook_id), _valid(now()))
    return list(session.scalars(chosen.order_by(WebhookSecret.created_at.desc(), WebhookSecret.id.desc())))


def sign(secret_list: Sequence[str], delivery_id: str, body: str) -> dict[str, str]:
    """Return the three headers of an attempt; one signature for each secret."""
    instant = now()
    message = _ID_PREFIX + delivery_id
    signatures = [Signer(secret).sign(message, instant, body) for secret in secret_list]
    return {
        "webhook-id": message,
        "webhook-timestamp": str(int(instant.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def _of(project_id: str, webhook_id: str | None) -> ColumnElement[bool]:
    return and_(WebhookSecret.project_id == project_id, WebhookSecret.webhook_id == webhook_id)


def _valid(moment: datetime) -> ColumnElement[bool]:
    return or_(WebhookSecret.expires_at.is_(None), WebhookSecret.expires_at > moment)
