"""The list of standard questions on the tab and in the dialog: nobody's questions are lost because a page was old."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from db.tables import Member
from tests.browser.bench import Bench
from tests.browser.slow_connection import Line
from tests.browser.team import Team

pytestmark = pytest.mark.browser
HEADERS = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def listed(bench: Bench) -> Iterator["Listed"]:
    made = Listed(bench)
    made.put("What is the total?")
    yield made
    made.put()


class Listed:
    """The list as the server has it, changed behind the page's back."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        (project, *_) = [each for each in bench.get("/projects") if each["name"] == "default"] or bench.get("/projects")
        self.path = f"/projects/{project['id']}/standard-questions"
        self.settings = f"/projects/{project['id']}/settings"

    def put(self, *questions: str) -> None:
        answer = self.bench.page.request.put(
            f"{self.bench.server}/api{self.path}", data={"questions": list(questions)}, headers=HEADERS
        )
        assert answer.ok, answer.text()

    def wait(self, *questions: str) -> None:
        """Wait until the server has these questions."""
        for _ in range(600):
            if self.texts() == list(questions):
                return
            self.bench.page.wait_for_timeout(50)
        assert self.texts() == list(questions)

    def texts(self) -> list[str]:
        return [each["text"] for each in self.bench.get(self.path)]


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()


def test_the_tab_shows_what_others_have_added_when_it_is_opened_again(bench: Bench, listed: Listed) -> None:
    page = bench.page
    tab(page, "Questions")
    field = page.get_by_role("textbox", name="Standard questions")
    expect(field).to_have_value("What is the total?")
    tab(page, "Annotate")
    listed.put("What is the total?", "Who signed it?")
    tab(page, "Questions")
    expect(field).to_have_value("What is the total?\nWho signed it?")
    field.fill("What is the total?\nWho signed it?\nWhen?")
    tab(page, "Annotate")
    tab(page, "Questions")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text("3 standard questions saved.")).to_be_visible()
    assert listed.texts() == ["What is the total?", "Who signed it?", "When?"]


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


def test_saving_an_old_list_takes_nothing_away_that_others_added(bench: Bench, listed: Listed) -> None:
    page = bench.page
    tab(page, "Questions")
    field = page.get_by_role("textbox", name="Standard questions")
    expect(field).to_have_value("What is the total?")
    listed.put("What is the total?", "Who signed it?")
    field.fill("What is the total?\nWhen?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text('Somebody else added "Who signed it?" meanwhile')).to_be_visible()
    assert listed.texts() == ["What is the total?", "Who signed it?"]
    expect(field).to_have_value("What is the total?\nWhen?")
    field.fill("What is the total?\nWho signed it?\nWhen?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.get_by_text("3 standard questions saved.")).to_be_visible()
    assert listed.texts() == ["What is the total?", "Who signed it?", "When?"]


def test_saving_settings_leaves_those_alone_that_others_have_set(bench: Bench, listed: Listed) -> None:
    page = bench.page
    tab(page, "Questions")
    review = page.get_by_label("Review required")
    expect(review).not_to_be_checked()
    expect(page.get_by_role("textbox", name="Standard questions")).to_have_value("What is the total?")
    project = listed.settings
    answer = page.request.patch(f"{bench.server}/api{project}", data={"gold_share": 0.25}, headers=HEADERS)
    assert answer.ok, answer.text()
    review.check()
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("Settings saved.")).to_be_visible()
    seen = bench.get("/projects")
    before = {"review_required": False, "gold_share": 0}
    now = page.request.patch(f"{bench.server}/api{project}", data=before, headers=HEADERS)
    saved = next(each["settings"] for each in seen if each["id"] in project)
    assert now.ok and (saved["review_required"], saved["gold_share"]) == (True, 0.25)


def test_the_dialog_tells_what_others_added_and_keeps_what_was_written(bench: Bench, listed: Listed) -> None:
    page = bench.page
    bench.upload()
    page.get_by_role("button", name="Standard questions of this project").click()
    field = page.get_by_label("Standard questions, one per line")
    expect(field).to_have_value("What is the total?")
    listed.put("What is the total?", "Who signed it?")
    field.fill("What is the total?\nWhen?")
    page.get_by_role("button", name="Save questions").click()
    expect(page.locator(".g-toast")).to_contain_text('Somebody else added "Who signed it?" meanwhile')
    expect(field).to_have_value("What is the total?\nWhen?")
    assert listed.texts() == ["What is the total?", "Who signed it?"]
    page.get_by_role("button", name="Save questions").click()  # knowingly, by now
    expect(page.get_by_role("dialog")).to_have_count(0)
    listed.wait("What is the total?", "When?")


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
