"""How long until what one window does stands in another: two windows of one browser, a worker beside the server."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time
from collections.abc import Callable

from playwright.sync_api import Page

from tests.benchmarks.app.chromium import workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.app.pages import document
from tests.benchmarks.app.server import Client, serving
from tests.browser.bench import Bench

BAR = 2000.0
_serial = itertools.count(1)
OWN = {"X-Glossator": "1", "Sec-Fetch-Site": "same-origin"}

# Milliseconds until a condition holds in this window, looked at in each frame.
_UNTIL = """([condition, given]) => new Promise((done, failed) => {
  const began = performance.now(), holds = eval(condition);
  const look = () => {
    if (holds(given)) return done(performance.now() - began);
    if (performance.now() - began > 60000) return failed(new Error('stale for a minute: ' + condition));
    setTimeout(look, 20);
  };
  look();
})"""


def measure(seconds: float) -> list[Row]:
    """Milliseconds from the server's answer to one window to the frame of the other; acts in turn for so many seconds."""
    taken: dict[str, list[float]] = {}
    with serving({"GLOSSATOR_MAX_READ_SECONDS": "300"}) as served:
        worker = subprocess.Popen([sys.executable, "-m", "engine.cli", "worker"], env=served.environment)
        try:
            with workspace(served.address) as bench:
                other = bench.page.context.new_page()
                other.goto(f"{served.address}/app/")
                other.wait_for_selector(".glossator[data-started]")
                acts = _acts(bench, Client(served.address), other)
                until = time.monotonic() + seconds
                for name in itertools.cycle(acts):
                    taken.setdefault(name, []).append(acts[name]())
                    if time.monotonic() > until:
                        break
        finally:
            worker.terminate()
            worker.wait(timeout=60)
    return [row(f"{name}, until the other window shows it", [times], BAR) for name, times in taken.items()]


def _acts(bench: Bench, client: Client, other: Page) -> dict[str, Callable[[], float]]:
    """What one window does, and what the other has to show then; each returns the milliseconds between."""
    project = client.project()

    def until(condition: str, given: object) -> float:
        return float(other.evaluate(_UNTIL, [condition, given]))

    def upload() -> float:
        name = f"fresh {next(_serial)}.pdf"
        bench.upload(document(1, 60, seed=next(_serial)), name)
        return until("(id) => document.querySelector(`.g-document[data-document='${id}']`)", bench.place()["document"])

    def ask() -> float:
        bench.ask("What is the amount?")
        other.locator(f".g-document[data-document='{bench.place()['document']}']").click()
        return until("(text) => document.querySelector('.g-asked')?.textContent === text", "What is the amount?")

    def accept() -> float:
        if not bench.painted().any():
            bench.keys.press("x")
        bench.keys.press("Enter")
        bench.settled()
        return until(
            "(id) => document.querySelector(`.g-document[data-document='${id}']`).textContent.includes('1 of')",
            bench.place()["document"],
        )

    def question() -> float:
        text = f"Which one is it, {next(_serial)}?"
        body = {"questions": [text]}
        path = f"{bench.server}/api/projects/{project}/standard-questions"
        assert bench.page.request.put(path, data=body, headers=OWN).ok
        return until("(text) => document.querySelector('.g-suggestions-room').textContent.includes(text)", text)

    def project_made() -> float:
        name = f"made {next(_serial)}"
        assert bench.page.request.post(f"{bench.server}/api/projects", data={"name": name}, headers=OWN).ok
        return until("(name) => document.querySelector('.g-project').textContent.includes(name)", name)

    return {
        "a document arrives": upload,
        "a question is asked": ask,
        "an answer is accepted": accept,
        "a standard question is written": question,
        "a project is made": project_made,
    }
