"""The queue: leased, proposed, submitted, and on to the next; nobody does the same work, nothing is lost with a lease."""

import time
from datetime import timedelta

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from db.base import now
from db.tables import Lease
from tests.browser.conftest import PATIENCE
from tests.browser.held_answers import Held
from tests.browser.team import Desk, Team, logged_out, said

pytestmark = pytest.mark.browser

TOTAL, DATE = "What is the total due?", "What is the invoice date?"
REVISIONS = "**/api/annotations/*/revisions"


def run_out(team: Team) -> None:
    """Every lease of the server ends now, as it does when nobody has moved for a while."""
    team.change(lambda session: session.execute(update(Lease).values(expires_at=now() - timedelta(seconds=1))))


def wait_until_free(team: Team, somebody: Desk) -> None:
    """Wait until nobody holds a task of the project."""
    latest = time.monotonic() + PATIENCE / 1000
    while somebody.get(f"/projects/{team.project}/queue")["held"]:
        assert time.monotonic() < latest, "the task does not come free"
        somebody.page.wait_for_timeout(50)


def test_enter_submits_the_proposal_and_the_next_task_comes(team: Team) -> None:
    team.ask_of_all(TOTAL, DATE)
    ann = team.sit("Ann")
    expect(ann.page.locator(".g-mode[data-mode=queue] i")).to_have_text("2")
    ann.mode("queue")
    ann.at_work(TOTAL)
    expect(ann.strip).to_contain_text("Task 1 of 2 · reserved for you until ")
    expect(ann.status).to_have_text("Proposed")
    expect(ann.page.get_by_label("Ask this document")).to_be_hidden()
    ann.mark("2,987.88")
    first = ann.place()["annotation"]
    ann.go_on_in(DATE)
    expect(ann.strip).to_contain_text("Task 2 of 2")
    done = ann.get(f"/annotations/{first}")
    assert (done["status"], done["text"]) == ("submitted", "2,987.88")
    expect(ann.page.locator(f"[data-annotation='{first}'] .g-status")).to_have_text("Submitted")
    ann.mark("March")
    ann.keys.press("Enter")
    expect(ann.nothing).to_contain_text("No task available")
    expect(ann.nothing).to_contain_text("2 to review")
    ann.page.get_by_role("button", name="Ask questions").click()
    expect(ann.page.get_by_label("Ask this document")).to_be_visible()


def test_two_people_get_different_tasks_and_a_task_comes_free_when_its_holder_leaves(team: Team) -> None:
    team.ask_of_all(TOTAL)
    ann, ben = team.sit("Ann"), team.sit("Ben")
    ann.mode("queue")
    ann.at_work(TOTAL)
    ben.mode("queue")
    expect(ben.nothing).to_contain_text("Ann is working on “What is the total due?” of invoice 0.pdf until")
    ann.mode("free")
    expect(ann.page.get_by_label("Ask this document")).to_be_visible()
    ann.settled()
    wait_until_free(team, ben)
    ben.page.get_by_role("button", name="Refresh").click()
    ben.at_work(TOTAL)
    expect(ben.strip).to_contain_text("Task 1 of 1")


def test_who_leaves_the_page_gives_their_task_back(team: Team) -> None:
    team.ask_of_all(TOTAL)
    ann, ben = team.sit("Ann"), team.sit("Ben")
    ann.mode("queue")
    ann.at_work(TOTAL)
    ann.page.goto("about:blank")
    wait_until_free(team, ben)
    ben.mode("queue")
    ben.at_work(TOTAL)


def test_a_lost_lease_says_who_has_the_task_and_the_answer_stays_a_draft(team: Team) -> None:
    team.ask_of_all(TOTAL)
    ann, ben = team.sit("Ann"), team.sit("Ben")
    ann.mode("queue")
    ann.at_work(TOTAL)
    ann.mark("2,987.88")
    run_out(team)
    ben.mode("queue")
    ben.at_work(TOTAL)
    ann.beat()
    expect(ann.strip).to_contain_text("Ben is now working on this question")
    expect(ann.strip).to_contain_text("kept")
    painted = ann.painted()
    assert (painted == ann.stored()).all()
    assert ann.annotation()["status"] == "draft"
    ann.click("March")
    ann.settled()
    assert ann.marked() == {ann.number("2,987.88"), ann.number("March")}
    ann.page.get_by_role("button", name="Open next task").click()
    expect(ann.nothing).to_contain_text("Ben is working on")


def test_a_lease_that_ran_out_unnoticed_is_taken_up_again(team: Team) -> None:
    team.ask_of_all(TOTAL)
    ann = team.sit("Ann")
    ann.mode("queue")
    ann.at_work(TOTAL)
    run_out(team)
    ann.beat()
    ben = team.sit("Ben")
    ben.mode("queue")
    expect(ben.nothing).to_contain_text("Ann is working on")
    expect(ann.strip).to_contain_text("reserved for you until")


def test_a_reload_comes_back_to_the_same_task_with_the_draft(team: Team) -> None:
    team.ask_of_all(TOTAL, DATE)
    ann = team.sit("Ann")
    ann.mode("queue")
    ann.at_work(TOTAL)
    ann.keys.press("n")
    ann.at_work(DATE)
    ann.mark("March")
    painted = ann.painted()
    ann.reload()
    ann.ready()
    ann.at_work(DATE)
    expect(ann.strip).to_contain_text("reserved for you until")
    expect(ann.page.locator(".g-mode[data-mode=queue]")).to_have_attribute("aria-checked", "true")
    assert (ann.painted() == painted).all()


def test_what_is_submitted_without_network_is_kept_and_saved_once(team: Team) -> None:
    team.ask_of_all(TOTAL, DATE)
    ann = team.sit("Ann")
    ann.mode("queue")
    ann.at_work(TOTAL)
    ann.mark("2,987.88")
    head = ann.annotation()["head"]
    first = ann.place()["annotation"]
    ann.trap("**/api/**", lambda route: route.abort("internetdisconnected"))
    ann.keys.press("Enter")
    expect(ann.saved).to_have_text("Offline: 1 edit kept in this browser")
    expect(ann.status).to_have_text("Submitted")
    ann.page.unroute("**/api/**")
    ann.page.evaluate("window.dispatchEvent(new Event('online'))")
    ann.at_work(DATE)  # the next one comes by itself
    stored = ann.get(f"/annotations/{first}")
    assert (stored["status"], stored["head"], stored["text"]) == ("submitted", head + 1, "2,987.88")


def test_an_expired_login_is_no_lost_task(team: Team) -> None:
    team.ask_of_all(TOTAL, DATE)
    ann = team.sit("Ann")
    ann.mode("queue")
    ann.at_work(TOTAL)
    ann.mark("2,987.88")
    ann.page.context.clear_cookies()
    ann.beat()
    expect(logged_out(ann)).to_be_visible()
    ann.keys.press("Escape")
    ann.keys.press("Enter")
    expect(ann.saved).to_have_text("Your login has ended: 1 edit kept in this browser. Log in to save it")
    expect(ann.page.get_by_role("button", name="Log in").first).to_be_visible()
    expect(ann.strip).to_contain_text("reserved for you until")
    assert not [sentence for sentence in said(ann) if "took" in sentence]
    team.log_in_again(ann)
    ann.page.evaluate("window.dispatchEvent(new Event('online'))")
    ann.at_work(DATE)


def test_looking_elsewhere_keeps_the_task_and_one_click_leads_back(team: Team) -> None:
    team.ask_of_all(TOTAL, documents=2)
    ann = team.sit("Ann")
    ann.mode("queue")
    ann.at_work(TOTAL)
    here = ann.place()["document"]
    ann.page.locator(f".g-document:not([data-document='{here}'])").click()
    expect(ann.strip).to_contain_text("Back to your task")
    ann.page.get_by_role("button", name="Back to your task").click()
    ann.page.wait_for_function("(here) => location.hash.includes(here)", arg=here)
    ann.at_work(TOTAL)
    expect(ann.page.get_by_role("button", name="Back to your task")).to_be_hidden()


def test_a_project_without_standard_questions_says_so_and_a_reviewer_can_write_them(team: Team) -> None:
    team.ask_of_all()
    ann = team.sit("Ann")
    ann.mode("queue")
    expect(ann.nothing).to_contain_text("No tasks yet")
    expect(ann.nothing.get_by_role("button", name="Write standard questions")).to_be_hidden()
    rita = team.sit("Rita")
    rita.mode("queue")
    rita.page.get_by_role("button", name="Write standard questions").click()
    rita.page.get_by_label("Standard questions, one per line").fill(f"{TOTAL}\n\n{TOTAL}")
    rita.page.get_by_role("button", name="Save questions").click()
    expect(rita.page.locator(".g-toast")).to_contain_text("twice")
    expect(rita.page.get_by_label("Standard questions, one per line")).to_have_value(f"{TOTAL}\n\n{TOTAL}")
    rita.page.get_by_label("Standard questions, one per line").fill(f"{TOTAL}\n{DATE}")
    rita.page.get_by_role("button", name="Save questions").click()
    rita.at_work(TOTAL)
    ann.page.get_by_role("button", name="Refresh").click()
    ann.at_work(DATE)


def test_a_task_that_arrives_after_one_has_left_goes_back(team: Team) -> None:
    team.ask_of_all(TOTAL)
    ann, ben = team.sit("Ann"), team.sit("Ben")
    held = Held(ann.page, "**/api/projects/*/queue/next", method="POST", answered=True)
    ann.mode("queue")
    held.wait()
    assert ben.get(f"/projects/{team.project}/queue")["held"]
    ann.mode("free")
    held.release()
    wait_until_free(team, ben)
    assert ann.page.evaluate("() => document.querySelector('.glossator').workspace.work.tasks.task") is None
    expect(ann.page.get_by_label("Ask this document")).to_be_visible()
    ann.mode("queue")
    ann.at_work(TOTAL)


def test_who_looks_elsewhere_without_network_is_not_carried_on_when_it_is_back(team: Team) -> None:
    team.ask_of_all(TOTAL, DATE)
    ann = team.sit("Ann")
    ann.mode("queue")
    ann.at_work(TOTAL)
    ann.keys.press("n")
    ann.at_work(DATE)
    ann.mark("March")
    ann.trap(REVISIONS, lambda route: route.abort("internetdisconnected"))
    ann.keys.press("Enter")
    expect(ann.saved).to_have_text("Offline: 1 edit kept in this browser")
    ann.page.locator(".g-question", has_text=TOTAL).click()
    expect(ann.asked).to_have_text(TOTAL)
    ann.page.unroute(REVISIONS)
    ann.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(ann.saved).to_contain_text("Saved ")
    ann.settled()
    expect(ann.page.get_by_role("button", name="Back to your task")).to_be_visible()


def test_a_task_is_skipped_with_a_digit_and_a_reviewer_sends_it_back(team: Team) -> None:
    team.ask_of_all(TOTAL, DATE)
    ann = team.sit("Ann")
    ann.mode("queue")
    ann.at_work(TOTAL)
    ann.keys.press("Shift+N")
    dialog = ann.page.get_by_role("dialog", name="Skip this task")
    expect(dialog).to_be_visible()
    ann.keys.press("Escape")
    expect(dialog).to_be_hidden()
    ann.keys.press("Shift+N")
    ann.keys.press("4")  # another reason needs its note
    expect(dialog.get_by_role("alert")).to_be_visible()
    ann.keys.type("3 totals")
    ann.keys.press("Enter")
    ann.at_work(DATE)
    ann.page.locator(".g-toast").get_by_text("Undo").click()
    ann.at_work(TOTAL)
    ann.keys.press("Shift+N")
    ann.keys.press("2")
    ann.at_work(DATE)
    rita = team.sit("Rita")
    rita.page.get_by_text("Review 1 skipped task").click()
    row = rita.page.get_by_role("dialog", name="Skipped tasks").locator("li")
    expect(row).to_contain_text("Not sure")
    expect(row).to_contain_text("Ann")
    row.get_by_text("Send back").click()
    expect(rita.page.get_by_text("No skipped task waits for you.")).to_be_visible()
    rita.keys.press("Escape")
    expect(rita.page.get_by_text("Review 1 skipped task")).to_be_hidden()
    assert ann.get(f"/projects/{team.project}/queue")["open"] == 2


def test_what_a_colleague_has_answered_is_not_offered_again(team: Team) -> None:
    team.ask_of_all(TOTAL, DATE)
    ann = team.sit("Ann")
    ann.mode("queue")
    ann.at_work(TOTAL)
    ann.mark("2,987.88")
    ann.go_on_in(DATE)
    ben = team.sit("Ben")
    expect(ben.page.locator(".g-suggestions-head")).to_contain_text("1 not asked yet")
