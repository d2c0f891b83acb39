"""Nothing that a person did is lost: no network, a reload, a lost answer, two people, a page load."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.bench import Bench, invoice

pytestmark = pytest.mark.browser

REVISIONS = "**/api/annotations/*/revisions"


def save_elsewhere(bench: Bench, edits: list[dict]) -> None:
    """Somebody else saves a revision of the open annotation."""
    annotation = bench.annotation()
    answer = bench.page.request.put(
        f"{bench.server}/api/annotations/{annotation['id']}/revisions",
        data={"idempotency_key": f"elsewhere-{annotation['head']}", "base": annotation["head"], "edits": edits},
        headers={"X-Glossator": "1"},
    )
    assert answer.ok, answer.text()


def test_an_edit_without_network_survives_a_reload_and_is_saved_once(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = bench.annotation()["head"]
    bench.page.route(REVISIONS, lambda route: route.abort("internetdisconnected"))
    bench.click("2,987.88")
    bench.click("March")
    expect(bench.saved).to_have_text("Offline: 2 edits kept here")
    offline = bench.painted()
    assert offline.any()
    assert bench.annotation()["head"] == head
    bench.page.reload()
    bench.ready()
    expect(bench.saved).to_have_text("Offline: 2 edits kept here")
    assert (bench.painted() == offline).all()
    bench.page.unroute(REVISIONS)
    bench.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(bench.saved).to_contain_text("Saved ")
    bench.settled()
    assert bench.annotation()["head"] == head + 2
    assert (bench.stored() == offline).all()
    assert (bench.painted() == offline).all()


def test_an_answer_lost_on_the_way_back_does_not_save_the_edit_twice(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = bench.annotation()["head"]
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if lost:
            route.continue_()
            return
        lost.append(route.request.post_data_json["idempotency_key"])
        route.fetch()  # the server stores it; the browser never hears
        route.abort("connectionreset")

    bench.page.route(REVISIONS, lose_the_first)
    bench.click("2,987.88")
    expect(bench.saved).to_contain_text("Saved ")
    bench.settled()
    assert lost
    assert bench.annotation()["head"] == head + 1
    bench.click("March")
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88"), bench.number("March")}


def test_an_edit_made_while_the_last_one_is_being_put_away_builds_on_it(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = bench.annotation()["head"]
    bench.page.evaluate(
        """() => {
          const { store } = document.querySelector('.glossator').workspace.queue, change = store.change.bind(store);
          store.change = async (put, remove) => {
            if (remove?.length) await new Promise((done) => setTimeout(done, 1500)); // a slow disk
            return change(put, remove);
          };
        }"""
    )
    with bench.page.expect_response(REVISIONS):
        bench.click("2,987.88")
    bench.click("March")
    bench.settled()
    assert bench.annotation()["head"] == head + 2
    assert bench.marked() == {bench.number("2,987.88"), bench.number("March")}


def test_a_conflict_shows_both_versions_and_mine_can_stay(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    page = bench.place()["page"]
    save_elsewhere(bench, [{"op": "words", "page": page, "add": [bench.number("March")], "remove": []}])
    bench.click("2,987.88")
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Somebody else changed this answer")
    expect(dialog.locator("figcaption").first).to_contain_text("2,987.88")
    expect(dialog.locator("figcaption").last).to_contain_text("March")
    assert bench.marked() == {bench.number("March")}  # nothing is overwritten before a person decides
    dialog.get_by_role("button", name="Save mine on top").click()
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88")}
    assert (bench.painted() == bench.stored()).all()


def test_a_conflict_left_open_waits_through_a_reload_and_theirs_can_stay(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    page = bench.place()["page"]
    save_elsewhere(bench, [{"op": "words", "page": page, "add": [bench.number("March")], "remove": []}])
    bench.click("2,987.88")
    expect(bench.page.get_by_role("dialog")).to_be_visible()
    bench.keys.press("Escape")
    expect(bench.saved).to_contain_text("1 edit waits for your decision")
    bench.page.reload()
    bench.ready()
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Take the saved version").click()
    expect(bench.page.locator(".g-reading")).to_have_text("March")
    bench.settled()
    assert bench.marked() == {bench.number("March")}
    assert (bench.painted() == bench.stored()).all()


def test_a_page_load_writes_nothing(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.click("2,987.88")
    bench.settled()
    before = (bench.annotation(), bench.get(f"/documents/{bench.place()['document']}"))
    sent: list[tuple[str, str]] = []
    bench.page.on("request", lambda request: sent.append((request.method, request.url.removeprefix(bench.server))))
    bench.page.reload()
    bench.ready()
    bench.page.mouse.wheel(0, -240)
    bench.page.get_by_label("Zoom in").click()
    bench.settled()
    bench.page.wait_for_load_state("networkidle")
    writes = [path for method, path in sent if method != "GET" and path.startswith("/api/")]
    assert writes == [f"/api/pages/{bench.place()['page']}/encode"]  # warms the cache of the model alone
    assert (bench.annotation(), bench.get(f"/documents/{bench.place()['document']}")) == before


def test_the_page_asks_no_other_machine_for_anything(bench: Bench) -> None:
    elsewhere: list[str] = []
    bench.page.on(
        "request",
        lambda request: (
            None if request.url.startswith((bench.server, "data:", "blob:")) else elsewhere.append(request.url)
        ),
    )
    bench.page.reload()
    bench.page.wait_for_selector(".glossator[data-started]")
    bench.upload()
    bench.page.wait_for_load_state("networkidle")
    assert elsewhere == []


def test_a_broken_file_is_refused_with_its_sentence_and_the_other_one_goes_in(bench: Bench) -> None:
    files = [
        {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"this is no PDF"},
        {"name": "good.pdf", "mimeType": "application/pdf", "buffer": invoice()},
    ]
    bench.page.set_input_files("input[type=file]", files)
    refused = bench.page.locator(".g-uploading[data-state=refused]")
    expect(refused).to_contain_text("broken.pdf")
    expect(refused.locator(".g-quiet")).to_have_text(re.compile(r".{20,}\."))
    expect(bench.page.locator(".g-document", has_text="good.pdf").first).to_be_visible()
    assert bench.page.locator(".g-document", has_text="broken.pdf").count() == 0


def test_an_expired_login_keeps_the_edit_and_says_so(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = bench.annotation()["head"]
    bench.page.route(
        REVISIONS, lambda route: route.fulfill(status=401, json={"detail": "You are not logged in. Log in first."})
    )
    bench.click("2,987.88")
    toast = bench.page.locator(".g-toast.g-error")
    expect(toast).to_contain_text("Log in first.")
    expect(toast.get_by_role("button", name="Log in")).to_be_visible()
    expect(bench.saved).to_have_text("Offline: 1 edit kept here")
    bench.page.unroute(REVISIONS)
    bench.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(bench.saved).to_contain_text("Saved ")
    assert bench.annotation()["head"] == head + 1
    assert bench.marked() == {bench.number("2,987.88")}


def test_next_opens_another_open_question_and_says_when_none_is_left(bench: Bench) -> None:
    project = bench.page.request.post(
        f"{bench.server}/api/projects", data={"name": "two questions"}, headers={"X-Glossator": "1"}
    ).json()
    bench.page.goto(f"{bench.server}/app/#project={project['id']}")
    bench.page.reload()
    bench.page.wait_for_selector(".glossator[data-started]")
    expect(bench.page.locator(".g-notice")).to_contain_text("Start with a document")
    bench.upload()
    for question in ("What is the date?", "What is the total?"):
        bench.ask(question)
        if not bench.painted().any():
            bench.click("2,987.88")
            bench.settled()
    second = bench.place()["annotation"]
    bench.keys.press("Enter")
    bench.settled()
    bench.keys.press("n")
    expect(bench.page.locator(".g-asked")).to_have_text("What is the date?")
    assert bench.place()["annotation"] != second
    bench.keys.press("Enter")
    expect(bench.page.locator(".g-answer-head .g-status")).to_have_text("Accepted")
    bench.settled()
    bench.keys.press("n")
    expect(bench.page.locator(".g-toast").last).to_have_text(re.compile(r".{10,}\.$"))
    assert bench.get(f"/projects/{project['id']}/next")["annotation_id"] is None
