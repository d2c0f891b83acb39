"""Snapshots and exports of a project of any size: time and peak memory, and what people feel who save meanwhile.

`python -m tests.benchmarks.growth.datasets [DOCUMENTS ...]` prints a table for each size, on SQLite and PostgreSQL. Each
snapshot and export runs in a process of its own, so that its peak of resident memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from db.ids import new_id
from engine.annotation.edits import EditWords
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.datasets import snapshots
from engine.datasets.estimates import questions_answered, would_take
from engine.datasets.filters import Filters
from engine.datasets.snapshot_views import newest_view, snapshot_lines
from engine.interchange.exports import export
from engine.settings import Settings
from engine.training.sources.corpus import corpus_of
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import command
from tests.benchmarks.growth.project import Grown
from tests.benchmarks.growth.queue import Work
from tests.support.annotators import make_person

PEOPLE = 20
MORE = 10  # answers
LOOKS = 12
EVERYTHING = Filters(quarantined=True, unfit=True)
FIRST, AGAIN, AFTER, COCO, READ = (
    "snapshot of all answers, first time",
    "the same snapshot again",
    f"snapshot after {MORE} more answers",
    "COCO export of all answers",
    "training's first read of a snapshot",
)
MINUTE = 60_000.0
BARS = {FIRST: MINUTE, AGAIN: MINUTE, AFTER: MINUTE, COCO: 2 * MINUTE, READ: None}
MEMORY = 500.0  # MiB
SAVE, ALONE, LOG = (
    f"save of {PEOPLE} people while a snapshot is made",
    f"save of {PEOPLE} people without it",
    "write-ahead log at its largest, MB (a number)",
)
QUIET = 20.0  # seconds
ESTIMATE, QUESTIONS, LINES, NEWEST = (
    "estimate on the tab Export",
    "questions on the tab Export",
    "list of snapshots",
    "newest snapshot on the tab Quality",
)


def measure(workspace: Workspace, grown: Grown) -> list[Row]:
    """Return times and megabytes.

    Args:
        workspace: open workspace.
        grown: project in it; its people answer some more of its tasks.
    """
    rows: list[Row] = []
    for what in BARS:
        if what == AFTER:
            _answer_more(workspace, grown)
        found = _alone(workspace.settings, grown.project, what)
        rows.append(Row(what, found["ms"], found["ms"], 1, BARS[what]))
        rows.append(
            Row(f"{what}: peak, MiB (a number)", found["peak"], found["peak"], 1, MEMORY if BARS[what] else None)
        )
        if what == FIRST:
            rows.insert(0, Row("memory after imports, MiB (a number)", found["base"], found["base"], 1))
    rows += _saves(workspace, grown)
    looks: dict[str, Callable[[], object]] = {
        ESTIMATE: lambda: would_take(workspace, grown.project, EVERYTHING),
        QUESTIONS: lambda: questions_answered(workspace, grown.project),
        LINES: lambda: snapshot_lines(workspace, grown.project),
        NEWEST: lambda: newest_view(workspace, grown.project, 30),
    }
    return rows + [row(what, [_times(look)], 100.0) for what, look in looks.items()]


def _alone(settings: Settings, project: str, what: str) -> dict[str, float]:
    with _process(settings.data_dir, settings.url, project, what) as process:
        said, _ = process.communicate()
    return dict(json.loads(said.splitlines()[-1]))


@contextmanager
def _process(folder: Path, address: str, project: str, what: str) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-m", "tests.benchmarks.growth.datasets", "--one", str(folder), address, project, what]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        yield process
    if process.returncode:
        raise SystemExit(f"{what} failed; see above.")


def _one(folder: str, address: str, project: str, what: str) -> None:
    """Do one act in this process, and print its figures as JSON."""
    settings = Settings(data_dir=Path(folder), database_url=address, _env_file=None)  # type: ignore[call-arg]
    with closing(open_workspace(settings)) as workspace, tempfile.TemporaryDirectory() as out:
        base, began = _peak(), time.monotonic()
        if what == COCO:
            export(workspace, project, "coco", Path(out) / "set")
        elif what == READ:
            newest = snapshot_lines(workspace, project)[0].sha256
            began = time.monotonic()
            corpus_of(workspace, newest, exact=False)
        else:
            snapshots.freeze_with(workspace, project, EVERYTHING)
        print(json.dumps({"ms": 1000 * (time.monotonic() - began), "base": base, "peak": _peak()}))


def _peak() -> float:
    """Return the peak of resident memory in MiB; getrusage would count that of the process that started this one."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def _answer_more(workspace: Workspace, grown: Grown) -> None:
    work = Work(workspace, grown.project, grown.people[0])
    task = work.next(None)
    for _ in range(MORE):
        work.answer(task)
        task = work.next(task)


def _saves(workspace: Workspace, grown: Grown) -> list[Row]:
    """Saves of many people, one a second each: first while another process makes a snapshot, then without it.

    The snapshot's files go to an empty folder, as a first one's. SQLite's write-ahead log cannot be emptied while the
    snapshot is read.
    """
    log = workspace.settings.data_dir / "glossator.db-wal"
    people = [make_person(workspace, f"Person {at}", grown.project).id for at in range(PEOPLE)]
    saving = [Saving(Work(workspace, grown.project, person)) for person in people]
    largest = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        at_work(saving) as meanwhile,
        _process(Path(folder), workspace.settings.url, grown.project, FIRST) as process,
    ):
        while process.poll() is None:
            largest = max(largest, log.stat().st_size if log.exists() else 0)
            time.sleep(0.2)
    with at_work(saving) as alone:
        time.sleep(QUIET)
    megabytes = largest / 1e6
    return [row(SAVE, [meanwhile], 50.0), row(ALONE, [alone]), Row(LOG, megabytes, megabytes, 1)]


class Saving:
    """One person who saves an answer of their own each second."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.answer, self.head, self.page = work.begun(work.next(None))

    def go_on(self, ended: threading.Event, wait: float, times: list[float]) -> None:
        """Save until `ended`; who is kept waiting makes the next save late, and that counts."""
        due = time.perf_counter() + wait
        while not ended.wait(max(0.0, due - time.perf_counter())):
            edits = [
                EditWords(op="words", page=self.page, **{("add", "remove")[self.head % 2]: [3 + self.head // 2 % 4]})
            ]
            request = RevisionRequest(idempotency_key=new_id(), base=self.head, edits=edits)  # type: ignore[arg-type]
            append_revision(self.work.workspace, self.answer, request, self.work.person)
            times.append(1000 * (time.perf_counter() - due))
            self.head, due = self.head + 1, due + 1


@contextmanager
def at_work(saving: list[Saving]) -> Iterator[list[float]]:
    """Let people save in the meantime; the list holds their milliseconds at the end."""
    ended, times = threading.Event(), list[float]()
    threads = [
        threading.Thread(target=one.go_on, args=(ended, at / len(saving), times)) for at, one in enumerate(saving)
    ]
    for thread in threads:
        thread.start()
    try:
        yield times
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _times(look: Callable[[], object]) -> list[float]:
    taken = []
    for _ in range(LOOKS):
        began = time.perf_counter()
        look()
        taken.append(1000 * (time.perf_counter() - began))
    return taken


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        _one(*sys.argv[2:6])
    else:
        command(measure)
