"""What learning without labels is worth, at equal minutes: python -m tests.benchmarks.pretraining DATA OUT

An arm spends half of its minutes on stages without questions, on the pages of --corpus FOLDER or, without one, on
generated pages, and the rest on questions; the arm `plain` spends all of them on questions. All begin with the same
weights: the shipped ones, or fresh ones (--fresh). DATA holds forms/ in the grounded format. Steps follow from the
processor time of a step of each stage on the pages of its arm, measured at the beginning, so other work on the machine
gives no arm more steps. What OUT holds already with the same settings is not run again. Prints a table for
docs/benchmarks.md; its seconds are processor time of a run, the figures and the start of the process included.

By words: acc@.5 on forms, with whole questions and without two in five of their content words. By pixels: IoU of
regions without words on generated pages. Gains are over `plain` with the same seed.
"""

import argparse
import json
import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.models.registry import shipped_path
from engine.settings import Settings
from engine.training.pretraining.run import FIGURES_FILE
from tests.benchmarks.shell import glossator, processor_seconds
from tests.benchmarks.tables import table

_DROPPED = 0.4
_FIRST = {"practice": "words", "pixels": "regions"}
_FEW, _MANY = 2, 14  # steps of the two runs whose difference is the time of a step


@dataclass(frozen=True, slots=True)
class Arm:
    """Stages without questions of an arm, and the stage with questions that follows them."""

    name: str
    stages: tuple[str, ...]
    asks: str
    pages: str = "corpus"  # or "generated"


ARMS = (
    Arm("plain", (), "practice"),
    Arm("mlm", ("mlm",), "practice"),
    Arm("mlm, generated pages", ("mlm",), "practice", "generated"),
    Arm("spans", ("spans",), "practice"),
    Arm("tjepa", ("tjepa",), "practice"),
    Arm("distill", ("distill",), "practice"),
    Arm("plain, pixels", (), "pixels"),
    Arm("mim", ("mim",), "pixels"),
    Arm("mae", ("mae",), "pixels"),
    Arm("ijepa", ("ijepa",), "pixels"),
    Arm("djepa", ("djepa",), "pixels"),
    Arm("joint", ("joint",), "pixels"),
)


@dataclass(frozen=True, slots=True)
class Bench:
    """What all runs share."""

    data: Path
    out: Path
    corpus: Path | None
    cache: Path
    minutes: float
    fresh: bool

    def pretrain(self, folder: Path, stages: Mapping[str, int], seed: int, pages: str) -> float:
        """Run a pretraining into `folder`; return its processor seconds."""
        begin = () if self.fresh else ("--start", str(shipped_path(Settings())))
        papers = ("--corpus", str(self.corpus), "--corpus-cache", str(self.cache))
        wanted = papers if self._named(pages) == "corpus" else ()
        named = ",".join(f"{name}={steps}" for name, steps in stages.items())
        before = processor_seconds()
        glossator("pretrain", str(folder), "--stages", named, "--seed", str(seed), *begin, *wanted)
        return processor_seconds() - before

    def paces(self, arms: Sequence[Arm]) -> dict[str, float]:
        """Return the processor seconds of a step of each stage on the pages that it learns from; measured once."""
        kept = self.out / "paces.json"
        found: dict[str, float] = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}
        wanted = [(name, arm.pages) for arm in arms for name in arm.stages] + [(arm.asks, "generated") for arm in arms]
        for name, pages in wanted:
            key = self._paced(name, pages)
            if key in found:
                continue
            self._timed(name, 1, pages)  # reads documents that are not kept yet
            few, many = (self._timed(name, steps, pages) for steps in (_FEW, _MANY))
            found[key] = (many - few) / (_MANY - _FEW)
            kept.write_text(json.dumps(found), "utf-8")
        return found

    def _timed(self, name: str, steps: int, pages: str) -> float:
        folder = self.out / f"pace-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        took = self.pretrain(folder, {name: steps}, 0, pages)
        shutil.rmtree(folder)
        return took

    def _named(self, pages: str) -> str:
        """Return the pages that are learned from: generated ones where there is no corpus."""
        return pages if self.corpus is not None else "generated"

    def _paced(self, name: str, pages: str) -> str:
        return f"{name}, {self._named(pages)} pages"

    def run(self, arm: Arm, seed: int, paces: Mapping[str, float]) -> dict[str, Any]:
        """Return the figures of an arm with a seed; runs it unless OUT has them."""
        done = self.out / f"{arm.name}-{seed}.json"
        settings = {"minutes": self.minutes, "fresh": self.fresh, "pages": self._named(arm.pages)}
        if done.is_file():
            found: dict[str, Any] = json.loads(done.read_text("utf-8"))
            if found.get("settings") == settings:
                return found
        seconds = 60 * self.minutes / (2 if arm.stages else 1)
        stages = {name: round(seconds / len(arm.stages) / paces[self._paced(name, arm.pages)]) for name in arm.stages}
        stages[arm.asks] = round(seconds / paces[self._paced(arm.asks, "generated")])
        folder = self.out / f"{arm.name}-{seed}"
        shutil.rmtree(folder, ignore_errors=True)
        took = self.pretrain(folder, stages, seed, arm.pages if arm.stages else "generated")
        found = {"settings": settings, "steps": stages, "seconds": took, **self._figures(arm, folder)}
        done.write_text(json.dumps(found), "utf-8")
        shutil.rmtree(folder)
        return found

    def _figures(self, arm: Arm, folder: Path) -> dict[str, float]:
        if arm.asks in ("pixels", "regions"):
            figures = json.loads((folder / FIGURES_FILE).read_text("utf-8"))
            return {"pixels": figures[arm.asks]["after"]["pixel_iou_where_no_words"]}
        found = {}
        for name, share in (("words", 0.0), ("dropped", _DROPPED)):
            said = glossator(
                "evaluate",
                str(self.data / "forms"),
                *("--model", str(folder / "nano.safetensors"), "--words-only", "--drop", str(share), "--json"),
            )
            found[name] = json.loads(said.splitlines()[-1])["acc_50"]
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--corpus", type=Path, help="folder of documents without labels; generated pages without it")
    parser.add_argument("--cache", type=Path, help="folder that keeps them as read; OUT/documents by default")
    parser.add_argument("--minutes", type=float, default=10, help="processor minutes of each run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--arms", nargs="*", default=[arm.name for arm in ARMS])
    parser.add_argument("--fresh", action="store_true", help="begin with fresh weights, not with the shipped ones")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    cache = chosen.cache or chosen.out / "documents"
    bench = Bench(chosen.data, chosen.out, chosen.corpus, cache, chosen.minutes, chosen.fresh)
    arms = [arm for arm in ARMS if arm.name in chosen.arms]
    if chosen.fresh:  # the stages that come first in a network that knows nothing
        arms = [replace(arm, asks=_FIRST[arm.asks]) for arm in arms]
    paces = bench.paces(arms)
    found: dict[str, list[dict[str, Any]]] = {arm.name: [] for arm in arms}
    for seed in range(1, chosen.seeds + 1):
        for arm in arms:
            found[arm.name].append(bench.run(arm, seed, paces))
    print(_table(arms, found))


def _table(arms: Sequence[Arm], found: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    heads = ["arm", "steps", "forms", "gain", "words dropped", "gain", "regions", "gain", "seconds"]
    plain = {arm.asks: found[arm.name] for arm in arms if not arm.stages}
    rows = []
    for arm in arms:
        steps = "; ".join(f"{name} {count:,}" for name, count in found[arm.name][0]["steps"].items())
        cells = [arm.name, steps]
        for figure in ("words", "dropped", "pixels"):
            if figure not in found[arm.name][0]:
                cells += ["-", "-"]
                continue
            cells.append(f"{statistics.median(one[figure] for one in found[arm.name]):.3f}")
            gains = [
                one[figure] - other[figure]
                for one, other in zip(found[arm.name], plain.get(arm.asks, ()), strict=False)
            ]
            cells.append(", ".join(f"{gain:+.3f}" for gain in gains) if arm.stages and gains else "-")
        cells.append(f"{statistics.median(one['seconds'] for one in found[arm.name]):.0f}")
        rows.append(cells)
    return table(heads, rows, left=2)


if __name__ == "__main__":
    main()
