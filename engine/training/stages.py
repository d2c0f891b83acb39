"""The stages of pretraining, in order: what each learns, from what, how fast, and the figures that show that it learned."""

import copy
from itertools import islice
from statistics import fmean
from typing import Any

from engine.synthetic import generate
from engine.training.evaluate import evaluate
from engine.training.examples import mixed_source, synthetic_source
from engine.training.page_learning import page_groups, page_objective, standard_figures
from engine.training.stage import Stage, Surroundings, at_rate
from engine.training.text_stages import TEXT_STAGES
from model.examples import Source
from model.inference import Predictor
from model.objectives.objective import Objective
from model.objectives.promptable import PromptableSegmentation

_PIXEL_PARTS = ("image_encoder.", "fusion.", "mask_decoder.", "prompt_encoder.mask_in.", "prompt_encoder.no_mask")
_IMAGE_SHARE = 0.7  # of the steps of the stage with pictures: one rendered page, instead of four pages of words
_HELD_OUT_SEED = 9_999_991
_PAGES_SEED = 9_000  # added to a run's seed: other pages than the stages that ask


def _with_pictures_groups(objective: Objective) -> list[dict[str, Any]]:
    """The pixel path learns fast, the word path, which has learned already, slowly."""
    named = list(objective.learned.named_parameters())
    pixels = [parameter for name, parameter in named if name.startswith(_PIXEL_PARTS)]
    words = [parameter for name, parameter in named if not name.startswith(_PIXEL_PARTS)]
    return [{"params": pixels, "lr": 1.5e-3}, {"params": words, "lr": 4e-4}]


def pictures_source(seed: int) -> Source:
    """Pages of words, and in between one rendered page with many questions about what no words make."""
    words = synthetic_source(seed + 7_000)
    rendered = synthetic_source(seed + 8_000, pages=1, regions=0.5, images=True)
    return mixed_source(words, rendered, _IMAGE_SHARE, seed)


def answers(around: Surroundings, pictures: bool) -> dict[str, float]:
    """Mean IoU, share of answers above one half, and AUROC of "answered here" on pages that no training sees."""
    pages = list(islice(generate(_HELD_OUT_SEED), around.held_out))
    drawn = {one.page.page_id: one for one in pages}
    found = evaluate(
        Predictor(copy.deepcopy(around.network), "unfinished"),
        [one.page for one in pages],
        images_from=(lambda page: drawn[page.page_id].render()) if pictures else None,
        timed=False,
    )
    shown = found.figures
    figures = {"mean_iou": shown.mean_iou, "acc_50": shown.acc_50, "answered_auroc": shown.unanswerable_auroc}
    if pictures:
        wordless = {q.question_id for one in pages for q in one.page.questions if q.masks and not q.answers}
        regions = [one.pixel_iou for one in found.scored if one.question_id in wordless]
        figures["pixel_iou_where_no_words"] = fmean(regions) if regions else None
    return {name: value for name, value in figures.items() if value is not None}


def _on_pages(name: str, title: str) -> Stage:
    """A stage of engine.training.page_learning. Its figures: what frozen features tell of regions and words."""
    return Stage(
        title=title,
        share=0.3,
        objective=lambda around: page_objective(name, around.network, around.seed + _PAGES_SEED),
        groups=page_groups,
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
        groups=at_rate(2e-3),
        figures=lambda around, _: answers(around, pictures=False),
    ),
    "segment": Stage(
        title="Questions answered by words and pixels, on rendered pages too.",
        share=0.45,
        objective=lambda around: PromptableSegmentation(around.network, pictures_source(around.seed)),
        groups=_with_pictures_groups,
        figures=lambda around, _: answers(around, pictures=True),
    ),
}
