"""Nothing that a person did is lost: no network, a reload, a lost answer, two people, a page load."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.bench import Bench, invoice, sent_json

pytestmark = pytest.mark.browser

REVISIONS = "**/api/annotations/*/revisions"


def test_an_edit_without_network_survives_a_reload_and_is_saved_once(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = bench.annotation()["head"]
    bench.page.route(REVISIONS, lambda route: route.abort("internetdisconnected"))
    bench.click("2,987.88")
    bench.click("March")
    expect(bench.saved).to_have_text("Offline: 2 edits kept in this browser")
    offline = bench.painted()
    assert offline.any()
    assert bench.annotation()["head"] == head
    bench.reload()
    bench.ready()
    expect(bench.saved).to_have_text("Offline: 2 edits kept in this browser")
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
        lost.append(sent_json(route.request)["idempotency_key"])
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
    bench.save_elsewhere([{"op": "words", "page": page, "add": [bench.number("March")], "remove": []}])
    bench.click("2,987.88")
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_contain_text("This answer was changed in another window")
    expect(dialog.locator("figcaption").first).to_contain_text("2,987.88")
    expect(dialog.locator("figcaption").last).to_contain_text("March")
    assert bench.marked() == {bench.number("March")}  # nothing is overwritten before a person decides
    dialog.get_by_role("button", name="Save my version").click()
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88")}
    assert (bench.painted() == bench.stored()).all()


def test_a_conflict_left_open_waits_through_a_reload_and_theirs_can_stay(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    page = bench.place()["page"]
    bench.save_elsewhere([{"op": "words", "page": page, "add": [bench.number("March")], "remove": []}])
    bench.click("2,987.88")
    expect(bench.page.get_by_role("dialog")).to_be_visible()
    bench.keys.press("Escape")
    expect(bench.saved).to_contain_text("1 edit needs your decision")
    bench.reload()
    bench.ready()
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Use saved version").click()
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
    bench.reload()
    bench.ready()
    bench.page.mouse.wheel(0, -240)
    bench.page.get_by_label("Zoom in").click()
    bench.settled()
    bench.page.wait_for_timeout(1_000)  # longer than any edit waits before it is sent
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
    bench.reload()
    bench.page.wait_for_selector(".glossator[data-started]")
    bench.upload()
    bench.page.wait_for_timeout(1_000)
    assert elsewhere == []


def test_an_expired_login_keeps_the_edit_and_says_so(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = bench.annotation()["head"]
    bench.page.route(REVISIONS, lambda route: route.fulfill(status=401, json={"detail": "Log in first."}))
    bench.click("2,987.88")
    toast = bench.page.locator(".g-toast.g-error")
    expect(toast).to_contain_text("Log in first.")
    expect(toast.get_by_role("button", name="Log in")).to_be_visible()
    expect(bench.saved).to_have_text("Your login has ended: 1 edit kept in this browser. Log in to save it")
    bench.page.unroute(REVISIONS)
    bench.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(bench.saved).to_contain_text("Saved ")
    assert bench.annotation()["head"] == head + 1
    assert bench.marked() == {bench.number("2,987.88")}


def test_next_opens_another_open_question_and_says_when_none_is_left(bench: Bench) -> None:
    project = bench.page.request.post(
        f"{bench.server}/api/projects",
        data={"name": "two questions"},
        headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
    ).json()
    bench.page.goto(f"{bench.server}/app/#project={project['id']}")
    bench.reload()
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


HANGS = "() => { document.querySelector('.glossator').workspace.queue.store.change = () => new Promise(() => {}); }"


def test_a_write_that_never_ends_is_not_called_kept(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.page.evaluate(HANGS)
    bench.page.context.set_offline(True)
    bench.click("2,987.88")
    with bench.page.expect_event("dialog") as asked:  # the browser asks before the page goes
        bench.page.close(run_before_unload=True)
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    expect(bench.saved).to_have_text("Offline: 1 edit kept until this page is closed")
    bench.page.context.set_offline(False)
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88")}


def test_an_ordinary_write_says_nothing_of_a_page_that_closes(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    bench.page.context.set_offline(True)
    bench.page.evaluate(
        """() => {
          window.said = new Set();
          const saved = document.querySelector('.g-saved');
          new MutationObserver(() => window.said.add(saved.textContent)).observe(saved, { subtree: true, childList: true, characterData: true });
        }"""
    )
    bench.click("2,987.88")
    bench.click("March")
    expect(bench.saved).to_have_text("Offline: 2 edits kept in this browser")
    assert not [said for said in bench.page.evaluate("() => [...window.said]") if "closed" in said]
    bench.page.context.set_offline(False)
    bench.settled()


def test_an_edit_whose_turn_comes_while_another_one_is_under_way_is_tried_again(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear("What is the total?")
    first = bench.place()["annotation"]
    bench.ask_and_clear("What is the month?")
    second = bench.place()["annotation"]
    early: list[Route] = []
    late: list[Route] = []
    bench.page.route(f"**/api/annotations/{second}/revisions", lambda route: early.append(route), times=1)
    bench.page.route(f"**/api/annotations/{first}/revisions", lambda route: late.append(route), times=1)
    bench.click("March")
    bench.page.locator(f".g-question[data-annotation='{first}']").click()
    expect(bench.page.locator(".g-asked")).to_have_text("What is the total?")
    bench.click("2,987.88")
    early[0].fulfill(status=500, json={"detail": "The server failed to do this."})
    while not late:
        bench.page.wait_for_timeout(20)
    bench.page.wait_for_timeout(1500)  # longer than the first one waits for its turn
    late[0].continue_()
    bench.settled()
    assert bench.marked() == {bench.number("2,987.88")}
    assert bench.get(f"/annotations/{second}")["text"] == "March"


def test_what_goes_wrong_after_an_edit_was_saved_is_said(bench: Bench) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = bench.annotation()["head"]
    bench.page.evaluate(
        """() => {
          const { answer: answers } = document.querySelector('.glossator').workspace, was = answers.saved.bind(answers);
          answers.saved = (...given) => { answers.saved = was; was(...given); throw new Error('The panel broke.'); };
        }"""
    )
    bench.click("2,987.88")
    expect(bench.page.locator(".g-toast.g-error")).to_contain_text("The panel broke.")
    bench.click("March")
    bench.settled()
    assert bench.annotation()["head"] == head + 2


def test_undo_on_one_page_leaves_what_was_said_of_the_document_on_another(bench: Bench) -> None:
    bench.upload(invoice(pages=2))
    bench.ask_and_clear()
    if bench.page.locator(".g-number").first.text_content() == "2 / 2":
        bench.keys.press("PageUp")
        bench.settled()
    first = bench.place()["page"]
    bench.click("2,987.88")
    bench.keys.press("PageDown")
    bench.page.wait_for_function("(page) => !location.hash.includes(page)", arg=first)
    bench.settled()
    bench.keys.press("x")
    bench.settled()
    bench.keys.press("PageUp")
    bench.page.wait_for_function("(page) => location.hash.includes(page)", arg=first)
    bench.settled()
    bench.keys.press("Control+z")
    bench.settled()
    assert bench.annotation()["state"]["no_answer"]
    assert bench.marked() == set()
