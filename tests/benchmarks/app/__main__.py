"""How long people wait in the workspace: python -m tests.benchmarks.app [PART ...] [--out FOLDER].

Parts: editing (from the hand to the frame, in Chromium), canvas (the same on a scan of 25 megapixels), asking (over HTTP), saving (20 people on SQLite, 100 on PostgreSQL),
opening (a document of 100 pages), screen (first paint with 200 documents, switching tabs, question to mark), queue (from Enter to the next task's answer), fresh (until another window shows what one does). Each starts a server of its own on an empty folder. Prints a table, and writes it with the
plots into the folder. Ends with status 1 where an acknowledged edit is not stored exactly once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.app import asking, canvas, editing, fresh, opening, queue_steps, saving, screen
from tests.benchmarks.app.measured import HEADS, Row
from tests.benchmarks.markdown import table
from tests.benchmarks.plots import bars

PARTS = ("editing", "canvas", "asking", "saving", "opening", "screen", "queue", "fresh")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--out", type=Path, default=Path("build/bench-app"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30, help="how long the people save, a round")
    parser.add_argument("--minutes", type=float, default=10, help="how long two windows are used beside each other")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run? The figures say nothing.")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"There is no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}.")
    rounds, quick = (1, True) if given.quick else (given.rounds, False)
    wrong: list[str] = []

    def save() -> list[Row]:
        found: list[Row] = []
        for people, kind in ((3, "sqlite"), (3, "postgresql")) if quick else ((20, "sqlite"), (100, "postgresql")):
            rows, problems = saving.measure(rounds, people, 3 if quick else given.seconds, kind)
            found += rows
            wrong.extend(problems)
        return found

    parts: dict[str, Callable[[], list[Row]]] = {
        "editing": lambda: editing.measure(rounds, 4 if quick else 40, (60,) if quick else (600, 5000)),
        "canvas": lambda: canvas.measure(rounds, 4 if quick else 24),
        "asking": lambda: asking.measure(rounds, 2 if quick else 40),
        "saving": save,
        "opening": lambda: opening.measure(rounds, 5 if quick else 100),
        "fresh": lambda: fresh.measure(5 if quick else given.minutes * 60),
        "queue": lambda: queue_steps.measure(rounds, 3 if quick else 12),
        "screen": lambda: screen.measure(rounds, 5 if quick else 200, 1 if quick else 5),
    }
    rows: list[Row] = []
    for name in given.parts or PARTS:
        found = parts[name]()
        print(f"\n{name.capitalize()}\n{table(HEADS, [each.cells() for each in found])}", flush=True)
        rows += found
        bars(
            given.out / f"app_{name}.png",
            {each.what: {"median": each.p50, "95 %": each.p95} for each in found},
            title=f"{name.capitalize()}: how long people wait",
            y="milliseconds",
            log_y=True,
        )
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "app.md").write_text(table(HEADS, [each.cells() for each in rows]) + "\n")
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
