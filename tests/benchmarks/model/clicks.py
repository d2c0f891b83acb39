"""Mean IoU after 0, 1, 3 and 5 clicks: of the pixel path alone on what no words make, and of both paths on words.

    python -m tests.benchmarks.model.clicks [--pages 120] [--seed 4711] [--model FILE] [--plots FOLDER]

Generated pages that training never saw. The pixel path is judged and corrected by itself, once on pages with their words and once
on the same pages unread. The asker clicks into the middle of the largest error (engine.training.evaluation.clicks).
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from PIL.Image import Image

from engine.grounded import GroundedPage
from engine.synthetic import SyntheticPage, generate
from engine.training.evaluation.evaluate import Corrected, evaluate
from engine.training.sources.region_source import without_words
from model.inference import Predictor
from tests.benchmarks import plots
from tests.benchmarks.markdown import table

CLICKS = (0, 1, 3, 5)
MOST_EACH = 40  # questions of a kind: a mean of these is good to about .05


def _given(image: Image, _: object) -> Image:
    return image


def of_type(page: GroundedPage, region_type: str) -> GroundedPage:
    """The page asked for its regions of one type that no words make."""
    return replace(
        page, questions=[q for q in page.questions if q.masks and not q.answers and q.region_type == region_type]
    )


def by_words(page: GroundedPage) -> GroundedPage:
    return replace(page, questions=[question for question in page.questions if question.answers][:4])


def courses(predictor: Predictor, pages: Sequence[SyntheticPage]) -> Mapping[str, list[tuple[float, ...]]]:
    """Kind of answer -> IoU before and after each click, a question each."""
    found: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    types = sorted({q.region_type for one in pages for q in one.page.questions if q.masks and q.region_type})
    asked: list[tuple[str, SyntheticPage, GroundedPage, Corrected]] = [
        (kind, one, of_type(one.page, kind), "pixels") for kind in types for one in pages
    ]
    asked += [
        (f"{kind}, unread", one, without_words(of_type(one.page, kind)), "pixels") for kind in types for one in pages
    ]
    asked += [("words", one, by_words(one.page), "answer") for one in pages]
    for kind, one, page, corrected in asked:
        if not page.questions or len(found[kind]) >= MOST_EACH:
            continue
        image = one.render()
        found_here = evaluate(
            predictor,
            [page],
            images_from=partial(_given, image),
            clicks=max(CLICKS),
            corrected=corrected,
            timed=False,
        )
        found[kind] += [
            ((scored.pixel_iou or 0.0) if corrected == "pixels" else scored.iou, *scored.after_clicks)
            for scored in found_here.scored
            if scored.answerable
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--seed", type=int, default=4711)
    parser.add_argument("--model", type=Path, help="a checkpoint instead of the shipped one")
    plots.add_plots_argument(parser)
    given = parser.parse_args()
    torch.set_num_threads(1)
    found = courses(Predictor.load(given.model), list(islice(generate(given.seed), given.pages)))
    means = {
        kind: [statistics.mean(course[n] for course in rows) for n in range(6)] for kind, rows in found.items() if rows
    }
    print(
        f"Mean IoU after clicks on {given.pages} generated pages; words: both paths together; the others: the pixel path alone\n"
    )
    rows = [[kind, str(len(found[kind])), *(f"{mean[n]:.3f}" for n in CLICKS)] for kind, mean in means.items()]
    print(table(["answer", "questions", *(f"{n} clicks" for n in CLICKS)], rows))
    if given.plots:
        plots.curves(
            given.plots / "model-clicks.png",
            {kind: (range(6), mean) for kind, mean in means.items()},
            title="Mean IoU after corrective clicks on generated pages",
            x="clicks",
            y="mean IoU",
        )


if __name__ == "__main__":
    main()
