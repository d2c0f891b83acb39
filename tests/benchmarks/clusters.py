"""Parts of jobs in one process, in two plain processes, and on Ray with two workers: python -m tests.benchmarks.clusters

The parts are documents of a survey (generated bills, the shipped model, two questions each), scans of two pages that
OCR reads, and the three folds of a retraining (`--steps` each). Every way has done a part of its kind before it is timed, so neither starts nor imports
count. Rounds alternate between the ways; medians are printed as a table for docs/benchmarks.md. The bar is .9 of two
plain processes. Needs the extra ray.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import delete

from db.tables import SurveyAnswer
from engine.datasets import snapshots
from engine.documents.file_sources import LocalFile, take_file
from engine.executors.choice import executor_of
from engine.executors.executor import Part, run_parts
from engine.selection.survey import survey_document
from engine.settings import Settings
from engine.training.retraining.lessons import Lesson, do_lesson
from engine.training.retraining.run_settings import RunSettings, fold_settings
from engine.training.sources.corpus import corpus_of
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.markdown import table
from tests.benchmarks.processes import processes
from tests.support.factories import make_bills
from tests.support.made_documents import LETTER, scanned_pdf
from tests.support.survey_shop import SurveyShop

FOLDS = 3
WORK = ("survey", "reading", "folds")
Way = Callable[[Sequence[Part]], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--scans", type=int, default=12)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", nargs="*", default=list(WORK), help=", ".join(WORK))
    chosen = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    os.nice(10)  # as Ray's processes are
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(Settings(data_dir=Path(folder), threads=1, _env_file=None))
        shop = SurveyShop(workspace, bills=chosen.documents)
        make_bills(workspace, shop.project.id, {"train": 12})
        with processes(2) as pool:
            ways = ways_of(workspace, pool)
            rows = []
            if "survey" in chosen.work:
                rows += survey_rows(shop, ways, chosen.rounds)
            if "reading" in chosen.work:
                rows += reading_rows(shop, ways, chosen.rounds, chosen.scans, Path(folder))
            if "folds" in chosen.work:
                rows += fold_rows(shop, ways, chosen.rounds, chosen.steps, Path(folder) / "lessons")
        workspace.close()
    print(table(["work", "way", "seconds", "beside one process", "beside two processes"], rows, left=2))


def ways_of(workspace: Workspace, pool: ProcessPoolExecutor) -> dict[str, Way]:
    """The ways to run parts, by name."""
    settings = workspace.settings
    on_ray = Workspace(settings.model_copy(update={"engine": "ray"}), workspace.database, workspace.blobs)

    def in_two(parts: Sequence[Part]) -> None:
        dump = settings.model_dump_json()
        for ended in [pool.submit(do_part, dump, part) for part in parts]:
            ended.result()

    return {
        "one process": lambda parts: _run(workspace, parts),
        "two processes": in_two,
        "Ray, two workers": lambda parts: _run(on_ray, parts),
    }


def _run(workspace: Workspace, parts: Sequence[Part]) -> None:
    run_parts(executor_of(workspace, lambda: None), parts)


def do_part(dump: str, part: Part) -> Any:
    return part.function(_opened(dump), *part.arguments, report=lambda _: None, should_stop=lambda: None)


@cache
def _opened(dump: str) -> Workspace:
    import torch

    torch.set_num_threads(1)
    return open_workspace(Settings.model_validate_json(dump), upgrade=False)


def survey_rows(shop: SurveyShop, ways: dict[str, Way], rounds: int) -> list[list[str]]:
    def forget() -> None:
        with shop.workspace.database.write() as session:
            session.execute(delete(SurveyAnswer))

    parts = [Part(survey_document, (shop.project.id, shop.version.id, document.id)) for document in shop.documents]
    return rows_of(f"survey of {len(parts)} documents", measure(ways, lambda: parts, rounds, forget))


def reading_rows(shop: SurveyShop, ways: dict[str, Way], rounds: int, count: int, folder: Path) -> list[list[str]]:
    turn = 0

    def scans() -> list[Part]:
        nonlocal turn
        turn += 1  # a content of its own: a file that is there already would not be read
        files = [
            scanned_pdf(folder / f"scan-{turn}-{number}.pdf", [(f"Delivery {turn} of {number}", *LETTER[1:]), LETTER])
            for number in range(count)
        ]
        return [Part(take_file, (LocalFile(file), shop.project.id, None, None)) for file in files]

    return rows_of(f"reading of {count} scans", measure(ways, scans, rounds))


def fold_rows(shop: SurveyShop, ways: dict[str, Way], rounds: int, steps: int, folder: Path) -> list[list[str]]:
    snapshot = snapshots.freeze(shop.workspace, shop.project.id)
    corpus = corpus_of(shop.workspace, snapshot.sha256, exact=False)
    settings = fold_settings(RunSettings(steps=2 * steps, cycle=2 * steps, replay=0.5, minutes=600, seed=5))
    turn = 0

    def lessons() -> list[Part]:
        nonlocal turn
        turn += 1  # a folder of its own, so that no lesson goes on from an earlier one's checkpoints
        return [
            Part(
                do_lesson,
                (
                    Lesson(
                        begins_at=shop.version.id,
                        fold=fold,
                        corpus=corpus,
                        settings=settings,
                        folder=folder / f"{turn}-{fold}",
                        share=1.0,
                    ),
                ),
            )
            for fold in range(FOLDS)
        ]

    return rows_of(f"{FOLDS} folds of {steps} steps", measure(ways, lessons, rounds))


def measure(
    ways: dict[str, Way], parts: Callable[[], Sequence[Part]], rounds: int, prepare: Callable[[], None] = lambda: None
) -> dict[str, list[float]]:
    """Seconds of each round, by way; the first round of each is not counted."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            some = parts()
            prepare()
            began = time.perf_counter()
            way(some)
            lasted = time.perf_counter() - began
            print(f"round {turn}, {name}: {lasted:.1f} s", file=sys.stderr, flush=True)
            if turn:
                seconds[name].append(lasted)
    return seconds


def rows_of(work: str, seconds: dict[str, list[float]]) -> list[list[str]]:
    rounds = {name: statistics.median(values) for name, values in seconds.items()}
    one, two = (
        {
            name: statistics.median(a / b for a, b in zip(seconds[beside], values, strict=True))
            for name, values in seconds.items()
        }
        for beside in ("one process", "two processes")
    )
    return [[work, name, f"{rounds[name]:.1f}", f"{one[name]:.2f}", f"{two[name]:.2f}"] for name in seconds]


if __name__ == "__main__":
    main()
