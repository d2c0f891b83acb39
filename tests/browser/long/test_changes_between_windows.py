"""What happens in one window is told in the others of the browser, by one stream for all of them."""

import pytest
from playwright.sync_api import Page

from annotator.front_end_files import BASE
from tests.browser.bench import Bench

TOLD = 2000  # milliseconds within which a change must be told

# Follows answers, and notes when each was told.
_FOLLOW = """async () => {
  const { changes } = (await import('BASE/bundle.js')).modules['sync/changes.js'];
  window.changes = changes;
  window.told = [];
  changes.follow(['answers'], ({ subjects }) => window.told.push(...(subjects ?? ['many'])));
}""".replace("BASE", BASE)


def follow(page: Page) -> None:
    """Follow the answers, and wait until the window knows up to where it has heard everything."""
    page.evaluate(_FOLLOW)
    page.wait_for_function("() => window.changes.source.cursor !== null")


def leads(page: Page) -> bool:
    """Return whether the window holds the stream."""
    return bool(page.evaluate("() => window.changes.leads"))


def forget(page: Page) -> None:
    """Forget what was told so far."""
    page.evaluate("() => { window.told.length = 0; }")


def told(page: Page, document: str) -> None:
    """Wait until a change of a document's answers was told, within two seconds."""
    page.wait_for_function("(id) => window.told.includes(id)", arg=document, timeout=TOLD, polling=20)


@pytest.mark.own_profile
def test_an_accepted_answer_is_told_in_another_window_whoever_holds_the_stream(bench: Bench) -> None:
    context, streams = bench.page.context, list[str]()  # that are opened beside the first window's
    context.on("request", lambda sent: streams.append(sent.url) if is_stream(sent.url) else None)
    bench.upload()
    bench.ask("What is the total due?")
    document = bench.place()["document"]
    follow(bench.page)
    other = context.new_page()
    other.goto(f"{bench.server}/app/")
    other.wait_for_selector(".glossator[data-started]")
    follow(other)
    assert leads(bench.page) and not leads(other)
    forget(other)
    bench.keys.press("Enter")  # accepts
    bench.settled()
    told(other, document)
    assert not streams, f"two windows of a browser share one stream: {streams}"

    # The window that holds the stream is closed; the other one takes over, and misses nothing meanwhile.
    annotation = bench.annotation()
    forget(other)
    bench.page.close()
    reopened = context.request.put(
        f"{bench.server}/api/annotations/{annotation['id']}/revisions",
        data={"idempotency_key": "by a program", "base": annotation["head"], "edits": [], "action": "reopen"},
        headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
    )
    assert reopened.ok, reopened.text()
    told(other, document)
    assert leads(other) and len(streams) == 1


def is_stream(url: str) -> bool:
    """Return whether a request is one for the stream of changes."""
    return url.split("?")[0].endswith("/api/changes")
