"""Scrolling of the table of answers in Chromium: times between frames while all its rows pass by, and their work."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import CDPSession, sync_playwright

from engine.workspace import Workspace
from tests.benchmarks.app.measured import percentile
from tests.benchmarks.growth.project import Grown
from tests.browser.conftest import ARGUMENTS
from tests.browser.tabs import tab
from tests.support.server_process import Served

# Scrolls down a window of rows a frame, until no further row comes; returns [milliseconds between two frames,
# milliseconds of tasks above 50, rows].
_SCROLL = """() => new Promise((done) => {
  const grid = document.querySelector('.g-table'), frames = [], tasks = [];
  const seen = new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)));
  seen.observe({ type: 'longtask' });
  let last = performance.now(), still = 0;
  const step = (now) => {
    frames.push(now - last);
    last = now;
    const before = grid.scrollTop;
    grid.scrollTop += 300;
    still = grid.scrollTop === before ? still + 1 : 0;
    const all = Number(grid.ariaRowCount) - 1;
    const rows = Math.round(grid.querySelector('.g-table-room').offsetHeight / grid.querySelector('.g-table-room > *').offsetHeight);
    if (still > 20 && rows >= all) return seen.disconnect(), done([frames.slice(1), tasks, rows]);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def scroll(workspace: Workspace, grown: Grown) -> list[list[str]]:
    """Return lines of a table: frames while new rows are fetched, and once all rows are there."""
    executable = shutil.which("chromium")
    if executable is None:
        raise SystemExit("The benchmark needs Chromium (Debian package: chromium).")
    settings = workspace.settings
    places = {"GLOSSATOR_DATA_DIR": str(settings.data_dir), "GLOSSATOR_DATABASE_URL": settings.database_url}
    lines = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        served = Served(Path(folder), places)
        served.start()
        try:
            browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.set_default_timeout(600_000)
            page.goto(f"{served.address}/app/#project={grown.project}")
            page.wait_for_selector(".glossator[data-started]")
            tab(page, "Table")
            page.wait_for_selector(".g-table-room > .g-table-row")
            browsing = page.context.new_cdp_session(page)
            browsing.send("Performance.enable", {"timeDomain": "threadTicks"})
            for what in ("rows are fetched", "all rows are there"):
                page.evaluate("document.querySelector('.g-table').scrollTop = 0")
                begin = _processor(browsing)
                frames, tasks, rows = page.evaluate(_SCROLL)
                work = 1000 * (_processor(browsing) - begin) / len(frames)
                times = (percentile(frames, 0.5), percentile(frames, 0.95), max(frames))
                lines.append([f"{rows:,} rows, {what}: between frames, ms", *(f"{each:.0f}" for each in times)])
                longest = f"{max(tasks, default=0):.0f}"
                lines.append(["processor of the page's thread, ms a frame", f"{work:.1f}", "", ""])
                lines.append([f"tasks above 50 ms: {len(tasks)} beside {len(frames):,} frames", "", "", longest])
            browser.close()
        finally:
            served.stop()
    return lines


def _processor(browsing: CDPSession) -> float:
    """Return the seconds that the page's main thread has had of a processor."""
    metrics = browsing.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))
