"""From Enter on an answer of the queue to the next one's mark, and what a step asks of the server."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Request, sync_playwright

from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.app.server import Client, serving
from tests.browser.bench import invoice
from tests.browser.conftest import ARGUMENTS

MEDIAN_BAR, SLOW_BAR = 150.0, 300.0
LOOKS = 1.5  # seconds that a person looks at an answer, at the least
QUESTIONS = ["What is the total due?", "What is the invoice date?", "What is the invoice number?"]

# Milliseconds from Enter to the frame in which the next task's answer stands with its page.
_FOLLOW = """() => { window.step = new Promise((resolve, reject) => {
  const root = document.querySelector('.glossator'), { workspace } = root, { tasks } = workspace.work;
  const before = tasks.task?.id;
  let began = 0;
  setTimeout(() => reject(new Error('no next task')), 60000);
  window.addEventListener('keydown', (event) => (began = event.timeStamp), { capture: true, once: true });
  const look = () => {
    const { local } = workspace.answer, { library } = workspace;
    const stands = tasks.task && tasks.task.id !== before && local?.question.text === tasks.task.question.text
      && library.document?.id === tasks.task.document_id && root.dataset.ready && root.dataset.ready === library.page?.id;
    if (!stands) return requestAnimationFrame(look);
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
  };
  look();
}); }"""


def measure(rounds: int, documents: int = 12) -> list[Row]:
    """Milliseconds; prints the requests of a step."""
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("The benchmark needs Chromium (Debian package: chromium).")
    steps: list[list[float]] = []
    asked: list[int] = []
    with serving({"GLOSSATOR_MAX_READ_SECONDS": "300"}) as served, sync_playwright() as playwright:
        client = Client(served.address)
        client.send("PUT", f"/projects/{client.project()}/standard-questions", {"questions": QUESTIONS})
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        for at in range(rounds):
            for number in range(documents):
                client.upload(invoice(pages=2), f"paper {at}-{number}.pdf")
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.set_default_timeout(120_000)
            page.goto(f"{served.address}/app/")
            page.locator(".g-mode[data-mode=queue]").click()
            page.wait_for_function("() => document.querySelector('.glossator').workspace.answer.local")
            page.locator(".g-canvas").focus()
            took: list[float] = []
            kinds: Counter[str] = Counter()
            requests: list[str] = []
            page.on("request", _noting(requests))
            for number in range(documents * len(QUESTIONS) - 2):
                page.wait_for_timeout(LOOKS * 1000)
                requests.clear()
                page.evaluate(_FOLLOW)
                page.keyboard.press("Enter")
                took.append(page.evaluate("() => window.step"))
                if number:  # the first waits for the networks
                    asked.append(len(requests))
                    kinds.update(_kind(request) for request in requests)
            steps.append(took[1:])
            print(f"requests until the next mark, of {len(took) - 1} steps: {dict(kinds.most_common())}", flush=True)
            page.context.close()
        browser.close()
    print(f"requests of a step: median {sorted(asked)[len(asked) // 2]}, most {max(asked)}", flush=True)
    return [row("Enter to the next task's answer", steps, SLOW_BAR)]


def _noting(requests: list[str]) -> Callable[[Request], None]:
    def note(request: Request) -> None:
        requests.append(f"{request.method} {urlsplit(request.url).path}")

    return note


def _kind(request: str) -> str:
    """A request without the ids of its path."""
    return "/".join("*" if len(part) > 24 else part for part in request.split("/"))
