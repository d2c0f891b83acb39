"""A login that ends while somebody works: what they do is kept under their name, and sent once they are back."""

import pytest
from playwright.sync_api import expect

from tests.browser.stored_invoice import TOTAL, draft, store_invoice
from tests.browser.team import PASSWORD, Team, enter, logged_out

pytestmark = pytest.mark.browser


def test_edits_after_the_end_of_a_login_are_sent_once_and_by_their_author_alone(team: Team) -> None:
    document = store_invoice(team.workspace, team.project)
    answer = draft(team.workspace, document, TOTAL, author="Ann")[0].id
    ann = team.sit("Ann", f"&document={document.id}&annotation={answer}")
    ann.ready()
    ann.settled()
    page = ann.page
    first, second = (ann.at(*ann.centre(word)) for word in ("2,987.88", "March"))
    team.end_logins("Ann")
    page.mouse.click(*first)
    dialog = logged_out(ann)
    expect(dialog).to_contain_text("Your work is kept on this computer: 1 edit will be saved when Ann logs in again.")
    enter(dialog, "Password", PASSWORD)
    expect(dialog).to_be_hidden()
    ann.settled()
    assert team.revisions(answer) == [(1, "Ann"), (2, "Ann")]
    assert ann.marked() == {ann.number("2,987.88")}

    page.mouse.move(*second)
    team.end_logins("Ann")
    page.mouse.click(*second)
    expect(dialog).to_contain_text("1 edit will be saved")
    team.log_in_again(ann, "Ben")
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.get_by_role("dialog", name="Ben is logged in now").get_by_role("button", name="Go on as Ben").click()
    expect(page.get_by_role("button", name="Ben: account")).to_be_visible()
    ann.ready()
    ann.settled()
    assert team.revisions(answer) == [(1, "Ann"), (2, "Ann")]
    team.log_in_again(ann)
    page.reload()
    expect(page.get_by_role("button", name="Ann: account")).to_be_visible()
    ann.ready()
    ann.settled()
    assert team.revisions(answer) == [(1, "Ann"), (2, "Ann"), (3, "Ann")]
    assert ann.marked() == {ann.number("2,987.88"), ann.number("March")}
