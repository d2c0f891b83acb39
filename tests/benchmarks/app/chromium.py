"""Debian's Chromium on the workspace, with a clock from the event to the frame that shows it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

from tests.browser.bench import Bench
from tests.browser.conftest import ARGUMENTS

# Of each event: its kind, milliseconds to the frame that shows it, and of these the milliseconds in which the page worked: the
# listeners, and the frame itself. The rest is the wait for the screen's next frame. The frame counts as shown when the first
# task after its painting runs. Registered before the workspace's own listeners, so that the workspace draws in the very frame
# that is waited for.
CLOCK = """() => {
  window.took = [];
  let step = null;
  const begin = (event) => {
    const at = event.timeStamp, began = performance.now(), own = (step = { ended: began });
    if (['Control', 'Shift'].includes(event.key)) return; // the key that does something follows
    requestAnimationFrame(() => {
      const listeners = own.ended - began, drawing = performance.now();
      const painted = () => {
        const shown = performance.now();
        window.took.push([event.type, shown - at, listeners + shown - drawing]);
      };
      scheduler.postTask(painted, { priority: 'user-blocking' });
    });
  };
  for (const type of ['pointerdown', 'pointermove', 'pointerup', 'keydown']) {
    window.addEventListener(type, begin, { capture: true });
    window.addEventListener(type, () => (step.ended = performance.now()));
  }
}"""

# Milliseconds from now until the wanted page stands on the screen, its marks with it.
OPENED = """([act, wanted, marked]) => new Promise((resolve, reject) => {
  const root = document.querySelector('.glossator'), { workspace } = root, began = performance.now();
  setTimeout(() => reject(new Error('the page does not open')), 120000);
  const look = () => {
    const { document } = workspace.library, shown = root.dataset.ready;
    const another = document && document.id !== workspace.before && document.pages.some((page) => page.id === shown);
    if (!(wanted ? shown === wanted : another) || (marked && !workspace.stage.mark.words.length)) return requestAnimationFrame(look);
    requestAnimationFrame(() => { const channel = new MessageChannel(); channel.port1.onmessage = () => resolve(performance.now() - began); channel.port2.postMessage(null); });
  };
  workspace.before = workspace.library.document?.id;
  eval(act);
  requestAnimationFrame(look);
})"""


@contextmanager
def workspace(address: str) -> Iterator[Bench]:
    """The workspace in a fresh profile."""
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("The benchmark needs Chromium (Debian package: chromium).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        page: Page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        page.set_default_timeout(180_000)
        page.add_init_script(f"({CLOCK})()")
        page.goto(f"{address}/app/")
        page.wait_for_selector(".glossator[data-started]")
        yield Bench(page, address)
        browser.close()


def steps(bench: Bench) -> list[tuple[str, float, float]]:
    """Event, milliseconds to its frame, milliseconds of these at work: of each event since the last call."""
    bench.page.wait_for_timeout(100)
    took: list[tuple[str, float, float]] = bench.page.evaluate("() => window.took.splice(0)")
    return [(kind, total, work) for kind, total, work in took]


def frames(bench: Bench) -> dict[str, list[float]]:
    """Event -> milliseconds to its frame, since the last call."""
    found: dict[str, list[float]] = {}
    for kind, milliseconds, _ in steps(bench):
        found.setdefault(kind, []).append(milliseconds)
    return found


def opening(bench: Bench, act: str, wanted: str | None = None, marked: bool = False) -> float:
    """Milliseconds from running the JavaScript `act` to the frame with the page `wanted`; None: of any other document."""
    return float(bench.page.evaluate(OPENED, [act, wanted, marked]))
