"""What an action costs with 200, 2,000 and 20,000 documents: python -m tests.benchmarks.growth [PART ...].

Makes each project through the tables of the ORM, measures every part on SQLite and PostgreSQL, and writes into the folder
the table, a curve for each part, and growth.json. What growth.json holds already is not measured again, so the benchmark
goes on where it was stopped; --again measures anew. Ends with status 1 where an aim is missed.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from tests.benchmarks.app.measured import Row
from tests.benchmarks.growth.databases import KINDS, SIZES, Measure, grown_project
from tests.benchmarks.markdown import table
from tests.benchmarks.plots import curves

PARTS = ("queue", "figures", "polls", "lists", "tables", "reads", "changes", "datasets", "screen", "idle")
GREW = 1.5  # times from 2,000 to 20,000 documents: more is a defect
SMALL, LARGE = 2000, 20_000
LOST_IN_NOISE = 5.0  # milliseconds: below, growth is not told from chance

Found = dict[str, dict[str, dict[str, list[Row]]]]  # part -> database -> documents -> rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--documents", type=int, nargs="+", default=list(SIZES), help="sizes of the projects")
    parser.add_argument("--databases", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--out", type=Path, default=Path("build/bench-growth"))
    parser.add_argument("--again", action="store_true", help="measure what growth.json holds already")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"There is no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}.")
    parts: list[str] = given.parts or list(PARTS)
    found = _read(given.out)
    for documents in given.documents:
        for kind in given.databases:
            missing = [part for part in parts if given.again or str(documents) not in found.get(part, {}).get(kind, {})]
            if missing:
                _measure(found, missing, documents, kind, given.out)
    missed = 0
    for part in parts:
        for kind, sizes in found.get(part, {}).items():
            print(f"\n{part.capitalize()}, {kind}\n{_table(sizes)}", flush=True)
            missed += sum(cell.startswith("MISSED") for row in _rows(sizes) for cell in row)
        _draw(given.out / f"growth_{part}.png", part, found.get(part, {}))
    return 1 if missed else 0


def _measure(found: Found, parts: list[str], documents: int, kind: str, out: Path) -> None:
    with grown_project(documents, kind) as (workspace, grown):
        for part in parts:
            measure: Measure = import_module(f"tests.benchmarks.growth.{part}").measure
            rows = measure(workspace, grown)
            found.setdefault(part, {}).setdefault(kind, {})[str(documents)] = rows
            _write(out, found)
            print(f"{documents:,} documents, {kind}: {part} measured", flush=True)


def _read(out: Path) -> Found:
    path = out / "growth.json"
    stored = json.loads(path.read_text()) if path.exists() else {}
    return {
        part: {
            kind: {size: [Row(**row) for row in rows] for size, rows in sizes.items()} for kind, sizes in kinds.items()
        }
        for part, kinds in stored.items()
    }


def _write(out: Path, found: Found) -> None:
    out.mkdir(parents=True, exist_ok=True)
    stored = {
        part: {
            kind: {size: [asdict(row) for row in rows] for size, rows in sizes.items()} for kind, sizes in kinds.items()
        }
        for part, kinds in found.items()
    }
    beside = out / "growth.json.new"
    beside.write_text(json.dumps(stored, indent=1))
    beside.replace(out / "growth.json")


def _table(sizes: dict[str, list[Row]]) -> str:
    heads = ["median / 95 %, ms", *(f"{int(size):,}" for size in _ordered(sizes)), "growth", "aim at 20,000", ""]
    return table(heads, _rows(sizes))


def _rows(sizes: dict[str, list[Row]]) -> list[list[str]]:
    """One line for each act: its times by size, its growth from 2,000 to 20,000 documents, its aim and the verdict."""
    lines = []
    for what, bar in {row.what: row.bar for rows in sizes.values() for row in rows}.items():
        by_size = {int(size): row for size, rows in sizes.items() for row in rows if row.what == what}
        times = [by_size.get(int(size)) for size in _ordered(sizes)]
        small, large = by_size.get(SMALL), by_size.get(LARGE)
        ratio = large.p50 / small.p50 if small and large and small.p50 else math.nan
        grew = ratio > GREW and large is not None and large.p50 > LOST_IN_NOISE
        wrong = [
            *(["MISSED"] if bar is not None and large is not None and large.p95 > bar else []),
            *(["GREW"] if grew else []),
        ]
        lines.append(
            [
                what,
                *("" if row is None else f"{row.p50:.0f} / {row.p95:.0f}" for row in times),
                "" if math.isnan(ratio) else f"{ratio:.1f}",
                "" if bar is None else f"{bar:g}",
                ", ".join(wrong) or ("met" if bar is not None and large is not None else ""),
            ]
        )
    return lines


def _draw(path: Path, part: str, kinds: dict[str, dict[str, list[Row]]]) -> None:
    series = {}
    for kind, sizes in kinds.items():
        for what in {row.what: None for rows in sizes.values() for row in rows}:
            points = [(int(size), row.p50) for size in _ordered(sizes) for row in sizes[size] if row.what == what]
            series[f"{what}, {kind}"] = ([x for x, _ in points], [max(y, 0.1) for _, y in points])
    if series:
        title = f"{part.capitalize()}: what an action costs as the project grows"
        curves(path, series, title=title, x="documents", y="median, ms", log_x=True, log_y=True)


def _ordered(sizes: dict[str, list[Row]]) -> list[str]:
    return sorted(sizes, key=int)


if __name__ == "__main__":
    raise SystemExit(main())
