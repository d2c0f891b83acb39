"""What one retraining gives under other run settings, without a gate.

    python -m tests.benchmarks.run_settings DATA OUT --arm "" --arm mode=whole,matrix_rate=2 --arm optimizer=adamw
    [--learn forms] [--pages 60] [--steps 480] [--seeds 3] [--device cpu] [--at-once 1] [--table]

DATA holds forms/ and receipts/ in the grounded format. Each seed is another draw of the pages and another seed of the
run, and is the same for all arms, so that they can be compared in pairs. The weights are those of a refit: all pages
teach for that many steps, words alone. Asked afterwards: the unseen pages of the set, those of the other set, and
generated pages. Finished runs are kept in OUT/runs.jsonl: the same command goes on where it was stopped. Runs that the
documents speak of are kept in the repository, with all settings that mattered named; --anew measures them again. Prints
a table for docs/benchmarks.md. A retraining has a gate too and judges by folds; tests.benchmarks.retraining measures
all of it.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import torch

from engine.grounded import GroundedPage
from engine.plurals import count
from engine.settings import Settings
from engine.simulation.rounds import drawn, pages_of, parted
from engine.synthetic import generate
from engine.training.evaluation.evaluate import evaluate
from engine.training.retraining.learner import network_of, result_file, train
from engine.training.retraining.run_settings import RunSettings
from engine.training.sources.corpus import Corpus
from engine.workspace import open_workspace
from model.inference import SHIPPED, Predictor
from tests.benchmarks.tables import table

KEPT = Path(__file__).with_name("figures") / "run_settings" / "runs.jsonl"
SETS = ("forms", "receipts")
_ASKED = 60  # pages of the other set
_GENERATED_SEED, _GENERATED = -2, 80  # those of `glossator simulate`: no run trains on them


@dataclass(frozen=True, slots=True)
class Ask:
    """One run. arm: settings of the run, as NAME=VALUE with commas; empty for the defaults."""

    arm: str
    seed: int
    learn: str
    pages: int
    steps: int

    @property
    def key(self) -> str:
        return json.dumps(asdict(self))

    def settings(self) -> RunSettings:
        """Return the run's settings. Raises ValueError for unknown ones."""
        given = dict(one.split("=", 1) for one in self.arm.split(",") if one)
        fixed = {"seed": self.seed, "minutes": 600, "steps": self.steps, "cycle": self.steps, "watched": 0, "images": 0}
        return RunSettings.model_validate(fixed | given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--arm", action="append", default=[], help="settings of the runs; repeat for further arms")
    parser.add_argument("--learn", choices=SETS, default="forms")
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--steps", type=int, default=480)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--at-once", type=int, default=1, help="runs, one thread each")
    parser.add_argument("--table", action="store_true", help="only print what there is")
    parser.add_argument("--anew", action="store_true", help="leave aside the runs that the repository keeps")
    chosen = parser.parse_args()
    arms = chosen.arm or [""]
    asked = [
        Ask(arm, seed, chosen.learn, chosen.pages, chosen.steps) for seed in range(1, chosen.seeds + 1) for arm in arms
    ]
    for ask in asked:
        ask.settings()
    chosen.out.mkdir(parents=True, exist_ok=True)
    kept = chosen.out / "runs.jsonl"
    found = _read(kept) if chosen.anew else _read(KEPT) | _read(kept)
    if not chosen.table:
        todo = [ask for ask in asked if ask.key not in found]
        with ProcessPoolExecutor(chosen.at_once, mp_context=get_context("spawn")) as pool:
            running = [pool.submit(measured, ask, chosen.data, chosen.device) for ask in todo]
            for each in as_completed(running):
                one = each.result()
                found[json.dumps(one["ask"])] = one
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(one) + "\n")
                print(json.dumps(one), flush=True)
    of_arms = {arm: [found[ask.key] for ask in asked if ask.arm == arm and ask.key in found] for arm in arms}
    print(_table({arm: runs for arm, runs in of_arms.items() if runs}, chosen.learn))


def measured(ask: Ask, data: Path, device: str) -> dict[str, Any]:
    """Train as asked and return the figures: acc@.5, mean IoU and the share of declined questions, of each set."""
    torch.set_num_threads(1)
    pool, unseen = parted(pages_of(data / ask.learn))
    taught = drawn(pool, ask.seed)[: ask.pages]
    if len(taught) < ask.pages:
        raise SystemExit(f"{ask.learn} has {len(taught)} pages to learn from, fewer than {ask.pages}.")
    names = {page.page_id: page.page_id for page in taught}
    corpus = Corpus(tuple(taught), documents=names, splits=dict.fromkeys(names, "train"))
    settings = ask.settings()
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(Settings(data_dir=Path(folder) / "data"))
        network = network_of(SHIPPED, settings.depth, device)
        began = time.monotonic()
        train(
            network, workspace, corpus, settings, Path(folder) / "run",
            on_metrics=lambda _: None, on_watched=lambda *_: None, on_progress=lambda _: None, stop=lambda: False,
        )  # fmt: skip
        seconds = time.monotonic() - began
        predictor = Predictor.load(result_file(Path(folder) / "run"), device)
    (other,) = set(SETS) - {ask.learn}
    sets = {
        ask.learn: unseen,
        other: parted(pages_of(data / other))[1][:_ASKED],
        "generated": [made.page for made in islice(generate(_GENERATED_SEED), _GENERATED)],
    }
    return {
        "ask": asdict(ask),
        "device": str(device),
        "seconds": round(seconds, 1),
        "figures": {name: _figures(predictor, pages) for name, pages in sets.items()},
    }


def _figures(predictor: Predictor, pages: Sequence[GroundedPage]) -> dict[str, float]:
    scored = evaluate(predictor, pages, timed=False).scored
    there = [one for one in scored if one.answerable]
    absent = [one for one in scored if not one.answerable]
    return {
        "acc_50": statistics.fmean(one.iou > 0.5 for one in there),
        "mean_iou": statistics.fmean(one.iou for one in there),
        **({"declined": statistics.fmean(one.answered < 0.5 for one in absent)} if absent else {}),
    }


def _read(kept: Path) -> dict[str, dict[str, Any]]:
    if not kept.is_file():
        return {}
    runs = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    return {json.dumps(one["ask"]): one for one in runs}


def _table(arms: Mapping[str, Sequence[Mapping[str, Any]]], learned: str) -> str:
    heads = ["settings", "seeds"]
    sets = list(next(iter(next(iter(arms.values()))))["figures"]) if arms else []
    for name in sets:
        heads += [f"{name} acc@.5", "mean IoU"]
    heads += [f"{learned} to the first row", f"{learned} of each seed", "seconds"]
    rows: list[list[str]] = []
    first = {run["ask"]["seed"]: run for run in next(iter(arms.values()), ())}
    for arm, runs in arms.items():
        row = [arm.replace(",", ", ") or "the defaults", str(len(runs))]
        for name in sets:
            row += [
                f"{statistics.fmean(one['figures'][name][key] for one in runs):.3f}" for key in ("acc_50", "mean_iou")
            ]
        pairs = [(run, first[run["ask"]["seed"]]) for run in runs if rows and run["ask"]["seed"] in first]
        moved = [one["figures"][learned]["acc_50"] - other["figures"][learned]["acc_50"] for one, other in pairs]
        row += [
            f"{statistics.fmean(moved):+.3f} ({count(len(moved), 'seed')})" if moved else "",
            ", ".join(f"{one['figures'][learned]['acc_50']:.3f}" for one in runs),
            f"{statistics.median(one['seconds'] for one in runs):.0f} ({', '.join(sorted({one['device'] for one in runs}))})",
        ]
        rows.append(row)
    return table(heads, rows)


if __name__ == "__main__":
    main()
