"""Logins that end in every way while somebody marks, judges, fills a form or fixes words; and every way back."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pyotp
import pytest
from playwright.sync_api import Browser, Page, expect

from db.base import now
from db.tables import LoginSession, Member, User
from engine.accounts import own_second_factor, second_factor, sessions, users
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from tests.browser.stored_invoice import DATE, TOTAL, draft, store_invoice
from tests.browser.team import PASSWORD, Desk, Team, add_everybody, enter, logged_out
from tests.browser.word_fixing import field, texts
from tests.support.server_process import Served

pytestmark = pytest.mark.browser

NEW_PASSWORD = "glosses-in-the-margin"
AMOUNT, MONTH = "2,987.88", "March"


def hire(team: Team, name: str) -> User:
    """Add somebody to the project whose account a test changes for good."""
    person = users.add_user(team.workspace, name, PASSWORD, "annotator")
    team.ids[name] = person.id
    team.change(lambda session: session.add(Member(project_id=team.project, user_id=person.id, role="annotator")))
    return person


def marking(team: Team, name: str) -> tuple[Desk, str]:
    """Somebody has opened their answer, on which nothing is marked; return their workspace and the answer."""
    document = store_invoice(team.workspace, team.project)
    answer = draft(team.workspace, document, TOTAL, author=name)[0].id
    desk = team.sit(name, f"&document={document.id}&annotation={answer}")
    desk.ready()
    desk.settled()
    return desk, answer


def log_in(page: Page, name: str, password: str = PASSWORD) -> None:
    """Log in by the form of the login page."""
    page.locator("input[name=name]").fill(name)
    page.locator("input[name=password]").fill(password)
    page.get_by_role("button", name="Log in").click()


def come_back(desk: Desk) -> None:
    """The tab comes into sight again."""
    desk.page.bring_to_front()
    desk.page.evaluate("window.dispatchEvent(new Event('focus'))")


def kept(number: int) -> str:
    return f"Your login has ended: {number} edit{'s' if number > 1 else ''} kept in this browser"


def end_by_admin(team: Team, person: User) -> None:
    admin = users.ensure_local_user(team.workspace)
    users.end_sessions(team.workspace, person.id, by=admin)


def end_by_password(team: Team, person: User) -> None:
    sessions.change_password(team.workspace, person, PASSWORD, NEW_PASSWORD)


def end_by_rest(team: Team, person: User) -> None:
    long_ago = now() - timedelta(hours=team.workspace.settings.session_idle_hours + 1)
    change = {"created_at": long_ago, "last_used_at": long_ago}
    team.change(lambda session: session.query(LoginSession).filter_by(user_id=person.id).update(change))


@pytest.mark.parametrize(
    ("name", "end", "password"),
    [
        ("Ada", end_by_admin, PASSWORD),
        ("Edo", end_by_password, NEW_PASSWORD),
        ("Ida", end_by_rest, PASSWORD),
    ],
    ids=["by an admin", "by a new password", "by rest"],
)
def test_edits_after_the_end_of_a_login_are_sent_once_after_a_login_in_place(
    team: Team, name: str, end: Callable[[Team, User], None], password: str
) -> None:
    person = hire(team, name)
    desk, answer = marking(team, name)
    first, second = (desk.at(*desk.centre(word)) for word in (AMOUNT, MONTH))
    end(team, person)
    desk.page.mouse.click(*first)
    dialog = logged_out(desk)
    expect(dialog).to_contain_text(f"1 edit will be saved when {name} logs in again.")
    desk.page.keyboard.press("Escape")
    desk.page.mouse.click(*second)
    expect(desk.saved).to_contain_text(kept(2))
    expect(dialog).to_be_hidden()
    line = desk.page.locator(".glossator-notice", has_text="Your login has ended")
    line.get_by_role("button", name="Log in").click()
    expect(dialog).to_contain_text(f"2 edits will be saved when {name} logs in again.")
    enter(dialog, "Password", "a wrong password")
    expect(dialog.get_by_role("alert")).to_have_text("Wrong name or password. Try again.")
    assert team.revisions(answer) == [(1, name)]
    enter(dialog, "Password", password)
    expect(dialog).to_be_hidden()
    desk.settled()
    expect(desk.saved).to_contain_text("Saved ")
    assert team.revisions(answer) == [(1, name), (2, name), (3, name)]
    assert desk.marked() == {desk.number(AMOUNT), desk.number(MONTH)}


def test_a_code_is_asked_for_in_place(team: Team) -> None:
    person = hire(team, "Tove")
    secret = own_second_factor.enrol(team.workspace, person, PASSWORD).secret
    app = pyotp.TOTP(secret)
    own_second_factor.confirm(team.workspace, person, app.now(), token=None)
    desk, answer = marking(team, "Tove")
    place = desk.at(*desk.centre(AMOUNT))
    team.end_logins("Tove")
    desk.page.mouse.click(*place)
    dialog = logged_out(desk)
    enter(dialog, "Password", PASSWORD)
    enter(dialog, "Code, or a recovery code", "wrong")
    expect(dialog.get_by_role("alert")).to_contain_text("code is wrong")
    assert team.revisions(answer) == [(1, "Tove")]
    enter(dialog, "Code, or a recovery code", app.generate_otp(second_factor.current_step() + 1))
    expect(dialog).to_be_hidden()
    desk.settled()
    assert team.revisions(answer) == [(1, "Tove"), (2, "Tove")]


def test_edits_wait_for_a_login_after_a_reload(team: Team) -> None:
    ann, answer = marking(team, "Ann")
    place, address = ann.at(*ann.centre(AMOUNT)), ann.page.url
    team.end_logins("Ann")
    ann.page.mouse.click(*place)
    expect(ann.saved).to_contain_text(kept(1))
    ann.page.reload()
    log_in(ann.page, "Ben")  # uses the computer meanwhile
    expect(ann.page.get_by_role("button", name="Ben: account")).to_be_visible()
    ann.page.wait_for_selector(".glossator[data-started]")
    ann.settled()
    team.end_logins("Ben")
    ann.page.reload()
    assert team.revisions(answer) == [(1, "Ann")]
    log_in(ann.page, "Ann")
    ann.page.wait_for_selector(".glossator[data-started]")
    ann.settled()
    assert team.revisions(answer) == [(1, "Ann"), (2, "Ann")]
    ann.page.goto(address)
    ann.ready()
    ann.settled()
    assert ann.marked() == {ann.number(AMOUNT)}


def test_the_link_logs_in_in_another_tab_and_all_tabs_go_on(team: Team) -> None:
    ann, answer = marking(team, "Ann")
    other = Desk(ann.page.context.new_page(), team.server, "Ann")
    other.page.goto(ann.page.url)
    other.ready()
    ann.page.bring_to_front()
    place = ann.at(*ann.centre(AMOUNT))
    team.end_logins("Ann")
    ann.page.mouse.click(*place)
    come_back(other)
    expect(logged_out(other)).to_contain_text("1 edit will be saved")
    come_back(ann)
    with ann.page.context.expect_page() as opened:
        logged_out(ann).get_by_role("link", name="Open the login page in another tab").click()
    log_in(opened.value, "Ann")
    expect(opened.value.get_by_role("button", name="Ann: account")).to_be_visible()
    for desk in (ann, other):
        come_back(desk)
        expect(logged_out(desk)).to_be_hidden()
        desk.settled()
    assert team.revisions(answer) == [(1, "Ann"), (2, "Ann")]
    expect(other.page.locator(".g-reading")).to_have_text(AMOUNT)


def test_a_page_whose_person_is_another_one_sends_nothing_and_says_so(team: Team) -> None:
    ann, answer = marking(team, "Ann")
    place = ann.at(*ann.centre(AMOUNT))
    team.log_in_again(ann, "Ben")
    ann.page.mouse.click(*place)
    dialog = ann.page.get_by_role("dialog", name="Ben is logged in now")
    expect(dialog).to_contain_text("1 edit will be saved when Ann logs in again.")
    ann.page.keyboard.press("Escape")
    line = ann.page.locator(".glossator-notice", has_text="Ben is logged in now; this page belongs to Ann.")
    line.get_by_role("button", name="Log in").click()
    assert team.revisions(answer) == [(1, "Ann")]
    enter(dialog, "Password", PASSWORD)
    expect(dialog).to_be_hidden()
    expect(line).to_be_hidden()
    ann.settled()
    assert team.revisions(answer) == [(1, "Ann"), (2, "Ann")]


def test_a_verdict_is_given_once_after_a_login_in_place(team: Team) -> None:
    document = store_invoice(team.workspace, team.project)
    answer = draft(team.workspace, document, TOTAL, author="Ann")[0].id
    ann = team.sit("Ann", f"&document={document.id}&annotation={answer}")
    ann.ready()
    ann.mark(AMOUNT)
    ann.keys.press("Enter")
    ann.settled()
    rita = team.sit("Rita")
    rita.mode("review")
    rita.at_work(TOTAL)
    team.end_logins("Rita")
    rita.keys.press("a")
    expect(rita.saved).to_contain_text(kept(1))
    expect(logged_out(rita)).to_contain_text("1 edit will be saved when Rita logs in again.")
    enter(logged_out(rita), "Password", PASSWORD)
    expect(logged_out(rita)).to_be_hidden()
    rita.settled()
    assert [each["verdict"] for each in rita.get(f"/annotations/{answer}/reviews")] == ["accepted"]
    expect(rita.nothing).to_contain_text("Nothing to review")


def test_a_form_is_gone_on_with_and_each_field_is_stored_once(team: Team) -> None:
    fields = [FieldDefinition(name="date", question=DATE), FieldDefinition(name="total", question=TOTAL)]
    replace_fields(team.workspace, team.project, fields, team.ids["Rita"])
    document = store_invoice(team.workspace, team.project)
    answers = [each.id for each in draft(team.workspace, document, DATE, TOTAL, author="Ann")]
    ann = team.sit("Ann", f"&document={document.id}&annotation={answers[0]}")
    ann.ready()
    ann.mark(MONTH)
    ann.page.locator(".g-question", has_text=TOTAL).first.click()
    expect(ann.asked).to_have_text(TOTAL)
    ann.mark(AMOUNT)
    before = [len(team.revisions(each)) for each in answers]
    ann.page.locator(".g-canvas").focus()
    ann.keys.press("Shift+F")
    rows = ann.page.locator(".g-field")
    expect(rows).to_have_count(2)
    rows.first.focus()
    expect(ann.asked).to_have_text(DATE)
    ann.settled()
    team.end_logins("Ann")
    ann.keys.press("Enter")
    expect(logged_out(ann)).to_be_visible()
    ann.keys.press("Escape")
    rows.last.focus()
    ann.keys.press("Enter")  # the answer of this field cannot be fetched
    expect(ann.saved).to_contain_text(kept(1))
    assert [len(team.revisions(each)) for each in answers] == before
    ann.page.locator(".glossator-notice:visible").get_by_role("button", name="Log in").click()
    enter(logged_out(ann), "Password", PASSWORD)
    expect(logged_out(ann)).to_be_hidden()
    expect(rows.first).to_have_attribute("data-state", "submitted")
    rows.last.focus()
    ann.keys.press("Enter")
    expect(rows.last).to_have_attribute("data-state", "submitted")
    ann.settled()
    assert [len(team.revisions(each)) for each in answers] == [number + 1 for number in before]
    assert {ann.get(f"/annotations/{each}")["status"] for each in answers} == {"submitted"}


def test_a_word_that_is_being_written_is_written_to_its_end_before_anything_is_asked(team: Team) -> None:
    ann, _ = marking(team, "Ann")
    ann.keys.press("t")
    ann.click(AMOUNT)
    expect(field(ann)).to_have_value(AMOUNT)
    team.end_logins("Ann")
    ann.keys.type("2,98")
    ann.page.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(ann.page.locator(".glossator-notice", has_text="Your login has ended")).to_be_visible()
    ann.keys.type("8.88")
    expect(field(ann)).to_have_value("2,988.88")
    expect(logged_out(ann)).to_be_hidden()
    ann.keys.press("Enter")
    expect(logged_out(ann)).to_be_visible()
    expect(ann.saved).to_contain_text(kept(1))
    enter(logged_out(ann), "Password", PASSWORD)
    expect(logged_out(ann)).to_be_hidden()
    ann.settled()
    assert ann.words()["version"] == 1
    assert "2,988.88" in texts(ann)


@pytest.fixture
def moving(browser: Browser, tmp_path: Path) -> Iterator[tuple[Served, Team]]:
    """A server with people, which asks for a second factor when it is started again."""
    served = Served(tmp_path, {"GLOSSATOR_AUTH": "login"})
    ids = add_everybody(served.data)
    served.start()
    gathered = Team(served.address, browser, served.data, ids)
    try:
        yield served, gathered
        gathered.thrown.clear()  # Gradio misses its files while the server is away
        gathered.close()
    finally:
        served.stop()


def test_edits_wait_until_a_second_factor_that_is_required_is_set_up(moving: tuple[Served, Team]) -> None:
    served, team = moving
    ann, answer = marking(team, "Ann")
    place = ann.at(*ann.centre(AMOUNT))
    served.stop()
    served.environment["GLOSSATOR_SECOND_FACTOR"] = "everyone"
    ann.page.mouse.click(*place)
    expect(ann.saved).to_contain_text("Offline: 1 edit kept in this browser")
    served.start()
    ann.page.evaluate("window.dispatchEvent(new Event('online'))")
    dialog = logged_out(ann)
    expect(dialog).to_contain_text("1 edit will be saved when Ann logs in again.")
    enter(dialog, "Password", PASSWORD)
    expect(dialog.get_by_role("alert")).to_contain_text("Your account needs a second factor.")
    with ann.page.context.expect_page() as opened:
        dialog.get_by_role("link", name="Set up the second factor in another tab").click()
    page = opened.value
    secret = re.sub(r"\s", "", page.locator("p b").inner_text())
    page.get_by_label("Code").fill(pyotp.TOTP(secret).now())
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_role("heading", name="Keep these codes")).to_be_visible()
    come_back(ann)
    expect(dialog).to_be_hidden()
    ann.settled()
    assert team.revisions(answer) == [(1, "Ann"), (2, "Ann")]
