"""The tab Training: one figure under one name, plots of one width, and a retraining that does not pay is not begun."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from db.tables import Document
from engine.jobs import job_list
from engine.settings import Settings
from engine.training.retraining.readiness import NOTHING_TO_LEARN
from engine.workspace import Workspace, open_workspace
from tests.browser.bench import Bench
from tests.browser.tabs import made, tab
from tests.support.factories import accept, bill, make_document
from tests.support.judged_runs import add_run
from tests.support.server_process import Served

pytestmark = pytest.mark.browser


@dataclass
class Room:
    """A project of its own, and its tab Training."""

    page: Page
    workspace: Workspace
    project: str
    panel: Locator

    def document(self) -> Document:
        """Add a document; the first one of a project is for training."""
        return make_document(self.workspace, self.project, [bill(1)])

    @property
    def jobs(self) -> list[str]:
        """Status of its retrainings, newest first."""
        return [job.status for job in job_list.list_jobs(self.workspace, self.project)]


@pytest.fixture
def room(bench: Bench, served: Served, request: pytest.FixtureRequest) -> Iterator[Room]:
    project = made(bench, request.node.name[:90])
    workspace = open_workspace(Settings(data_dir=served.data, _env_file=None))
    bench.page.evaluate("(id) => window.Glossator.chooseProject(id)", project)
    yield Room(bench.page, workspace, project, tab(bench.page, "Training"))
    workspace.close()


def apart(one: FloatRect | None, other: FloatRect | None) -> bool:
    assert one is not None and other is not None
    beside = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
    return beside or one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]


def test_nothing_to_learn_from_is_said_before_a_job_is_made(room: Room) -> None:
    message = room.page.locator(".toast-body")
    for width, height in ((1400, 900), (390, 844)):
        room.page.set_viewport_size({"width": width, "height": height})
        room.panel.get_by_role("button", name="Retrain now").click()
        expect(message).to_contain_text(NOTHING_TO_LEARN)
        expect(message).to_have_count(1)
        for name in ("Retrain now", "Stop"):
            button = room.panel.get_by_role("button", name=name, exact=True)
            assert apart(message.bounding_box(), button.bounding_box()), (name, width)
        message.get_by_test_id("toast-close").click()
        expect(message).to_have_count(0)
    assert room.jobs == []


def test_too_few_answers_bring_a_warning_with_their_number(room: Room) -> None:
    accept(room.workspace, room.document(), "What is the total due?", [4])
    panel, warning = room.panel, room.panel.get_by_role("alert")
    panel.get_by_role("button", name="Retrain now").click()
    expect(warning).to_contain_text("1 accepted answer is new since the last retraining.")
    expect(warning).to_contain_text("With fewer than 20,")
    panel.get_by_role("button", name="Do not retrain").click()
    expect(warning).to_be_hidden()
    assert room.jobs == []
    panel.get_by_role("button", name="Retrain now").click()
    panel.get_by_role("button", name="Retrain anyway").click()
    expect(panel.locator(".glossator-status")).to_contain_text("Waiting for a worker.")
    expect(warning).to_be_hidden()
    assert room.jobs == ["waiting"]
    panel.get_by_role("button", name="Retrain now").click()
    expect(room.page.locator(".toast-body", has_text="waiting or running already")).to_be_visible()
    panel.get_by_role("button", name="Stop", exact=True).click()
    expect(panel.locator(".glossator-status")).to_contain_text("1 of 20 newly accepted answers")
    assert room.jobs == ["cancelled"]


def test_one_figure_one_name_and_the_model_in_use_in_every_plot(room: Room) -> None:
    panel = room.panel
    expect(panel).to_contain_text("No retraining yet.")
    add_run(room.workspace, room.project, before=0.60, after=0.59, answers=1)
    cards = panel.locator("figure.glossator-plot")
    expect(cards).to_have_count(3)
    expect(panel.get_by_role("row", name="nano in use")).to_contain_text(
        re.compile(r"0\.\d{3} \(0\.\d{3} to 0\.\d{3}\)")
    )
    expect(cards.nth(2).locator(".ring")).to_have_count(2)  # the default model, which is in use
    expect(panel).to_contain_text("1 answer")
    add_run(room.workspace, room.project, before=0.60, after=0.72)
    expect(panel.locator(".glossator-status")).to_contain_text("Model in use: v2")
    expect(cards.nth(2).locator("text.value")).to_have_text("v2")
    text = panel.inner_text()
    assert not re.search(r"\b1 answers\b|[Hh]oldout|acc@|\d % of \d|(?<!\d)\.\d{3}", text), text
    assert {"Held-out documents", "Generated pages"} <= set(re.findall(r"Held-out documents|Generated pages", text))
    boxes = [card.bounding_box() for card in cards.all()]
    rows = panel.locator(".glossator-scroll").last.bounding_box()
    assert all(boxes) and rows is not None
    widths = {round(box["width"]) for box in boxes if box}
    assert len(widths) == 1 and sum(box["width"] for box in boxes if box) > 0.9 * rows["width"]


def test_a_roll_back_is_asked_about_first(room: Room) -> None:
    add_run(room.workspace, room.project, before=0.60, after=0.72)
    panel, question = room.panel, room.panel.get_by_role("alert")
    expect(panel.locator(".glossator-status")).to_contain_text("Model in use: v1")
    panel.get_by_role("button", name="Change the model in use").click()
    back = panel.get_by_role("button", name="Roll back to the previous model")
    for answer, model in (("Keep the model", "v1"), ("Roll back", "nano, which comes with Glossator")):
        back.click()
        expect(question).to_contain_text("within seconds")
        panel.get_by_role("button", name=answer, exact=True).click()
        expect(question).to_be_hidden()
        expect(panel.locator(".glossator-status")).to_contain_text(f"Model in use: {model}")
    assert not room.page.locator(".toast-body.error").count()
