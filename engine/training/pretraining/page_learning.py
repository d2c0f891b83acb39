"""Pretraining stages on rendered pages without questions, each with figures of its effect.

Every stage can be resumed.
"""

import copy
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.training.pretraining.curves import METRICS_FILE
from engine.training.pretraining.pretraining_stage import WEIGHT_DECAY
from engine.training.pretraining.probing import (
    Regions,
    error_figures,
    predicted_figures,
    probe_pages,
    regions_of,
    retrieval_figures,
    type_figures,
)
from engine.training.sources.examples import synthetic_source
from engine.training.sources.page_supply import GENERATED, PageSupply
from engine.training.sources.rendered import RenderedPage, rendered_source
from engine.training.unlabelled.page_corpus import PageCorpus
from model.examples import Source
from model.learning import Outcome, Plan, learn
from model.network import GroundingNetwork
from model.objectives.djepa import ImageJepa, JointJepa
from model.objectives.masked_image import MaskedImage
from model.objectives.objective import NetworkObjective, Objective
from model.objectives.sparse_image import SparseMaskedImage
from model.objectives.text_jepa import TextJepa
from model.optim import NaturalGradient, parameter_groups
from model.pretraining.joint import JointPretraining

RATE = 1e-3  # of vectors and norms; matrices learn at four times the rate, as in the stages with questions
_PACE_STEPS = 8  # timed, then discarded

PageKind = Callable[[GroundingNetwork, Source], NetworkObjective]
PAGE_OBJECTIVES: dict[str, PageKind] = {
    "mim": MaskedImage,
    "ijepa": ImageJepa,
    "djepa": JointJepa,
    "tjepa": TextJepa,
    "joint": JointPretraining,
    "mae": SparseMaskedImage,
}


def page_groups(objective: Objective, rate: float = RATE) -> list[dict[str, Any]]:
    """Return all parameters that learn, of the network and of the objective's own parts, with their rates."""
    matrices, vectors = parameter_groups(objective.learned, weight_decay=WEIGHT_DECAY)
    return [matrices | {"lr": 4 * rate}, vectors | {"lr": rate}]


def page_optimizer(groups: list[dict[str, Any]]) -> NaturalGradient:
    """Return the optimizer of learning from pages."""
    return NaturalGradient.from_mode(groups, "blocks", lr=RATE)


def learn_pages(
    folder: Path,
    objective: NetworkObjective,
    plan: Plan,
    *,
    rate: float = RATE,
    resume: bool = False,
    on_metrics: Callable[[Mapping[str, float]], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Outcome:
    """Train one of PAGE_OBJECTIVES into `folder`: checkpoint, state to resume, METRICS_FILE.

    The metrics include `target_std`; a resumed run appends to them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    metrics = folder / METRICS_FILE

    def report(values: Mapping[str, float]) -> None:
        """Append one row to the metrics."""
        line = {name: round(float(value), 6) for name, value in values.items()}
        with metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if on_metrics is not None:
            on_metrics(line)

    return learn(
        objective,
        page_optimizer(page_groups(objective, rate)),
        plan,
        folder=folder,
        resume=resume,
        on_metrics=report,
        cancelled=cancelled,
    )


def page_objective(
    name: str,
    network: GroundingNetwork,
    seed: int,
    *,
    pages: int = 4,
    pool: int = 512,
    corpus: PageCorpus | None = None,
    supply: PageSupply = GENERATED,
    feed: Callable[[Source], Source] = lambda source: source,
) -> NetworkObjective:
    """Return one of PAGE_OBJECTIVES on the pages of a corpus, without one on those of `supply`.

    `feed`: what the source goes through, such as making examples ahead.

    Raises ValueError for another name.
    """
    if name not in PAGE_OBJECTIVES:
        raise ValueError(f"There is no page objective {name!r}; choose from {', '.join(PAGE_OBJECTIVES)}.")
    if PAGE_OBJECTIVES[name] is TextJepa:  # pictures would be drawn for nothing
        if corpus is None:
            source = synthetic_source(seed, pages=pages, questions=1, made=supply.words)
        else:
            source = corpus.words(seed, pages=pages)
    elif corpus is not None:
        source = corpus.pictures(seed, pages=pages)
    else:
        side = network.config.image.long_side
        source = rendered_source(seed, long_side=side, pages=pages, pool=pool, made=supply.drawn)
    return PAGE_OBJECTIVES[name](network, feed(source))


def affordable_steps(
    kind: PageKind,
    network: GroundingNetwork,
    source: Source,
    minutes: float,
    rate: float = RATE,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Return the steps that take about `minutes` here; times some on a copy, without the drawing of pages."""
    for step in range(_PACE_STEPS + 1):
        source(step)
    rehearsed = kind(copy.deepcopy(network), source)
    groups = page_groups(rehearsed, rate)
    learn(rehearsed, page_optimizer(groups), Plan(steps=1))
    began = clock()
    learn(rehearsed, page_optimizer(groups), Plan(steps=_PACE_STEPS))
    return max(1, round(minutes * 60 * _PACE_STEPS / (clock() - began)))


def page_figures(
    network: GroundingNetwork, fitted: Sequence[RenderedPage], judged: Sequence[RenderedPage]
) -> dict[str, float]:
    """Return figures of a network's frozen features: fitted on some pages, judged on others.

    Balanced accuracy of the probe of region types, and top-1 of both retrievals (engine.training.pretraining.probing).
    """
    was_training = network.training
    network.eval()
    fitted_regions, judged_regions = regions_of(network, fitted), regions_of(network, judged)
    network.train(was_training)
    return figures_of(fitted_regions, judged_regions)


def figures_of(fitted: Regions, judged: Regions) -> dict[str, float]:
    """Return the figures of `page_figures` from features."""
    types = {f"region_type.{name}": probe.balanced for name, probe in type_figures(fitted, judged).items()}
    return {**types, **retrieval_figures(fitted, judged)}


def standard_figures(
    network: GroundingNetwork, pages: int = 64, objective: Objective | None = None
) -> dict[str, float]:
    """Return `page_figures` on generated pages that no training uses; drops figures too small to measure.

    For D-JEPA, also the errors of its predictions beside the mean's, and both retrievals by its own predictor.

    Args:
        network: read with its parameters frozen.
        pages: number of pages to judge on; twice as many are fitted on.
        objective: the one that trains the network.
    """
    long_side = network.config.image.long_side
    judged = _kept_pages(pages, long_side, True)
    figures = page_figures(network, _kept_pages(2 * pages, long_side, False), judged)
    if isinstance(objective, JointJepa):
        figures |= error_figures(objective, judged) | predicted_figures(objective, judged)
    return {name: value for name, value in figures.items() if not math.isnan(value)}


@lru_cache(maxsize=4)
def _kept_pages(count: int, long_side: int, held_out: bool) -> list[RenderedPage]:
    """Return cached pages: a stage is judged before and after."""
    return probe_pages(count, long_side, held_out=held_out)
