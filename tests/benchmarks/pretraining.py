"""What learning without labels is worth, at equal minutes: python -m tests.benchmarks.pretraining DATA OUT

An arm spends half of its minutes on stages without questions, on the pages of --corpus FOLDER or, without one, on
generated pages, and the rest on questions; the arm `plain` spends all of them on questions. All begin with the same
weights: the shipped ones, or fresh ones (--fresh). DATA holds forms/ in the grounded format. Steps follow from the
processor time of a step of each stage on the pages of its arm, measured at the beginning, so other work on the machine
gives no arm more steps. Figures of finished runs are kept in the repository, and runs with the same settings are not
repeated; --figures FOLDER names another place, which is empty to measure all anew. Prints a table for
docs/benchmarks.md, --table of what there is; its seconds are processor time of a run, the figures and the start of
the process included.

By words: acc@.5 on forms, with whole questions and without two in five of their content words. By pixels: IoU of
regions without words on generated pages. Gains are over `plain` with the same seed.
"""

import argparse
import hashlib
import json
import shutil
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.models.registry import shipped_path
from engine.settings import Settings
from engine.training.pretraining.curves import METRICS_FILE
from engine.training.pretraining.run import FIGURES_FILE
from tests.benchmarks.markdown import table
from tests.benchmarks.shell import glossator, processor_seconds

_DROPPED = 0.4
FIGURES = Path(__file__).with_name("figures") / "pretraining"
_FIRST = {"practice": "words", "pixels": "regions"}
_PACED = 24  # steps that are timed; how many of them are prompted varies by chance


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
    figures: Path
    corpus: Path | None
    corpus_pages: int | None
    cache: Path
    minutes: float
    fresh: bool
    start_rate: float

    def pretrain(self, folder: Path, stages: Mapping[str, int], seed: int, pages: str) -> float:
        """Run a pretraining into `folder`; return its processor seconds."""
        begin: tuple[str, ...] = ()
        if not self.fresh:
            begin = ("--start", str(shipped_path(Settings())), "--start-rate", str(self.start_rate))
        papers = ["--corpus", str(self.corpus), "--corpus-cache", str(self.cache)]
        if self.corpus_pages is not None:
            papers += ["--corpus-pages", str(self.corpus_pages)]
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
            folder = self.out / f"pace-{name}"
            shutil.rmtree(folder, ignore_errors=True)
            self.pretrain(folder, {name: _PACED}, 0, pages)
            last = json.loads((folder / METRICS_FILE).read_text("utf-8").splitlines()[-1])
            found[key] = last["processor_seconds"] / _PACED
            shutil.rmtree(folder)
            kept.write_text(json.dumps(found), "utf-8")
        return found

    def _named(self, pages: str) -> str:
        """Return the pages that are learned from: generated ones where there is no corpus."""
        return pages if self.corpus is not None else "generated"

    def _papers(self) -> str:
        """Return a hash of the names and sizes of the documents without labels."""
        files = sorted((one.name, one.stat().st_size) for one in (self.corpus or Path()).rglob("*") if one.is_file())
        return hashlib.sha256(json.dumps(files).encode()).hexdigest()[:12]

    def _paced(self, name: str, pages: str) -> str:
        if self._named(pages) == "generated":
            return f"{name}, generated pages"
        return f"{name}, {self.corpus_pages or 'all'} pages of each document of {self._papers()}"

    def kept(self, arm: Arm, seed: int) -> dict[str, Any] | None:
        """Return the figures of an arm with a seed that were kept with these settings, if any."""
        done = self._file(arm, seed)
        found: dict[str, Any] = json.loads(done.read_text("utf-8")) if done.is_file() else {}
        return found if found.get("settings") == self._settings(arm) else None

    def in_the_way(self, arm: Arm, seed: int) -> Path | None:
        """Return the file of figures that a run would replace, of other papers or pages of each; None without any."""
        file = self._file(arm, seed)
        return file if file.is_file() and self.kept(arm, seed) is None else None

    def _file(self, arm: Arm, seed: int) -> Path:
        begun = "fresh" if self.fresh else f"shipped-{self.start_rate:g}" if arm.stages else "shipped"
        return self.figures / f"{arm.name}-{begun}-{self.minutes:g}-{seed}.json"

    def _settings(self, arm: Arm) -> dict[str, Any]:
        pages = self._named(arm.pages) if arm.stages else "generated"
        some: dict[str, Any] = {}
        if pages == "corpus":
            some = {"corpus": self._papers(), "corpus_pages": self.corpus_pages}
        if arm.stages and not self.fresh:
            some["start_rate"] = self.start_rate
        return {"minutes": self.minutes, "fresh": self.fresh, "pages": pages, **some}

    def run(self, arm: Arm, seed: int, paces: Mapping[str, float]) -> dict[str, Any]:
        """Return the figures of an arm with a seed; runs it unless they are kept."""
        if (before := self.kept(arm, seed)) is not None:
            return before
        seconds = 60 * self.minutes / (2 if arm.stages else 1)
        stages = {name: round(seconds / len(arm.stages) / paces[self._paced(name, arm.pages)]) for name in arm.stages}
        stages[arm.asks] = round(seconds / paces[self._paced(arm.asks, "generated")])
        folder = self.out / f"{arm.name}-{seed}"
        shutil.rmtree(folder, ignore_errors=True)
        took = self.pretrain(folder, stages, seed, arm.pages if arm.stages else "generated")
        found = {"settings": self._settings(arm), "steps": stages, "seconds": took, **self._figures(arm, folder)}
        self.figures.mkdir(parents=True, exist_ok=True)
        temporary = self._file(arm, seed).with_suffix(".tmp")
        temporary.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        temporary.replace(self._file(arm, seed))
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
    parser.add_argument("--corpus-pages", type=int, help="pages of each of them, from its first; all by default")
    parser.add_argument("--cache", type=Path, help="folder that keeps them as read; OUT/documents by default")
    parser.add_argument("--minutes", type=float, default=10, help="processor minutes of each run")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--arms", nargs="*", default=[arm.name for arm in ARMS])
    parser.add_argument("--fresh", action="store_true", help="begin with fresh weights, not with the shipped ones")
    parser.add_argument("--start-rate", type=float, default=0.1, help="as of `glossator pretrain`")
    parser.add_argument("--figures", type=Path, default=FIGURES)
    parser.add_argument("--table", action="store_true", help="only print what the figures have")
    chosen = parser.parse_args()
    cache = chosen.cache or chosen.out / "documents"
    bench = Bench(
        chosen.data,
        chosen.out,
        chosen.figures,
        chosen.corpus,
        chosen.corpus_pages,
        cache,
        chosen.minutes,
        chosen.fresh,
        chosen.start_rate,
    )
    arms = [arm for arm in ARMS if arm.name in chosen.arms]
    if chosen.fresh:  # the stages that come first in a network that knows nothing
        arms = [replace(arm, asks=_FIRST[arm.asks]) for arm in arms]
    seeds = range(1, chosen.seeds + 1)
    if not chosen.table:
        others = [file for arm in arms for seed in seeds if (file := bench.in_the_way(arm, seed)) is not None]
        if others:
            raise SystemExit(f"{others[0]} holds figures of other settings. Name an empty folder with --figures.")
        chosen.out.mkdir(parents=True, exist_ok=True)
        paces = bench.paces([arm for arm in arms if any(bench.kept(arm, seed) is None for seed in seeds)])
        for seed in seeds:
            for arm in arms:
                bench.run(arm, seed, paces)
    kept = {arm: {seed: one for seed in seeds if (one := bench.kept(arm, seed)) is not None} for arm in arms}
    print(_table({arm: found for arm, found in kept.items() if found}))


def _table(kept: Mapping[Arm, Mapping[int, Mapping[str, Any]]]) -> str:
    heads = ["arm", "steps", "forms", "gain", "words dropped", "gain", "regions", "gain", "seconds"]
    plain = {arm.asks: found for arm, found in kept.items() if not arm.stages}
    rows = []
    for arm, found in kept.items():
        first = next(iter(found.values()))
        steps = "; ".join(f"{name} {count:,}" for name, count in first["steps"].items())
        cells = [arm.name, steps]
        for figure in ("words", "dropped", "pixels"):
            if figure not in first:
                cells += ["-", "-"]
                continue
            cells.append(f"{statistics.median(one[figure] for one in found.values()):.3f}")
            beside = plain.get(arm.asks, {})
            gains = [one[figure] - beside[seed][figure] for seed, one in found.items() if seed in beside]
            cells.append(", ".join(f"{gain:+.3f}" for gain in gains) if arm.stages and gains else "-")
        cells.append(f"{statistics.median(one['seconds'] for one in found.values()):.0f}")
        rows.append(cells)
    return table(heads, rows, left=2)


if __name__ == "__main__":
    main()
