"""From scores of words and pixels to an answer: which words, which pixels, which of the two speaks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from PIL import Image
from torch import Tensor

from model.drawn_prompts import MASK_STRIDE
from model.examples import Prompt, Word
from model.heads.mask_decoder import PixelAnswer
from model.heads.word_head import WordAnswer
from model.inputs import PreparedPage
from model.layout import Floats
from model.masks import Mask, rasterise, words_under
from model.network import NetworkAnswer

MOST_CANDIDATES = 3
SEEDS = 3  # words that answers are grown from; some grow to the same answer
_STABILITY_DELTA, _STABILITY = 0.05, 0.98  # SAM 2: a mask that changes little with its threshold is trusted
_INSIDE = 0.5  # share of a word that a box must hold


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer at page resolution."""

    mask: Mask  # bool [H, W], words and pixels merged
    words: list[int]  # indices of the words under the mask, reading order
    text: str  # those words, joined
    score: float  # predicted IoU, 0..1
    answered: float  # probability that this page answers the question
    word_mask: Mask  # bool [H, W], what the word path alone says
    pixel_mask: Mask  # bool [H, W], what the pixel path alone says
    candidates: list["Answer"] = field(default_factory=list)  # up to 3 alternatives, best first


def compose_answer(
    row: int,
    prompt: Prompt,
    words: Sequence[Word],
    size: tuple[int, int],
    prepared: PreparedPage,
    network: NetworkAnswer,
) -> Answer:
    """The answer of question ``row`` of a batch on one page of ``size`` (width, height)."""
    width, height = size
    boxes = [word.box for word in words]
    grown = choose_words(network.words, row, shown=bool(prompt.points) or prompt.box is not None)
    chosen = grown[0].words if grown else []
    word_mask = rasterise([boxes[i] for i in chosen], (height, width))
    empty = np.zeros((height, width), bool)
    choices = pixel_choices(network.pixels, row, prepared, prompt)
    pixel_mask = enlarge(choices[0].shape, prepared, prompt) if choices else empty
    by_words = bool(chosen) and (not pixel_mask.any() or float(network.words.by_words[row]) > 0)
    answered = _answered(network, row, by_words, bool(words))
    score = grown[0].iou if by_words else (choices[0].iou if choices else 0.0)
    mask = word_mask if by_words else pixel_mask
    primary = _answer(mask, chosen if by_words else None, words, score, answered, word_mask, pixel_mask)
    alternatives = []
    for group in grown[1 if by_words else 0 :]:
        of_group = rasterise([boxes[i] for i in group.words], (height, width))
        likely = group.iou if by_words else group.iou * _chance(network.words.by_words[row])
        alternatives.append(_answer(of_group, group.words, words, likely, answered, of_group, empty))
    for choice in choices[1:] if not by_words else []:
        alternative = enlarge(choice.shape, prepared, prompt)
        alternatives.append(_answer(alternative, None, words, choice.iou, answered, empty, alternative))
    alternatives.sort(key=lambda one: -one.score)
    return replace(primary, candidates=alternatives[:MOST_CANDIDATES])


def _answered(network: NetworkAnswer, row: int, by_words: bool, read: bool) -> float:
    """Probability that the page answers. Where pixels answer on a page with words, both paths must say so: on generated pages
    an area of .90 under the curve for regions that are there or not, against .79 by words and .89 by pixels alone (weights
    c47b744aad52)."""
    if network.pixels is None:
        return _chance(network.words.answered[row]) if read else 0.0  # nothing was there to be read
    pixels = _chance(network.pixels.answered[row])
    if not read:
        return pixels
    words = _chance(network.words.answered[row])
    return words if by_words else min(words, pixels)


@dataclass(frozen=True, slots=True)
class WordChoice:
    """Words that may be the answer, in reading order, and their predicted IoU, 0..1: that of another choice than the first
    counts as much less as its words are pointed to less."""

    words: list[int]
    iou: float


def choose_words(answer: WordAnswer, row: int, shown: bool = False) -> list[WordChoice]:
    """The answers that were grown for a question, the one first that is worth most.

    Worth: the probability that the network points into the answer, whichever of its words it begins at, times the predicted IoU.
    A long answer shares its probability among its words, and one stray word would win against each of them. Where the
    asker has ``shown`` a place, the answer that begins there comes first.
    """
    found: dict[tuple[int, ...], tuple[float, float]] = {}
    chances = answer.pointing[row].softmax(-1)
    for number in range(answer.seeds.shape[1]):
        taken = answer.taken[row, number]
        words = np.flatnonzero(taken.numpy()).tolist()
        if words:
            inside = min(1.0, float(chances[taken].sum()))
            found.setdefault(tuple(words), (inside, float(answer.iou[row, number])))
    ranked = list(found.items())
    ranked.sort(key=lambda one: -one[1][0] * one[1][1])
    if shown and found:
        first = next(iter(found))
        ranked.sort(key=lambda one: one[0] != first)
    most = ranked[0][1][0] if ranked else 1.0
    return [WordChoice(list(words), iou * min(1.0, inside / max(most, 1e-9))) for words, (inside, iou) in ranked]


@dataclass(frozen=True, slots=True)
class PixelChoice:
    """A map of the mask decoder, or its box, with the predicted IoU, 0..1. To bring a map to the page's size costs more than
    to make it."""

    shape: Floats  # [h / 4, w / 4] logits; or [4] x0, y0, x1, y1 in cells
    iou: float


def pixel_choices(answer: PixelAnswer | None, row: int, prepared: PreparedPage, prompt: Prompt) -> list[PixelChoice]:
    """The maps of a question, cut to the page without its padding, and its box, the chosen one first.

    SAM 2's dynamic multimask (https://arxiv.org/abs/2408.00714): the single mask if it is stable, else the best of the
    others. After clicks the map of the highest predicted IoU: of five rules the one under which each click helps in the
    mean. Before both the box, where it is predicted to be better and holds what was clicked.
    """
    if answer is None:
        return []
    high, wide = cells_of(prepared)
    logits, iou = answer.logits[row, :, :high, :wide].numpy(), answer.iou[row].numpy()
    single = logits[0]
    inner, outer = (single > _STABILITY_DELTA).sum(), (single > -_STABILITY_DELTA).sum()
    order = (1 + np.argsort(-iou[1:])).tolist()
    order = [0, *order] if outer and inner / outer >= _STABILITY else [*order, 0]
    if prompt.points:
        order = np.argsort(-iou, kind="stable").tolist()
    choices = [PixelChoice(logits[i], float(iou[i])) for i in order]
    box = PixelChoice(answer.box[row].numpy(), float(answer.box_iou[row]))
    if not bool(answer.box_fits[row]):
        return [*choices, box]
    place = next((at for at, choice in enumerate(choices) if box.iou > choice.iou), len(choices))
    return [*choices[:place], box, *choices[place:]]


def cells_of(prepared: PreparedPage) -> tuple[int, int]:
    """Rows and columns of the mask decoder's map that lie on the page; the others see padding."""
    assert prepared.image is not None
    cell = _cell(prepared)
    return math.ceil(prepared.size[1] / cell), math.ceil(prepared.size[0] / cell)


def _cell(prepared: PreparedPage) -> float:
    """Pixels of the page that a cell of the map is wide: the long side is scaled without padding."""
    assert prepared.image is not None
    return max(prepared.size) * MASK_STRIDE / max(prepared.image.shape[1:])


def enlarge(shape: Floats, prepared: PreparedPage, prompt: Prompt) -> Mask:
    """Bool [H, W] of a mask decoder's map, bilinear, or of its box, cut to the box of the prompt."""
    width, height = prepared.size
    if shape.ndim == 1:
        edges = np.rint(shape * _cell(prepared)).astype(int).tolist()
        mask = rasterise([(edges[0], edges[1], edges[2], edges[3])], (height, width))
    else:
        mask = _enlarged_map(shape, prepared)
    if prompt.box is not None:
        return mask & rasterise([tuple(round(v) for v in prompt.box)], (height, width))
    return mask


def _enlarged_map(logits: Floats, prepared: PreparedPage) -> Mask:
    """Only the part of the page that holds the mask is scaled."""
    width, height = prepared.size
    mask = np.zeros((height, width), bool)
    high, wide = logits.shape
    ys, xs = np.flatnonzero((logits > 0).any(1)), np.flatnonzero((logits > 0).any(0))
    if not ys.size:
        return mask
    cell = _cell(prepared)
    left, top = max(0, int(xs[0]) - 1), max(0, int(ys[0]) - 1)
    right, bottom = min(wide, int(xs[-1]) + 2), min(high, int(ys[-1]) + 2)
    x0, y0 = round(left * cell), round(top * cell)
    x1, y1 = min(width, round(right * cell)), min(height, round(bottom * cell))
    if x1 <= x0 or y1 <= y0:
        return mask
    part = Image.fromarray(np.ascontiguousarray(logits)).resize(
        (x1 - x0, y1 - y0), Image.Resampling.BILINEAR, box=(left, top, min(x1 / cell, wide), min(y1 / cell, high))
    )
    mask[y0:y1, x0:x1] = np.asarray(part) > 0
    return mask


def _answer(
    mask: Mask,
    chosen: list[int] | None,
    words: Sequence[Word],
    score: float,
    answered: float,
    word_mask: Mask,
    pixel_mask: Mask,
) -> Answer:
    under = words_under(mask, [word.box for word in words]) if chosen is None else chosen
    return Answer(mask, under, " ".join(words[i].text for i in under), score, answered, word_mask, pixel_mask)


def _chance(logit: Tensor) -> float:
    return float(1 / (1 + np.exp(-float(logit))))
