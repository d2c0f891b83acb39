"""Simulated annotators at once: times of saves, what is stored, and memory of the web processes.

`python -m tests.benchmarks.annotators --annotators 200 --minutes 10` starts `glossator serve --workers 2` on a
PostgreSQL of its own with a project of 2,000 documents, in which each annotator has an account, a login, connections and
a stream of changes of their own. They work through the queue as the page does, with an edit every five seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import select

from annotator.auth import COOKIE
from db.tables import Page
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.annotators.connections import Connections
from tests.benchmarks.annotators.processes import Watch, database_process, web_processes
from tests.benchmarks.annotators.stored import check
from tests.benchmarks.annotators.window import Record, Window
from tests.benchmarks.app.edits import draw_strokes
from tests.benchmarks.app.measured import HEADS, percentile, row
from tests.benchmarks.growth.databases import postgresql
from tests.benchmarks.growth.project import SIZE, Grown, grow
from tests.benchmarks.markdown import table
from tests.benchmarks.observed import scraped
from tests.benchmarks.plots import add_plots_argument, curves
from tests.support.accounts import cookie_of, make_user
from tests.support.server_process import Served

BAR = 100.0  # milliseconds, of 95 % of the saves
LOADED = 16  # answers one after the other, each over a connection of its own, of processes that have loaded
ARRIVAL = 30.0  # seconds in which the annotators come to work, at the most


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.annotators", description=__doc__)
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=5, help="seconds between two edits of an annotator")
    parser.add_argument("--documents", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2, help="number of web processes")
    parser.add_argument("--observed", action="store_true", help="with metrics that are read, JSON logs and access log")
    add_plots_argument(parser)
    options = parser.parse_args()
    with (
        postgresql() as address,
        tempfile.TemporaryDirectory(prefix="glossator-annotators-") as folder,
        contextlib.ExitStack() as stack,
    ):
        environment = {"GLOSSATOR_AUTH": "login", "GLOSSATOR_DATABASE_URL": address}
        if options.observed:
            environment |= stack.enter_context(scraped())
        served = Served(Path(folder), environment, ("--workers", str(options.workers)))
        settings = Settings(data_dir=served.data, database_url=address, auth="login", _env_file=None)  # type: ignore[call-arg]
        with closing(open_workspace(settings)) as workspace:
            grown = grow(workspace, options.documents)
            windows = _windows(workspace, served, grown, options.annotators, options.every)
            served.start()
            try:
                assert served.process is not None
                database = database_process(Path(parse_qs(urlsplit(address).query)["host"][0]))
                watch = Watch(web_processes(served.process.pid), database)
                arrival = min(ARRIVAL, 15 * options.minutes)
                with workspace.database.read() as session:
                    page = session.scalars(select(Page.id).limit(1)).one()
                shares = _run(windows, watch, page, 60 * options.minutes, arrival)
            finally:
                served.stop()
            records = [window.record for window in windows]
            wrong = check(workspace, records)
        log = (served.folder / "server.log").read_text()
    _report(records, watch, shares, arrival, options.plots)
    if log.strip() and not options.observed:
        print(f"\nThe server's log:\n{log[-3000:]}")
    print("\nEvery acknowledged revision is stored once, in order." if not wrong else "\n".join(wrong[:20]))
    sys.exit(1 if wrong else 0)


def _windows(workspace: Workspace, served: Served, grown: Grown, annotators: int, every: float) -> list[Window]:
    strokes = draw_strokes(random.Random(0), (SIZE[1], SIZE[0]))
    windows = []
    for number in range(annotators):
        user = make_user(workspace, f"Annotator {number + 1}", **{grown.project: "annotator"})
        cookie = f"{COOKIE}={cookie_of(workspace, user)[COOKIE]}"
        connections = Connections(served.port, cookie)
        windows.append(Window(connections, user.id, grown.project, seed=number, strokes=strokes, every=every))
    return windows


async def _until_loaded(window: Window, page: str) -> None:
    """Wait until every web process has loaded the networks, as a server has long after its start."""
    in_a_row = 0
    while in_a_row < LOADED:
        connections = Connections(window.connections.port, window.connections.cookie)  # any process takes it
        encoding = (await connections.exchange("POST", f"/api/pages/{page}/encode")).json()
        connections.close()
        in_a_row = 0 if encoding["status"] == "loading" else in_a_row + 1
        await asyncio.sleep(0.2)


def _run(windows: list[Window], watch: Watch, page: str, seconds: float, arrival: float) -> dict[str, float]:
    """Let everybody work; return the shares of the processor from when all had arrived."""

    async def come(window: Window, number: int, begun: float) -> None:
        await asyncio.sleep(arrival * number / len(windows))
        await window.work(begun, begun + arrival + seconds)

    async def all_work() -> dict[str, float]:
        await _until_loaded(windows[0], page)
        begun = time.monotonic()
        people = [asyncio.create_task(come(window, number, begun)) for number, window in enumerate(windows)]
        await asyncio.sleep(arrival)
        looking = asyncio.create_task(watch.look())
        await asyncio.sleep(seconds)
        shares = watch.shares()
        looking.cancel()
        await asyncio.gather(*people)
        with contextlib.suppress(asyncio.CancelledError):
            await looking
        return shares

    try:
        import uvloop
    except ImportError:
        return asyncio.run(all_work())
    return uvloop.run(all_work())


def _report(records: list[Record], watch: Watch, shares: dict[str, float], arrival: float, plots: Path | None) -> None:
    saves = [save for record in records for save in record.saves]
    settled = [took for at, took in saves if at >= arrival]
    rows = [row(f"save, {len(records)} annotators", [settled], BAR).cells()]
    for what in sorted({what for record in records for what in record.times} - {"save"}):
        rows.append(row(what, [[took for record in records for took in record.times.get(what, [])]]).cells())
    print(table([f"from when all had come, {arrival:g} s", *HEADS[1:]], rows))
    print(f"\nsaves: 99 % {percentile(settled, 0.99):.0f} ms, slowest {max(settled, default=0):.0f} ms")
    print(f"tasks answered: {sum(record.tasks for record in records)}")
    minutes = sorted({int(at // 60) for readings in watch.memory.values() for at, _ in readings})
    heads = ["minute", *(str(minute + 1) for minute in minutes)]
    of_minutes = [
        [
            f"web process {number}, MB",
            *(f"{max(size for at, size in watch.memory[process] if int(at // 60) == m):.0f}" for m in minutes),
        ]
        for number, process in enumerate(watch.web, 1)
    ]
    late = [[took for at, took in saves if int((at - arrival) // 60) == m and at >= arrival] for m in minutes]
    of_minutes.append(["saves, 95 % ms", *(f"{percentile(took, 0.95):.0f}" for took in late)])
    of_minutes.append(["saves", *(str(len(took)) for took in late)])
    print("\n" + table(heads, of_minutes))
    print("\n" + table(["part", "cores"], [[part, f"{share:.2f}"] for part, share in shares.items()]))
    errors: dict[str, int] = {}
    for record in records:
        for sentence, times in record.errors.items():
            errors[sentence] = errors.get(sentence, 0) + times
    print(f"\nerrors: {sum(errors.values())}")
    for sentence, times in sorted(errors.items(), key=lambda item: -item[1])[:12]:
        print(f"  {times} x {sentence}")
    if plots is not None:
        series = {
            f"web process {number}": ([at / 60 for at, _ in readings], [size for _, size in readings])
            for number, readings in enumerate((watch.memory[process] for process in watch.web), 1)
        }
        title = f"Resident memory with {len(records)} annotators at work"
        curves(plots / "memory.png", series, title=title, x="minutes", y="MB")


if __name__ == "__main__":
    main()
