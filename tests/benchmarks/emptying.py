"""Saves of 20 people before, while and after a worker deletes the 1,000 documents of a bin for good.

`python -m tests.benchmarks.emptying [--postgresql]` starts a server and a worker. Each person saves an edit a second.
The documents have words, answers with proposals, a survey, files, thumbnails, and what followers make of them; as many
stay in their project. Prints what a save takes, from the moment at which the edit was made.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update

from db.changes import publish
from db.tables import Annotation, Document, Page, Prediction, RemovedDocument, Revision
from engine.commands.servers.worker import PARENT
from engine.documents.lists.thumbnails import Thumbnail
from engine.followers import catch_up
from engine.lifecycle import bin as documents_bin
from engine.lifecycle import erasing
from engine.models import registry
from engine.projects.projects import change_settings
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.app import saving
from tests.benchmarks.app.measured import percentile
from tests.benchmarks.growth.databases import postgresql
from tests.benchmarks.growth.files import store_files
from tests.benchmarks.growth.project import analyze, grow, survey
from tests.benchmarks.markdown import table
from tests.support.server_process import Served
from tests.support.waiting import wait_until

DOCUMENT_BYTES, PAGE_BYTES, THUMBNAIL_BYTES = 40_000, 80_000, 8_000
WIDTHS = (160, 400)  # of thumbnails that people have seen
LOOK = 0.25  # seconds between two looks whether the bin is empty
AIM = 100.0  # ms: 95 % of saves while the bin is emptied
_AT_ONCE = 500


def fill_bin(workspace: Workspace, documents: int) -> str:
    """Make a project of twice so many documents and remove half of them into its bin; return its id."""
    grown = grow(workspace, 2 * documents, name="emptied")
    change_settings(workspace, grown.project, retrain_automatically=False)  # it would be measured, too
    survey(workspace, grown.project)
    _propose(workspace, grown.project)
    pages = store_files(workspace, grown.project, document_bytes=DOCUMENT_BYTES, page_bytes=PAGE_BYTES)
    with workspace.database.read() as session:
        images = session.scalars(select(Page.image_sha256).where(Page.id.in_(pages[: 2 * _AT_ONCE]))).all()
        chosen = select(Document.id).where(Document.project_id == grown.project).order_by(Document.id)
        removed = session.scalars(chosen.limit(documents)).all()
    for image in images:
        for width in WIDTHS:
            path = Thumbnail(workspace, image, width).path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\0" * THUMBNAIL_BYTES)
    yesterday = time.time() - 86_400  # files that were put within the hour would stay
    for blob in workspace.blobs.list_blobs():
        os.utime(workspace.blobs.path(blob.sha256), (yesterday, yesterday))
    for start in range(0, documents, documents_bin.MOST):
        documents_bin.remove(workspace, grown.project, removed[start : start + documents_bin.MOST], None)
    wait_until(lambda: catch_up(workspace))
    analyze(workspace)
    return grown.project


def _propose(workspace: Workspace, project: str) -> None:
    """Let each answer begin with a proposal of the model in use, on which its first revision builds."""
    version = registry.ensure_shipped(workspace).id
    of_project = select(Annotation.id, Annotation.question_id, Annotation.document_id, Annotation.created_at)
    with workspace.database.read() as session:
        answers = session.execute(of_project.where(Annotation.project_id == project)).all()
        first = dict(session.execute(select(Page.document_id, Page.id).where(Page.number == 1)).tuples().all())
    answer = {"words": [0], "mask": {"box": [0, 0, 0, 0], "counts": []}, "text": "freight", "score": 0.5}
    figures = {"answer": answer, "score": 0.5, "answered": 0.9, "milliseconds": 20.0}
    for start in range(0, len(answers), _AT_ONCE):
        some = answers[start : start + _AT_ONCE]
        with workspace.database.write() as session:
            proposals = [
                Prediction(
                    annotation_id=each.id,
                    page_id=first[each.document_id],
                    question_id=each.question_id,
                    model_version_id=version,
                    created_at=each.created_at,
                    **figures,
                )
                for each in some
            ]
            session.add_all(proposals)
            session.flush()
            publish(session, "answers", some[0].project_id)
            for proposal in proposals:
                of_first = Revision.annotation_id == proposal.annotation_id, Revision.number == 1
                session.execute(update(Revision).where(*of_first).values(prediction_id=proposal.id))


@contextmanager
def working(served: Served) -> Iterator[None]:
    """Run a worker beside the server."""
    command = [sys.executable, "-m", "engine.cli", "worker", "--metrics-port", "0"]
    with (served.folder / "worker.log").open("a") as log:
        environment = {**served.environment, PARENT: str(os.getpid())}  # it ends with the benchmark
        worker = subprocess.Popen(command, cwd=served.folder, env=environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        worker.terminate()
        worker.wait()


class Phases:
    """People who save, phase after phase; each phase becomes a row of the table."""

    def __init__(self, address: str, prepared: tuple[Any, ...]) -> None:
        self._address = address
        self._page, self._numbers, self._size, self.people = prepared
        self.rows: list[list[str]] = []
        self._alone = 0.0  # 95 % of the first phase

    def forget(self) -> None:
        """Begin the table anew."""
        self.rows.clear()
        self._alone = 0.0

    def save(self, name: str, goes_on: Callable[[], bool]) -> None:
        """Save as long as it goes on, and add the row."""
        for person in self.people:
            person.times.clear()
        began = time.perf_counter()
        asyncio.run(saving.save_while(goes_on, self._address, self.people, self._page, self._numbers, self._size))
        seconds = time.perf_counter() - began
        times = [took for person in self.people for took in person.times]
        of_all = percentile(times, 0.95)
        self._alone = self._alone or of_all
        shown = [percentile(times, 0.5), of_all, percentile(times, 0.99), max(times)]
        rate, ratio = f"{len(times) / seconds:.1f}", f"{of_all / self._alone:.1f}"
        self.rows.append([name, f"{seconds:.0f}", str(len(times)), rate, *(f"{each:.0f}" for each in shown), ratio])


def measure(workspace: Workspace, served: Served, project: str, people: int, seconds: float) -> tuple[Phases, float]:
    """Return the phases, and the seconds that emptying took.

    Args:
        workspace: Of the server.
        served: The server, which runs.
        project: Id of the project with the bin.
        people: Number of people who save.
        seconds: Of the phases before and after.
    """
    phases = Phases(served.address, saving.prepare(workspace, served.address, people, 600))
    emptied, left = threading.Event(), select(func.count()).select_from(RemovedDocument)
    took = 0.0

    def empty() -> None:
        nonlocal took
        began = time.perf_counter()
        chosen = erasing.mark(workspace, project, None, None)
        assert chosen.documents and not chosen.stays
        while not emptied.wait(LOOK):
            with workspace.database.read() as session:
                if not session.scalar(left):
                    emptied.set()
        took = time.perf_counter() - began

    with working(served):
        phases.save("warming up", saving.for_seconds(5))
        phases.forget()
        phases.save("without", saving.for_seconds(seconds))
        thread = threading.Thread(target=empty)
        thread.start()
        phases.save("while the bin is emptied", lambda: not emptied.is_set())
        thread.join()
        phases.save("after it", saving.for_seconds(seconds))
    return phases, took


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.emptying", description=__doc__)
    parser.add_argument("--documents", type=int, default=1000, help="in the bin; as many stay in the project")
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30, help="of the phases before and after")
    parser.add_argument("--postgresql", action="store_true", help="otherwise SQLite")
    options = parser.parse_args(words)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="glossator-emptying-"))
        address = stack.enter_context(postgresql()) if options.postgresql else ""
        served = Served(Path(folder), {"GLOSSATOR_AUTH": "login", "GLOSSATOR_DATABASE_URL": address})
        settings = Settings(data_dir=served.data, database_url=address, auth="login", _env_file=None)  # type: ignore[call-arg]
        workspace = stack.enter_context(closing(open_workspace(settings)))
        project = fill_bin(workspace, options.documents)
        stack.callback(served.stop)
        served.start()
        phases, took = measure(workspace, served, project, options.people, options.seconds)
        wrong = [error for person in phases.people for error in person.errors]
    heads = ["saves", "s", "saves", "a second", "median ms", "95 %", "99 %", "most", "95 % / without"]
    print(table(heads, phases.rows))
    kind = "PostgreSQL" if options.postgresql else "SQLite"
    print(f"{options.documents:,} documents were deleted in {took:.0f} s, {kind}. Aim: 95 % below {AIM:g} ms.")
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
