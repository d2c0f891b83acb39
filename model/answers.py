"""From scores of words and pixels to an answer: which words, which pixels, which of the two speaks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from model.drawn_prompts import MASK_STRIDE
from model.examples import Prompt, Word
from model.inputs import PreparedPage
from model.layout import Floats, Layout
from model.mask_decoder import PixelAnswer
from model.masks import Mask, rasterise, words_under
from model.network import NetworkAnswer
from model.prompts import share_inside

MOST_CANDIDATES = 3
_SMOOTHING = (
    0.3  # weight of the neighbours in a segment against the word itself; of 0, .3, .5 the best on generated pages
)
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
    scores = network.words.logits[row, : len(words)].numpy()
    chosen, others = choose_words(scores, prepared.layout, prompt)
    word_mask = rasterise([boxes[i] for i in chosen], (height, width))
    empty = np.zeros((height, width), bool)
    choices = pixel_choices(network.pixels, row, prepared, prompt)
    pixel_mask = enlarge(choices[0].logits, prepared, prompt) if choices else empty
    answered = _chance(network.words.answered[row])
    if not words and network.pixels is not None:
        answered = _chance(network.pixels.answered[row])
    if not words and network.pixels is None:
        answered = 0.0  # nothing was there to be read
    by_words = bool(chosen) and (not pixel_mask.any() or float(network.words.by_words[row]) > 0)
    score = float(network.words.iou[row]) if by_words else (choices[0].iou if choices else 0.0)
    mask = word_mask if by_words else pixel_mask
    primary = _answer(mask, chosen if by_words else None, words, score, answered, word_mask, pixel_mask)
    alternatives = []
    for group in others:
        of_group = rasterise([boxes[i] for i in group], (height, width))
        chance = _chance(float(np.max(scores[group])))
        alternatives.append(_answer(of_group, group, words, score * chance, answered, of_group, empty))
    for choice in choices[1:] if not by_words else []:
        alternative = enlarge(choice.logits, prepared, prompt)
        alternatives.append(_answer(alternative, None, words, choice.iou, answered, empty, alternative))
    alternatives.sort(key=lambda one: -one.score)
    return replace(primary, candidates=alternatives[:MOST_CANDIDATES])


def choose_words(scores: Floats, layout: Layout, prompt: Prompt) -> tuple[list[int], list[list[int]]]:
    """Words of the answer, and groups of words that could be it instead, best first; all in reading order.

    A positive click always takes the word under it, a negative one always leaves it, a box keeps to what lies inside:
    the asker has said so, whatever the network makes of it.
    """
    if not len(scores):
        return [], []
    scores = smooth(scores, layout)
    forced, barred = _words_clicked(layout, prompt, True), _words_clicked(layout, prompt, False)
    allowed = np.ones(len(scores), bool)
    if prompt.box is not None:
        allowed = share_inside(layout.boxes, np.array(prompt.box, np.float32) / layout.height) >= _INSIDE
    allowed[barred] = False
    allowed[forced] = True
    if not allowed.any():
        return [], []
    taken = (scores > 0) & allowed
    taken[forced] = True
    if not taken.any():
        taken[np.where(allowed, scores, -np.inf).argmax()] = True
    return np.flatnonzero(taken).tolist(), _other_groups(scores, layout, allowed & ~taken)


def smooth(scores: Floats, layout: Layout) -> Floats:
    """Each score averaged with those of its two neighbours in the segment (at an end, with the one there is)."""
    ordered, segment = scores[layout.order], layout.segment[layout.order]
    same = segment[1:] == segment[:-1]
    around = np.zeros((2, len(scores)), np.float32)
    count = np.zeros((2, len(scores)), np.float32)
    around[0, 1:], count[0, 1:] = np.where(same, ordered[:-1], 0), same
    around[1, :-1], count[1, :-1] = np.where(same, ordered[1:], 0), same
    neighbours, number = around.sum(0), count.sum(0)
    mean = np.where(number > 0, neighbours / np.maximum(number, 1), ordered)
    smoothed = np.empty_like(scores)
    smoothed[layout.order] = (1 - _SMOOTHING) * ordered + _SMOOTHING * mean
    return smoothed


@dataclass(frozen=True, slots=True)
class PixelChoice:
    """A map of the mask decoder with its predicted IoU, 0..1. To bring it to the page's size costs more than to make it."""

    logits: Floats  # [h / 4, w / 4]
    iou: float


def pixel_choices(answer: PixelAnswer | None, row: int, prepared: PreparedPage, prompt: Prompt) -> list[PixelChoice]:
    """The maps of a question, cut to the page without its padding, the chosen one first.

    SAM 2's dynamic multimask (https://arxiv.org/abs/2408.00714): the single mask if it is stable, else the best of the
    others. After clicks the map of the highest predicted IoU: of five rules the one under which each click helps in the mean.
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
    return [PixelChoice(logits[i], float(iou[i])) for i in order]


def cells_of(prepared: PreparedPage) -> tuple[int, int]:
    """Rows and columns of the mask decoder's map that lie on the page; the others see padding."""
    assert prepared.image is not None
    cell = _cell(prepared)
    return math.ceil(prepared.size[1] / cell), math.ceil(prepared.size[0] / cell)


def _cell(prepared: PreparedPage) -> float:
    """Pixels of the page that a cell of the map is wide: the long side is scaled without padding."""
    assert prepared.image is not None
    return max(prepared.size) * MASK_STRIDE / max(prepared.image.shape[1:])


def enlarge(logits: Floats, prepared: PreparedPage, prompt: Prompt) -> Mask:
    """Bool [H, W] of a mask decoder's map, bilinear, cut to the box of the prompt; only the part that holds it is scaled."""
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
    if prompt.box is not None:
        return mask & rasterise([tuple(round(v) for v in prompt.box)], (height, width))
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


def _words_clicked(layout: Layout, prompt: Prompt, positive: bool) -> list[int]:
    """Words under the points of one kind; where words overlap, the smallest."""
    found = []
    for x, y, kind in prompt.points:
        x, y = x / layout.height, y / layout.height
        if kind == positive:
            boxes = layout.boxes
            under = (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
            area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
            if under.any():
                found.append(int(np.where(under, area, np.inf).argmin()))
    return found


def _other_groups(scores: Floats, layout: Layout, free: NDArray[np.bool_]) -> list[list[int]]:
    """Up to MOST_CANDIDATES groups: the segments with the best free words, each with its words near that best score."""
    groups: list[list[int]] = []
    left = np.where(free, scores, -np.inf)
    while len(groups) < MOST_CANDIDATES and np.isfinite(left.max()):
        best = int(left.argmax())
        members = np.flatnonzero((layout.segment == layout.segment[best]) & np.isfinite(left))
        groups.append([int(i) for i in members if left[i] > left[best] - 1.5])
        left[members] = -np.inf
    return groups


def _chance(logit: object) -> float:
    return float(1 / (1 + np.exp(-float(logit))))  # type: ignore[arg-type]
