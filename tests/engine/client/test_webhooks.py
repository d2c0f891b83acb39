"""Webhooks by the client: made by reviewers, tried, sent again and removed; annotators see none."""

import pytest

from engine.client import ServerSaid
from tests.support.client_house import House, member

HOOK = "https://webhooks.invalid/hook"  # a name that never resolves (RFC 6761)


def test_a_reviewer_manages_webhooks_and_an_annotator_may_not(house: House) -> None:
    with house.as_("ada") as ada, house.as_("rob") as rob, house.as_("ann") as ann:
        project = ada.create_project("bills").id
        member(house, project, "rob", "reviewer")
        member(house, project, "ann", "annotator")
        made = rob.create_webhook(project, HOOK, ["document.ready"])
        assert made.secret.startswith("whsec_") and rob.rotate_webhook_secret(made.id) != made.secret
        assert [(each.id, hasattr(each, "secret")) for each in rob.webhooks(project)] == [(made.id, False)]
        assert rob.change_webhook(made.id, events=["answer.accepted"]).events == ["answer.accepted"]
        sent = rob.test_webhook(made.id)
        assert [each.id for each in rob.deliveries(project, webhook=made.id)] == [sent]
        assert rob.send_again(sent).state == "waiting" and rob.deliveries(project, state="failed") == []
        assert not rob.callback_secret(project).exists
        assert rob.make_callback_secret(project).startswith("whsec_") and rob.callback_secret(project).exists
        for refused in (
            lambda: ann.webhooks(project),
            lambda: ann.deliveries(project),
            lambda: ann.create_webhook(project, HOOK, ["document.ready"]),
            lambda: ann.remove_webhook(made.id),
        ):
            with pytest.raises(ServerSaid, match="reviewer") as said:
                refused()
            assert said.value.status == 403
        with pytest.raises(ServerSaid) as said:
            rob.create_webhook(project, "https://127.0.0.1/", ["document.ready"])
        assert said.value.status == 422 and "private address" in str(said.value)
        rob.remove_webhook(made.id)
        assert rob.webhooks(project) == [] and rob.deliveries(project) == []
        clauses = [line.what for line in ada.audit(project)]
        assert clauses[0] == "removed the webhook to webhooks.invalid"
        assert "changed the webhook to webhooks.invalid: it now hears of answer.accepted" in clauses
