"""Turn scores of words and pixels into an answer: its words, its pixels, and the path that decides."""

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
from model.printed_text import printed_text
from model.refusal import or_declined

MOST_CANDIDATES = 3
_AT_ONCE = 16  # questions of one pass
_MASK_BYTES = 400_000_000  # of one pass: an answer needs about twelve masks of the page's size
_MASKS = 12
SEEDS = 3  # words from which answers grow; some grow into the same answer
_STABILITY_DELTA, _STABILITY = 0.05, 0.98  # SAM 2: thresholds of a stable mask


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to one question at page resolution."""

    mask: Mask  # bool [H, W], of the path that decides; empty where pixels decide and are declined (model/refusal.py)
    words: list[int]  # indices of the words under the mask, reading order
    text: str  # those words, joined
    score: float  # predicted IoU, 0..1
    answered: float  # probability that this page answers the question
    word_mask: Mask  # bool [H, W], from the word path alone
    pixel_mask: Mask  # bool [H, W], from the pixel path alone
    candidates: list["Answer"] = field(default_factory=list)  # up to 3 alternatives, best first; see `repeated`
    place: str = ""  # what tells this place from the others at which the key is printed
    repeated: int = 0  # times the page prints the key, from 2; then up to 8 candidates, from the top of the page


def questions_at_once(width: int, height: int) -> int:
    """Return the number of questions to ask at once on a page of this size, because the masks of all share memory."""
    return max(1, min(_AT_ONCE, _MASK_BYTES // (_MASKS * width * height)))


@dataclass(frozen=True, slots=True)
class WordChoice:
    """Words that may be the answer, in reading order, with their predicted IoU (0..1)."""

    words: list[int]
    iou: float


@dataclass(frozen=True, slots=True)
class PixelChoice:
    """A map of the mask decoder, or its box, with the predicted IoU (0..1).

    The map stays at decoder resolution, because enlarging it costs more than computing it.
    """

    shape: Floats  # [h / 4, w / 4] logits; or [4] x0, y0, x1, y1 in cells
    iou: float


@dataclass(frozen=True, slots=True)
class Looked:
    """What the pixel path says of one question."""

    choices: Sequence[PixelChoice]  # best first
    answered: float  # logit: the page answers the question
    decides: bool  # pixels are the answer where words would be one, too


def compose_answer(
    row: int,
    prompt: Prompt,
    words: Sequence[Word],
    size: tuple[int, int],
    prepared: PreparedPage,
    network: WordAnswer,
    ranked: Sequence[WordChoice],
    looked: Looked | None,
) -> Answer:
    """Compose the answer to one question of a batch.

    Args:
        row: index of the question in the batch.
        prompt: prompt of that question.
        words: words of the page in reading order.
        size: width and height of the page in pixels.
        prepared: the page as the network read it.
        network: scores of the word path for the whole batch.
        ranked: answers by words to that question, best first.
        looked: what the pixel path says of that question; None where nobody looked at the picture.

    Returns:
        The answer, with up to `MOST_CANDIDATES` alternatives.
    """
    width, height = size
    boxes = [word.box for word in words]
    chosen = ranked[0].words if ranked else []
    word_mask = rasterise([boxes[i] for i in chosen], (height, width))
    empty = np.zeros((height, width), bool)
    choices = [] if looked is None else looked.choices
    pixel_mask = enlarge(choices[0].shape, prepared, prompt) if choices else empty
    worded = bool(chosen) and (looked is None or not looked.decides or not pixel_mask.any())
    answered = _answer_probability(float(network.answered[row]), looked, worded, bool(words))
    score = ranked[0].iou if worded else (choices[0].iou if choices else 0.0)
    mask = word_mask if worded else pixel_mask
    primary = _answer(mask, chosen if worded else None, words, score, answered, word_mask, pixel_mask)
    alternatives = []
    for group in ranked[1 if worded else 0 :][:MOST_CANDIDATES]:
        of_group = rasterise([boxes[i] for i in group.words], (height, width))
        likely = group.iou if worded else group.iou * _chance(float(network.by_words[row]))
        alternatives.append(_answer(of_group, group.words, words, likely, answered, of_group, empty))
    for choice in choices[1:] if not worded else []:
        alternative = enlarge(choice.shape, prepared, prompt)
        alternatives.append(_answer(alternative, None, words, choice.iou, answered, empty, alternative))
    alternatives.sort(key=lambda candidate: -candidate.score)
    answer = replace(primary, candidates=alternatives[:MOST_CANDIDATES])
    return answer if worded else or_declined(answer, prompt, MOST_CANDIDATES)


def by_words(answer: WordAnswer) -> Tensor:
    """Return for which questions words make the answer, bool [B]: the network says so, and it took some."""
    return (answer.by_words > 0) & answer.taken[:, 0].any(-1)


def _answer_probability(by_words: float, looked: Looked | None, worded: bool, read: bool) -> float:
    """Return the probability that the page answers the question, from the logits of both paths.

    Where pixels answer on a page with words, the lower of both paths counts. On generated pages this separates regions
    that are present from absent ones with an area under the curve of .90, against .79 by words and .89 by pixels alone
    (weights c47b744aad52).
    """
    if looked is None:
        return _chance(by_words) if read else 0.0  # neither image nor words
    if not read:
        return _chance(looked.answered)
    words = _chance(by_words)
    return words if worded else min(words, _chance(looked.answered))


def choose_words(answer: WordAnswer, row: int, shown: bool = False) -> list[WordChoice]:
    """Rank the answers that were grown for a question, best first.

    The rank is the probability that the network points into the answer, at whichever word, times the predicted IoU.
    A long answer shares its probability among its words, so a single stray word would win against each of them alone.

    Args:
        answer: scores of the word path for the whole batch.
        row: index of the question in the batch.
        shown: whether the user marked a place; the answer that begins there then comes first.

    Returns:
        Distinct answers, best first; empty where none was grown. The predicted IoU of every answer but the first is
        scaled down by its pointing probability relative to the first.
    """
    grown: dict[tuple[int, ...], tuple[float, float]] = {}
    chances = answer.pointing[row].softmax(-1)
    for number in range(answer.seeds.shape[1]):
        taken = answer.taken[row, number]
        words = np.flatnonzero(taken.numpy()).tolist()
        if words:
            inside = min(1.0, float(chances[taken].sum()))
            grown.setdefault(tuple(words), (inside, float(answer.iou[row, number])))
    ranked = list(grown.items())
    ranked.sort(key=lambda entry: -entry[1][0] * entry[1][1])
    if shown and grown:
        first = next(iter(grown))
        ranked.sort(key=lambda entry: entry[0] != first)
    most = ranked[0][1][0] if ranked else 1.0
    return [WordChoice(list(words), iou * min(1.0, inside / max(most, 1e-9))) for words, (inside, iou) in ranked]


def pixel_choices(answer: PixelAnswer | None, row: int, prepared: PreparedPage, prompt: Prompt) -> list[PixelChoice]:
    """Rank the mask decoder's maps and its box for one question, best first.

    SAM 2's dynamic multimask (https://arxiv.org/abs/2408.00714) takes the single mask if it is stable, else the best of
    the others. After clicks the map with the highest predicted IoU comes first: of five rules tried, this is the one
    under which each click improves the mean. The box is inserted where its predicted IoU ranks it, if it fits the
    clicks.

    Args:
        answer: maps of the whole batch, or None for pages without an image.
        row: index of the question in the batch.
        prepared: the page as the network read it.
        prompt: prompt of the question.

    Returns:
        Choices cut to the page without its padding; empty without an image.
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
    """Return the rows and columns of the mask decoder's map that lie on the page, without padding."""
    assert prepared.image is not None
    cell = cell_of(prepared)
    return math.ceil(prepared.size[1] / cell), math.ceil(prepared.size[0] / cell)


def cell_of(prepared: PreparedPage) -> float:
    """Return the width of a map cell in page pixels; the long side is scaled without padding."""
    assert prepared.image is not None
    return max(prepared.size) * MASK_STRIDE / max(prepared.image.shape[1:])


def enlarge(shape: Floats, prepared: PreparedPage, prompt: Prompt) -> Mask:
    """Enlarge a map or a box to a page mask, cut to the prompt's box.

    Args:
        shape: logits [h / 4, w / 4], enlarged bilinearly, or a box [4] in cells.
        prepared: the page as the network read it.
        prompt: prompt whose box, if any, limits the mask.

    Returns:
        Mask, bool [H, W] in pixels of the page.
    """
    width, height = prepared.size
    if shape.ndim == 1:
        edges = np.rint(shape * cell_of(prepared)).astype(int).tolist()
        mask = rasterise([(edges[0], edges[1], edges[2], edges[3])], (height, width))
    else:
        mask = _enlarged_map(shape, prepared)
    if prompt.box is not None:
        return mask & rasterise([tuple(round(v) for v in prompt.box)], (height, width))
    return mask


def _enlarged_map(logits: Floats, prepared: PreparedPage) -> Mask:
    """Enlarge only the part of the map that holds the mask."""
    width, height = prepared.size
    mask = np.zeros((height, width), bool)
    high, wide = logits.shape
    ys, xs = np.flatnonzero((logits > 0).any(1)), np.flatnonzero((logits > 0).any(0))
    if not ys.size:
        return mask
    cell = cell_of(prepared)
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
    return Answer(mask, under, printed_text(words[i] for i in under), score, answered, word_mask, pixel_mask)


def _chance(logit: float) -> float:
    return float(1 / (1 + np.exp(-logit)))
