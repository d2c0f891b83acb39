"""Take the pictures of README and docs anew: `python -m tests.browser.doc_pictures`, or `make pictures`.

A real server with the shipped samples and with generated documents runs in a temporary folder; a browser works on it
as a person would. The pictures are written to docs/pictures.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from engine.projects.projects import create_project, project_named
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.browser.bench import Bench
from tests.browser.conftest import ARGUMENTS, PATIENCE
from tests.support.repository import ROOT
from tests.support.server_process import Served
from tests.support.work_history import make_weeks

PICTURES = ROOT / "docs" / "pictures"
SIZE = {"width": 1280, "height": 800}
COLOURS = 256  # of a stored picture: text stays sharp, and the picture stays below 150 KB
GENERATED, WEEKS = "generated invoices and forms", "eleven weeks of work"
TOTAL, NUMBER, CUSTOMER = "What is the total due?", "What is the invoice number?", "Who is the customer?"


class Studio:
    """A browser page on the server, and the folder that its pictures go to."""

    def __init__(self, server: Served, browser: Browser, ids: Mapping[str, str]) -> None:
        self.server = server
        self.ids = ids  # of projects, by name
        self.page: Page = browser.new_context(viewport=SIZE).new_page()  # type: ignore[arg-type]
        self.bench = Bench(self.page, server.address)

    def open(self, project: str, document: str = "") -> None:
        """Open a project in the workspace, or one of its documents by its name."""
        place = f"project={self.ids[project]}"
        if document:
            listed = self.page.request.get(f"{self.server.address}/api/projects/{self.ids[project]}/documents").json()
            place += f"&document={next(each['id'] for each in listed if document in each['name'])}"
        self.page.goto("about:blank")  # a fragment alone would not load the page anew
        self.page.goto(f"{self.server.address}/app/#{place}")
        self.page.wait_for_selector(".glossator[data-started]", timeout=120_000)

    def tab(self, name: str, shows: str) -> None:
        """Open a tab and wait until it shows a text."""
        self.page.get_by_role("tab", name=name, exact=True).click()
        expect(self.page.get_by_text(shows).locator("visible=true").first).to_be_visible()

    def take(self, name: str) -> None:
        """Store what the page shows, in few colours."""
        expect(self.page.locator(".g-toast")).to_have_count(0)
        self.page.mouse.move(SIZE["width"] - 3, SIZE["height"] - 3)
        self.page.wait_for_timeout(1500)  # transitions and plots come to rest
        shot = Image.open(BytesIO(self.page.screenshot())).convert("RGB")
        few = shot.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)  # keeps rare colours too
        few.save(PICTURES / f"{name}.png", optimize=True)


def workspace(studio: Studio) -> None:
    """Take the workspace with an answer, then a wrong answer corrected."""
    page, bench = studio.page, studio.bench
    studio.open("default", "HV-20418")
    expect(page.locator(".g-document[aria-selected=true]")).to_contain_text("HV-20418")
    bench.ready()
    bench.settled()
    for question in (CUSTOMER, NUMBER, TOTAL):
        bench.ask(question)
    studio.take("workspace")
    page.keyboard.press("Enter")
    bench.settled()
    page.locator("[aria-label='Questions asked about this document'] [role=option]", has_text=CUSTOMER).click()
    expect(page.locator(".g-asked")).to_have_text(CUSTOMER)
    bench.settled()
    page.keyboard.press("Delete")
    page.keyboard.press("w")
    for first, last in (("Institute", "Studies"), ("Accounts", "payable"), ("Seestrasse", "201"), ("8700", "Küsnacht")):
        bench.drag(bench.centre(first), bench.centre(last))
        bench.settled()
    page.keyboard.press("z")
    studio.take("corrected")
    page.keyboard.press("Enter")
    bench.settled()


def questions(studio: Studio) -> None:
    """Take the tab on which standard questions are written, then the queue that they make."""
    studio.open("default")
    studio.tab("Questions", "Standard questions")
    studio.page.get_by_role("textbox", name="Standard questions").fill("\n".join((TOTAL, NUMBER, CUSTOMER)))
    studio.page.get_by_role("button", name="Save questions").click()
    studio.tab("Questions", "Open")
    studio.take("questions")
    studio.open("default")
    studio.page.keyboard.press("l")
    expect(studio.page.locator(".g-task")).to_be_visible()
    studio.bench.settled()
    studio.take("queue")


def documents(studio: Studio) -> None:
    """Take the list of documents."""
    studio.open(GENERATED)
    studio.tab("Documents", "train")
    studio.take("documents")


def training(studio: Studio) -> None:
    """Take the tab on which a retraining was judged."""
    studio.open(GENERATED)
    studio.tab("Training", "Retrain now")
    studio.take("training")


def export(studio: Studio) -> None:
    """Take the tab of the exports, with one that is done."""
    studio.open(GENERATED)
    studio.tab("Export", "COCO")
    studio.page.get_by_role("button", name="Export as COCO").click()
    expect(studio.page.get_by_text("kept until")).to_be_visible()
    studio.take("export")


def quality(studio: Studio) -> None:
    """Take the plots over some weeks of made-up work."""
    studio.open(WEEKS)
    studio.tab("Quality", "Masks a day")
    studio.take("quality")


SCENES: tuple[Callable[[Studio], None], ...] = (workspace, questions, documents, training, export, quality)


def prepare(server: Served) -> None:
    """Fill the data folder of a server that does not run yet."""
    generated = server.folder / "generated"
    for command in (
        ("synth", str(generated), "--pages", "40", "--seed", "7"),
        ("import", str(generated), "--project", GENERATED),
        ("retrain", "--project", GENERATED, "--steps", "60"),
    ):
        program = [sys.executable, "-m", "engine.cli", *command]
        subprocess.run(program, cwd=server.folder, env=server.environment, check=True, stdout=sys.stderr)
    with opened(server) as workspace:
        make_weeks(workspace, create_project(workspace, WEEKS), datetime.now(UTC).date(), a_day=5)


@contextmanager
def opened(server: Served) -> Iterator[Workspace]:
    """The server's data, opened beside it."""
    found = open_workspace(Settings(data_dir=server.data, _env_file=None))
    yield found
    found.close()


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="Folder that keeps the data: a second time nothing is trained.")
    kept: Path | None = parser.parse_args().keep
    PICTURES.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=PATIENCE)
    folder = kept or Path(tempfile.mkdtemp(prefix="glossator-pictures-"))
    server = Served(folder, {"OMP_NUM_THREADS": "1"}, ("--samples",))
    try:
        if not server.data.exists():
            server.data.mkdir(mode=0o700, parents=True)
            prepare(server)
        server.start()
        with opened(server) as workspace:
            ids = {name: project_named(workspace, name).id for name in ("default", GENERATED, WEEKS)}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
            studio = Studio(server, browser, ids)
            for scene in SCENES:
                scene(studio)
    finally:
        server.stop()
        if kept is None:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
