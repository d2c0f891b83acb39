"""Another model on the tab People: set at an allowed server, asked with progress, its tokens shown, removed."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from engine.workspace import Workspace
from tests.browser.bench import Bench
from tests.browser.stored_invoice import store_invoice
from tests.browser.tabs import OWN, tab
from tests.support.model_server import ModelServer, model_server
from tests.support.server_process import Served

pytestmark = pytest.mark.browser


@pytest.fixture
def other_model(served: Served) -> Iterator[ModelServer]:
    """The server to which projects of the shared server may send their pages."""
    with model_server(served.model_port) as serving:
        yield serving


def test_another_model_is_set_asked_and_removed(bench: Bench, stored: Workspace, other_model: ModelServer) -> None:
    fields = {"fields": [{"name": "number", "question": "What is the invoice number?"}]}
    path = f"{bench.server}/api/projects/{bench.project}/fields"
    assert bench.page.request.put(path, data=fields, headers=OWN).ok
    document = store_invoice(stored, bench.project)
    other_model.values = {"number": "A-0001"}

    card = tab(bench.page, "People").locator(".g-card", has_text="Another model for")
    expect(card).to_contain_text(f"Allowed servers: {other_model.url}")
    card.get_by_role("button", name="Set model").click()
    address = card.get_by_label("Address, at")
    expect(address).to_have_value(f"{other_model.url}/v1")
    address.fill("http://10.0.0.1/v1")
    card.get_by_label("Model, as its server names it").fill("reader")
    card.get_by_label("Key").fill("open-sesame")
    card.get_by_role("button", name="Save").click()
    expect(card.get_by_role("status")).to_contain_text("Pages may not be sent to http://10.0.0.1.")
    address.fill(f"{other_model.url}/v1")
    card.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("beside the own model · asked on request · with a key · settings 1 by local")
    expect(card.locator("form")).to_have_count(0)

    card.get_by_role("button", name="Ask about documents").click()
    expect(card).to_contain_text("reader was asked about 1 document: 1 proposal, 0 texts that no page prints")
    expect(card).to_contain_text("1 request · 1,000 tokens read · 25 written")
    assert other_model.keys == ["Bearer open-sesame"]
    answer = bench.page.request.post(
        f"{bench.server}/api/documents/{document.id}/ask",
        data={"question": "What is the invoice number?"},
        headers=OWN,
    )
    assert answer.json()["proposal"]["model"]["label"] == "reader settings 1"

    card.get_by_role("button", name="Change").click()
    expect(card.get_by_label("Key", exact=True)).to_have_value("")
    card.get_by_label("Ask it instead of the own model").check()
    card.get_by_role("button", name="Save").click()
    expect(card).to_contain_text("instead of the own model · asked on request · with a key · settings 1")
    card.get_by_role("button", name="Remove").click()
    card.get_by_role("button", name="Confirm removal").click()
    expect(card).to_contain_text("No other model")
