"""Webhooks on the tab People: made with a secret that is shown once, tried, changed and removed."""

import pytest
from playwright.sync_api import expect

from tests.browser.bench import Bench
from tests.browser.tabs import tab

pytestmark = pytest.mark.browser

HOOK = "https://webhooks.invalid/glossator"  # a name that never resolves (RFC 6761)


def test_a_webhook_is_made_tried_changed_and_removed(bench: Bench) -> None:
    card = tab(bench.page, "People").locator(".g-card", has_text="Webhooks of")
    expect(card).to_contain_text("No webhooks yet.")
    card.get_by_text("New webhook").click()
    card.get_by_label("Address").fill("https://10.0.0.1/hook")
    card.get_by_label("Answer accepted").check()
    card.get_by_role("button", name="Create webhook").click()
    expect(card.get_by_role("status").first).to_contain_text("10.0.0.1 is a private address.")
    card.get_by_label("Address").fill(HOOK)
    card.get_by_role("button", name="Create webhook").click()
    secret = card.get_by_label("Secret", exact=True)
    expect(secret).to_be_focused()
    assert secret.input_value().startswith("whsec_")
    card.get_by_role("button", name="Done").click()
    expect(secret).to_have_count(0)

    card.get_by_role("button", name="Send test").click()
    log = card.locator(".g-deliveries")
    expect(log).to_contain_text("The host webhooks.invalid has no address.")
    expect(log.get_by_role("button", name="Send again")).to_be_visible()

    card.get_by_role("button", name="Change").click()
    row = card.locator(".g-rows li", has_text=HOOK).first
    row.get_by_label("Export ready").check()
    row.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Answer accepted, Export ready")
    row.get_by_role("button", name="Switch off").click()
    expect(row.get_by_text("off", exact=True)).to_be_visible()
    row.get_by_role("button", name="Remove").click()
    row.get_by_role("button", name="Confirm removal").click()
    expect(card).to_contain_text("No webhooks yet.")
    expect(log).to_contain_text("Nothing was sent yet.")
