"""Pretraining stages, in order, with their objectives, sources, learning rates and figures."""

import copy
from dataclasses import replace
from itertools import islice
from statistics import fmean
from typing import Any

from engine.documents.ocr.choose import find_engine
from engine.grounded import read_pages
from engine.synthetic import generate
from engine.training.evaluation.evaluate import evaluate
from engine.training.pretraining.page_learning import page_groups, page_objective, page_optimizer, standard_figures
from engine.training.pretraining.pretraining_stage import PAGES, PretrainingStage, StageInputs
from engine.training.pretraining.text_stages import TEXT_STAGES
from engine.training.sources.blank_forms import FORMS_FILE, kept_forms, with_forms
from engine.training.sources.examples import MOST_WORDS, mixed_source, page_source, synthetic_source
from engine.training.sources.page_supply import GENERATED, PageSupply
from engine.training.sources.read_pages import kept_read_pages
from engine.training.sources.region_choices import region_choices
from engine.training.sources.region_source import region_source
from model.examples import Source
from model.inference import Predictor
from model.objectives.growing import Growing, restart_fit
from model.objectives.objective import NetworkObjective, Objective
from model.objectives.promptable import Asking, PromptableSegmentation
from model.objectives.ranking import Ranking
from model.objectives.region_masks import Pointing, RegionMasks, pixel_parts
from model.objectives.region_ranking import RegionRanking
from model.optim import NaturalGradient, parameter_groups

_IMAGE_SHARE = 0.8  # share of the picture stage's steps with one rendered page instead of four pages of words
_REGION_SHARE = 0.6  # share of those that ask for regions only
_POOL = 384  # such pages, kept in memory
_HELD_OUT_SEED = 9_999_991
READ_PAGES_FILE = "read_pages-{seed}.jsonl"  # another seed reads other pages
READ_PAGES = 300  # generated pages that OCR reads
_READ_SHARE = 0.6  # of the steps that take these pages
_READ_PERTURBED = 0.3  # share of them that are stretched: they are few
_LABELLED_SHARE = 0.2  # of the steps of a stage that takes labelled pages
_PERTURBED = 0.4  # share of labelled pages that are stretched
_READ_SEED = 5_000  # added to a run's seed
_LISTED_STEPS = 270  # steps of the stage `region_ranking` whose lists are made and kept: about a thousand pages
_PAGES_SEED = 9_000  # added to a run's seed: other pages than in the question stages


def _everything(objective: Objective) -> list[dict[str, Any]]:
    """Return all parameters; matrices at four times the rate, as in retraining."""
    assert isinstance(objective, NetworkObjective)
    matrices, vectors = parameter_groups(objective.network, weight_decay=0.02)
    return [matrices | {"lr": 4e-3}, vectors | {"lr": 1e-3}]


def _pixels_alone(objective: Objective) -> list[dict[str, Any]]:
    assert isinstance(objective, RegionMasks)
    matrices, vectors = parameter_groups(pixel_parts(objective.network), weight_decay=0.02)
    return [matrices | {"lr": 2.8e-3}, vectors | {"lr": 7e-4}]


def _pixels_slowly(objective: Objective) -> list[dict[str, Any]]:
    assert isinstance(objective, RegionMasks)
    matrices, vectors = parameter_groups(pixel_parts(objective.network), weight_decay=0.02)
    return [matrices | {"lr": 1e-3}, vectors | {"lr": 2.5e-4}]


def _everything_slowly(objective: Objective) -> list[dict[str, Any]]:
    """Return all parameters at a quarter of their rates in the stage `words`: the network has learned much already."""
    return [group | {"lr": group["lr"] / 4} for group in _everything(objective)]


def _everything_at_half(objective: Objective) -> list[dict[str, Any]]:
    """Return all parameters at half of their rates in the stage `words`."""
    return [group | {"lr": group["lr"] / 2} for group in _everything(objective)]


def _ranker_alone(objective: Objective) -> list[dict[str, Any]]:
    assert isinstance(objective, Ranking | RegionRanking)
    return [{"params": list(objective.ranker.parameters()), "lr": 2e-3}]


def _growth_alone(objective: Objective) -> list[dict[str, Any]]:
    assert isinstance(objective, Growing)
    matrices, vectors = parameter_groups(objective.network.word_head.growth, weight_decay=0.02)
    return [matrices | {"lr": 8e-4}, vectors | {"lr": 2e-4}]


def _with_pictures_groups(objective: Objective) -> list[dict[str, Any]]:
    """Return a high rate for the pixel path and a low one for the trained word path; matrices four times."""
    assert isinstance(objective, NetworkObjective)
    pixels = {id(parameter) for parameter in pixel_parts(objective.network).parameters()}
    groups = []
    for group, factor in zip(parameter_groups(objective.network, weight_decay=0.02), (4, 1), strict=True):
        fast = [parameter for parameter in group["params"] if id(parameter) in pixels]
        slow = [parameter for parameter in group["params"] if id(parameter) not in pixels]
        groups += [group | {"params": fast, "lr": factor * 5e-4}, group | {"params": slow, "lr": factor * 1e-4}]
    return groups


def _with_pictures(around: StageInputs) -> Objective:
    source = pictures_source(
        around.seed,
        around.network.config.image.long_side,
        pages=around.pages,
        pictures=around.pictures,
        supply=around.supply,
    )
    return PromptableSegmentation(around.network, around.feed(source), Asking(prompted_steps=0.5))


def _words(around: StageInputs) -> Objective:
    forms = None if around.forms is None else kept_forms(around.forms, around.folder / FORMS_FILE)
    generated = synthetic_source(around.seed, pages=around.pages, made=around.supply.words)
    source = with_forms(generated, forms, around.seed, pages=around.pages)
    return PromptableSegmentation(around.network, around.feed(source))


def practice_source(around: StageInputs) -> Source:
    """Return generated pages, filled forms and labelled pages, as far as the run has them."""
    forms = None if around.forms is None else kept_forms(around.forms, around.folder / FORMS_FILE)
    seed, pages = around.seed + 11_000, around.pages
    source = with_forms(synthetic_source(seed, pages=pages, made=around.supply.words), forms, seed, pages=pages)
    if around.labelled is None:
        return source
    usable = [page for page in read_pages(around.labelled) if page.questions and 4 <= len(page.words) <= MOST_WORDS]
    labelled = page_source(usable, lambda page: None, around.seed, pages=pages, perturbed=_PERTURBED)
    return mixed_source(source, labelled, _LABELLED_SHARE, around.seed + 12_000)


def _regions(around: StageInputs) -> Objective:
    pointing = Pointing(long_side=min(Pointing().long_side, around.network.config.image.long_side))
    source = region_source(
        around.seed + 6_000, long_side=pointing.long_side, pages=2 * around.pictures, made=around.supply.drawn
    )
    return RegionMasks(around.network, around.feed(source), pointing)


def _regions_at_full_size(around: StageInputs) -> Objective:
    side = around.network.config.image.long_side
    source = region_source(
        around.seed + 90_000, long_side=side, pages=around.pictures, pool=_POOL, made=around.supply.drawn
    )
    return RegionMasks(around.network, around.feed(source), Pointing(long_side=side))


def _region_ranking(around: StageInputs) -> Objective:
    seed = around.seed + 93_000
    if around.forms is None:
        return RegionRanking(around.network, region_choices(seed), _LISTED_STEPS)
    templates = kept_forms(around.forms, around.folder / FORMS_FILE)
    return RegionRanking(around.network, region_choices(seed, templates, around.forms), _LISTED_STEPS)


def _reading(around: StageInputs) -> Objective:
    engine, _ = find_engine("rapidocr", "eng", 2)
    assert engine is not None  # its networks lie in its package
    seed = around.seed + _READ_SEED
    pages = kept_read_pages(around.folder / READ_PAGES_FILE.format(seed=seed), seed, READ_PAGES, engine)
    usable = [page for page in pages if page.questions and 4 <= len(page.words) <= MOST_WORDS]
    read = page_source(usable, lambda page: None, around.seed, pages=around.pages, perturbed=_READ_PERTURBED)
    generated = synthetic_source(around.seed + 5_000, pages=around.pages)
    source = mixed_source(generated, read, _READ_SHARE, around.seed)
    return PromptableSegmentation(around.network, around.feed(source))


def pictures_source(
    seed: int, long_side: int, *, pages: int = PAGES, pictures: int = 1, supply: PageSupply = GENERATED
) -> Source:
    """Return pages of words, interleaved with rendered pages: with all questions, or with regions only."""
    words = synthetic_source(seed + 7_000, pages=pages, made=supply.words)
    rendered = synthetic_source(seed + 8_000, pages=pictures, regions=0.3, images=True, made=supply.drawn)
    regions = region_source(seed + 9_000, long_side=long_side, pages=pictures, pool=_POOL, made=supply.drawn)
    return mixed_source(words, mixed_source(rendered, regions, _REGION_SHARE, seed), _IMAGE_SHARE, seed + 1)


def answers(around: StageInputs, pictures: bool) -> dict[str, float]:
    """Return mean IoU, share of IoU above one half, and AUROC of "answered", on pages no training uses."""
    pages = list(islice(generate(_HELD_OUT_SEED), around.held_out))
    drawn = {made_page.page.page_id: made_page for made_page in pages}
    evaluation = evaluate(
        Predictor(copy.deepcopy(around.network).cpu(), "unfinished"),
        [made_page.page for made_page in pages],
        images_from=(lambda page: drawn[page.page_id].render()) if pictures else None,
        both_paths=pictures,
        timed=False,
    )
    shown = evaluation.figures
    figures = {
        "mean_iou": shown.mean_iou,
        "acc_50": shown.acc_50,
        "answered_auroc": shown.unanswerable_auroc,
        "calibration_error": shown.calibration_error,
    }
    if pictures:
        wordless = {q.question_id for made_page in pages for q in made_page.page.questions if q.masks and not q.answers}
        regions = [score.pixel_iou or 0.0 for score in evaluation.scored if score.question_id in wordless]
        figures["pixel_iou_where_no_words"] = fmean(regions) if regions else None
    return {name: value for name, value in figures.items() if value is not None}


def _on_pages(name: str, title: str) -> PretrainingStage:
    """Return a stage of engine.training.pretraining.page_learning; figures: probes of frozen features."""
    return PretrainingStage(
        title=title,
        share=0.3,
        objective=lambda around: page_objective(
            name,
            around.network,
            around.seed + _PAGES_SEED,
            pages=around.pages,
            corpus=around.corpus,
            supply=around.supply,
            feed=around.feed,
        ),
        groups=page_groups,
        optimizer=page_optimizer,
        figures=lambda around, objective: standard_figures(around.network, around.held_out, objective),
        asks=False,
    )


STAGES: dict[str, PretrainingStage] = {
    **{name: replace(stage, asks=False) for name, stage in TEXT_STAGES.items()},
    "mim": _on_pages("mim", "Masked pixels of rendered pages, without questions."),
    "ijepa": _on_pages("ijepa", "Embeddings of masked regions of rendered pages, without questions."),
    "djepa": _on_pages(
        "djepa", "Embeddings of regions from image and words, and of words from the image, without questions."
    ),
    "tjepa": _on_pages("tjepa", "Embeddings of hidden words from the words around them, without questions."),
    "joint": _on_pages("joint", "Masked pixels, embeddings, and masked words with the image, without questions."),
    "mae": _on_pages("mae", "Masked pixels of rendered pages; the encoder reads the visible units alone."),
    "words": PretrainingStage(
        title="Questions answered by words, on generated pages without pictures; with --forms on filled forms, too.",
        share=0.55,
        objective=_words,
        groups=_everything,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "blocks", lr=1e-3),
        figures=lambda around, _: answers(around, pictures=False),
        forms=True,
    ),
    "regions": PretrainingStage(
        title="Regions without words, asked for and clicked, on small images; the word path is frozen.",
        share=0.45,
        objective=_regions,
        groups=_pixels_alone,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "blocks", lr=7e-4),
        figures=lambda around, _: answers(around, pictures=True),
    ),
    "segment": PretrainingStage(
        title="Questions answered by words and pixels, on rendered pages too.",
        share=0.45,
        objective=_with_pictures,
        groups=_with_pictures_groups,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "blocks", lr=5e-4),
        figures=lambda around, _: answers(around, pictures=True),
    ),
    "reading": PretrainingStage(
        title="Questions answered by words as OCR really reads them on rendered pages; reading them takes an hour.",
        share=0.2,
        objective=_reading,
        groups=_everything_slowly,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "blocks", lr=2.5e-4),
        figures=lambda around, _: answers(around, pictures=False),
    ),
    "practice": PretrainingStage(
        title="Questions answered by words: generated pages, filled forms (--forms), labelled pages (--labelled).",
        share=0.4,
        objective=lambda around: PromptableSegmentation(around.network, around.feed(practice_source(around))),
        groups=_everything_at_half,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "blocks", lr=5e-4),
        figures=lambda around, _: answers(around, pictures=False),
        forms=True,
        labelled=True,
    ),
    "ranking": PretrainingStage(
        title="Which of several proposed answers is right; all other parameters are frozen.",
        share=0.1,
        objective=lambda around: Ranking(
            around.network, around.feed(practice_source(replace(around, seed=around.seed + 88_000)))
        ),
        groups=_ranker_alone,
        figures=lambda around, _: answers(around, pictures=False),
        forms=True,
        labelled=True,
    ),
    "pixels": PretrainingStage(
        title="Regions without words again, at full size, after the word path has changed; the word path is frozen.",
        share=0.2,
        objective=_regions_at_full_size,
        groups=_pixels_slowly,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "blocks", lr=2.5e-4),
        figures=lambda around, _: answers(around, pictures=True),
    ),
    "region_ranking": PretrainingStage(
        title="Which of the regions of a page is asked for, or whether words answer; all other parameters are frozen.",
        share=0.2,
        objective=_region_ranking,
        groups=_ranker_alone,
        figures=lambda around, _: answers(around, pictures=True),
        forms=True,
    ),
    "growth": PretrainingStage(
        title="Words of an answer, and its predicted quality; all other parameters are frozen.",
        share=0.1,
        objective=lambda around: Growing(
            around.network,
            around.feed(synthetic_source(around.seed + 77_000, pages=around.pages, made=around.supply.words)),
        ),
        groups=_growth_alone,
        optimizer=lambda groups: NaturalGradient.from_mode(groups, "blocks", lr=2e-4),
        figures=lambda around, _: answers(around, pictures=False),
        restarts=restart_fit,
    ),
}
