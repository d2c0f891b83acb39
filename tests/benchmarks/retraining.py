"""What retraining gives, by `glossator simulate`, in medians of several draws: python -m tests.benchmarks.retraining DATA OUT

DATA holds forms/ and receipts/ in the grounded format. A third set is generated: purchase orders. Each draw is another
order of the pages and another seed. Figures of finished draws are kept in the repository; --figures FOLDER names another
folder, an empty one to measure all anew. A simulation that was stopped goes on after its last round, from OUT. Prints a
table for docs/benchmarks.md of the draws that there are, and draws OUT/retraining.png. A second table compares what
verdicts measured on the corrected pages with what became of the unseen ones.
"""

import argparse
import json
import os
import re
import shutil
import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.plurals import count
from engine.simulation.checkpoints import STATE_FILE
from engine.simulation.picture import draw
from tests.benchmarks.markdown import table
from tests.benchmarks.shell import glossator

_IN_A_VERDICT = re.compile(r"held-out documents \(from ([\d.]+) to ([\d.]+)\)")
FIGURES = Path(__file__).with_name("figures") / "retraining"
_ORDERS = ("--kind", "order", "--seed", "4242", "--pages", "150")


@dataclass(frozen=True, slots=True)
class Case:
    """A set with its rounds; `watch` is the set of which nothing is shown."""

    name: str
    rounds: int
    pages: int
    watch: str


CASES = (Case("forms", 6, 10, "receipts"), Case("receipts", 3, 20, "forms"), Case("orders", 3, 20, "forms"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--figures", type=Path, default=FIGURES)
    parser.add_argument("--table", action="store_true", help="only print and draw what the figures have")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=[case.name for case in CASES], help="forms, receipts, orders")
    parser.add_argument(
        "--minutes", type=float, default=12, help="of each retraining; generous where runs share a core"
    )
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1, help="simulations, one thread each")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    cases = [case for case in CASES if case.name in chosen.sets]
    if not chosen.table:
        _simulate(chosen, cases)
    files = {case: [_file(chosen.figures, case, seed) for seed in range(1, chosen.draws + 1)] for case in cases}
    read = {case: [figures for file in each if (figures := read_figures(file))] for case, each in files.items()}
    found = {case: draws for case, draws in read.items() if draws}
    for case, draws in found.items():
        print(f"\n{case.name}, {count(len(draws), 'draw')}\n")
        print(_table(draws))
    print(f"\nVerdicts\n\n{_verdicts({case.name: draws for case, draws in found.items()})}")
    drawn = {f"{case.name}, draw {seed}": one for case, draws in found.items() for seed, one in enumerate(draws, 1)}
    draw(drawn, chosen.out / "retraining.png")


def _simulate(chosen: argparse.Namespace, cases: Sequence[Case]) -> None:
    folders = set_folders(chosen.data, chosen.out, cases)
    todo = [(case, seed) for seed in range(1, chosen.draws + 1) for case in cases]

    def run(one: tuple[Case, int]) -> None:
        case, seed = one
        done = _file(chosen.figures, case, seed)
        simulated(case, seed, folders, chosen.out, done, ("--minutes", str(chosen.minutes)))

    with ThreadPoolExecutor(chosen.at_once) as pool:
        list(pool.map(run, todo))


def set_folders(data: Path, out: Path, cases: Sequence[Case]) -> dict[str, Path]:
    """Return the folder of each set; purchase orders are generated into OUT where they are asked for."""
    orders = out / "orders"
    if any(case.name == "orders" for case in cases) and not (orders / "pages.jsonl").is_file():
        glossator("synth", str(orders), *_ORDERS)
    return {"forms": data / "forms", "receipts": data / "receipts", "orders": orders}


def simulated(
    case: Case, seed: int, folders: Mapping[str, Path], out: Path, done: Path, options: Sequence[str]
) -> None:
    """Write the figures of a draw into the file `done`, unless it is there. A run that was stopped goes on.

    Args:
        case: set with its rounds.
        seed: draw.
        folders: of each set.
        out: folder of what is under way.
        done: file for the figures.
        options: more options of `glossator simulate`.
    """
    if done.is_file():
        return
    kept = out / "under way" / done.stem
    if not (kept / STATE_FILE).is_file():  # stopped before its first round was measured
        shutil.rmtree(kept, ignore_errors=True)
    said = glossator(
        "simulate",
        str(folders[case.name]),
        *("--rounds", str(case.rounds), "--pages", str(case.pages), "--seed", str(seed)),
        *("--watch", str(folders[case.watch]), "--json", "--keep", str(kept), "--resume", *options),
    )
    figures = json.loads(said.splitlines()[-1])
    figures["plan"]["watched"] = case.watch  # not the path
    done.parent.mkdir(parents=True, exist_ok=True)
    temporary = done.with_suffix(".tmp")
    temporary.write_text(json.dumps(figures, indent=1), "utf-8")
    temporary.replace(done)
    shutil.rmtree(kept)


def _file(figures: Path, case: Case, seed: int) -> Path:
    return figures / f"{case.name}-{seed}.json"


def read_figures(file: Path) -> dict[str, Any] | None:
    """Return the figures of a draw, None where it did not run."""
    found: dict[str, Any] | None = json.loads(file.read_text("utf-8")) if file.is_file() else None
    return found


def _table(draws: Sequence[Mapping[str, Any]]) -> str:
    heads = [
        "pages", "acc@.5", "gained", "of each draw", "other set", "generated", "declined", "promoted", "minutes a round",
    ]  # fmt: skip
    rows = []
    for rounds in zip(*(one["rounds"] for one in draws), strict=True):
        first = [one["rounds"][0] for one in draws]
        gained = [one["acc_50"] - before["acc_50"] for one, before in zip(rounds, first, strict=True)]
        seconds = [one["seconds"] for one in rounds if one["seconds"] is not None]
        declined = [one["declined"] for one in rounds if one["declined"] is not None]
        rows.append(
            [
                str(rounds[0]["pages"]),
                f"{statistics.median(one['acc_50'] for one in rounds):.3f}",
                f"{statistics.median(gained):+.3f}",
                ", ".join(f"{one:+.3f}" for one in gained),
                _moved([one["watched"]["acc_50"] for one in rounds], [one["watched"]["acc_50"] for one in first]),
                _moved([one["generated"]["acc_50"] for one in rounds], [one["generated"]["acc_50"] for one in first]),
                f"{statistics.median(declined):.2f}" if declined else "-",
                f"{sum(bool(one['promoted']) for one in rounds)} of {len(rounds)}" if seconds else "-",
                f"{statistics.median(seconds) / 60:.1f}" if seconds else "-",
            ]
        )
    return table(heads, rows)


def _verdicts(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Compare the difference of mean IoU in each verdict with that of the same two models on the unseen pages."""
    rows = []
    for name, draws in found.items():
        measured, true, passed = [], [], []
        for draw_ in draws:
            in_use = draw_["rounds"][0]["mean_iou"]
            for one in draw_["rounds"][1:]:
                said = _IN_A_VERDICT.search(one["sentence"] or "")
                if said is not None and one["challenger"] is not None:
                    measured.append(float(said[2]) - float(said[1]))
                    true.append(one["challenger"]["mean_iou"] - in_use)
                    passed.append(bool(one["promoted"]))
                in_use = one["mean_iou"]
        if len(true) < 3:
            continue
        groups = ([gain for gain, was in zip(true, passed, strict=True) if was is which] for which in (True, False))
        means = [f"{statistics.fmean(group):+.3f} ({len(group)})" if group else "-" for group in groups]
        rows.append([name, str(len(true)), f"{statistics.correlation(measured, true):.2f}", *means])
    return table(["set", "verdicts", "correlation", "unseen pages, promoted", "unseen pages, refused"], rows)


def _moved(now: Sequence[float], before: Sequence[float]) -> str:
    moved = statistics.median(one - other for one, other in zip(now, before, strict=True))
    return f"{statistics.median(now):.3f} ({moved:+.3f})"


if __name__ == "__main__":
    main()
