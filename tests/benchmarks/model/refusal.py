"""How sure the pixel path is against how right it is: fits the calibration of model/refusal.py on generated pages.

    python -m tests.benchmarks.model.refusal [--pages 1200] [--seed 91] [--model FILE]

Questions that regions answer, and a fifth of questions for regions that the page does not have, on pages that training
never saw. Half of the pages are asked unread, like scans without OCR. The fit is a logistic regression of "IoU of at
least one tenth" on the log odds of the predicted IoU and of "answered here". The table shows what each threshold would
decline.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL.Image import Image

from engine.grounded import GroundedPage
from engine.synthetic import SyntheticPage, generate
from engine.training.evaluation.evaluate import Answered, evaluate
from engine.training.evaluation.marks_figures import ELSEWHERE
from engine.training.evaluation.metrics import auroc
from model import refusal
from model.inference import Predictor
from tests.benchmarks.markdown import table

_STEPS = 200  # of Newton's method; it converges in about ten
_RIDGE = 1e-3
_ABSENT = 0.35  # share of the pages that are asked for a region that they lack: a fifth of the questions


@dataclass(frozen=True, slots=True)
class Asked:
    """A question for a region: what the pixel path thinks, and how right it is; a region that is absent has IoU 0."""

    page: int
    region_type: str
    there: bool
    predicted: float
    answered: float
    iou: float


def asked_on(predictor: Predictor, pages: list[SyntheticPage], seed: int) -> Iterator[Asked]:
    """Yield the questions that the pixel path decides."""
    rng = random.Random(seed)
    kinds: dict[str, list[str]] = {}
    for one in pages:
        for question in one.page.questions:
            if question.masks and not question.answers and question.region_type:
                kinds.setdefault(question.region_type, []).append(question.question)
    for number, one in enumerate(pages):
        page = _with_absent(one, kinds, rng)
        if not page.questions:
            continue
        answers: list[Answered] = []
        evaluate(
            predictor,
            [_unread(page) if number % 2 else page],
            images_from=partial(_given, one.render()),
            timed=False,
            on_answer=answers.append,
        )
        for found in answers:
            answer = found.answer
            if answer.mask.any() and np.array_equal(answer.mask, answer.pixel_mask):
                there = found.question.answerable
                yield Asked(
                    number,
                    str(found.question.region_type),
                    there,
                    answer.score,
                    answer.answered,
                    found.scored.iou if there else 0.0,
                )


def _with_absent(one: SyntheticPage, kinds: dict[str, list[str]], rng: random.Random) -> GroundedPage:
    regions = [question for question in one.page.questions if question.masks and not question.answers]
    here = {question.region_type for question in regions} | {figure.kind for figure in one.canvas.figures}
    here |= {"table"} if one.canvas.tables else set()
    missing = sorted(set(kinds) - here - {"checkbox"})
    if not regions or not missing or rng.random() > _ABSENT:
        return replace(one.page, questions=regions)
    kind = rng.choice(missing)
    absent = replace(
        regions[0], question_id=f"absent-{kind}", question=rng.choice(kinds[kind]), masks=[], region_type=kind
    )
    return replace(one.page, questions=[*regions, absent])


def _unread(page: GroundedPage) -> GroundedPage:
    """Return the page without words, and without questions for boxes to tick: only words tell which one is meant."""
    return replace(page, words=[], questions=[one for one in page.questions if one.region_type != "checkbox"])


def _given(image: Image, _: object) -> Image:
    return image


def log_odds(share: NDArray[np.float64]) -> NDArray[np.float64]:
    held = np.clip(share, 0.01, 0.99)
    return np.asarray(np.log(held / (1 - held)))


def fit(features: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of a logistic regression, the constant last, by Newton's method."""
    given = np.column_stack([features, np.ones(len(features))])
    weights = np.zeros(given.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-given @ weights))
        slope = given.T @ (right - chance) - _RIDGE * weights
        bend = (given * (chance * (1 - chance))[:, None]).T @ given + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(bend, slope)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=91)
    parser.add_argument("--model", type=Path, help="a checkpoint instead of the shipped one")
    given = parser.parse_args()
    torch.set_num_threads(1)
    refusal.THRESHOLD = 0.0  # nothing is declined
    refusal.confidence = lambda predicted, answered: answered  # what is fitted is what the network says
    predictor = Predictor.load(given.model)
    rows = list(asked_on(predictor, list(islice(generate(given.seed), given.pages)), given.seed))
    predicted, answered = (np.array([getattr(row, name) for row in rows]) for name in ("predicted", "answered"))
    right = np.array([float(row.iou >= ELSEWHERE) for row in rows])
    features = np.column_stack([log_odds(predicted), log_odds(answered)])
    folds = np.array([row.page // 2 % 2 for row in rows])  # both halves have read and unread pages
    held = np.zeros(len(rows))
    for fold in (0, 1):  # each half of the pages is judged by the fit of the other
        weights = fit(features[folds != fold], right[folds != fold])
        part = features[folds == fold]
        held[folds == fold] = 1 / (1 + np.exp(-np.column_stack([part, np.ones(len(part))]) @ weights))
    print(
        f"{len(rows)} questions that pixels decide on {given.pages} generated pages, weights {predictor.version[:12]}"
    )
    print(f"in the right place: {right.mean():.3f}; the region is there: {np.mean([row.there for row in rows]):.3f}\n")
    for name, values in (("predicted IoU", predicted), ("answered", answered), ("fit, held out", held)):
        print(f"AUROC of {name}: {auroc(list(values[right == 1]), list(values[right == 0])):.3f}")
    print("\nweights of predicted IoU and answered (log odds), constant:", fit(features, right).round(3).tolist())
    bins = np.array_split(np.argsort(held), 10)
    print(
        "\n"
        + table(
            ["chance", "right", "questions"],
            [[f"{held[b].mean():.2f}", f"{right[b].mean():.2f}", str(len(b))] for b in bins],
        )
    )
    lines = []
    for threshold in (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        shown = held >= threshold
        lines.append(
            [
                f"{threshold:.1f}",
                f"{shown.mean():.3f}",
                f"{right[shown].mean():.3f}",
                f"{right[shown].sum() / right.sum():.3f}",
            ]
        )
    print("\n" + table(["threshold", "shown", "of them right", "of the right ones shown"], lines))


if __name__ == "__main__":
    main()
