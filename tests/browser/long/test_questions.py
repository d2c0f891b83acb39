"""What is written on the tab Questions while its list comes or goes stays; invitations, by mouse and by finger."""

import pytest
from playwright.sync_api import expect

from db.tables import Member
from tests.browser.bench import Bench
from tests.browser.slow_connection import Line
from tests.browser.standard_list import Listed, tab
from tests.browser.tabs import OWN
from tests.browser.team import Team

pytestmark = pytest.mark.browser


def test_what_is_written_while_the_list_is_read_anew_stays(bench: Bench, listed: Listed) -> None:
    page = bench.page
    tab(page, "Questions")
    field = page.get_by_role("textbox", name="Standard questions")
    expect(field).to_have_value("What is the total?")
    tab(page, "Annotate")
    listed.put("What is the total?", "Who signed it?")
    line = Line(page, "What is the total?")  # which the page was given
    tab(page, "Questions")
    line.wait()
    field.fill("What is the total?\nWhen?")
    line.free()
    page.wait_for_timeout(2000)
    expect(field).to_have_value("What is the total?\nWhen?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text('Somebody else added "Who signed it?" meanwhile')).to_be_visible()


def test_what_is_written_while_the_list_is_saved_stays(bench: Bench, listed: Listed) -> None:
    page = bench.page
    tab(page, "Questions")
    field = page.get_by_role("textbox", name="Standard questions")
    expect(field).to_have_value("What is the total?")
    line = Line(page, "Who  signed it?")
    field.fill("What is the total?\nWho  signed it?")
    page.get_by_role("button", name="Save questions").click()
    line.wait()
    field.fill("What is the total?\nWho  signed it?\nWhen?")
    line.free()
    expect(page.get_by_text("2 standard questions saved.")).to_be_visible()
    assert listed.texts() == ["What is the total?", "Who signed it?"]
    page.wait_for_timeout(1000)
    expect(field).to_have_value("What is the total?\nWho  signed it?\nWhen?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text("3 standard questions saved.")).to_be_visible()
    expect(field).to_have_value("What is the total?\nWho signed it?\nWhen?")  # what was saved, as it was


def test_saving_settings_leaves_those_alone_that_others_have_set(bench: Bench, listed: Listed) -> None:
    page = bench.page
    tab(page, "Questions")
    review = page.get_by_label("Review required")
    expect(review).not_to_be_checked()
    expect(page.get_by_role("textbox", name="Standard questions")).to_have_value("What is the total?")
    project = listed.settings
    answer = page.request.patch(f"{bench.server}/api{project}", data={"gold_share": 0.25}, headers=OWN)
    assert answer.ok, answer.text()
    review.check()
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("Settings saved.")).to_be_visible()
    saved = next(each["settings"] for each in bench.get("/projects") if each["id"] in project)
    assert (saved["review_required"], saved["gold_share"]) == (True, 0.25)


def test_two_clicks_on_invite_make_one_invitation(team: Team) -> None:
    team.change(lambda session: _make_admin(session, team))
    rita = team.sit("Rita")
    tab(rita.page, "People")
    rita.page.locator(".g-people-project select").select_option(team.project)
    invite = rita.page.get_by_role("button", name="Create invitation link")
    invite.dblclick()
    expect(rita.page.locator(".g-link-made input")).to_be_visible()
    rita.page.wait_for_timeout(500)  # a second one would be asked for by now
    assert len(rita.get(f"/projects/{team.project}/invitations")) == 1


def test_fingers_find_targets_of_44_pixels_on_the_tab_people(team: Team) -> None:
    team.change(lambda session: _make_admin(session, team))
    rita = team.sit("Rita", has_touch=True, is_mobile=True)
    tab(rita.page, "People")
    rita.page.locator(".g-people-project select").select_option(team.project)
    expect(rita.page.get_by_role("button", name="Create invitation link")).to_be_visible()
    small = """() => [...document.querySelectorAll('.g-people :is(button, select, input, summary), .g-corner button')]
      .filter((each) => each.getClientRects().length && each.getBoundingClientRect().height < 43.5)
      .map((each) => each.outerHTML.slice(0, 90))"""
    assert rita.page.evaluate("matchMedia('(pointer: coarse)').matches") and rita.page.evaluate(small) == []


def _make_admin(session, team: Team) -> None:  # type: ignore[no-untyped-def]
    session.get(Member, (team.project, team.ids["Rita"])).role = "admin"
