"""Exports of many answers: time, peak memory and bytes, by format. `make bench-export`, or python -m tests.benchmarks.export_size --answers 100000.

The project is made directly in the database: documents of one page, ten answers a page, masks of words. Each export runs in a process of its own, so that
its peak of resident memory is its own (getrusage; Linux counts it in kilobytes).
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine.interchange.exports import export
from engine.interchange.formats import FORMATS
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace

ANSWERS_A_PAGE = 10


def make(folder: Path, answers: int) -> str:
    """Fill a workspace with so many accepted answers; return the project's id."""
    from tests.support.factories import accept_several, line, make_document, make_project

    workspace = open_workspace(Settings(data_dir=folder))
    project = make_project(workspace, "many").id
    for number in range(-(-answers // ANSWERS_A_PAGE)):
        rows = [one for row in range(ANSWERS_A_PAGE) for one in line(f"Key{row}: {number}.{row}", 20, 20 + 24 * row)]
        document = make_document(
            workspace, project, [rows], split=("train", "recent", "frozen")[number % 3], name=f"{number}.png"
        )
        accept_several(workspace, document, {f"What is key {row}?": [2 * row + 1] for row in range(ANSWERS_A_PAGE)})
    workspace.close()
    return project


def one(folder: Path, project: str, form: str, out: Path) -> None:
    """Export once, in this process; print the figures as JSON."""
    workspace: Workspace = open_workspace(Settings(data_dir=folder))
    began = time.monotonic()
    written = export(workspace, project, form, out)
    seconds = time.monotonic() - began
    peak = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    )  # before anything is counted, which takes memory too
    bytes_ = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(json.dumps({"answers": written.answers, "seconds": seconds, "megabytes": bytes_ / 1e6, "peak_mib": peak}))
    workspace.close()


def main() -> None:
    """Measure the formats at two sizes, to see what grows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--formats", nargs="*", default=list(FORMATS))
    parser.add_argument("--one", nargs=4, metavar=("FOLDER", "PROJECT", "FORMAT", "OUT"), help=argparse.SUPPRESS)
    parser.add_argument(
        "--folder", type=Path, help="Where the projects are made; what is there already is not made again."
    )
    parser.add_argument("--only-make", action="store_true", help="Make the projects and measure nothing.")
    given = parser.parse_args()
    if given.one:
        one(Path(given.one[0]), given.one[1], given.one[2], Path(given.one[3]))
        return
    with tempfile.TemporaryDirectory(prefix="glossator-bench-") as temporary:
        folder = given.folder or Path(temporary)
        projects = {answers: made(folder / str(answers), answers) for answers in (1_000, given.answers)}
        if given.only_make:
            return
        print(f"{'format':14}{'answers':>9}{'seconds':>9}{'MB':>9}{'peak MiB':>10}")
        for form in given.formats:
            for answers, project in projects.items():
                measure(folder / str(answers), project, form, Path(temporary) / "out")


def made(folder: Path, answers: int) -> str:
    """Make the project unless it is there; return its id."""
    note = folder / "project"
    if not note.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        project = make(folder, answers)
        note.write_text(project)
    return note.read_text()


def measure(folder: Path, project: str, form: str, out: Path) -> None:
    """Export in another process, and print its line."""
    command = [sys.executable, "-m", __spec__.name, "--one", str(folder), project, form, str(out)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    found = json.loads(said)
    print(
        f"{form:14}{found['answers']:>9,}{found['seconds']:>9.1f}{found['megabytes']:>9.1f}{found['peak_mib']:>10.0f}",
        flush=True,
    )
    shutil.rmtree(out)


if __name__ == "__main__":
    main()
