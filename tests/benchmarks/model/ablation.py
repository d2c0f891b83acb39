"""What each part of the network and of its training is worth, at a fixed number of steps on generated pages.

    python -m tests.benchmarks.model.ablation FOLDER [--steps 600] [--pages 24] [--only "all,no image"] [--start FILE ...] [--workers 2]

Every row changes one thing of the first and trains the nano network anew from the same seed and pages (three steps in ten are
four pages of words, the others two small pictures, of which half come without words). Judged on pages that training never saw, with
their images: answers made of words; and by the pixel path alone regions that no words make, on read and on unread pages, before and
after one click. What has been run is kept in FOLDER/ablation.jsonl and not run again. --start: checkpoints of
earlier stages, a row each, named after their folders.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import fmean

import torch

from engine.synthetic import generate
from engine.training.evaluation.evaluate import evaluate
from engine.training.sources.examples import mixed_source, synthetic_source
from engine.training.sources.region_source import region_source, without_words
from model import checkpoint
from model.anchors import ANCHORS
from model.inference import SHIPPED, Predictor
from model.learning import Plan, learn
from model.network import GroundingNetwork
from model.objectives.promptable import Asking, PromptableSegmentation
from model.optim import NaturalGradient, parameter_groups
from model.presets import NANO, NetworkConfig
from tests.benchmarks.markdown import table
from tests.benchmarks.processes import processes

SEED, HELD_OUT, POOL, PICTURES = 3, 9_999_991, 384, 0.7
RATE = 7e-4  # matrices learn at four times this rate
SIDE = 256  # pixels: what a row costs goes with the square
SMALL = replace(NANO, image=replace(NANO.image, long_side=SIDE))
AS_ALWAYS = Asking(prompted_steps=0.5)


@dataclass(frozen=True, slots=True)
class Variant:
    """One row."""

    config: NetworkConfig = SMALL
    asking: Asking = AS_ALWAYS
    pictures: bool = True
    frozen: tuple[str, ...] = ()  # parameters whose names start so stay as they were drawn
    undrawn: bool = False  # clicks and boxes reach the mask decoder as tokens alone
    start: Path | None = None


def forget_anchors(network: GroundingNetwork) -> None:
    """Nothing that anchors say reaches the answer: their weights have met zeros alone."""
    with torch.no_grad():
        network.word_head.hints.get_parameter("0.weight")[:, :ANCHORS] = 0.0
        network.mask_decoder.beside.get_parameter("0.weight").zero_()


def variants(starts: Sequence[Path]) -> dict[str, Variant]:
    rows = {
        "all": Variant(),
        "no joint attention": Variant(config=replace(SMALL, fusion_layers=0)),
        "prompt tower not trained": Variant(frozen=("prompt_encoder.transformer",)),
        "no lexical anchor": Variant(asking=replace(AS_ALWAYS, anchors_dropped=1.0)),
        "no pixel path": Variant(pictures=False),
        "one mask alone": Variant(asking=replace(AS_ALWAYS, multimask=False)),
        "clicks not drawn": Variant(frozen=("prompt_encoder.drawn_in", "prompt_encoder.nothing_drawn"), undrawn=True),
        "no simulated prompts": Variant(asking=Asking(prompted_steps=0.0)),
    }
    return rows | {f"after {start.parent.name}": Variant(start=start) for start in starts}


def trained(variant: Variant, steps: int) -> GroundingNetwork:
    torch.manual_seed(SEED)
    network = GroundingNetwork(variant.config)
    vectors = checkpoint.load(SHIPPED).state["text_encoder.embedding.piece_vectors"]
    network.text_encoder.embedding.piece_vectors.copy_(vectors)
    if variant.start is not None:
        network.load_state_dict(checkpoint.load(variant.start).state)
    if variant.undrawn:
        for parameter in network.prompt_encoder.drawn_in[-1].parameters():
            torch.nn.init.zeros_(parameter)
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(not name.startswith(variant.frozen))
    source = synthetic_source(SEED + 7_000)
    if variant.pictures:
        source = mixed_source(source, region_source(SEED + 8_000, long_side=SIDE, pool=POOL), PICTURES, SEED)
    objective = PromptableSegmentation(network, source, variant.asking)
    matrices, rest = parameter_groups(network, weight_decay=0.02)
    optimizer = NaturalGradient.from_mode([matrices | {"lr": 4 * RATE}, rest], "blocks", lr=RATE)
    learn(objective, optimizer, Plan(steps=steps, seed=SEED, warmup=20))
    if variant.asking.anchors_dropped == 1.0:
        forget_anchors(network)
    return network


def judged(network: GroundingNetwork, pictures: bool, count: int) -> dict[str, float]:
    """Mean IoU of answers made of words; of the pixel path on regions that no words make, before and after a click."""
    pages = list(islice(generate(HELD_OUT), count))
    drawn = {one.page.page_id: one for one in pages}
    of_words = [replace(one.page, questions=[q for q in one.page.questions if q.answers]) for one in pages]
    read = [replace(one.page, questions=[q for q in one.page.questions if q.masks and not q.answers]) for one in pages]
    predictor = Predictor(network, "ablation")
    image = (lambda page: drawn[page.page_id].render()) if pictures else None
    words = evaluate(predictor, of_words, images_from=image, timed=False).scored
    found = {"words": fmean(one.iou for one in words)}
    for name, regions in {"read": read, "unread": [without_words(page) for page in read]}.items() if pictures else ():
        asked = [page for page in regions if page.questions]
        scored = evaluate(predictor, asked, images_from=image, clicks=1, corrected="pixels", timed=False).scored
        found[f"regions, {name}"] = fmean(one.pixel_iou or 0.0 for one in scored)
        found["after a click" if name == "read" else "after a click, unread"] = fmean(
            one.after_clicks[0] for one in scored
        )
    return found


def perform(name: str, variant: Variant, steps: int, pages: int) -> tuple[str, dict[str, float]]:
    torch.set_num_threads(1)
    return name, judged(trained(variant, steps), variant.pictures, pages)


def run(folder: Path, rows: dict[str, Variant], steps: int, pages: int, workers: int) -> dict[str, dict[str, float]]:
    path = folder / "ablation.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    found = {line["row"]: line["figures"] for line in lines if line["steps"] == steps and line["pages"] == pages}
    with processes(workers) as pool:
        waiting = [
            pool.submit(perform, name, variant, steps, pages) for name, variant in rows.items() if name not in found
        ]
        for done in waiting:
            name, figures = done.result()
            found[name] = figures
            with path.open("a") as file:
                file.write(json.dumps({"row": name, "steps": steps, "pages": pages, "figures": figures}) + "\n")
    return {name: found[name] for name in rows}


def print_rows(found: dict[str, dict[str, float]], steps: int) -> None:
    heads: Sequence[str] = list(dict.fromkeys(name for figures in found.values() for name in figures))
    print(f"Mean IoU after {steps} steps\n")
    print(
        table(
            ["", *heads],
            [[row, *(f"{figures[h]:.3f}" if h in figures else "" for h in heads)] for row, figures in found.items()],
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--pages", type=int, default=24)
    parser.add_argument("--only", default="")
    parser.add_argument("--start", type=Path, nargs="*", default=())
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    rows = variants(given.start)
    if given.only:
        rows = {name: rows[name] for name in given.only.split(",")}
    print_rows(run(given.folder, rows, given.steps, given.pages, given.workers), given.steps)


if __name__ == "__main__":
    main()
