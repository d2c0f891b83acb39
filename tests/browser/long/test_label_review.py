"""Label reviews in the browser: the reason stands beside the label, and what the model marks can be taken."""

from typing import Any

import pytest
from playwright.sync_api import expect

from db.tables import Annotation
from engine.models import registry
from engine.selection import label_review
from tests.browser.team import Desk, Team
from tests.support.factories import accept, bill, make_document
from tests.support.survey_rows import say

pytestmark = pytest.mark.browser

TOTAL = "What is the total due?"


def doubted(team: Team, label: tuple[int, ...], said: tuple[int, ...], **model: Any) -> Annotation:
    """A label of Ann's that the model contradicts: word 4 is the total, word 1 the bill's number."""
    document = make_document(team.workspace, team.project, [bill(1)], name="doubted.png")
    annotation = accept(team.workspace, document, TOTAL, label, author="Ann")
    say(team.workspace, registry.ensure_shipped(team.workspace), document, TOTAL, said, **model)
    assert label_review.find(team.workspace, team.project) == 1
    return annotation


def looking(team: Team) -> Desk:
    rita = team.sit("Rita")
    rita.mode("review")
    rita.at_work(TOTAL)
    return rita


def looked(team: Team) -> list[tuple[str | None, str | None]]:
    return [(line.verdict, line.decided_by) for line in label_review.lines(team.workspace, team.project)]


def test_a_label_is_kept_after_its_review(team: Team) -> None:
    label = doubted(team, (4,), (1,))
    rita = looking(team)
    note = rita.page.get_by_role("note")
    expect(note).to_contain_text("Label review. This label was accepted. nano marks another place (99% sure): “B1001”.")
    assert rita.place()["annotation"] == label.id
    rita.page.get_by_role("button", name="Keep").click()
    expect(rita.nothing).to_contain_text("Nothing to review")
    assert looked(team) == [("kept", "Rita")]


def test_what_the_model_marks_is_taken_as_a_fix(team: Team) -> None:
    doubted(team, (4,), (1,))
    rita = looking(team)
    rita.page.get_by_role("button", name="Fix with the mark of nano").click()
    expect(rita.page.locator(".g-answer, .g-card").filter(has_text="B1001").first).to_be_visible()
    rita.page.get_by_role("button", name="Save the fix").click()
    expect(rita.nothing).to_contain_text("Nothing to review")
    assert looked(team) == [("mended", "Rita")]


def test_that_it_is_not_answered_is_taken_as_a_fix(team: Team) -> None:
    label = doubted(team, (4,), (1,), answered=0.02)
    rita = looking(team)
    rita.page.get_by_role("button", name="Fix as not answered, like nano").click()
    rita.page.get_by_role("button", name="Save the fix").click()
    expect(rita.nothing).to_contain_text("Nothing to review")
    assert looked(team) == [("mended", "Rita")]
    assert rita.get(f"/annotations/{label.id}")["state"]["no_answer"] is True
