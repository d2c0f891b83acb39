"""Sending to a real receiver: signed, tried again with the same id, to checked addresses, by one process at a time."""

import json
import logging
import shutil
import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from standardwebhooks.webhooks import WebhookVerificationError

from db.base import now
from db.ids import first_id
from db.tables import AuditEntry, Webhook, WebhookDelivery, WebhookSecret
from engine.accounts.users import ensure_local_user
from engine.errors import Conflict, NotFound, Refused
from engine.settings import Settings
from engine.webhooks import Sender, addresses, check_callback, deliveries, posting, sender, webhooks
from engine.webhooks.deliveries import list_deliveries, send_again
from engine.webhooks.messages import send_once, send_test
from engine.webhooks.sender import DELAYS, send_due, store_outcome, take_attempt
from engine.workspace import Workspace, open_workspace
from tests.support.factories import make_project
from tests.support.receiver import Receiver, receiver
from tests.support.statements import heard
from tests.support.waiting import wait_until

HERE: dict[str, Any] = {"webhook_private_addresses": ["127.0.0.1"], "webhook_http": True}


@pytest.fixture
def receiving() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


@pytest.fixture
def near(database_url: str, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace whose webhooks may reach this machine."""
    opened = open_workspace(Settings(data_dir=tmp_path / "data", database_url=database_url, _env_file=None, **HERE))
    yield opened
    opened.close()


@pytest.fixture
def near_sqlite(migrated_file: Path, tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "data").mkdir(exist_ok=True)
    shutil.copyfile(migrated_file, tmp_path / "data" / "glossator.db")
    opened = open_workspace(Settings(data_dir=tmp_path / "data", _env_file=None, **HERE))
    yield opened
    opened.close()


def make_hook(workspace: Workspace, url: str) -> webhooks.NewWebhookView:
    project = make_project(workspace)
    by = ensure_local_user(workspace)
    return webhooks.create_webhook(workspace, project.id, url, ["document.ready"], by=by)


def queue_test(workspace: Workspace, hook: webhooks.WebhookView) -> str:
    return send_test(workspace, hook.id, by=ensure_local_user(workspace))


def delivery_of(workspace: Workspace, delivery_id: str) -> WebhookDelivery:
    with workspace.database.read() as session:
        return session.get_one(WebhookDelivery, delivery_id)


def let_pause_end(workspace: Workspace, delivery_id: str) -> None:
    with workspace.database.write() as session:
        session.get_one(WebhookDelivery, delivery_id).next_at = now()


def test_a_message_is_tried_again_with_its_id_until_it_arrives(near: Workspace, receiving: Receiver) -> None:
    hook = make_hook(near, f"{receiving.url}/hook?key=1")
    receiving.answers += [500, 404]
    sent = queue_test(near, hook)
    assert send_due(near) == 1 and send_due(near) == 0
    delivery = delivery_of(near, sent)
    assert (delivery.state, delivery.attempts, delivery.code) == ("waiting", 1, 500)
    assert delivery.error == "The receiver answered with status 500."
    pause = (delivery.next_at - now()).total_seconds()
    assert 0 < pause <= 1.2 * DELAYS[0]
    for _ in range(2):
        let_pause_end(near, sent)
        assert send_due(near) == 1
    delivery = delivery_of(near, sent)
    assert (delivery.state, delivery.attempts, delivery.code, delivery.error) == ("sent", 3, 200, "")
    assert {request.id for request in receiving.requests} == {f"msg_{sent}"} and len(receiving.requests) == 3
    first, last = receiving.requests[0], receiving.requests[-1]
    assert first.body == last.body and last.path == "/hook?key=1"
    assert last.headers["content-type"] == "application/json"
    message = last.verified(hook.secret)
    assert message["type"] == "webhook.test" and message["data"]["webhook"] == {"id": hook.id}
    with pytest.raises(WebhookVerificationError):
        last.verified("whsec_" + "A" * 44)


def test_a_message_is_given_up_and_sent_again_by_hand(near: Workspace, receiving: Receiver) -> None:
    hook = make_hook(near, receiving.url)
    receiving.answers += [503] * (len(DELAYS) + 1)
    sent = queue_test(near, hook)
    for _ in range(len(DELAYS) + 1):
        let_pause_end(near, sent)
        assert send_due(near) == 1
    assert delivery_of(near, sent).state == "failed" and send_due(near) == 0
    [line] = list_deliveries(near, make_project_of(near, hook), state="failed")
    assert (line.id, line.attempts, line.code, line.next_at) == (sent, len(DELAYS) + 1, 503, None)
    again = send_again(near, sent, by=ensure_local_user(near))
    assert again.state == "waiting" and send_due(near) == 1
    assert delivery_of(near, sent).state == "sent"
    assert {request.id for request in receiving.requests} == {f"msg_{sent}"}


def make_project_of(workspace: Workspace, hook: webhooks.WebhookView) -> str:
    with workspace.database.read() as session:
        return session.get_one(Webhook, hook.id).project_id


def test_both_secrets_sign_for_a_day_after_a_rotation(near_sqlite: Workspace, receiving: Receiver) -> None:
    hook = make_hook(near_sqlite, receiving.url)
    newer = webhooks.rotate_secret(near_sqlite, hook.id, by=ensure_local_user(near_sqlite))
    queue_test(near_sqlite, hook)
    send_due(near_sqlite)
    assert newer != hook.secret
    for secret in (hook.secret, newer):
        receiving.requests[0].verified(secret)
    with near_sqlite.database.write() as session:
        earlier = WebhookSecret.expires_at.is_not(None)
        session.execute(update(WebhookSecret).where(earlier).values(expires_at=now() - timedelta(seconds=1)))
    queue_test(near_sqlite, hook)
    send_due(near_sqlite)
    receiving.requests[1].verified(newer)
    with pytest.raises(WebhookVerificationError):
        receiving.requests[1].verified(hook.secret)


def test_private_addresses_are_reached_only_when_a_setting_names_them(
    sqlite_workspace: Workspace, receiving: Receiver
) -> None:
    workspace = sqlite_workspace
    for url, why in (
        ("https://127.0.0.1/hook", "127.0.0.1 is a private address"),
        ("https://10.1.2.3/", "private"),
        ("https://169.254.169.254/latest/meta-data", "private"),
        ("https://[::1]/", "private"),
        ("https://[::ffff:10.0.0.1]/", "private"),
        ("https://[64:ff9b::10.0.0.1]/", "private"),
        ("https://0.0.0.0/", "private"),
        ("http://example.org/", "must begin with https"),
        ("https://user:word@example.org/", "must not contain a login"),
        ("file:///etc/passwd", "not a web address"),
        ("https://example.org/a b", "not a web address"),
        ("https:///x", "not a web address"),
    ):
        with pytest.raises(Refused, match=why):
            addresses.check_url(url, workspace.settings)
    # A name is checked when it is resolved: "localhost" is private on every machine.
    hook = make_hook(workspace, f"https://localhost:{receiving.url.rpartition(':')[2]}/")
    sent = queue_test(workspace, hook)
    assert send_due(workspace) == 1
    delivery = delivery_of(workspace, sent)
    assert delivery.state == "failed" and "localhost" in delivery.error and "private address" in delivery.error
    assert receiving.requests == []


def test_the_connection_goes_to_the_address_that_was_checked(
    near_sqlite: Workspace, receiving: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that points elsewhere at the second look-up reaches nothing: there is no second one."""
    looked_up: list[str] = []
    answers = iter(["127.0.0.1"])
    resolved = socket.getaddrinfo

    def rebinding(host: str, port: int, *arguments: Any, **more: Any) -> Any:
        if host != "rebinding.example":
            return resolved(host, port, *arguments, **more)
        looked_up.append(host)
        return resolved(next(answers), port, *arguments, **more)

    monkeypatch.setattr("socket.getaddrinfo", rebinding)
    port = receiving.url.rpartition(":")[2]
    hook = make_hook(near_sqlite, f"http://rebinding.example:{port}/hook")
    sent = queue_test(near_sqlite, hook)
    assert send_due(near_sqlite) == 1
    assert delivery_of(near_sqlite, sent).state == "sent" and looked_up == ["rebinding.example"]
    assert receiving.requests[0].headers["host"] == f"rebinding.example:{port}"


def test_of_several_addresses_none_may_be_private(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(0, 0, 0, "", ("93.184.216.34", 443)), (0, 0, 0, "", ("10.0.0.1", 443))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: rows)
    with pytest.raises(addresses.AddressRefused, match=r"10\.0\.0\.1"):
        addresses.resolve("both.example", 443, [], 5)
    assert addresses.resolve("both.example", 443, ["10.0.0.0/8"], 5) == ["93.184.216.34", "10.0.0.1"]


def test_a_redirect_is_not_followed(near_sqlite: Workspace, receiving: Receiver) -> None:
    hook = make_hook(near_sqlite, receiving.url)
    receiving.answers += [307]
    sent = queue_test(near_sqlite, hook)
    send_due(near_sqlite)
    delivery = delivery_of(near_sqlite, sent)
    assert (delivery.state, delivery.code) == ("waiting", 307) and "redirects" in delivery.error
    assert [request.path for request in receiving.requests] == ["/"]


def test_a_receiver_that_answers_slowly_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "TOTAL_SECONDS", 0.3)
    release = threading.Event()
    with receiver() as slow:
        slow.answers = Slow(release)
        with pytest.raises(posting.SendingFailed, match="did not answer in time"):
            posting.post(slow.url, {}, b"{}", ["127.0.0.1"])
        release.set()
    with pytest.raises(posting.SendingFailed, match="No connection"):
        posting.post(slow.url, {}, b"{}", ["127.0.0.1"])


class Slow(list[int]):
    """Answers that come when they are released."""

    def __init__(self, release: threading.Event) -> None:
        super().__init__([200])
        self.release = release

    def pop(self, index: Any = -1) -> int:
        self.release.wait(10)
        return super().pop(index)


def test_two_processes_never_make_the_same_attempt(near: Workspace, receiving: Receiver) -> None:
    project = make_project(near).id
    webhooks.rotate_callback_secret(near, project, by=ensure_local_user(near))
    sent = {send_once(near, project, f"{receiving.url}/{number}", "x.done", {}) for number in range(12)}
    begin = threading.Barrier(3)

    def process() -> None:
        begin.wait(10)
        send_due(near)

    threads = [threading.Thread(target=process) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    while send_due(near):  # on PostgreSQL one may pass another's row
        pass
    assert sorted(request.id for request in receiving.requests) == sorted(f"msg_{each}" for each in sent)


def test_an_attempt_whose_process_died_is_made_anew(near_sqlite: Workspace, receiving: Receiver) -> None:
    hook = make_hook(near_sqlite, receiving.url)
    sent, behind = queue_test(near_sqlite, hook), queue_test(near_sqlite, hook)
    lost = take_attempt(near_sqlite)
    assert lost is not None and lost.delivery_id == sent
    assert take_attempt(near_sqlite) is None, "a webhook gets one message at a time"
    with near_sqlite.database.write() as session:
        session.get_one(WebhookDelivery, sent).held_until = now() - timedelta(seconds=1)
    assert send_due(near_sqlite) == 2
    assert [request.id for request in receiving.requests] == [f"msg_{sent}", f"msg_{behind}"]
    store_outcome(near_sqlite, lost, sender.Outcome(None, "too late"))
    assert (delivery_of(near_sqlite, sent).state, delivery_of(near_sqlite, sent).attempts) == ("sent", 2)


def test_a_webhook_that_fails_for_days_is_switched_off_and_says_so(near: Workspace, receiving: Receiver) -> None:
    hook = make_hook(near, receiving.url)
    project = make_project_of(near, hook)
    receiving.answers += [500, 500]
    sent = queue_test(near, hook)
    send_due(near)
    [line] = webhooks.list_webhooks(near, project)
    assert line.enabled and line.failing_since is not None
    with near.database.write() as session:
        session.get_one(Webhook, hook.id).failing_since = now() - sender.FAILING
    let_pause_end(near, sent)
    send_due(near)
    [line] = webhooks.list_webhooks(near, project)
    assert not line.enabled and line.off_reason.startswith("No delivery has succeeded since")
    let_pause_end(near, sent)
    assert send_due(near) == 0
    with pytest.raises(Conflict, match="switched off"):
        queue_test(near, hook)
    webhooks.change_webhook(near, hook.id, enabled=True, by=ensure_local_user(near))
    assert send_due(near) == 1 and delivery_of(near, sent).state == "sent"
    [line] = webhooks.list_webhooks(near, project)
    assert (line.enabled, line.off_reason, line.failing_since) == (True, "", None)


def test_a_receiver_that_is_gone_switches_its_webhook_off(near_sqlite: Workspace, receiving: Receiver) -> None:
    hook = make_hook(near_sqlite, receiving.url)
    receiving.answers += [410]
    sent = queue_test(near_sqlite, hook)
    send_due(near_sqlite)
    [line] = webhooks.list_webhooks(near_sqlite, make_project_of(near_sqlite, hook))
    assert not line.enabled and "410" in line.off_reason and delivery_of(near_sqlite, sent).state == "failed"


def test_nothing_is_sent_to_a_removed_webhook_and_its_log_goes(near: Workspace, receiving: Receiver) -> None:
    hook = make_hook(near, receiving.url)
    project = make_project_of(near, hook)
    sent = queue_test(near, hook)
    webhooks.remove_webhook(near, hook.id, by=ensure_local_user(near))
    assert send_due(near) == 0 and list_deliveries(near, project) == []
    with pytest.raises(NotFound):
        send_again(near, sent, by=ensure_local_user(near))
    with near.database.read() as session:
        assert session.scalars(select(WebhookSecret)).all() == []
    with near.database.read() as session:
        assert session.scalars(select(WebhookDelivery)).all() == []


def test_old_deliveries_are_deleted(near: Workspace, receiving: Receiver) -> None:
    hook = make_hook(near, receiving.url)
    project = make_project_of(near, hook)
    made = [queue_test(near, hook) for _ in range(3)]
    old = now() - timedelta(days=near.settings.webhook_days, seconds=1)
    with near.database.write() as session:
        for delivery_id in made[:2]:
            renamed = first_id(old) + delivery_id[12:]
            session.execute(update(WebhookDelivery).where(WebhookDelivery.id == delivery_id).values(id=renamed))
    deliveries.prune(near)
    assert [line.id for line in list_deliveries(near, project)] == made[2:]


def test_a_callback_is_signed_by_its_project_and_forgets_its_content(near: Workspace, receiving: Receiver) -> None:
    project = make_project(near).id
    by = ensure_local_user(near)
    with pytest.raises(Refused, match="no secret for callbacks"):
        send_once(near, project, receiving.url, "extraction.done", {})
    assert not webhooks.callback_secret(near, project).exists
    secret = webhooks.rotate_callback_secret(near, project, by=by)
    assert webhooks.callback_secret(near, project).exists
    check_callback(near, project, receiving.url)
    kept = send_once(near, project, receiving.url, "extraction.done", {"total": "12.50 €"})
    gone = send_once(near, project, receiving.url, "extraction.done", {"total": "99.99"}, forgets=True)
    assert send_due(near) == 2
    assert [request.verified(secret)["data"]["total"] for request in receiving.requests] == ["12.50 €", "99.99"]
    assert delivery_of(near, gone).body == "" and json.loads(delivery_of(near, kept).body)["type"] == "extraction.done"
    assert [(line.id, line.content) for line in list_deliveries(near, project)] == [(gone, False), (kept, True)]
    with pytest.raises(Conflict, match="deleted"):
        send_again(near, gone, by=by)
    send_again(near, kept, by=by)
    assert send_due(near) == 1


def test_a_servers_threads_send_and_no_secret_is_logged_or_audited(
    near_sqlite: Workspace, receiving: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    hook = make_hook(near_sqlite, f"{receiving.url}/hooks/path-secret")
    rotated = webhooks.rotate_secret(near_sqlite, hook.id, by=ensure_local_user(near_sqlite))
    threads = Sender(near_sqlite)
    threads.start()
    sent = queue_test(near_sqlite, hook)
    wait_until(lambda: delivery_of(near_sqlite, sent).state == "sent")
    threads.stop()
    webhooks.change_webhook(
        near_sqlite, hook.id, url=f"{receiving.url}/other-secret", by=ensure_local_user(near_sqlite)
    )
    with near_sqlite.database.read() as session:
        audited = json.dumps([[each.subject, each.details] for each in session.scalars(select(AuditEntry))])
    assert "127.0.0.1" in audited
    for secret in (hook.secret, rotated, "path-secret", "other-secret"):
        assert secret not in audited and secret not in caplog.text


def test_an_idle_sender_writes_nothing(near: Workspace) -> None:
    with heard(near) as statements:
        assert take_attempt(near) is None
    assert statements and all(text.lstrip().upper().startswith("SELECT") for text, _ in statements), statements
