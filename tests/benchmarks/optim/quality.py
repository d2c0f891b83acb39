"""Final loss of every optimizer at an equal tuning budget on three tasks, with intervals, curves and ablations.

    python -m tests.benchmarks.optim.quality FOLDER [--tasks characters,segmentation,shift] [--seeds 5] [--workers 2]
    [--ablations] [--rates 3]

Every row gets five learning rates at one seed, spaced by a factor of 2 around a centre; the best rate of the five best
rows (and of default, adamw and galore) is run with the other seeds. Trials are kept in FOLDER/trials.jsonl as they end:
the same command goes on where it was interrupted, and --only ROW,ROW or a longer --seeds adds to what is there. Tables
are printed, plots drawn into FOLDER.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import torch

from tests.benchmarks.optim import report
from tests.benchmarks.optim.rows import Row, ablations, rows
from tests.benchmarks.optim.task import Task
from tests.benchmarks.optim.trial import Trial, run

TASKS = ("characters", "segmentation", "shift")
RATES = 5
FINALISTS = 5
ALWAYS = ("default", "adamw", "galore")


@dataclass(frozen=True, slots=True)
class Ask:
    """One trial to run. place: of the learning rate among the RATES."""

    task: str
    row: str
    place: int
    seed: int
    steps: int

    @property
    def rate(self) -> float:
        return everything()[self.row].centre(self.task) * 2.0 ** (self.place - RATES // 2)

    @property
    def key(self) -> str:
        return f"{self.task}|{self.row}|{self.rate:.3g}|{self.seed}|{self.steps}"


def places_of(rates: int) -> range:
    """The middle ones of the learning rates."""
    return range((RATES - rates) // 2, (RATES + rates) // 2)


def task_of(name: str) -> Task:
    if name == "characters":
        from tests.benchmarks.optim.characters import CharacterTask

        return CharacterTask()
    if name == "segmentation":
        from tests.benchmarks.optim.segmentation import SegmentationTask

        return SegmentationTask()
    from tests.benchmarks.optim.shift import ShiftTask

    return ShiftTask()


_TASKS: dict[str, Task] = {}  # of this worker process: pages are drawn once


def perform(ask: Ask) -> Trial:
    torch.set_num_threads(1)
    if ask.task not in _TASKS:
        _TASKS[ask.task] = task_of(ask.task)
    row = everything()[ask.row]
    return run(_TASKS[ask.task], row.make, ask.rate, ask.seed, ask.steps)


@cache
def everything() -> dict[str, Row]:
    return ablations() | rows()


class Trials:
    """What has been run, in a file that is added to line by line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.found: dict[str, Trial] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            for line in path.read_text().splitlines():
                kept = json.loads(line)
                self.found[kept.pop("key")] = Trial(**{field.name: kept[field.name] for field in fields(Trial)})

    def add(self, ask: Ask, trial: Trial) -> None:
        self.found[ask.key] = trial
        with self._path.open("a") as file:
            file.write(json.dumps({"key": ask.key} | asdict(trial)) + "\n")

    def run(self, asks: Sequence[Ask], pool: ProcessPoolExecutor) -> None:
        waiting = {pool.submit(perform, ask): ask for ask in asks if ask.key not in self.found}
        for count, done in enumerate(as_completed(waiting), 1):
            ask = waiting[done]
            trial = done.result()
            self.add(ask, trial)
            print(f"{count}/{len(waiting)} {ask.key} {trial.loss:.4f}", file=sys.stderr, flush=True)


def best_place(trials: Trials, task: str, row: str, steps: int) -> int:
    """Of the learning rates that were tried at the first seed."""
    tried = {place: Ask(task, row, place, 0, steps).key for place in range(RATES)}
    return min(
        (place for place, key in tried.items() if key in trials.found),
        key=lambda place: trials.found[tried[place]].loss,
    )


def finalists(trials: Trials, task: str, names: Sequence[str], steps: int) -> Iterator[str]:
    """The rows that get more seeds."""
    losses = {
        name: trials.found[Ask(task, name, best_place(trials, task, name, steps), 0, steps).key].loss for name in names
    }
    ranked = sorted(names, key=lambda name: losses[name])
    return (name for name in names if name in ranked[:FINALISTS] or name in ALWAYS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--only", default="", help="names of rows, separated by commas")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument(
        "--rates", type=int, default=RATES, help="how many of the learning rates, from the middle outwards"
    )
    parser.add_argument("--steps", type=int, help="instead of each task's own")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--ablations", action="store_true", help="the ablation table instead of the comparison")
    parser.add_argument("--table", action="store_true", help="only print and draw what the folder has")
    given = parser.parse_args()
    table = ablations() if given.ablations else rows()
    names = given.only.split(",") if given.only else list(table)
    trials = Trials(given.folder / "trials.jsonl")
    steps = {task: given.steps or STEPS[task] for task in TASKS}
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        for task in given.tasks.split(","):
            if not given.table:
                asks = [Ask(task, name, place, 0, steps[task]) for name in names for place in places_of(given.rates)]
                trials.run(asks, pool)
                chosen = names if given.ablations else list(finalists(trials, task, names, steps[task]))
                places = {name: best_place(trials, task, name, steps[task]) for name in chosen}
                # The rows that the bars speak of come first, should somebody stop this.
                asks = [
                    Ask(task, name, places[name], seed, steps[task])
                    for name in sorted(chosen, key=lambda name: name not in ALWAYS)
                    for seed in range(1, given.seeds)
                ]
                trials.run(asks, pool)
            results = [
                report.Result(name, rates, trials_of)
                for name in names
                if (found := gathered(trials, task, name, steps[task], given.seeds)) is not None
                for rates, trials_of in [found]
            ]
            report.print_task(task, steps[task], results)
            kind = "ablations" if given.ablations else "quality"
            report.draw(given.folder / f"optim_{kind}_{task}.png", task, results)


STEPS = {"characters": 300, "segmentation": 300, "shift": 150}


def gathered(
    trials: Trials, task: str, name: str, steps: int, seeds: int
) -> tuple[dict[float, float], list[Trial]] | None:
    """Losses by learning rate at the first seed, and the trials of the best rate, one a seed; None where there are
    none."""
    asks = [ask for place in range(RATES) if (ask := Ask(task, name, place, 0, steps)).key in trials.found]
    if not asks:
        return None
    rates = {ask.rate: trials.found[ask.key].loss for ask in asks}
    place = best_place(trials, task, name, steps)
    several = [Ask(task, name, place, seed, steps).key for seed in range(seeds)]
    return rates, [trials.found[key] for key in several if key in trials.found]


if __name__ == "__main__":
    main()
