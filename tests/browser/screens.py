"""Photographs of every screen, to look at: python -m tests.browser.screens FOLDER.

Wide and narrow, light and dark, with work on them, without any, and when something goes wrong. doc_pictures.py takes
the pictures of the docs.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, expect, sync_playwright
from sqlalchemy import select

from db.tables import Document, Member, User
from engine.accounts.invitations import invite
from engine.annotation.state import AnnotationState
from engine.datasets.snapshots import freeze
from engine.projects.projects import create_project, project_named
from tests.browser.conftest import ARGUMENTS, PATIENCE
from tests.browser.team import Desk, Team, add_everybody
from tests.support.factories import SIZE, accept
from tests.support.poisoned_project import Poisoned
from tests.support.server_process import Served
from tests.support.stored_pages import group_of, paper, scanned_again, store
from tests.support.work_history import make_weeks

SIZES = {"wide": (1440, 900), "narrow": (390, 844)}
TABS = ("Documents", "Questions", "Training", "Jobs", "Quality", "Table", "Export", "People")
TOTAL, DATE = "What is the total due?", "What is the invoice date?"
LONG = (
    "Which of the services that were agreed upon in the framework contract of last year were not delivered in the "
    "period of this invoice, and what was deducted for them?"
)


class Camera:
    """Takes each screen wide and narrow, light and dark."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def take(self, page: Page, name: str, themes: tuple[str, ...] = ("light", "dark")) -> None:
        """Photograph what a page shows now."""
        for theme in themes:
            page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
            for size, (width, height) in SIZES.items():
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_timeout(500)
                page.screenshot(path=self.folder / f"{name}-{size}-{theme}.png")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": SIZES["wide"][0], "height": SIZES["wide"][1]})
        page.wait_for_timeout(200)


@contextmanager
def started(browser: Browser) -> Iterator[tuple[Team, Served]]:
    """A server with samples, people and a team of them."""
    folder = Path(tempfile.mkdtemp(prefix="glossator-screens-"))
    served = Served(folder, {"GLOSSATOR_AUTH": "login"}, ("--samples",))
    ids = add_everybody(served.data)
    try:
        served.start()
        team = Team(served.address, browser, served.data, ids)
        yield team, served
        team.close()
    finally:
        served.stop()
        shutil.rmtree(folder, ignore_errors=True)


def sample(team: Team, name: str = "Ann") -> Desk:
    """The sample invoice, asked and corrected by somebody."""
    project = project_named(team.workspace, "default").id

    def join(session) -> None:  # type: ignore[no-untyped-def]
        for each in ("Ann", "Ben", "Rita"):
            if session.get(Member, (project, team.ids[each])) is None:
                role = "reviewer" if each == "Rita" else "annotator"
                session.add(Member(project_id=project, user_id=team.ids[each], role=role))

    team.change(join)
    page = team.context(name).new_page()
    page.goto(f"{team.server}/app/#project={project}")
    desk = Desk(page, team.server, name)
    page.wait_for_selector(".glossator[data-started]", timeout=120_000)
    page.locator(".g-document", has_text="HV-20418").first.click()
    expect(page.locator(".g-document[aria-selected=true]")).to_contain_text("HV-20418")
    desk.settled()
    page.wait_for_timeout(500)
    return desk


def annotating(team: Team, camera: Camera) -> None:
    """The tab Annotate: an answer, its history, word fixes, keys, a long question, and no network."""
    ann = sample(team)
    page = ann.page
    camera.take(page, "annotate-open")
    for question in ("What is the invoice number?", LONG, TOTAL):
        ann.ask(question)
    ann.keys.press("w")
    camera.take(page, "annotate-answer")
    ann.keys.press("b")
    ann.drag((300, 300), (600, 310))
    ann.settled()
    camera.take(page, "annotate-corrected")
    ann.keys.press("h")
    page.wait_for_selector(".g-dialog")
    camera.take(page, "annotate-history", ("light",))
    ann.keys.press("Escape")
    ann.keys.press("?")
    page.wait_for_selector(".g-dialog")
    camera.take(page, "annotate-keys")
    ann.keys.press("Escape")
    ann.keys.press("t")
    ann.click(ann.words()["texts"][6])
    camera.take(page, "annotate-mending")
    ann.keys.press("Escape")
    ann.keys.press("Escape")
    page.get_by_text(LONG).first.click()
    ann.settled()
    camera.take(page, "annotate-long", ("light",))
    page.context.set_offline(True)
    ann.keys.press("w")
    ann.page.locator(".g-canvas").focus()
    ann.keys.press("x")
    page.wait_for_selector(".g-saved[data-state=offline]")
    camera.take(page, "annotate-offline")
    page.context.set_offline(False)


def queue_and_review(team: Team, camera: Camera) -> None:
    """Standard questions through the queue, and their review."""
    team.ask_of_all(TOTAL, DATE, "What is the invoice number?", documents=3)
    ann = team.sit("Ann")
    ann.mode("queue")
    ann.at_work(TOTAL)
    camera.take(ann.page, "queue")
    ann.mark("March")
    ann.go_on_in(DATE)
    ann.mark("March")
    ann.keys.press("Enter")
    ann.at_work("What is the invoice number?")
    ann.mode("free")
    rita = team.sit("Rita")
    rita.mode("review")
    rita.at_work(TOTAL)
    camera.take(rita.page, "review")
    rita.keys.press("r")
    camera.take(rita.page, "review-reason", ("light",))
    rita.page.get_by_role("radio", name="Wrong").click()
    rita.page.get_by_label("Reason", exact=True).fill("This is the date, not the total")
    rita.keys.press("Enter")
    rita.at_work(DATE)
    rita.keys.press("a")
    rita.nothing.wait_for()
    camera.take(rita.page, "review-empty")
    ann.page.reload()
    ann.ready()
    camera.take(ann.page, "annotate-rejected", ("light",))


def conflict(team: Team, camera: Camera) -> None:
    """Two browsers of one person."""
    one = sample(team, "Ben")
    one.ask_and_clear("What is the customer number?")
    place = one.place()
    words = one.words()
    one.page.request.put(
        f"{team.server}/api/annotations/{place['annotation']}/revisions",
        data={
            "idempotency_key": "from somewhere else",
            "base": one.annotation()["head"],
            "edits": [{"op": "words", "page": place["page"], "add": words["numbers"][3:6], "remove": []}],
        },
        headers={"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"},
    )
    one.keys.press("w")
    one.click(words["texts"][9])
    one.page.wait_for_selector(".g-dialog")
    camera.take(one.page, "conflict")


def nothing_there(team: Team, camera: Camera) -> None:
    """A project without documents, a person without a project, and the pages before the page."""
    empty = create_project(team.workspace, "nothing in it yet").id

    team.change(lambda session: session.add(Member(project_id=empty, user_id=team.ids["Rita"], role="admin")))
    page = team.context("Rita").new_page()
    page.goto(f"{team.server}/app/#project={empty}")
    page.wait_for_selector(".glossator[data-started]", timeout=120_000)
    camera.take(page, "empty-annotate")
    for tab in TABS:
        page.get_by_role("tab", name=tab, exact=True).click()
        page.wait_for_timeout(1500)
        camera.take(page, f"empty-{tab.lower()}", ("light",))
    link = invite(team.workspace, empty, role="annotator", days=7, by=_user(team, "Rita")).token
    stranger = team.browser.new_context().new_page()
    stranger.goto(f"{team.server}/login")
    camera.take(stranger, "login")
    stranger.get_by_label("Name").fill("Nobody")
    stranger.get_by_label("Password").fill("not the password")
    stranger.keyboard.press("Enter")
    stranger.wait_for_load_state("networkidle")
    camera.take(stranger, "login-wrong", ("light",))
    stranger.goto(f"{team.server}/invite/{link}")
    camera.take(stranger, "invitation")
    stranger.goto(f"{team.server}/invite/{'0' * len(link)}")
    camera.take(stranger, "invitation-gone", ("light",))


def _user(team: Team, name: str) -> User:
    with team.workspace.database.read() as session:
        return session.get_one(User, team.ids[name])


def weeks(team: Team, camera: Camera) -> None:
    """Every other tab over eleven weeks of work."""

    project = create_project(team.workspace, "bills of eleven weeks")
    make_weeks(team.workspace, project, datetime.now(UTC).date(), a_day=5)
    team.change(lambda session: session.add(Member(project_id=project.id, user_id=team.ids["Rita"], role="admin")))
    page = team.context("Rita").new_page()
    page.goto(f"{team.server}/app/#project={project.id}")
    page.wait_for_selector(".glossator[data-started]", timeout=120_000)
    for tab in TABS:
        page.get_by_role("tab", name=tab, exact=True).click()
        page.wait_for_timeout(3000)
        if tab == "Export":
            page.get_by_role("button", name="Filters").click()
        camera.take(page, f"tab-{tab.lower()}")
    page.goto(f"{team.server}/api/docs")
    camera.take(page, "reference")


def labels(team: Team, camera: Camera) -> None:
    """Documents that came in twice and one in quarantine; somebody who answers anyhow; answers that were left out."""
    poisoned = Poisoned(team.workspace)
    project = poisoned.project
    trains: dict[bool, int] = {}
    for number in range(10):
        document = store(team.workspace, project.id, [paper(number)], f"registration of participant {number + 1}.png")
        trains.setdefault(group_of(team.workspace, document.id).split == "train", number)
    store(team.workspace, project.id, [scanned_again(paper(2))], "scan 2026-11-03.png")
    both = [scanned_again(paper(trains[True])), scanned_again(paper(trains[False]))]
    joining = store(team.workspace, project.id, both, "two registrations in one file.png")
    accept(team.workspace, joining, TOTAL, [0], author="Ann")
    with team.workspace.database.read() as session:
        bill = session.scalars(select(Document).where(Document.project_id == project.id).order_by(Document.id)).first()
    assert bill is not None
    accept(team.workspace, bill, LONG, mask=np.ones((SIZE[1], SIZE[0]), bool), author="Ann")
    accept(team.workspace, bill, "Who signed?", state=AnnotationState(), author="Ben")
    freeze(team.workspace, project.id, split="train")
    team.change(lambda session: session.add(Member(project_id=project.id, user_id=team.ids["Rita"], role="admin")))
    page = team.context("Rita").new_page()
    page.goto(f"{team.server}/app/#project={project.id}")
    page.wait_for_selector(".glossator[data-started]", timeout=120_000)
    camera.take(page, "labels-annotate", ("light",))
    for tab in ("Documents", "Quality"):
        page.get_by_role("tab", name=tab, exact=True).click()
        page.wait_for_timeout(3000)
        if tab == "Quality":
            page.get_by_text("Left out", exact=True).scroll_into_view_if_needed()
        camera.take(page, f"labels-{tab.lower()}")


SCREENS = {
    "annotate": annotating,
    "queue": queue_and_review,
    "conflict": conflict,
    "empty": nothing_there,
    "tabs": weeks,
    "labels": labels,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build/screens"))
    parser.add_argument("--only", choices=SCREENS, nargs="*", default=list(SCREENS))
    given = parser.parse_args()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        with started(browser) as (team, _):
            for name in given.only:
                SCREENS[name](team, Camera(given.folder))
                print(f"{name}: {given.folder}", flush=True)


if __name__ == "__main__":
    main()
