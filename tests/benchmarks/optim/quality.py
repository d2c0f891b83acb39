"""Final loss of every optimizer, each tuned alike, with paired intervals and curves.

    python -m tests.benchmarks.optim.quality FOLDER [--tasks characters,segmentation,shift] [--seeds 5] [--workers 2]
    [--ablations | --ladder | --given "ROW=RATE,MOMENTUM,DECAY;..."] [--rounds N] [--device cpu] [--text FOLDER] [--anew]

Rate, momentum and weight decay of each row are tuned in the same number of trials (tests.benchmarks.optim.tuning) on
text, pages and seeds that the comparison never uses. The comparison takes the best settings and fresh seeds. The task
`language` wants the text of tests.benchmarks.optim.language_text and a GPU. Trials are kept in FOLDER/trials.jsonl as
they end: the same command goes on where it was interrupted, and --only "ROW;ROW" or more --seeds add to what is there.
Trials that the documents speak of are kept in the repository, and not run again without --anew.
With --refine four rates around the best, and weight decay where the best has none, are tried again on the tuning text,
at the length of the comparison; --refine 5 judges them by five seeds, for tasks whose losses jump. --given compares
rows at settings of yours, without a tuning. Tables are printed, plots drawn into FOLDER. On a CPU Muon, NorMuon and
Scion orthogonalise in float32.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import platform
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from statistics import fmean

import torch
from torch.linalg import LinAlgError  # type: ignore[attr-defined]  # torch's stubs lack it

from tests.benchmarks.optim.ablations import LADDER, ablations
from tests.benchmarks.optim.rows import ON_GPU, Row, orthogonalise_in, rows
from tests.benchmarks.optim.task import Task
from tests.benchmarks.optim.trial import Settings, Trial, run
from tests.benchmarks.optim.tuning import DECAYED, RATES, ROUNDS, best_of, round_of
from tests.benchmarks.processes import processes

TASKS = ("narrow", "characters", "wide", "segmentation", "shift", "language")
KEPT = Path(__file__).parents[1] / "figures" / "optim" / "trials.jsonl"
TUNING_SEED = 1000
WIDTHS = {"narrow": 128, "characters": 256, "wide": 512}


@dataclass(frozen=True, slots=True)
class Place:
    """Where trials run. text: folder of the language task."""

    device: str = "cpu"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """One trial to run."""

    task: str
    row: str
    settings: Settings
    seed: int
    steps: int
    device: str = "cpu"

    @property
    def tuning(self) -> bool:
        return self.seed >= TUNING_SEED

    @property
    def key(self) -> str:
        each = (self.settings.rate, self.settings.momentum, self.settings.decay)
        on = [] if self.device == "cuda" else [self.device]  # other arithmetic, other losses; those kept are of a GPU
        numbers = [*(f"{value:.3g}" for value in each), str(self.seed), str(self.steps)]
        text = [platform.python_version()] if self.task in WIDTHS else []  # its standard library is the text
        return "|".join([self.task, self.row, *numbers, *on, *text])


def task_of(name: str, place: Place, *, tuning: bool) -> Task:
    if name in WIDTHS:
        from tests.benchmarks.optim.characters import CharacterTask

        return CharacterTask(WIDTHS[name], torch.device(place.device), tuning=tuning)
    if name == "segmentation":
        from tests.benchmarks.optim.segmentation import SegmentationTask

        return SegmentationTask(tuning=tuning)
    if name == "shift":
        from tests.benchmarks.optim.shift import ShiftTask

        return ShiftTask(tuning=tuning)
    from tests.benchmarks.optim.language import LanguageTask

    return LanguageTask(Path(place.text), torch.device(place.device), tuning=tuning)


_TASKS: dict[tuple[str, bool], Task] = {}  # of this worker process: pages are drawn once


def perform(ask: Ask, place: Place) -> Trial:
    torch.set_num_threads(1)
    orthogonalise_in(torch.float32 if ask.device == "cpu" else torch.bfloat16)
    key = (ask.task, ask.tuning)
    if key not in _TASKS:
        _TASKS[key] = task_of(ask.task, place, tuning=ask.tuning)
    try:
        return run(_TASKS[key], everything()[ask.row].make, ask.settings, ask.seed, ask.steps)
    except LinAlgError as error:  # the optimizer's decomposition failed, which counts as a run that diverged
        print(f"{ask.key}: {error}", file=sys.stderr, flush=True)
        return Trial([(0, math.inf)], math.inf, 0.0, {})


@cache
def everything() -> dict[str, Row]:
    return ablations() | rows()


class Trials:
    """What has been run: in a file that is added to line by line, and, read only, in the repository."""

    def __init__(self, path: Path, place: Place, kept: Path | None = KEPT) -> None:
        self._path, self._place = path, place
        self.found: dict[str, Trial] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        for file in (kept, path):
            if file is not None and file.is_file():
                for line in file.read_text("utf-8").splitlines():
                    values = json.loads(line)
                    self.found[values.pop("key")] = Trial(**{one.name: values[one.name] for one in fields(Trial)})

    def ask(self, task: str, row: str, settings: Settings, seed: int, steps: int) -> Ask:
        """Return a trial at the place of these; the tasks of pages run on the processor everywhere."""
        return Ask(task, row, settings, seed, steps, "cpu" if task in ("segmentation", "shift") else self._place.device)

    def add(self, ask: Ask, trial: Trial) -> None:
        self.found[ask.key] = trial
        with self._path.open("a") as file:
            file.write(json.dumps({"key": ask.key} | asdict(trial)) + "\n")

    def run(self, asks: Sequence[Ask], pool: ProcessPoolExecutor) -> None:
        waiting = {pool.submit(perform, ask, self._place): ask for ask in asks if ask.key not in self.found}
        for count, done in enumerate(as_completed(waiting), 1):
            ask = waiting[done]
            trial = done.result()
            self.add(ask, trial)
            print(f"{count}/{len(waiting)} {ask.key} {trial.loss:.4f}", file=sys.stderr, flush=True)


def tuned(
    trials: Trials, task: str, names: Sequence[str], rounds: Sequence[int], steps: int, pool: ProcessPoolExecutor | None
) -> dict[str, list[Settings]]:
    """Return the settings of each row that were tried, the best first.

    Args:
        trials: what was run.
        task: name of the task.
        names: rows.
        rounds: of the tuning, by number.
        steps: of a trial.
        pool: runs what is missing; None: takes what there is.
    """
    tried: dict[str, list[Settings]] = {name: [] for name in names}
    best: dict[str, Settings] = {}

    def loss(name: str, settings: Settings) -> float:
        return trials.found[trials.ask(task, name, settings, TUNING_SEED, steps).key].loss

    for number in rounds:
        wanted = {name: round_of(number, everything()[name], task, best.get(name)) for name in names}
        if pool is not None:
            asks = [trials.ask(task, name, one, TUNING_SEED, steps) for name in names for one in wanted[name]]
            trials.run(asks, pool)
        for name in names:
            asked = ((one, trials.ask(task, name, one, TUNING_SEED, steps)) for one in wanted[name])
            tried[name] += [one for one, ask in asked if ask.key in trials.found]
            if tried[name]:
                best[name] = best_of(tried[name], lambda one, name=name: loss(name, one))  # type: ignore[misc]
    return {name: sorted(several, key=lambda one, name=name: loss(name, one)) for name, several in tried.items()}  # type: ignore[misc]


REFINED = (0.5, 0.7, 1.0, 1.4)  # of the best rate: a longer run wants a lower one


def refined(
    trials: Trials,
    task: str,
    tried: dict[str, list[Settings]],
    steps: int,
    seeds: int,
    pool: ProcessPoolExecutor | None,
) -> dict[str, list[Settings]]:
    """Return the settings of each row with the best rate at the length of the comparison before all others.

    Where the best of the four is the lowest or the highest, two beyond it are tried; where it has no weight decay, it is
    tried with it once more at that length.

    Args: as of `tuned`; tried: what it returned; seeds: of the tuning, whose mean loss judges.
    """
    for further in (_other_rates, _rates_beyond, _with_decay):
        wanted = {name: further(several) for name, several in tried.items() if several}
        asks = {
            (name, one): [trials.ask(task, name, one, TUNING_SEED + seed, steps) for seed in range(seeds)]
            for name, several in wanted.items()
            for one in several
        }
        if pool is not None:
            trials.run([ask for each in asks.values() for ask in each], pool)
        losses = {
            settings: fmean(trials.found[ask.key].loss for ask in each)
            for settings, each in asks.items()
            if all(ask.key in trials.found for ask in each)
        }
        for name, several in wanted.items():
            ran = [one for one in several if (name, one) in losses]
            tried[name] = sorted(ran, key=lambda one, name=name: losses[name, one]) + tried[name]  # type: ignore[misc]
    return tried


def _other_rates(tried: Sequence[Settings], factors: Sequence[float] = REFINED) -> list[Settings]:
    best = tried[0]
    return [replace(best, rate=best.rate * one, decay=best.decay / one) for one in factors]


def _rates_beyond(tried: Sequence[Settings]) -> list[Settings]:
    rates = [one.rate for one in tried[: len(REFINED)]]
    if rates[0] == min(rates):
        return _other_rates(tried, (0.5, 0.7, 1.0))
    return _other_rates(tried, (1.0, 1.4, 2.0)) if rates[0] == max(rates) else []


def _with_decay(tried: Sequence[Settings]) -> list[Settings]:
    best = tried[0]
    return [best] if best.decay else [best, replace(best, decay=DECAYED / best.rate)]


STEPS = {"narrow": 200, "characters": 300, "wide": 2000, "segmentation": 300, "shift": 150, "language": 610}
TUNING_STEPS = {"narrow": 100, "characters": 300, "wide": 300, "segmentation": 200, "shift": 100, "language": 120}


def settings_of(text: str) -> dict[str, Settings]:
    """Read 'ROW=RATE,MOMENTUM,DECAY;ROW=...'. Raises ArgumentTypeError."""
    try:
        pairs = (one.strip().split("=") for one in text.split(";"))
        return {name: Settings(*map(float, numbers.split(","))) for name, numbers in pairs}
    except (ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError("write ROW=RATE,MOMENTUM,DECAY, and semicolons between rows") from error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tasks", default="characters,segmentation,shift")
    parser.add_argument("--only", default="", help="names of rows, separated by semicolons")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, help="of the tuning; all by default, of the ladder those of rates")
    parser.add_argument("--steps", type=int, help="of the comparison, instead of each task's own")
    parser.add_argument("--tuning-steps", type=int, help="of the tuning, likewise")
    parser.add_argument("--refine", type=int, nargs="?", const=1, default=0, metavar="SEEDS",
        help="try four rates again at the steps of the comparison, by the mean of these seeds")  # fmt: skip
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="of the tasks characters, wide and language")
    parser.add_argument("--text", type=Path, default=Path("build/language"), help="of the language task")
    parser.add_argument("--given", dest="settings", type=settings_of, default={}, metavar="ROW=RATE,MOMENTUM,DECAY;...",
        help="compare at these settings, without a tuning")  # fmt: skip
    parser.add_argument("--ablations", action="store_true", help="the ablation table instead of the comparison")
    parser.add_argument("--ladder", action="store_true", help="the rows from the source to the default, on narrow")
    parser.add_argument("--anew", action="store_true", help="run also what the repository holds")
    parser.add_argument("--table", action="store_true", help="only print and draw what the folder has")
    given = parser.parse_args()
    fast = [name for name in rows() if given.device != "cpu" or name not in ON_GPU]
    several = list(LADDER) if given.ladder else list(ablations()) if given.ablations else fast
    names = list(given.settings) or (given.only.split(";") if given.only else several)
    if unknown := [name for name in names if name not in everything()]:
        sys.exit(f"There is no row {unknown[0]!r}; choose {'; '.join(everything())}.")
    if given.refine and "language" in given.tasks.split(","):
        sys.exit("The language task has too little text for --refine: read ten times over, it chooses too low a rate.")
    rounds = range(given.rounds) if given.rounds else RATES if given.ladder else range(ROUNDS)
    place, kept = Place(given.device, str(given.text)), None if given.anew else KEPT
    trials = Trials(given.folder / "trials.jsonl", place, kept)
    with processes(given.workers) as pool:
        for task in ("narrow" if given.ladder else given.tasks).split(","):
            steps = given.steps or STEPS[task]
            tuning_steps = given.tuning_steps or TUNING_STEPS[task]
            if given.settings:
                tried = {name: [one] for name, one in given.settings.items()}
            else:
                tried = tuned(trials, task, names, rounds, tuning_steps, None if given.table else pool)
            if given.refine:
                tried = refined(trials, task, tried, steps, given.refine, None if given.table else pool)
            if not given.table:
                # Seed by seed, so that a comparison that somebody stops has all rows.
                trials.run(
                    [
                        trials.ask(task, name, tried[name][0], seed, steps)
                        for seed in range(given.seeds)
                        for name in names
                    ],
                    pool,
                )
            _print(trials, given, task, steps, tried)


def _print(trials: Trials, given: argparse.Namespace, task: str, steps: int, tried: dict[str, list[Settings]]) -> None:
    """Print and draw each row with its best settings; of a comparison that is not finished, the best that ran."""
    from tests.benchmarks.optim import report

    def found(name: str, settings: Settings) -> dict[int, Trial]:
        keys = {seed: trials.ask(task, name, settings, seed, steps).key for seed in range(given.seeds)}
        return {seed: trials.found[key] for seed, key in keys.items() if key in trials.found}

    results = [
        report.Result(name, ran[0], found(name, ran[0]))
        for name, several in tried.items()
        if (ran := [one for one in several if found(name, one)])
    ]
    if results:
        report.print_task(task, steps, results)
        kind = "ladder" if given.ladder else "ablations" if given.ablations else "quality"
        if importlib.util.find_spec("matplotlib") is None:  # a GPU machine may lack it
            return
        report.draw(given.folder / f"optim_{kind}_{task}.png", task, results)


if __name__ == "__main__":
    main()
