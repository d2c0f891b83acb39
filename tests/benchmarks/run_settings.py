"""What one retraining gives under other run settings, without a gate.

    python -m tests.benchmarks.run_settings DATA OUT --arm "" --arm mode=whole --arm optimizer=adamw
    [--learn forms] [--pages 60] [--steps 480] [--seeds 3] [--device cpu] [--at-once 1] [--table]

DATA holds forms/ and receipts/ in the grounded format. Each seed is another draw of the pages and another seed of the
run, and is the same for all arms, so that they can be compared in pairs with the first. The weights are those of a
refit: all pages teach for that many steps, words alone. Asked afterwards: the unseen pages of the set, those of the
other set, and generated pages. Finished runs are kept in OUT/runs.jsonl: the same command goes on where it was stopped.
Runs that the documents speak of are kept in the repository; --anew measures them again. A run is known by all its
settings and its device, so that a default that changes does not mix old figures with new ones. Prints a table for
docs/benchmarks.md. A retraining has a gate too and judges by folds; tests.benchmarks.retraining measures all of it.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError

from engine.grounded import GroundedPage
from engine.plurals import count
from engine.settings import Settings
from engine.simulation.rounds import draw_order, pages_of, split_pages
from engine.synthetic import generate
from engine.training.evaluation.evaluate import evaluate
from engine.training.retraining.learner import network_of, result_file, train
from engine.training.retraining.run_settings import RunSettings
from engine.training.sources.corpus import Corpus
from engine.workspace import open_workspace
from model.inference import SHIPPED, Predictor
from model.optim import MODES
from tests.benchmarks.markdown import table
from tests.benchmarks.processes import processes

KEPT = Path(__file__).with_name("figures") / "run_settings" / "runs.jsonl"
SETS = ("forms", "receipts")
_ASKED = 60  # pages of the other set
_GENERATED_SEED, _GENERATED = -2, 80  # those of `glossator simulate`: no run trains on them


@dataclass(frozen=True, slots=True)
class Ask:
    """One run: its settings, the set that it learns, the number of pages, and where it runs."""

    settings: RunSettings
    learn: str
    pages: int
    device: str

    @property
    def key(self) -> str:
        """What tells the run from others."""
        return json.dumps({**asdict(self), "settings": self.settings.model_dump()})


def settings_of(arm: str, seed: int, steps: int) -> RunSettings:
    """Return the settings of a run: those that an arm names as NAME=VALUE with commas. Raises SystemExit."""
    given = dict(one.split("=", 1) for one in arm.split(",") if one)
    fixed = {"seed": seed, "minutes": 600, "steps": steps, "cycle": steps, "watched": 0, "images": 0}
    try:
        settings = RunSettings.model_validate(fixed | given)
    except ValidationError as error:
        raise SystemExit(f"The arm {arm!r} is invalid: {error}") from None
    if settings.mode not in MODES:
        raise SystemExit(f"There is no mode {settings.mode!r}. Choose from {', '.join(MODES)}.")
    return settings


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
    asked = {
        arm: [
            Ask(settings_of(arm, seed, chosen.steps), chosen.learn, chosen.pages, chosen.device)
            for seed in range(1, chosen.seeds + 1)
        ]
        for arm in chosen.arm or [""]
    }
    kept = chosen.out / "runs.jsonl"
    found = _read(kept) if chosen.anew else _read(KEPT) | _read(kept)
    if not chosen.table:
        there = len(split_pages(pages_of(chosen.data / chosen.learn))[0])
        if there < chosen.pages:
            raise SystemExit(f"{chosen.learn} has {there} pages to learn from, fewer than {chosen.pages}.")
        chosen.out.mkdir(parents=True, exist_ok=True)
        todo = [ask for of_seed in zip(*asked.values(), strict=True) for ask in of_seed if ask.key not in found]
        _measure(todo, chosen, kept, found)
    arms = {arm: [found[ask.key] for ask in asks if ask.key in found] for arm, asks in asked.items()}
    print(_table({arm: runs for arm, runs in arms.items() if runs}, chosen.learn))


def _measure(todo: Sequence[Ask], chosen: argparse.Namespace, kept: Path, found: dict[str, dict[str, Any]]) -> None:
    pool = processes(chosen.at_once)
    try:
        for each in as_completed([pool.submit(measured, ask, chosen.data) for ask in todo]):
            one = each.result()
            found[_ask_of(one).key] = one
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(one) + "\n")
            print(json.dumps(one), flush=True)
    finally:
        pool.shutdown(cancel_futures=True)  # what runs ends, what waits does not begin


def measured(ask: Ask, data: Path) -> dict[str, Any]:
    """Train as asked and return the figures: acc@.5, mean IoU and the share of declined questions, of each set."""
    torch.set_num_threads(1)
    pool, unseen = split_pages(pages_of(data / ask.learn))
    taught = draw_order(pool, ask.settings.seed)[: ask.pages]
    names = {page.page_id: page.page_id for page in taught}
    corpus = Corpus(tuple(taught), documents=names, splits=dict.fromkeys(names, "train"))
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(Settings(data_dir=Path(folder) / "data", database_url=""))
        network = network_of(SHIPPED, ask.settings.depth, ask.device)
        began = time.monotonic()
        train(
            network, workspace, corpus, ask.settings, Path(folder) / "run",
            on_metrics=lambda _: None, on_watched=lambda *_: None, on_progress=lambda _: None, stop=lambda: False,
        )  # fmt: skip
        seconds = time.monotonic() - began
        workspace.close()
        predictor = Predictor.load(result_file(Path(folder) / "run"), ask.device)
    (other,) = set(SETS) - {ask.learn}
    sets = {
        ask.learn: unseen,
        other: split_pages(pages_of(data / other))[1][:_ASKED],
        "generated": [made.page for made in islice(generate(_GENERATED_SEED), _GENERATED)],
    }
    return {
        "settings": ask.settings.model_dump(),
        "learn": ask.learn,
        "pages": ask.pages,
        "device": ask.device,
        "seconds": round(seconds, 1),
        "figures": {name: _figures(predictor, pages) for name, pages in sets.items()},
    }


def _ask_of(run: Mapping[str, Any]) -> Ask:
    return Ask(RunSettings.model_validate(run["settings"]), run["learn"], run["pages"], run["device"])


def _figures(predictor: Predictor, pages: Sequence[GroundedPage]) -> dict[str, float]:
    scored = evaluate(predictor, pages, timed=False).scored
    there = [one for one in scored if one.answerable]
    absent = [one for one in scored if not one.answerable]
    figures = {
        "acc_50": statistics.fmean(one.iou > 0.5 for one in there),
        "mean_iou": statistics.fmean(one.iou for one in there),
        **({"declined": statistics.fmean(one.answered < 0.5 for one in absent)} if absent else {}),
    }
    return {name: round(value, 5) for name, value in figures.items()}


def _read(kept: Path) -> dict[str, dict[str, Any]]:
    if not kept.is_file():
        return {}
    runs = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    return {_ask_of(one).key: one for one in runs}


def _table(arms: Mapping[str, Sequence[Mapping[str, Any]]], learned: str) -> str:
    if not arms:
        return "No such run has been made yet."
    sets = list(next(iter(arms.values()))[0]["figures"])
    heads = ["settings", "seeds", *(head for name in sets for head in (f"{name} acc@.5", "mean IoU"))]
    heads += [f"{learned}, {sets[-1]} to the first row", f"{learned} of each seed", "seconds"]
    first = {run["settings"]["seed"]: run["figures"] for run in next(iter(arms.values()))}
    rows: list[list[str]] = []
    for arm, runs in arms.items():
        row = [arm.replace(",", ", ") or "the defaults", str(len(runs))]
        for name in sets:
            row += [
                f"{statistics.fmean(one['figures'][name][key] for one in runs):.3f}" for key in ("acc_50", "mean_iou")
            ]
        pairs = [(run["figures"], first[run["settings"]["seed"]]) for run in runs if run["settings"]["seed"] in first]
        moved = [
            f"{statistics.fmean(one[name]['acc_50'] - other[name]['acc_50'] for one, other in pairs):+.3f}"
            for name in (learned, sets[-1])
            if rows and pairs
        ]
        row += [
            f"{', '.join(moved)} ({count(len(pairs), 'seed')})" if moved else "",
            ", ".join(f"{one['figures'][learned]['acc_50']:.3f}" for one in runs),
            f"{statistics.median(one['seconds'] for one in runs):.0f}",
        ]
        rows.append(row)
    return table(heads, rows)


if __name__ == "__main__":
    main()
