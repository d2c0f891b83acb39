"""Review in the browser: two people, one answer; a verdict is never lost and never given twice."""

import re

import pytest
from playwright.sync_api import Route, expect

from annotator.front_end_files import BASE
from engine.projects.projects import change_settings
from tests.browser.bench import sent_json
from tests.browser.team import Desk, Team

pytestmark = pytest.mark.browser

TOTAL, DATE = "What is the total due?", "What is the invoice date?"
REVIEWS = "**/api/annotations/*/reviews"

# Whether the browser's disk holds a correction that marks a word.
_KEPT = """async (word) => {
  const { finished } = await import('BASE/sync/edit_store.js');
  const { database } = document.querySelector('.glossator').workspace.work.reviews.drafts;
  const kept = await finished(database.transaction('fixes').objectStore('fixes').getAll());
  return kept.some(({ pages }) => Object.values(pages).some(({ words }) => words.includes(word)));
}""".replace("BASE", BASE)


def submitted(team: Team, *words: str, questions: tuple[str, ...] = (TOTAL,)) -> Desk:
    """Ann has answered the questions with one word each; return her workspace."""
    team.ask_of_all(*questions)
    ann = team.sit("Ann")
    ann.mode("queue")
    for question, word in zip(questions, words, strict=True):
        ann.at_work(question)
        ann.mark(word)
        ann.keys.press("Enter")
    expect(ann.nothing).to_contain_text("No task available")
    return ann


def reviewing(team: Team, question: str = TOTAL) -> Desk:
    """Rita has opened the first answer to review."""
    rita = team.sit("Rita")
    rita.mode("review")
    rita.at_work(question)
    return rita


def verdicts(rita: Desk, annotation: str) -> list[dict]:
    return list(rita.get(f"/annotations/{annotation}/reviews"))


def test_a_rejection_needs_a_reason_and_the_author_reads_it_and_submits_again(team: Team) -> None:
    ann = submitted(team, "March")
    rita = reviewing(team)
    expect(rita.page.locator(".g-author")).to_contain_text("Ann answered")
    answer = rita.place()["annotation"]
    rita.keys.press("r")
    expect(rita.page.get_by_role("alert")).to_contain_text("Enter a reason")
    assert verdicts(rita, answer) == []
    rita.page.get_by_role("radio", name="Wrong").click()
    rita.page.get_by_label("Reason", exact=True).fill("This is the date, not the total")
    rita.keys.press("Enter")
    expect(rita.nothing).to_contain_text("Nothing to review")
    (verdict,) = verdicts(rita, answer)
    assert (verdict["verdict"], verdict["quality"], verdict["completeness"]) == ("rejected", False, None)
    assert verdict["reason"] == "This is the date, not the total"
    ann.page.get_by_role("button", name="Refresh").click()
    ann.at_work(TOTAL)
    expect(ann.status).to_have_text("Rejected")
    expect(ann.page.locator(".g-rejection")).to_contain_text("Rita rejected this")
    expect(ann.page.locator(".g-rejection")).to_contain_text("This is the date, not the total")
    expect(ann.page.locator(".g-rejection")).to_contain_text("the mask is wrong")
    expect(ann.page.locator(".g-question-reason")).to_have_text("This is the date, not the total")
    ann.mark("2,987.88")
    expect(ann.page.locator(".g-rejection")).to_contain_text("had rejected this")
    ann.keys.press("Enter")
    expect(ann.nothing).to_be_visible()
    rita.page.get_by_role("button", name="Refresh").click()
    rita.at_work(TOTAL)
    expect(rita.page.locator(".g-reasons .g-chip").first).to_have_text("This is the date, not the total")
    rita.keys.press("a")
    expect(rita.nothing).to_be_visible()
    assert rita.get(f"/annotations/{answer}")["status"] == "accepted"
    assert [each["verdict"] for each in verdicts(rita, answer)] == ["rejected", "accepted"]


def test_the_mark_under_review_is_the_authors_until_fix(team: Team) -> None:
    submitted(team, "March")
    rita = reviewing(team)
    before = rita.painted()
    rita.click("2,987.88")
    rita.keys.press("x")
    rita.keys.press("Delete")
    expect(rita.page.locator(".g-toast").last).to_contain_text("press F to fix it")
    assert (rita.painted() == before).all()
    expect(rita.page.locator(".g-tool").first).to_be_disabled()
    rita.keys.press("f")
    expect(rita.page.locator(".g-tool").first).to_be_enabled()


def test_a_fix_with_all_tools_travels_with_the_verdict(team: Team) -> None:
    ann = submitted(team, "March")
    rita = reviewing(team)
    answer, head = rita.place()["annotation"], rita.annotation()["head"]
    rita.keys.press("f")
    rita.keys.press("Delete")
    rita.keys.press("w")
    rita.click("2,987.88")
    rita.keys.press("b")
    x, y = rita.centre("Page")
    rita.drag((x, y), (x + 80, y))
    painted = rita.painted()
    assert rita.annotation()["head"] == head, "nothing is saved before the verdict"
    rita.keys.press("Enter")
    expect(rita.nothing).to_be_visible()
    fixed = rita.get(f"/annotations/{answer}")
    assert (fixed["status"], fixed["text"]) == ("fixed", "2,987.88")
    assert [each["verdict"] for each in verdicts(rita, answer)] == ["fixed"]
    ann.mode("free")
    ann.page.locator(f"[data-annotation='{answer}']").click()
    ann.at_work(TOTAL)
    expect(ann.status).to_have_text("Fixed")
    ann.page.wait_for_function("() => document.querySelector('.glossator').workspace.answer.local.status === 'fixed'")
    assert (ann.stored() == painted).all()


def test_corrections_of_a_fix_survive_a_reload(team: Team) -> None:
    submitted(team, "March")
    rita = reviewing(team)
    rita.keys.press("f")
    rita.keys.press("w")
    rita.click("2,987.88")
    painted = rita.painted()
    rita.page.wait_for_function(_KEPT, arg=rita.number("2,987.88"))
    rita.reload()
    rita.ready()
    rita.at_work(TOTAL)
    expect(rita.page.get_by_role("button", name="Save the fix")).to_be_visible()
    assert (rita.painted() == painted).all()
    rita.page.get_by_role("button", name="Discard fix").click()
    assert rita.marked() == {rita.number("March")}
    assert (rita.painted() == rita.stored()).all()


def test_a_verdict_without_network_survives_a_reload_and_is_given_once(team: Team) -> None:
    submitted(team, "2,987.88")
    rita = reviewing(team)
    answer = rita.place()["annotation"]
    rita.trap(REVIEWS, lambda route: route.abort("internetdisconnected"))
    rita.keys.press("a")
    expect(rita.saved).to_have_text("Offline: 1 edit kept in this browser")
    rita.reload()
    rita.ready()
    expect(rita.saved).to_have_text("Offline: 1 edit kept in this browser")
    expect(rita.status).to_have_text("Accepted")
    rita.page.unroute(REVIEWS)
    rita.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(rita.saved).to_contain_text("Saved ")
    assert [each["verdict"] for each in verdicts(rita, answer)] == ["accepted"]


def test_a_verdict_whose_answer_got_lost_is_not_given_twice(team: Team) -> None:
    submitted(team, "2,987.88", "March", questions=(TOTAL, DATE))
    rita = reviewing(team)
    answer, head = rita.place()["annotation"], rita.annotation()["head"]
    lost: list[str] = []

    def lose_the_first(route: Route) -> None:
        if lost or route.request.method != "POST":
            route.continue_()
            return
        lost.append(sent_json(route.request)["idempotency_key"])
        route.fetch()  # the server stores it; the browser never hears
        route.abort("connectionreset")

    rita.trap(REVIEWS, lose_the_first)
    rita.keys.press("a")
    expect(rita.saved).to_contain_text("Saved ")
    assert lost
    assert [each["verdict"] for each in verdicts(rita, answer)] == ["accepted"]
    assert rita.get(f"/annotations/{answer}")["head"] == head + 1


def test_a_verdict_on_an_answer_that_moved_on_shows_both_and_is_given_anew(team: Team) -> None:
    submitted(team, "March")
    rita = reviewing(team)
    answer = rita.place()["annotation"]
    page, head = rita.place()["page"], rita.annotation()["head"]
    ann = team.context("Ann").request
    number = rita.number("2,987.88")
    added = [{"op": "words", "page": page, "add": [number]}]
    for base, action, edits in ((head, "edit", added), (head + 1, "submit", [])):
        body = {"idempotency_key": f"elsewhere-{base}", "base": base, "action": action, "edits": edits}
        saved = ann.put(
            f"{team.server}/api/annotations/{answer}/revisions",
            data=body,
            headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
        )
        assert saved.ok, saved.text()
    rita.keys.press("a")
    dialog = rita.page.get_by_role("dialog")
    expect(dialog).to_contain_text("This answer was changed by somebody else")
    expect(dialog).to_contain_text("Version that you reviewed")
    expect(dialog).to_contain_text("Saved by Ann")
    assert verdicts(rita, answer) == []
    dialog.get_by_role("button", name="Review new version").click()
    rita.settled()
    assert rita.marked() == {number, rita.number("March")}
    expect(rita.page.get_by_role("button", name="Accept")).to_be_enabled()
    rita.keys.press("a")
    expect(rita.nothing).to_be_visible()
    assert [each["revision"] for each in verdicts(rita, answer)] == [head + 2]


def test_an_answer_that_is_not_right_cannot_be_accepted_by_a_slip(team: Team) -> None:
    submitted(team, "March")
    rita = reviewing(team)
    answer = rita.place()["annotation"]
    rita.keys.press("c")
    expect(rita.page.get_by_role("radio", name="Missing")).to_have_attribute("aria-checked", "true")
    rita.page.evaluate(
        f"async () => (await import('{BASE}/bundle.js')).modules['core/keyboard.js'].keymap.set('reviewReject', ['y'])"
    )
    rita.keys.press("a")
    expect(rita.page.locator(".g-toast").last).to_contain_text(
        "You marked something as wrong. Reject the answer with Y, or fix it with F."
    )
    assert verdicts(rita, answer) == []
    rita.keys.press("c")
    rita.keys.press("a")
    expect(rita.nothing).to_be_visible()
    (verdict,) = verdicts(rita, answer)
    assert (verdict["quality"], verdict["completeness"]) == (True, True)


def test_an_expired_login_keeps_the_verdict(team: Team) -> None:
    submitted(team, "2,987.88")
    rita = reviewing(team)
    answer = rita.place()["annotation"]
    rita.page.context.clear_cookies()
    rita.keys.press("a")
    expect(rita.saved).to_have_text("Your login has ended: 1 edit kept in this browser. Log in to save it")
    expect(rita.page.get_by_role("button", name="Log in").first).to_be_visible()
    team.log_in_again(rita)
    rita.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(rita.saved).to_contain_text("Saved ")
    assert [each["verdict"] for each in verdicts(rita, answer)] == ["accepted"]


def test_a_reviewer_makes_an_accepted_answer_a_gold_question_and_takes_it_back(team: Team) -> None:
    ann = submitted(team, "2,987.88")
    rita = reviewing(team)
    answer = rita.place()["annotation"]
    line, gold = rita.page.locator(".g-gold"), f"/annotations/{answer}/gold"
    expect(line).to_have_count(0)  # nobody has accepted the answer yet
    rita.keys.press("a")
    expect(rita.nothing).to_contain_text("Nothing to review")
    rita.mode("free")
    rita.page.locator(f".g-question[data-annotation='{answer}']").click()
    make = line.get_by_role("button", name="Make gold question")
    expect(make).to_have_attribute("title", re.compile("accuracy is measured"))
    make.click()
    expect(line.locator(".g-status")).to_have_text("Gold")
    assert rita.get(gold)["annotation_id"] == answer
    rita.page.locator(".g-toast", has_text="This is now a gold question.").get_by_role("button", name="Undo").click()
    expect(make).to_be_visible()
    assert rita.get(gold)["annotation_id"] is None
    make.click()
    expect(line.locator(".g-status")).to_have_text("Gold")
    expect(rita.page.locator(f".g-question[data-annotation='{answer}'] .g-status[data-status=gold]")).to_be_visible()
    rita.reopen()
    rita.ready()
    expect(line.locator(".g-status")).to_have_text("Gold")
    # Its author sees the answer without a word of gold, and the page asks for none.
    asked: list[str] = []
    ann.page.on("request", lambda request: asked.append(request.url))
    ann.mode("free")
    ann.reopen()
    ann.page.locator(f".g-question[data-annotation='{answer}']").click()
    expect(ann.status).to_have_text("Accepted")
    ann.settled()
    expect(ann.page.locator(".glossator")).not_to_contain_text(re.compile("gold", re.IGNORECASE))
    assert not [url for url in asked if url.endswith("/gold")]
    line.get_by_role("button", name="Remove").click()
    expect(make).to_be_visible()
    assert rita.get(gold)["annotation_id"] is None


def test_the_history_tells_who_did_what(team: Team) -> None:
    submitted(team, "March")
    rita = reviewing(team)
    rita.keys.press("r")
    rita.page.get_by_label("Reason", exact=True).fill("Wrong line")
    rita.keys.press("Enter")
    expect(rita.nothing).to_be_visible()
    rita.mode("free")
    rita.page.locator(".g-question").first.click()
    rita.settled()
    rita.keys.press("h")
    lines = rita.page.locator(".g-history li")
    expect(lines.first).to_contain_text("Rita rejected it")
    expect(lines.first).to_contain_text("Wrong line")
    expect(lines.nth(1)).to_contain_text("Ann submitted it")
    expect(lines.last).to_contain_text("proposed an answer")


def test_corrections_that_the_browser_cannot_keep_are_announced(team: Team) -> None:
    submitted(team, "March")
    rita = reviewing(team)
    rita.page.evaluate("() => document.querySelector('.glossator').workspace.work.reviews.drafts.database.close()")
    rita.keys.press("f")
    rita.keys.press("w")
    rita.click("2,987.88")
    expect(rita.page.locator(".g-toast").last).to_contain_text("cannot store your changes")
    rita.keys.press("Enter")
    expect(rita.nothing).to_be_visible()


def test_after_a_verdict_without_network_the_next_answer_comes_when_it_is_back(team: Team) -> None:
    submitted(team, "2,987.88", "March", questions=(TOTAL, DATE))
    rita = reviewing(team)
    rita.trap(REVIEWS, lambda route: route.abort("internetdisconnected"))
    rita.keys.press("a")
    expect(rita.saved).to_have_text("Offline: 1 edit kept in this browser")
    rita.page.unroute(REVIEWS)
    rita.page.evaluate("window.dispatchEvent(new Event('online'))")
    rita.at_work(DATE)


def test_answers_to_one_question_are_judged_beside_each_other(team: Team) -> None:
    change_settings(team.workspace, team.project, overlap_share=1.0, overlap_people=2)
    submitted(team, "March")
    ben = team.sit("Ben")
    ben.mode("queue")
    ben.at_work(TOTAL)
    ben.mark("2,987.88")
    ben.keys.press("Enter")
    expect(ben.nothing).to_contain_text("No task available")
    rita = reviewing(team)
    others = rita.page.locator(".g-others li")
    expect(others).to_have_count(1)
    expect(others).to_contain_text("Contradicts")
    first = rita.place()["annotation"]
    rita.keys.press("a")
    expect(others).to_contain_text("accepted")  # the other answer is the one under review now
    second = rita.place()["annotation"]
    assert second != first
    rita.keys.press("a")
    expect(rita.page.get_by_role("button", name="Make this the label")).to_be_visible()
    assert verdicts(rita, second) == []
    rita.keys.press("a")
    expect(rita.nothing).to_contain_text("Nothing to review")
    assert [line["becomes_label"] for line in (*verdicts(rita, first), *verdicts(rita, second))] == [False, True]
