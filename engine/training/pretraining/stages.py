"""The stages of pretraining, in order: what each learns, from what, how fast, and the figures that show that it learned."""

import copy
from itertools import islice
from statistics import fmean
from typing import Any

from engine.synthetic import generate
from engine.training.evaluation.evaluate import evaluate
from engine.training.pretraining.page_learning import RATE, page_objective, standard_figures
from engine.training.pretraining.stage import Stage, Surroundings, at_rate
from engine.training.pretraining.text_stages import TEXT_STAGES
from engine.training.sources.examples import mixed_source, synthetic_source
from engine.training.sources.region_source import region_source
from model.examples import Source
from model.inference import Predictor
from model.objectives.growing import Growing
from model.objectives.objective import NetworkObjective, Objective
from model.objectives.promptable import Asking, PromptableSegmentation
from model.objectives.region_masks import Pointing, RegionMasks, pixel_parts
from model.optim import NaturalGradient, parameter_groups

_IMAGE_SHARE = 0.8  # of the steps of the stage with pictures: one rendered page, instead of four pages of words
_REGION_SHARE = 0.6  # of those: a page that is asked for its regions alone
_POOL = 384  # such pages, kept in memory
_HELD_OUT_SEED = 9_999_991
_PAGES_SEED = 9_000  # added to a run's seed: other pages than the stages that ask


def _everything(objective: Objective) -> list[dict[str, Any]]:
    """Matrices at four times the rate of the rest, as in retraining."""
    assert isinstance(objective, NetworkObjective)
    matrices, rest = parameter_groups(objective.network, weight_decay=0.02)
    return [matrices | {"lr": 4e-3}, rest | {"lr": 1e-3}]


def _pixels_alone(objective: Objective) -> list[dict[str, Any]]:
    assert isinstance(objective, RegionMasks)
    matrices, rest = parameter_groups(pixel_parts(objective.network), weight_decay=0.02)
    return [matrices | {"lr": 2.8e-3}, rest | {"lr": 7e-4}]


def _growth_alone(objective: Objective) -> list[dict[str, Any]]:
    assert isinstance(objective, Growing)
    matrices, rest = parameter_groups(objective.network.word_head.growth, weight_decay=0.02)
    return [matrices | {"lr": 8e-4}, rest | {"lr": 2e-4}]


def _with_pictures_groups(objective: Objective) -> list[dict[str, Any]]:
    """The pixel path learns fast, the word path, which has learned already, slowly; matrices at four times the rate of the
    rest."""
    assert isinstance(objective, NetworkObjective)
    pixels = {id(parameter) for parameter in pixel_parts(objective.network).parameters()}
    groups = []
    for group, factor in zip(parameter_groups(objective.network, weight_decay=0.02), (4, 1), strict=True):
        fast = [parameter for parameter in group["params"] if id(parameter) in pixels]
        slow = [parameter for parameter in group["params"] if id(parameter) not in pixels]
        groups += [group | {"params": fast, "lr": factor * 5e-4}, group | {"params": slow, "lr": factor * 1e-4}]
    return groups


def _with_pictures(around: Surroundings) -> Objective:
    source = pictures_source(around.seed, around.network.config.image.long_side)
    return PromptableSegmentation(around.network, source, Asking(prompted_steps=0.5))


def _regions(around: Surroundings) -> Objective:
    pointing = Pointing(long_side=min(Pointing().long_side, around.network.config.image.long_side))
    source = region_source(around.seed + 6_000, long_side=pointing.long_side)
    return RegionMasks(around.network, source, pointing)


def pictures_source(seed: int, long_side: int) -> Source:
    """Pages of words; in between one rendered page with questions of all kinds, or one that is asked for its regions."""
    words = synthetic_source(seed + 7_000)
    rendered = synthetic_source(seed + 8_000, pages=1, regions=0.3, images=True)
    regions = region_source(seed + 9_000, long_side=long_side, pages=1, pool=_POOL)
    return mixed_source(words, mixed_source(rendered, regions, _REGION_SHARE, seed), _IMAGE_SHARE, seed + 1)


def answers(around: Surroundings, pictures: bool) -> dict[str, float]:
    """Mean IoU, share of answers above one half, and AUROC of "answered here" on pages that no training sees."""
    pages = list(islice(generate(_HELD_OUT_SEED), around.held_out))
    drawn = {one.page.page_id: one for one in pages}
    found = evaluate(
        Predictor(copy.deepcopy(around.network).cpu(), "unfinished"),
        [one.page for one in pages],
        images_from=(lambda page: drawn[page.page_id].render()) if pictures else None,
        timed=False,
    )
    shown = found.figures
    figures = {
        "mean_iou": shown.mean_iou,
        "acc_50": shown.acc_50,
        "answered_auroc": shown.unanswerable_auroc,
        "calibration_error": shown.calibration_error,
    }
    if pictures:
        wordless = {q.question_id for one in pages for q in one.page.questions if q.masks and not q.answers}
        regions = [one.pixel_iou for one in found.scored if one.question_id in wordless]
        figures["pixel_iou_where_no_words"] = fmean(regions) if regions else None
    return {name: value for name, value in figures.items() if value is not None}


def _on_pages(name: str, title: str) -> Stage:
    """A stage of engine.training.pretraining.page_learning. Its figures: what frozen features tell of regions and words."""
    return Stage(
        title=title,
        share=0.3,
        objective=lambda around: page_objective(name, around.network, around.seed + _PAGES_SEED),
        groups=at_rate(RATE),
        figures=lambda around, _: standard_figures(around.network, around.held_out),
    )


STAGES: dict[str, Stage] = {
    **TEXT_STAGES,
    "mim": _on_pages("mim", "Hidden pixels of rendered pages, nothing asked."),
    "ijepa": _on_pages("ijepa", "Embeddings of hidden regions of rendered pages, nothing asked."),
    "djepa": _on_pages(
        "djepa", "Embeddings of regions from image and words, and of words from the image, nothing asked."
    ),
    "joint": _on_pages("joint", "Hidden pixels, embeddings, and masked words with the page in view, nothing asked."),
    "words": Stage(
        title="Questions answered by words, on generated pages without pictures.",
        share=0.55,
        objective=lambda around: PromptableSegmentation(around.network, synthetic_source(around.seed)),
        groups=_everything,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "default", lr=1e-3),
        figures=lambda around, _: answers(around, pictures=False),
    ),
    "regions": Stage(
        title="Regions that no words make, asked for and pointed at, on small pictures; what words alone need stays.",
        share=0.45,
        objective=_regions,
        groups=_pixels_alone,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "default", lr=7e-4),
        figures=lambda around, _: answers(around, pictures=True),
    ),
    "segment": Stage(
        title="Questions answered by words and pixels, on rendered pages too.",
        share=0.45,
        objective=_with_pictures,
        groups=_with_pictures_groups,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "default", lr=5e-4),
        figures=lambda around, _: answers(around, pictures=True),
    ),
    "growth": Stage(
        title="Which words belong to an answer, and how good an answer is; all else stays.",
        share=0.1,
        objective=lambda around: Growing(around.network, synthetic_source(around.seed + 77_000)),
        groups=_growth_alone,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "default", lr=2e-4),
        figures=lambda around, _: answers(around, pictures=False),
    ),
}
