"""A person makes a token for a program on the tab People, sees it, and ends it."""

import httpx
from playwright.sync_api import expect

from tests.browser.team import Team


def test_a_person_makes_a_token_sees_it_and_ends_it(team: Team) -> None:
    page = team.sit("Ann").page
    page.get_by_role("tab", name="People").click()
    page.get_by_text("New token", exact=True).click()
    page.get_by_label("Purpose").fill("weekly figures")
    page.get_by_label("Scope").select_option("read")
    page.get_by_role("button", name="Create token").click()
    token = page.get_by_label("New token").input_value()
    asked = {"authorization": f"Bearer {token}"}
    assert httpx.get(f"{team.server}/api/me", headers=asked).json()["user"]["name"] == "Ann"
    assert httpx.post(f"{team.server}/api/projects", headers=asked, json={"name": "x"}).status_code == 403
    page.get_by_role("button", name="Done", exact=True).click()
    expect(page.get_by_label("New token")).to_have_count(0)
    line = page.locator("li", has_text="weekly figures")
    expect(line).to_contain_text("read")
    line.get_by_role("button", name="End").click()
    line.get_by_role("button", name="Confirm revoking").click()
    expect(page.get_by_text("Token revoked. It no longer works.")).to_be_visible()
    expect(line).to_have_count(0)
    assert httpx.get(f"{team.server}/api/me", headers=asked).status_code == 401
