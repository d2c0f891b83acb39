"""Deleting 20 documents of a bin for good, in projects of two sizes with 30 snapshots that were frozen meanwhile.

`python -m tests.benchmarks.frozen_bin [--documents 200 2000]` prints processor seconds: to choose the documents, until
the first is deleted, for each of the others, and for two hourly looks at 20 documents which the snapshots hold. Each
snapshot lacks other documents, so most of its files are its own.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from sqlalchemy import select, update

from db.base import now
from db.tables import Document, RemovedDocument
from engine.datasets import snapshots
from engine.followers import catch_up
from engine.lifecycle import bin as documents_bin
from engine.lifecycle import bins, erasing
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.growth.project import grow
from tests.benchmarks.markdown import table
from tests.support.waiting import wait_until

DELETED, SNAPSHOTS = 20, 30
_LACKS = 40  # each snapshot lacks a document of so many


def measure(workspace: Workspace, documents: int) -> list[float]:
    """Return processor seconds: choosing, first deletion, each further one, and two looks at documents that are held."""
    project = grow(workspace, documents).project
    with workspace.database.read() as session:
        chosen = select(Document.id).where(Document.project_id == project).order_by(Document.id)
        ids = session.scalars(chosen).all()
    gone, held = ids[:DELETED], ids[DELETED : 2 * DELETED]
    documents_bin.remove(workspace, project, gone, None)
    for number in range(SNAPSHOTS):
        lacking = ids[2 * DELETED + number :: _LACKS]
        documents_bin.remove(workspace, project, lacking, None)
        snapshots.freeze(workspace, project)
        documents_bin.restore(workspace, project, lacking, None)
    documents_bin.remove(workspace, project, held, None)
    yesterday = time.time() - 86_400  # files that were put within the hour would stay
    for blob in workspace.blobs.list_blobs():
        os.utime(workspace.blobs.path(blob.sha256), (yesterday, yesterday))
    wait_until(lambda: catch_up(workspace))
    choosing = _seconds(lambda: erasing.mark(workspace, project, gone, None))
    first = _seconds(lambda: erasing.erase_marked(workspace, seconds=0.001))
    others = _seconds(lambda: erasing.erase_marked(workspace)) / (DELETED - 1)
    with workspace.database.write() as session:
        old = now() - timedelta(days=workspace.settings.bin_days + 1)
        session.execute(update(RemovedDocument).values(removed_at=old))
    looks = []
    for _ in range(2):
        bins._looked_at.clear()  # an hour later
        looks.append(_seconds(lambda: erasing.look_after(workspace)))
    return [choosing, first, others, *looks]


def _seconds(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.frozen_bin", description=__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[200, 2000], help="of the project")
    rows = []
    for documents in parser.parse_args(words).documents:
        with tempfile.TemporaryDirectory(prefix="glossator-frozen-") as folder:
            workspace = open_workspace(Settings(data_dir=Path(folder)))
            rows.append([f"{documents:,}", *(f"{seconds:.2f}" for seconds in measure(workspace, documents))])
    print(table(["documents", "choosing", "first", "each further", "first look", "second look"], rows))


if __name__ == "__main__":
    main()
