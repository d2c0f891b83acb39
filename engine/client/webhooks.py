"""The client's methods for webhooks of a project, their deliveries, and the secret of its callbacks."""

from collections.abc import Sequence

from engine.client.schemas import CallbackSecretView, DeliveryView, MadeSecret, MadeWebhook, QueuedDelivery, WebhookView
from engine.client.transport import Connection


class Webhooks:
    """Methods of engine.client.Glossator for webhooks; for reviewers of the project."""

    _at: Connection

    def webhooks(self, project_id: str) -> list[WebhookView]:
        """Return the webhooks of a project, newest first, without their secrets."""
        return self._at.all(WebhookView, f"/projects/{project_id}/webhooks")

    def create_webhook(self, project_id: str, url: str, events: Sequence[str]) -> MadeWebhook:
        """Create a webhook that is sent the events from now on. Its secret is shown this once.

        url: address of the receiver.
        events: kinds of events, as "document.ready" and "answer.accepted".
        """
        body = {"url": url, "events": list(events)}
        return self._at.post(MadeWebhook, f"/projects/{project_id}/webhooks", body, repeatable=False)

    def change_webhook(
        self,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        enabled: bool | None = None,
    ) -> WebhookView:
        """Change a webhook, or switch it off or on; None leaves a part as it is."""
        wanted = {"url": url, "events": None if events is None else list(events), "enabled": enabled}
        body = {name: value for name, value in wanted.items() if value is not None}
        return self._at.patch(WebhookView, f"/webhooks/{webhook_id}", body)

    def remove_webhook(self, webhook_id: str) -> None:
        """Remove a webhook with its secrets and its log."""
        self._at.send("DELETE", f"/webhooks/{webhook_id}", repeatable=False)

    def rotate_webhook_secret(self, webhook_id: str) -> str:
        """Return a new secret of a webhook, shown this once; the earlier one signs beside it for a day."""
        return self._at.post(MadeSecret, f"/webhooks/{webhook_id}/secret", repeatable=False).secret

    def test_webhook(self, webhook_id: str) -> str:
        """Send a test message to a webhook; return the id of its delivery."""
        return self._at.post(QueuedDelivery, f"/webhooks/{webhook_id}/test", repeatable=False).id

    def deliveries(
        self, project_id: str, *, webhook: str | None = None, state: str | None = None, limit: int | None = 100
    ) -> list[DeliveryView]:
        """Return deliveries of a project, newest first.

        webhook: id of a webhook, for its deliveries only.
        state: "waiting", "sent" or "failed".
        limit: maximum number; None: all of them.
        """
        path = f"/projects/{project_id}/webhook-deliveries"
        return self._at.all(DeliveryView, path, limit, webhook=webhook, state=state)

    def send_again(self, delivery_id: str) -> DeliveryView:
        """Send a delivery again, with the same id and content."""
        return self._at.post(DeliveryView, f"/webhook-deliveries/{delivery_id}/send", repeatable=False)

    def callback_secret(self, project_id: str) -> CallbackSecretView:
        """Return whether a project has a secret that signs callbacks, without the secret."""
        return self._at.get(CallbackSecretView, f"/projects/{project_id}/callback-secret")

    def make_callback_secret(self, project_id: str) -> str:
        """Return a new secret that signs callbacks, shown this once; an earlier one signs beside it for a day."""
        return self._at.post(MadeSecret, f"/projects/{project_id}/callback-secret", repeatable=False).secret
