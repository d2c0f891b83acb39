"""Backup and restore of an installation: seconds, and bytes that are written.

python -m tests.benchmarks.backup [--pages 10000] [--folder FOLDER]. Pages have 246 words and files of 170 KB, and
documents of two pages a file of 60 KB, as 211 real pages of digital papers have on average. Half of the tasks are
answered. The folder takes three times the files: 6 GB for 10,000 pages.
"""

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import insert

from db.tables import PageWord
from engine.lifecycle.backup import back_up
from engine.lifecycle.backup_folder import BackupFolder
from engine.lifecycle.restore import check_backup, restore
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.growth.databases import KINDS, postgresql
from tests.benchmarks.growth.files import store_files
from tests.benchmarks.growth.project import WORDS, grow
from tests.benchmarks.markdown import table
from tests.support.installation import path_with_postgresql, silent

PAGES_OF_DOCUMENT = 2
WORDS_OF_PAGE = 246
PAGE_BYTES, DOCUMENT_BYTES = 170_000, 60_000
LATER_PAGES = 100  # that come between two backups
T = TypeVar("T")
_AT_ONCE = 500  # pages in one statement of words


def fill(workspace: Workspace, pages: int, name: str) -> None:
    """Add a project of so many pages, each with its own words and files."""
    grown = grow(workspace, pages // PAGES_OF_DOCUMENT, name=name)
    page_ids = store_files(workspace, grown.project, document_bytes=DOCUMENT_BYTES, page_bytes=PAGE_BYTES)
    for begin in range(0, len(page_ids), _AT_ONCE):
        rows = [
            {"page_id": page, "number": at, "position": at, "line": at // 9, "text": f"freight{at * 37 % 1000}"}
            | {"x0": 20 + at % 9 * 40, "y0": 20 + at // 9 * 9, "x1": 55 + at % 9 * 40, "y1": 28 + at // 9 * 9}
            for page in page_ids[begin : begin + _AT_ONCE]
            for at in range(WORDS, WORDS_OF_PAGE)
        ]
        with workspace.database.engine.begin() as connection:
            connection.execute(insert(PageWord), rows)


def measure(workspace: Workspace, place: Path, new: Settings) -> Iterator[tuple[str, float, int, int]]:
    """Yield rows: what was done, seconds, bytes of the database that were written, bytes of files that were written."""
    for step in ("first backup", "second, nothing new", f"third, {LATER_PAGES} new pages"):
        if step.startswith("third"):
            fill(workspace, LATER_PAGES, "later")
        seconds, written = timed(lambda: back_up(workspace, place, silent))
        yield step, seconds, written.database_bytes, written.copied_bytes
    backup = BackupFolder(place).read()
    yield "check of a backup", timed(lambda: check_backup(backup, silent))[0], 0, 0
    database = (backup.folder / backup.manifest.database_file).stat().st_size
    yield "restore", timed(lambda: restore(new, backup, silent))[0], database, backup.manifest.bytes


def timed(act: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds of a call, with its result."""
    began = time.perf_counter()
    result = act()
    return time.perf_counter() - began, result


@contextmanager
def databases(kind: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses of two empty databases."""
    if kind == "SQLite":
        yield "", ""
        return
    with postgresql() as first, postgresql() as second:
        yield first, second


def main() -> None:
    """Print a table for each kind of database."""
    parser = argparse.ArgumentParser(description="Backup and restore: seconds and bytes.")
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="on the disk that is measured; default: that of temporary files")
    parser.add_argument("--database", choices=KINDS, help="one of them; default: both")
    chosen = parser.parse_args()
    os.environ["PATH"] = path_with_postgresql()
    for kind in [chosen.database] if chosen.database else KINDS:
        folder = Path(tempfile.mkdtemp(dir=chosen.folder))
        try:
            with databases(kind) as (address, other):
                settings = Settings(data_dir=folder / "data", database_url=address, _env_file=None)
                new = Settings(data_dir=folder / "new", database_url=other, _env_file=None)
                with closing(open_workspace(settings)) as workspace:
                    fill(workspace, chosen.pages, "pages")
                    rows = [
                        [step, f"{seconds:.1f}", f"{database / 1e6:,.0f}", f"{files / 1e6:,.0f}"]
                        for step, seconds, database, files in measure(workspace, folder / "backups", new)
                    ]
            print(table([f"{chosen.pages:,} pages, {kind}", "s", "MB of database", "MB of files"], rows), flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
