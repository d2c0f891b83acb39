"""What pages without questions teach: masked images, I-JEPA and D-JEPA against random weights, at equal minutes
of one processor.

    python -m tests.benchmarks.model.pages_without_questions OUT [--minutes 6] [--side 384] [--ways mim,ijepa,djepa]
    [--seed 1] [--pages 320]

Each way starts at the same weights and takes the same pages, drawn beforehand and kept in OUT; each leaves a
checkpoint, a log and its figures there. A second call goes on with what is missing. One thread.
"""

from __future__ import annotations

import argparse
import json
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from engine.training.pretraining.page_learning import (
    PAGE_OBJECTIVES,
    RATE,
    PageKind,
    affordable_steps,
    figures_of,
    learn_pages,
)
from engine.training.pretraining.probing import error_figures, predicted_figures, probe_pages, regions_of
from engine.training.sources.rendered import RenderedPage, drawn_pages, render_page, source_of
from model import checkpoint
from model.examples import Source
from model.learning import Plan
from model.network import GroundingNetwork
from model.objectives.djepa import ImageJepa, JepaSettings, JointJepa
from model.objectives.objective import CHECKPOINT_FILE
from model.presets import NANO
from model.pretraining.token_vectors import reduced_vectors, teacher_folder
from tests.benchmarks.markdown import table

FIGURES_FILE = "figures.json"
# Layer norm inside a token, no contrast, nothing against collapse, paper counts like print.
AS_PUBLISHED = replace(JepaSettings.as_worded(), apart=0.0, paper=1.0)
WAYS: dict[str, PageKind] = {
    **PAGE_OBJECTIVES,
    "ijepa_plain": lambda network, source: ImageJepa(network, source, AS_PUBLISHED),
    "djepa_plain": lambda network, source: JointJepa(network, source, AS_PUBLISHED),
}
FITTED, JUDGED = 144, 72  # pages of the probes


def start(side: int, seed: int) -> GroundingNetwork:
    """The nano network before it has learned anything, on pages of ``side`` pixels."""
    torch.manual_seed(seed)
    network = GroundingNetwork(replace(NANO, image=replace(NANO.image, long_side=side)))
    vectors = reduced_vectors(teacher_folder(), NANO.text.vector_width)
    network.text_encoder.embedding.piece_vectors.copy_(vectors)
    return network


def kept(path: Path, drawn: Callable[[], list[RenderedPage]]) -> list[RenderedPage]:
    """Pages from a file of ours, drawn and written there if it is not there."""
    if not path.is_file():
        path.write_bytes(pickle.dumps(drawn()))
    pages: list[RenderedPage] = pickle.loads(path.read_bytes())
    return pages


def steps_for(way: str, network: GroundingNetwork, source: Source, args: argparse.Namespace) -> int:
    """In minutes of the processor, so that whatever else runs here favours nobody."""
    return affordable_steps(WAYS[way], network, source, args.minutes, args.rate, clock=time.process_time)


def learned(
    way: str, folder: Path, args: argparse.Namespace, pool: Sequence[RenderedPage], judged: Sequence[RenderedPage]
) -> tuple[GroundingNetwork, dict[str, float]]:
    """The network after a way of learning, and what it logged or foretold."""
    network = start(args.side, args.seed)
    if way == "random":
        return network, {}
    source = source_of([page.example for page in pool], args.seed, pages=4)
    plan_file = folder / way / "steps.json"
    if not plan_file.is_file():
        plan_file.parent.mkdir(parents=True, exist_ok=True)
        plan_file.write_text(json.dumps(steps_for(way, network, source, args)))
    steps = json.loads(plan_file.read_text())
    plan = Plan(steps=steps, seed=args.seed, warmup=max(1, steps // 10), checkpoint_every=50, metrics_every=20)
    began = time.process_time()
    objective = WAYS[way](network, source)
    learn_pages(folder / way, objective, plan, rate=args.rate, resume=True, on_metrics=print)
    network.load_state_dict(checkpoint.load(folder / way / CHECKPOINT_FILE).state)
    found = {"steps": float(steps), "minutes": (time.process_time() - began) / 60}
    if isinstance(objective, JointJepa):
        objective.learned.eval()
        found |= predicted_figures(objective, judged) | error_figures(objective, judged)
    return network, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=6)
    parser.add_argument("--side", type=int, default=384, help="pixels of the long side of a page")
    parser.add_argument("--ways", default="mim,ijepa,djepa")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=RATE)
    parser.add_argument("--pages", type=int, default=320, help="generated pages to learn from")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    fitted = kept(args.out / "fitted.pickle", lambda: probe_pages(FITTED, args.side, held_out=False))
    judged = kept(args.out / "judged.pickle", lambda: probe_pages(JUDGED, args.side, held_out=True))
    pool = kept(
        args.out / "pool.pickle", lambda: [render_page(made, args.side) for made in drawn_pages(args.seed, args.pages)]
    )
    found: dict[str, dict[str, float]] = {}
    for way in ("random", *args.ways.split(",")):
        path = args.out / way / FIGURES_FILE
        if not path.is_file():
            network, figures = learned(way, args.out, args, pool, judged)
            network.eval()
            figures |= figures_of(regions_of(network, fitted), regions_of(network, judged))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(figures, indent=1))
        found[way] = json.loads(path.read_text())
    names = list(dict.fromkeys(name for one in found.values() for name in one))
    rows = [[name, *(f"{one[name]:.3f}" if name in one else "" for one in found.values())] for name in names]
    print(table(["", *found], rows))


if __name__ == "__main__":
    main()
