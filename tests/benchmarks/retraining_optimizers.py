"""What one round of retraining gives by optimizer, through folds, refit and gate.

    python -m tests.benchmarks.retraining_optimizers DATA OUT [--sets forms,receipts] [--draws 3] [--at-once 1] [--table]

DATA holds forms/ and receipts/ in the grounded format; orders are generated. People correct 60 pages, the model is
retrained once and asked for the unseen pages, for the other set and for generated pages. Each draw is another choice
of the pages and another seed, the same for all optimizers, so that they are compared in pairs with the first, the
default. All take the same steps and no clock ends them, so other work on the machine changes no figure. Finished runs
are kept in the repository; --figures FOLDER names another folder, an empty one to measure all anew. Prints a table
for docs/benchmarks.md.
"""

import argparse
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.benchmarks.markdown import table
from tests.benchmarks.retraining import FIGURES, Case, read_figures, set_folders, simulated

ARMS: Mapping[str, str] = {"blocks": "nothing", "whole": "whole", "AdamW": "adamw"}  # to --against of `simulate`
_PAGES = 60
_STEPS = 260  # eight passes over the pages, as a retraining chooses them itself; a fold takes half
_MINUTES = 600  # the clock must not end a run
CASES = tuple(
    Case(name, 1, _PAGES, watch) for name, watch in (("forms", "receipts"), ("receipts", "forms"), ("orders", "forms"))
)


@dataclass(frozen=True, slots=True)
class Run:
    """One retraining: its set, its optimizer and its draw."""

    case: Case
    arm: str
    seed: int

    @property
    def file(self) -> str:
        return f"{self.case.name}-{self.arm.lower()}-{self.seed}.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--figures", type=Path, default=FIGURES / "optimizers")
    parser.add_argument("--sets", default="forms,receipts")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=1, help="simulations, one thread each")
    parser.add_argument("--table", action="store_true", help="only print what the figures have")
    chosen = parser.parse_args()
    cases = [case for case in CASES if case.name in chosen.sets.split(",")]
    draws = range(1, chosen.draws + 1)
    if not chosen.table:
        folders = set_folders(chosen.data, chosen.out, cases)
        # Draw by draw, so that a comparison that somebody stops has all optimizers.
        runs = [Run(case, arm, seed) for seed in draws for case in cases for arm in ARMS]

        def run(one: Run) -> None:
            given = ("--against", ARMS[one.arm], "--steps", str(_STEPS), "--minutes", str(_MINUTES))
            simulated(one.case, one.seed, folders, chosen.out, chosen.figures / one.file, given)

        with ThreadPoolExecutor(chosen.at_once) as pool:
            list(pool.map(run, runs))
    rows = []
    for case in cases:
        found = {
            arm: {
                seed: figures for seed in draws if (figures := read_figures(chosen.figures / Run(case, arm, seed).file))
            }
            for arm in ARMS
        }
        rows += [_row(case, arm, ran, found[next(iter(ARMS))]) for arm, ran in found.items() if ran]
    heads = ["set", "optimizer", "draws", "unseen pages", "each draw", "to the default", "other set", "generated", "promoted"]  # fmt: skip
    print(table(heads, rows, left=2))


def _row(
    case: Case, arm: str, ran: Mapping[int, Mapping[str, Any]], default: Mapping[int, Mapping[str, Any]]
) -> list[str]:
    """Return the figures of the retrained weights, whether they were promoted or not, as gains over the first version."""

    def gain(figures: Mapping[str, Any]) -> float:
        before, after = figures["rounds"]
        return float(after["challenger"]["acc_50"] - before["acc_50"])

    gains = {seed: gain(figures) for seed, figures in ran.items()}
    paired = [gains[seed] - gain(default[seed]) for seed in gains if seed in default]

    def moved(name: str) -> str:
        each = [
            one[name]["acc_50"] - figures["rounds"][0][name]["acc_50"]
            for figures in ran.values()
            if (one := figures["rounds"][1])["promoted"]
        ]
        return f"{fmean(each):+.3f}" if each else "-"

    return [
        case.name,
        arm,
        str(len(ran)),
        f"{fmean(gains.values()):+.3f}",
        ", ".join(f"{one:+.3f}" for one in gains.values()),
        f"{fmean(paired):+.3f}" if paired and ran is not default else "",
        moved("watched"),
        moved("generated"),
        f"{sum(figures['rounds'][1]['promoted'] for figures in ran.values())} of {len(ran)}",
    ]


if __name__ == "__main__":
    main()
