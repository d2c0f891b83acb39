"""Steps of fixing words in the browser, shared by the tests of it."""

from playwright.sync_api import Route, expect

from tests.browser.bench import Bench

WORDS = "**/api/pages/*/words"


def field(bench: Bench):
    return bench.page.get_by_label("Text of the word")


def texts(bench: Bench) -> list[str]:
    return list(bench.words()["texts"])


def mend_elsewhere(bench: Bench, *edits: dict) -> None:
    """Somebody else mends the words of the open page."""
    page, version = bench.place()["page"], bench.words()["version"]
    answer = bench.page.request.put(
        f"{bench.server}/api/pages/{page}/words",
        data={"idempotency_key": f"elsewhere-{version}", "base": version, "edits": list(edits)},
        headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
    )
    assert answer.ok, answer.text()


def cut_the_line(bench: Bench) -> None:
    def refuse(route: Route) -> None:
        if route.request.method == "PUT":
            route.abort("internetdisconnected")
        else:
            route.continue_()

    bench.page.route(WORDS, refuse)


def mend_the_line(bench: Bench) -> None:
    bench.page.unroute(WORDS)
    bench.page.evaluate("window.dispatchEvent(new Event('online'))")


def start(bench: Bench) -> None:
    """Upload, and leave the question field, which has the focus then."""
    bench.upload()
    bench.page.locator(".g-canvas").focus()


def write(bench: Bench, word: str, text: str) -> None:
    bench.click(word)
    expect(field(bench)).to_have_value(word)
    field(bench).fill(text)
    bench.keys.press("Enter")
    expect(field(bench)).to_be_hidden()


def split_total(bench: Bench) -> None:
    """Split 2,987.88 after the comma."""
    bench.click("2,987.88")
    expect(field(bench)).to_be_focused()
    bench.keys.press("Home")
    bench.keys.press("ArrowRight")
    bench.keys.press("ArrowRight")
    bench.keys.press("Control+Enter")
    expect(field(bench)).to_be_hidden()
