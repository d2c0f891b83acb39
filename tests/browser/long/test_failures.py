"""What goes wrong while people work: the network, the server, the login, the browser, another person. The database holds
afterwards what the browser shows, every acknowledged edit once."""

import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect

from engine.accounts.users import add_user
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.browser.bench import Bench
from tests.browser.conftest import ARGUMENTS
from tests.browser.database_check import Acknowledged, assert_kept, local, revisions
from tests.browser.tabs import tab
from tests.support.server_process import Served
from tests.support.small_disk import small_filesystem

pytestmark = pytest.mark.browser

REVISIONS = "**/api/annotations/*/revisions"
PASSWORD = "correct horse battery"
TOTAL, MONTH, YEAR = "2,987.88", "March", "2026"


def online(bench: Bench) -> None:
    """The browser notices that the network is back."""
    bench.page.evaluate("window.dispatchEvent(new Event('online'))")


def places(bench: Bench, *texts: str) -> list[tuple[float, float]]:
    """Where words stand in the window: asked for while the server still answers."""
    return [bench.at(*bench.centre(text)) for text in texts]


def open_at(page: Page, address: str) -> Bench:
    """The workspace on a page."""
    page.goto(address)
    page.wait_for_selector(".glossator[data-started]")
    return Bench(page, "/".join(address.split("/")[:3]))


# --- the network


def test_a_stroke_over_which_the_network_goes_is_saved_when_it_is_back(bench: Bench, served: Served) -> None:
    bench.upload()
    bench.ask_and_clear()
    heard = Acknowledged(bench)
    head = local(bench)["head"]
    bench.keys.press("b")
    x0, y0, x1, y1 = bench.box(TOTAL)
    places = [bench.at(x, (y0 + y1) / 2) for x in (x0, (x0 + x1) / 2, x1)]
    bench.page.mouse.move(*places[0])
    bench.page.mouse.down()
    bench.page.mouse.move(*places[1], steps=4)
    bench.page.context.set_offline(True)
    bench.page.mouse.move(*places[2], steps=4)
    bench.page.mouse.up()
    expect(bench.saved).to_have_text("Offline: 1 edit kept in this browser")
    painted = bench.painted()
    assert painted.any()
    assert len(revisions(served, local(bench)["id"])) == head
    bench.page.context.set_offline(False)
    bench.settled()
    assert (bench.painted() == painted).all()
    assert assert_kept(bench, served, heard)["head"] == head + 1


def test_a_line_that_swallows_the_request_is_given_up_and_the_edit_is_sent_again(bench: Bench, served: Served) -> None:
    bench.upload()
    bench.ask_and_clear()
    swallowed: list[str] = []

    def swallow(route) -> None:  # type: ignore[no-untyped-def]
        if swallowed:
            route.continue_()
        else:
            swallowed.append(route.request.url)  # and never answers

    # A send gives up after its time; the test makes that time short.
    bench.page.evaluate(
        "() => { const was = AbortSignal.timeout; AbortSignal.timeout = () => was.call(AbortSignal, 500); }"
    )
    bench.page.route(REVISIONS, swallow)
    bench.click(TOTAL)
    expect(bench.saved).to_contain_text("Saved ")
    bench.settled()
    bench.page.unroute_all(behavior="ignoreErrors")
    assert swallowed
    assert_kept(bench, served)
    assert bench.marked() == {bench.number(TOTAL)}


def test_an_edit_that_the_server_cannot_take_does_not_hold_up_those_of_other_answers(
    bench: Bench, served: Served
) -> None:
    bench.upload()
    bench.ask_and_clear("What is the total?")
    first = local(bench)["id"]
    mistake = {"status": 500, "json": {"detail": "The server failed to do this."}}
    bench.page.route(f"**/api/annotations/{first}/revisions", lambda route: route.fulfill(**mistake))
    bench.click(TOTAL)
    expect(bench.saved).to_have_text("Not saved yet: 1 edit kept in this browser. The server failed to do this.")
    bench.page.get_by_label("Ask this document").fill("What is the month?")
    bench.keys.press("Enter")
    expect(bench.page.locator(".g-asked")).to_have_text("What is the month?")
    second = local(bench)["id"]
    head = local(bench)["head"]
    bench.click(MONTH)
    bench.page.wait_for_function(
        f"() => document.querySelector('.glossator').workspace.queue.items.every((item) => item.annotation !== '{second}')"
    )
    assert len(revisions(served, second)) == head + 1
    bench.page.unroute_all()
    online(bench)
    bench.settled()
    assert_kept(bench, served)
    bench.page.locator(".g-question", has_text="What is the total?").first.click()
    expect(bench.page.locator(".g-asked")).to_have_text("What is the total?")
    bench.settled()
    assert bench.marked() == {bench.number(TOTAL)}


# --- the server


def test_a_server_killed_between_two_edits_has_the_first_and_gets_the_second(own: Served, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    bench = open_at(context.new_page(), f"{own.address}/app/")
    bench.upload()
    bench.ask_and_clear()
    heard = Acknowledged(bench)
    (place,), below = places(bench, MONTH), bench.box("Page")[3]
    bench.click(TOTAL)
    bench.settled()
    first = revisions(own, local(bench)["id"])
    own.kill()
    bench.page.mouse.click(*place)
    bench.keys.press("b")
    bench.drag((100, below + 100), (220, below + 110))
    bench.keys.press("Control+z")
    expect(bench.saved).to_have_text("Offline: 3 edits kept in this browser")
    own.start()
    online(bench)
    bench.settled()
    here = assert_kept(bench, own, heard)
    assert here["head"] == len(first) + 3
    assert revisions(own, here["id"])[: len(first)] == first
    bench.keys.press("Control+Shift+z")
    bench.settled()
    assert_kept(bench, own, heard)
    context.close()


def test_a_full_disk_keeps_the_edit_in_the_browser_and_says_why(tmp_path: Path, browser: Browser) -> None:
    with small_filesystem(tmp_path / "disk", megabytes=320) as fill:
        server = Served(tmp_path / "disk")
        server.start()
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        try:
            bench = open_at(context.new_page(), f"{server.address}/app/")
            bench.upload()
            bench.ask_and_clear()
            make_room = fill()
            before = len(revisions(server, local(bench)["id"]))
            bench.click(TOTAL)
            expect(bench.saved).to_contain_text("Not saved yet: 1 edit kept in this browser. The server's disk is full")
            assert len(revisions(server, local(bench)["id"])) == before
            make_room()
            online(bench)
            bench.settled()
            assert_kept(bench, server)
            assert len(revisions(server, local(bench)["id"])) == before + 1
        finally:
            context.close()
            server.stop()


def test_edits_under_way_while_the_server_is_killed_are_stored_once_each(own: Served, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    bench = open_at(context.new_page(), f"{own.address}/app/")
    bench.upload()
    bench.ask_and_clear()
    heard = Acknowledged(bench)
    head = local(bench)["head"]
    words = places(bench, TOTAL, MONTH, YEAR, "Total", "EUR", "Page")
    for place in words[:3]:
        bench.page.mouse.click(*place)
    own.kill()
    for place in words[3:]:
        bench.page.mouse.click(*place)
    before = local(bench)
    assert before["waiting"] >= 3
    own.start()
    online(bench)
    bench.settled()
    here = assert_kept(bench, own, heard)
    assert here["head"] == head + 6
    assert here["pages"] == before["pages"]
    context.close()


# --- the login


class Desk:
    """A server with a login, and people who work there."""

    def __init__(self, served: Served, browser: Browser) -> None:
        self.served = served
        self.browser = browser
        self.contexts: list[BrowserContext] = []

    def log_in(self, page: Page, name: str) -> None:
        page.goto(f"{self.served.address}/login")
        page.locator("input[name=name]").fill(name)
        page.locator("input[name=password]").fill(PASSWORD)
        page.locator("button[type=submit], button").first.click()
        page.wait_for_url(re.compile("/app/"))

    def person(self, name: str, fragment: str = "") -> Bench:
        context = self.browser.new_context(viewport={"width": 1400, "height": 900})
        self.contexts.append(context)
        page = context.new_page()
        self.log_in(page, name)
        if fragment:
            page.goto("about:blank")
        return open_at(page, f"{self.served.address}/app/{fragment}")

    def user(self, name: str) -> str:
        ((key,),) = self.served.rows("select id from users where name = ?", name)
        return str(key)

    def expire(self, name: str) -> None:
        self.served.write(
            "update login_sessions set revoked_at = '2026-01-01 00:00:00.000000' where user_id = ?", self.user(name)
        )


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that a test may kill."""
    started = Served(tmp_path_factory.mktemp("killed"))
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server where people log in: Ada and Ben, who may see everything."""
    started = Served(tmp_path_factory.mktemp("guarded"), {"GLOSSATOR_AUTH": "login"})
    workspace = open_workspace(Settings(data_dir=started.data, auth="login", _env_file=None))
    for name in ("Ada", "Ben"):
        add_user(workspace, name, PASSWORD, "admin")
    workspace.close()
    started.start()
    yield started
    started.stop()


@pytest.fixture
def desk(guarded: Served, browser: Browser) -> Iterator[Desk]:
    made = Desk(guarded, browser)
    yield made
    for context in made.contexts:
        context.close()


def test_a_login_that_expires_between_edits_keeps_them_until_somebody_logs_in_again(desk: Desk) -> None:
    ada = desk.person("Ada")
    ada.upload()
    ada.ask_and_clear()
    heard = Acknowledged(ada)
    ada.click(TOTAL)
    ada.settled()
    head = local(ada)["head"]
    words = places(ada, MONTH, YEAR)
    desk.expire("Ada")
    for place in words:
        ada.page.mouse.click(*place)
        expect(ada.saved).to_contain_text("Your login has ended")
        ada.keys.press("Escape")  # closes the dialog, which lies over the page
    toast = ada.page.locator(".g-toast.g-error").last
    expect(toast.get_by_role("button", name="Log in")).to_be_visible()
    expect(ada.saved).to_have_text("Your login has ended: 2 edits kept in this browser. Log in to save them")
    assert len(revisions(desk.served, local(ada)["id"])) == head
    desk.log_in(ada.page.context.new_page(), "Ada")
    ada.page.bring_to_front()
    ada.settled()
    here = assert_kept(ada, desk.served, heard)
    assert here["head"] == head + 2
    assert {each["author"] for each in revisions(desk.served, here["id"])} == {desk.user("Ada")}


def test_edits_are_never_saved_under_the_name_of_who_logged_in_after_their_author(desk: Desk) -> None:
    ada = desk.person("Ada")
    ada.upload()
    ada.ask_and_clear()
    head = local(ada)["head"]
    (place,) = places(ada, TOTAL)
    desk.expire("Ada")
    ada.page.mouse.click(*place)
    expect(ada.saved).to_have_text("Your login has ended: 1 edit kept in this browser. Log in to save it")
    other = ada.page.context.new_page()
    desk.log_in(other, "Ben")
    ada.page.bring_to_front()
    online(ada)
    expect(ada.page.locator(".g-toast.g-error").last).to_contain_text("Ben is logged in here now")
    assert len(revisions(desk.served, local(ada)["id"])) == head
    other.request.post(
        f"{desk.served.address}/logout", headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}, max_redirects=0
    )
    desk.log_in(other, "Ada")
    online(ada)
    ada.settled()
    here = assert_kept(ada, desk.served)
    assert revisions(desk.served, here["id"])[-1]["author"] == desk.user("Ada")


# --- two people, several tabs


@pytest.mark.parametrize("choice", ["Save my version", "Use saved version"])
def test_two_people_on_one_answer_see_both_versions_and_either_may_stay(desk: Desk, choice: str) -> None:
    ada = desk.person("Ada")
    ada.upload()
    ada.ask_and_clear(f"What is the total? {choice}")
    ada.page.evaluate(
        "document.querySelector('.glossator').workspace.following.ports.seen = () => false"
    )  # sees nothing of Ben
    place = ada.place()
    head = local(ada)["head"]
    ben = desk.person("Ben", f"#document={place['document']}&annotation={place['annotation']}")
    ben.ready()
    ben.settled()
    assert local(ben)["id"] == place["annotation"]
    ben.click(YEAR)
    expect(ben.page.locator(".g-toast").last).to_contain_text("This answer belongs to Ada")
    assert len(revisions(desk.served, place["annotation"])) == head
    # Nobody changes another's answer by a slip; a program of an admin's may.
    answer = ben.page.request.put(
        f"{ben.server}/api/annotations/{place['annotation']}/revisions",
        data={
            "idempotency_key": f"from a program {choice}",
            "base": head,
            "edits": [{"op": "words", "page": place["page"], "add": [ben.number(TOTAL)], "remove": []}],
        },
        headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
    )
    assert answer.ok, answer.text()
    ada.click(MONTH)
    dialog = ada.page.get_by_role("dialog")
    expect(dialog).to_contain_text("This answer was changed by somebody else")
    expect(dialog.locator("figcaption").first).to_contain_text(MONTH)
    expect(dialog.locator("figcaption").last).to_contain_text("Saved by Ben")
    expect(dialog.locator("figcaption").last).to_contain_text(TOTAL)
    assert len(revisions(desk.served, place["annotation"])) == head + 1
    dialog.get_by_role("button", name=choice).click()
    ada.settled()
    mine = choice == "Save my version"
    newest = head + (2 if mine else 1)
    ada.page.wait_for_function(
        "(head) => document.querySelector('.glossator').workspace.answer.local?.head === head", arg=newest
    )
    assert_kept(ada, desk.served)
    assert ada.marked() == {ada.number(MONTH if mine else TOTAL)}
    authors = [each["author"] for each in revisions(desk.served, place["annotation"])]
    assert authors[head:] == [desk.user("Ben"), desk.user("Ada")][: 2 if mine else 1]


def test_two_tabs_of_one_person_send_what_waits_once(bench: Bench, served: Served) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = local(bench)["head"]
    bench.page.context.set_offline(True)
    bench.click(TOTAL)
    bench.click(MONTH)
    expect(bench.saved).to_have_text("Offline: 2 edits kept in this browser")
    painted = bench.painted()
    bench.page.route(REVISIONS, lambda route: route.abort("internetdisconnected"))
    bench.page.context.set_offline(False)
    other = open_at(bench.page.context.new_page(), bench.page.url)  # finds them, and sends them
    other.ready()
    other.settled()
    bench.page.unroute_all()
    online(bench)
    bench.settled()
    for each in (bench, other):
        assert assert_kept(each, served)["head"] == head + 2
        assert (each.painted() == painted).all()


# --- the browser


def test_a_tab_closed_with_unsent_edits_sends_them_when_it_is_opened_again(bench: Bench, served: Served) -> None:
    bench.upload()
    bench.ask_and_clear()
    head, address, context = local(bench)["head"], bench.page.url, bench.page.context
    context.set_offline(True)
    bench.click(TOTAL)
    bench.click(MONTH)
    expect(bench.saved).to_have_text("Offline: 2 edits kept in this browser")
    painted = bench.painted()
    bench.page.close()
    context.set_offline(False)
    again = open_at(context.new_page(), address)
    again.ready()
    again.settled()
    assert (again.painted() == painted).all()
    assert assert_kept(again, served)["head"] == head + 2


def test_a_tab_that_stays_open_sends_what_a_closed_one_left(bench: Bench, served: Served) -> None:
    bench.upload()
    bench.ask_and_clear()
    head, context = local(bench)["head"], bench.page.context
    other = open_at(context.new_page(), bench.page.url)
    other.ready()
    context.set_offline(True)
    other.click(TOTAL)
    expect(other.saved).to_have_text("Offline: 1 edit kept in this browser")
    other.page.close()
    context.set_offline(False)
    online(bench)
    bench.page.wait_for_function(
        f"() => document.querySelector('.glossator').workspace.answer.local.head === {head + 1}"
    )
    bench.settled()
    assert_kept(bench, served)
    assert bench.marked() == {bench.number(TOTAL)}


def test_a_browser_that_crashes_with_unsent_edits_has_them_when_it_runs_again(
    browser: Browser, served: Served, tmp_path: Path
) -> None:
    def launch() -> BrowserContext:
        return browser.browser_type.launch_persistent_context(
            tmp_path / "profile",
            executable_path="/usr/bin/chromium",
            args=ARGUMENTS,
            viewport={"width": 1400, "height": 900},
        )

    context = launch()
    bench = open_at(context.pages[0], f"{served.address}/app/")
    bench.upload()
    bench.ask_and_clear()
    head, address = local(bench)["head"], bench.page.url
    context.set_offline(True)
    bench.click(TOTAL)
    bench.click(MONTH)
    expect(bench.saved).to_have_text("Offline: 2 edits kept in this browser")
    bench.page.wait_for_function(
        "async () => (await document.querySelector('.glossator').workspace.queue.store.all()).length === 2"
    )
    for process in _running_in(tmp_path / "profile"):
        with suppress(ProcessLookupError):  # went down with its parent
            os.kill(process, signal.SIGKILL)
    with suppress(Error):  # Playwright may have noticed already that it is gone
        context.close()
    context = launch()
    again = open_at(context.pages[0], address)
    again.ready()
    again.settled()
    assert assert_kept(again, served)["head"] == head + 2
    assert again.marked() == {again.number(TOTAL), again.number(MONTH)}
    context.close()


def _running_in(profile: Path) -> list[int]:
    """Processes of the browser that this test started with a profile of its own, and of no other."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if f"--user-data-dir={profile}" in command:
                found.append(int(entry.name))
    return found


REFUSED: dict[str, str] = {
    "it has none": "Object.defineProperty(window, 'indexedDB', { get() { throw new DOMException('no', 'SecurityError'); } });",
    "its disk is full": """
      const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function (...given) { const request = put.apply(this, given); this.transaction.abort(); return request; };
    """,
    "it never answers": "IDBFactory.prototype.open = () => new EventTarget();",
}


@pytest.mark.parametrize("script", REFUSED.values(), ids=REFUSED)
def test_a_browser_that_keeps_nothing_still_saves_and_says_what_it_cannot_do(
    browser: Browser, served: Served, script: str
) -> None:
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    context.add_init_script(script)
    bench = open_at(context.new_page(), f"{served.address}/app/")
    bench.upload()
    bench.ask_and_clear()
    head = local(bench)["head"]
    bench.click(TOTAL)
    bench.settled()
    assert_kept(bench, served)
    context.set_offline(True)
    bench.click(MONTH)
    expect(bench.saved).to_have_text("Offline: 1 edit kept until this page is closed")
    context.set_offline(False)
    bench.settled()
    assert assert_kept(bench, served)["head"] == head + 2
    context.close()


def test_a_clock_that_is_set_back_does_not_turn_edits_round(bench: Bench, served: Served) -> None:
    bench.upload()
    bench.ask_and_clear()
    head = local(bench)["head"]
    bench.page.route(REVISIONS, lambda route: route.abort("internetdisconnected"))
    bench.click(TOTAL)
    bench.page.add_init_script("{ const now = Date.now; Date.now = () => now() - 86400000; }")
    bench.reload()
    bench.ready()
    bench.click(MONTH)
    bench.click(TOTAL)
    expect(bench.saved).to_have_text("Offline: 3 edits kept in this browser")
    bench.reload()
    bench.ready()
    bench.page.unroute_all()
    online(bench)
    bench.settled()
    assert assert_kept(bench, served)["head"] == head + 3
    assert bench.marked() == {bench.number(MONTH)}


# --- what is not there any more


def _without_answer(bench: Bench, served: Served) -> str:
    """An edit that waits for an answer which somebody has taken out of the database."""
    bench.upload()
    bench.ask_and_clear()
    annotation = str(local(bench)["id"])
    bench.page.context.set_offline(True)
    bench.click(TOTAL)
    expect(bench.saved).to_have_text("Offline: 1 edit kept in this browser")
    for table in ("revisions", "predictions"):
        served.write(f"delete from {table} where annotation_id = ?", annotation)
    served.write("delete from annotations where id = ?", annotation)
    bench.page.context.set_offline(False)
    return annotation


def _give_up(bench: Bench) -> None:
    dialog = bench.page.get_by_role("dialog")
    expect(dialog).to_contain_text("This answer no longer exists")
    expect(dialog).to_contain_text("What is the total due?")
    dialog.get_by_role("button", name="Discard edit").click()
    bench.page.wait_for_function("() => !document.querySelector('.glossator').workspace.queue.items.length")


def _by_reload(bench: Bench) -> None:
    expect(bench.page.get_by_role("dialog")).to_be_visible()
    bench.reload()
    bench.ready()
    bench.page.get_by_role("button", name="Compare").click()


@pytest.mark.parametrize("before", [lambda bench: None, _by_reload], ids=["at once", "after a reload"])
def test_an_edit_for_an_answer_that_is_gone_waits_for_a_person_and_can_be_given_up(
    bench: Bench, served: Served, before: Callable[[Bench], None]
) -> None:
    _without_answer(bench, served)
    before(bench)
    _give_up(bench)
    bench.ask_and_clear("What is the month?")
    bench.click(MONTH)
    bench.settled()
    assert_kept(bench, served)


def test_every_tab_says_that_the_login_has_ended_and_shows_its_content_after_the_next_one(desk: Desk) -> None:
    ada = desk.person("Ada")
    ada.upload()
    page, notice = ada.page, ada.page.locator(".glossator-notice", has_text="Your login has ended")
    tab(page, "Documents")
    desk.expire("Ada")
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    dialog = page.get_by_role("dialog", name="Your session has ended")
    expect(dialog).to_contain_text("Your work is kept on this computer.")
    dialog.get_by_role("button", name="Close").click()
    for name in ("Questions", "Documents"):
        page.get_by_role("tab", name=name, exact=True).click()
        expect(notice).to_be_visible()
        expect(page.get_by_text(re.compile("^Error$")).locator("visible=true")).to_have_count(0)
    expect(notice.get_by_role("button", name="Log in")).to_be_visible()
    desk.log_in(page.context.new_page(), "Ada")
    page.bring_to_front()
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(notice).to_be_hidden()
    tab(page, "Questions")
