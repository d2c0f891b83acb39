"""The threads that send deliveries, in servers and workers; each attempt is made by one of them.

A thread holds a delivery for longer than an attempt may take, and sends outside of any transaction. When its process
dies meanwhile, another one makes the attempt anew when the hold has ended: a receiver may get a message twice, with the
same id, and loses none. A webhook gets one message at a time, in order as long as none fails.
"""

import logging
import random
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, exists, or_, select
from sqlalchemy.orm import Session, aliased

from db.base import now
from db.tables import Project, Webhook, WebhookDelivery
from db.tables.webhooks import WAITING
from engine import audit
from engine.metrics.counted import WEBHOOK_ATTEMPTS
from engine.webhooks.addresses import AddressRefused, host_of
from engine.webhooks.deliveries import is_callback, prune
from engine.webhooks.posting import TOTAL_SECONDS, SendingFailed, post
from engine.webhooks.signing import load_secrets, sign
from engine.workspace import Workspace

DELAYS = (5.0, 60.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0)  # seconds before the second attempt, the third, ...
JITTER = 0.2  # share by which a delay is longer or shorter, so that many do not come at once
FAILING = timedelta(days=3)  # without a success; then a webhook is switched off
HOLD_SECONDS = 4 * TOTAL_SECONDS
LOOK_SECONDS = 1.0
_THREADS = 4
_TIDY_SECONDS = 600.0  # between two deletions of old deliveries
_LONGEST_PAUSE = 30.0  # while the database cannot be reached
_STOP_SECONDS = 2.0  # an attempt under way goes on; its hold ends by itself
_GONE = 410  # RFC 9110: the receiver wants no more
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a delivery, with all that it takes to send it."""

    delivery_id: str
    number: int
    url: str
    body: str
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended.

    Attributes:
        code: HTTP status of the answer; None without one.
        error: One sentence; empty after a success.
        final: No further attempt can succeed.
    """

    code: int | None
    error: str = ""
    final: bool = False


class Sender:
    """Sends deliveries that are due, from threads of its own.

    Args:
        workspace: Where the deliveries are.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._stop = threading.Event()
        self._looking = threading.Lock()  # one thread waits for the next delivery, the others send
        self._tidied = 0.0  # by the monotonic clock
        self._threads = [
            threading.Thread(target=self._send_until_stopped, name=f"webhooks-{number}", daemon=True)
            for number in range(_THREADS)
        ]

    def start(self) -> None:
        """Send from now on."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Begin no further attempt."""
        self._stop.set()
        until = time.monotonic() + _STOP_SECONDS
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))

    def _send_until_stopped(self) -> None:
        while not self._stop.is_set():
            with self._looking:
                attempt = self._wait()
            if attempt is not None:
                try:
                    _send(self._workspace, attempt)
                except Exception:  # the hold ends by itself, and the attempt is made anew
                    _log.exception("the outcome of a delivery could not be stored")

    def _wait(self) -> Attempt | None:
        """Return the next attempt when there is one; None when the sender stops."""
        pause = LOOK_SECONDS
        while not self._stop.is_set():
            try:
                if time.monotonic() - self._tidied > _TIDY_SECONDS or not self._tidied:
                    self._tidied = time.monotonic()
                    prune(self._workspace)
                if (attempt := take_attempt(self._workspace)) is not None:
                    return attempt
                pause = LOOK_SECONDS
            except Exception:  # the database may be restarting; a thread that died of it would stay dead
                _log.exception("deliveries of webhooks could not be taken; trying again")
                pause = min(_LONGEST_PAUSE, 2 * pause)
            self._stop.wait(pause)
        return None


def send_due(workspace: Workspace) -> int:
    """Make the attempts that are due, one after the other; return how many were made."""
    number = 0
    while (attempt := take_attempt(workspace)) is not None:
        _send(workspace, attempt)
        number += 1
    return number


def _send(workspace: Workspace, attempt: Attempt) -> None:
    outcome = make_attempt(workspace, attempt)
    WEBHOOK_ATTEMPTS.labels("sent" if not outcome.error else "refused" if outcome.final else "failed").inc()
    store_outcome(workspace, attempt, outcome)


def take_attempt(workspace: Workspace) -> Attempt | None:
    """Hold the next delivery that is due, and return the attempt at it; None without one, and nothing is written."""
    with workspace.database.autocommit_read() as session:
        if session.scalar(select(WebhookDelivery.id).where(_is_due()).limit(1)) is None:
            return None
    with workspace.database.write() as session:
        # SKIP LOCKED lets processes pass each other on PostgreSQL; SQLite has one writer.
        chosen = (
            select(WebhookDelivery)
            .where(_is_due())
            .order_by(WebhookDelivery.next_at, WebhookDelivery.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        delivery = session.scalar(chosen)
        if delivery is None:
            return None
        instant = now()
        delivery.attempts += 1
        delivery.held_until, delivery.tried_at = instant + timedelta(seconds=HOLD_SECONDS), instant
        url = delivery.url
        if delivery.webhook_id is not None:
            url = session.get_one(Webhook, delivery.webhook_id).url
        secrets = tuple(load_secrets(session, delivery.project_id, delivery.webhook_id))
        return Attempt(delivery.id, delivery.attempts, url or "", delivery.body, secrets)


def make_attempt(workspace: Workspace, attempt: Attempt) -> Outcome:
    """Send a delivery once, outside of any transaction; return how that ended."""
    headers = sign(attempt.secrets, attempt.delivery_id, attempt.body)
    try:
        code = post(attempt.url, headers, attempt.body.encode(), workspace.settings.webhook_private_addresses)
    except AddressRefused as error:
        return Outcome(None, str(error), final=True)
    except SendingFailed as error:
        return Outcome(None, str(error))
    except Exception as error:  # an address that the library refuses; no text of it, which may hold a secret
        _log.warning("a delivery could not be sent: %s", type(error).__name__)
        return Outcome(None, "The message could not be sent to this address.", final=True)
    if 200 <= code < 300:
        return Outcome(code)
    if 300 <= code < 400:
        return Outcome(code, f"The receiver redirects (status {code}). Enter the address that it redirects to.")
    if code == _GONE:
        return Outcome(code, "The receiver wants no more messages (status 410).", final=True)
    return Outcome(code, f"The receiver answered with status {code}.")


def store_outcome(workspace: Workspace, attempt: Attempt, outcome: Outcome) -> None:
    """Store how an attempt ended, unless another process has made the attempt anew meanwhile."""
    with workspace.database.write() as session:
        chosen = select(WebhookDelivery).where(WebhookDelivery.id == attempt.delivery_id).with_for_update()
        delivery = session.scalar(chosen)
        if delivery is None or delivery.state != "waiting" or delivery.attempts != attempt.number:
            return
        delivery.held_until, delivery.code, delivery.error = None, outcome.code, outcome.error
        if not outcome.error:
            delivery.state = "sent"
        elif outcome.final or attempt.number > len(DELAYS):
            delivery.state = "failed"
        else:
            delay = DELAYS[attempt.number - 1] * random.uniform(1 - JITTER, 1 + JITTER)
            delivery.next_at = now() + timedelta(seconds=delay)
        if delivery.forgets and delivery.state != "waiting":
            delivery.body = ""
        if delivery.webhook_id is not None:
            _note_health(session, delivery.webhook_id, outcome)


def _note_health(session: Session, webhook_id: str, outcome: Outcome) -> None:
    """Note since when a webhook fails, and switch off one that has failed for days or wants no more."""
    webhook = session.get(Webhook, webhook_id)
    if webhook is None or (not outcome.error and webhook.failing_since is None):
        return
    webhook = session.get_one(Webhook, webhook_id, with_for_update=True, populate_existing=True)
    if not outcome.error:
        webhook.failing_since = None
        return
    instant = now()
    webhook.failing_since = webhook.failing_since or instant
    lasting = instant - webhook.failing_since >= FAILING
    if webhook.enabled and (lasting or outcome.code == _GONE):
        webhook.enabled = False
        webhook.off_reason = outcome.error if outcome.code == _GONE else _lasting_reason(webhook.failing_since, outcome)
        audit.record(
            session,
            None,
            "webhooks.off",
            webhook.id,
            webhook.project_id,
            host=host_of(webhook.url),
            reason=webhook.off_reason,
        )


def _lasting_reason(since: datetime, outcome: Outcome) -> str:
    return f"No delivery has succeeded since {since:%Y-%m-%d %H:%M} UTC. {outcome.error}"[:300]


def _is_due() -> ColumnElement[bool]:
    instant = now()
    busy = aliased(WebhookDelivery)
    at_work = select(busy.webhook_id).where(busy.held_until > instant, busy.webhook_id.is_not(None))
    switched_on = exists().where(Webhook.id == WebhookDelivery.webhook_id, Webhook.enabled.is_(True))
    archived = exists().where(Project.id == WebhookDelivery.project_id, Project.archived_at.is_not(None))
    return and_(
        WAITING,
        ~archived,
        WebhookDelivery.next_at <= instant,
        or_(WebhookDelivery.held_until.is_(None), WebhookDelivery.held_until <= instant),
        or_(is_callback(), and_(switched_on, WebhookDelivery.webhook_id.not_in(at_work))),
    )
