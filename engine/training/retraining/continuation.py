"""Continuation: a run goes on for another cycle while it gains.

A cycle ends with finished weights (model.learning.Plan). There the documents held out for early stopping are asked by
their words, and the run ends when mean IoU rose by no more than LEAST_GAIN in the cycle. As in a verdict, all places of
the same text count. It hands in the end of a cycle with the highest mean IoU. The loss is not the measure: on few
documents it rises while more answers become right (docs/LOG.md).
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from engine.grounded import GroundedPage
from engine.training.evaluation.evaluate import evaluate
from engine.training.retraining.page_choice import choose_spread, of_weight
from engine.training.retraining.run_files import read_figures, write_figures
from engine.training.retraining.same_text import with_places_of_the_same_text
from model import checkpoint
from model.inference import Predictor
from model.learning import Plan
from model.network import GroundingNetwork

LEAST_GAIN = 0.005  # of mean IoU, in a cycle
LOG_FILE, CYCLE_FILE = "cycles.json", "cycle.safetensors"
MOST_PAGES = 60


class Continuation:
    """Asks the held-out pages at the beginning and at the end of each cycle; called with the step.

    Figures and the best cycle's checkpoint are stored in `folder`, so a killed run resumes with them.
    """

    def __init__(
        self,
        network: GroundingNetwork,
        pages: Sequence[GroundedPage],
        documents: Mapping[str, str],
        plan: Plan,
        folder: Path,
        *,
        weights: Mapping[str, Mapping[str, float]] | None = None,
        on_iou: Callable[[int, float], None],
    ) -> None:
        self._network, self._pages, self._plan = network, some_pages(pages, documents, weights), plan
        self._folder, self._on_iou = folder, on_iou
        self._seen = read_figures(folder / LOG_FILE)

    def __call__(self, step: int) -> bool:
        """Ask the pages where a cycle begins or ends; return whether the run should end here."""
        if step > 0 and step != self._plan.cycle_of(step - 1)[1]:
            return False
        self._seen = {at: iou for at, iou in self._seen.items() if at < step}
        before = self._seen[max(self._seen)] if self._seen else None
        iou = self._mean_iou()
        if step > 0 and iou > max((earlier_iou for at, earlier_iou in self._seen.items() if at > 0), default=-1.0):
            checkpoint.save(self._folder / CYCLE_FILE, self._network, self._network.config.to_dict())
        self._seen[step] = iou
        write_figures(self._folder / LOG_FILE, self._seen)
        self._on_iou(step, iou)
        return step > 0 and before is not None and iou - before <= LEAST_GAIN

    def _mean_iou(self) -> float:
        predictor = Predictor(copy.deepcopy(self._network), "")
        scored = evaluate(predictor, self._pages, timed=False).scored
        ious = [score.iou for score in scored if score.answerable]
        return sum(ious) / max(1, len(ious))


def some_pages(
    pages: Sequence[GroundedPage],
    documents: Mapping[str, str],
    weights: Mapping[str, Mapping[str, float]] | None = None,
) -> list[GroundedPage]:
    """Return at most MOST_PAGES pages with words, without answers of weight 0; all places of a text count.

    `documents`: of each page, by its id.
    """
    fit = (of_weight(with_places_of_the_same_text(page), weights or {}) for page in pages if page.words)
    return choose_spread((page for page in fit if page.questions), documents, MOST_PAGES)


def cycle_file(folder: Path) -> Path | None:
    """Return the checkpoint of the best cycle that ended; None before the first end."""
    path = folder / CYCLE_FILE
    return path if path.is_file() else None


def cycle_step(folder: Path) -> int | None:
    """Return the step of that checkpoint."""
    ends = {step: iou for step, iou in read_figures(folder / LOG_FILE).items() if step > 0}
    return min(ends, key=lambda step: (-ends[step], step)) if ends else None
