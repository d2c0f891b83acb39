"""Describe the regions that may answer a question: those of the page, and what the network drew for it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from model.answers import PixelChoice, cell_of, cells_of
from model.boxes import FloatBox
from model.examples import Prompt
from model.heads.mask_decoder import PixelAnswer
from model.heads.word_head import WordAnswer
from model.inputs import PreparedPage, QuestionBatch
from model.layout import Floats
from model.ranking.key_place import key_runs
from model.regions.clicks import LEAST_KEPT, move_edges
from model.regions.features import EDGES, MAP, WORDS, Drawn, Read, describe_fit
from model.regions.page import PageRegions
from model.regions.proposals import overlaps

_ANSWERS = 3  # answers by words that are proposed as regions
_CHOICES = 5  # regions that are kept for one question
_SAME = 0.7  # IoU with a better one
_IN_BOX = 0.8  # share of a region inside the box that the user drew


@dataclass(frozen=True, slots=True)
class Candidates:
    """Regions that may answer one question.

    `boxes`: [P, 4] in pixels of the page. `maps`: for a proposal that is a map of the network, its number; else -1.
    `features`: [P, FEATURES].
    """

    boxes: Floats
    maps: np.ndarray
    features: Floats


def candidates(
    page: PreparedPage,
    regions: PageRegions,
    words: WordAnswer,
    pixels: PixelAnswer,
    questions: QuestionBatch,
    row: int,
    prompt: Prompt,
    chosen: Sequence[tuple[Sequence[int], float]],
) -> Candidates:
    """Describe the candidates for one question of a batch.

    Args:
        page: the page as the network read it, N words.
        regions: its regions.
        words: scores of the word path for the batch.
        pixels: scores of the pixel path for the batch.
        questions: the questions.
        row: index of the question in the batch.
        prompt: what was asked.
        chosen: answers by words with their predicted IoU, best first.
    """
    count, layout, cell = len(page.layout.texts), page.layout, cell_of(page)
    high, wide = cells_of(page)
    logits = pixels.logits[row, :, :high, :wide].float()
    place = pixels.place[row].float()
    drawn = Drawn(
        maps=_array(logits.sigmoid()),
        iou=_array(pixels.iou[row]),
        place=_array(place.flatten().softmax(0).view_as(place)),
        box=_array(pixels.box[row]),
        box_iou=float(pixels.box_iou[row]),
        answered=float(pixels.answered[row]),
    )
    answers = np.array([_union(layout.boxes[list(group)]) for group, _ in chosen[:_ANSWERS]], np.float32)
    read = Read(
        chances=_array(words.pointing[row].softmax(-1)[:count]) if count else np.zeros(0, np.float32),
        answers=answers.reshape(-1, 4) * layout.height,
        scores=np.array([score for _, score in chosen[:_ANSWERS]], np.float32),
        answered=float(words.answered[row]),
        by_words=float(words.by_words[row]),
        runs=key_runs(_array(questions.anchors[row][:count]), _array(questions.runs[row])) if count else [],
    )
    own, kinds, maps = _drawn_boxes(drawn, read, cell, page.size)
    boxes = np.concatenate([regions.proposed.boxes, own])
    all_kinds = np.concatenate([regions.proposed.kinds, kinds])
    own_overlap = np.ones(len(boxes), np.float32)
    if prompt.points:
        shifted = move_edges(boxes, prompt.points, page.size)
        same = _own_overlaps(shifted, boxes)
        rows = np.flatnonzero((same >= LEAST_KEPT) & (same < 1))
        own, boxes = np.concatenate([own, shifted[rows]]), np.concatenate([boxes, shifted[rows]])
        kinds, all_kinds = np.concatenate([kinds, all_kinds[rows]]), np.concatenate([all_kinds, all_kinds[rows]])
        maps, own_overlap = np.concatenate([maps, np.full(len(rows), -1)]), np.concatenate([own_overlap, same[rows]])
    points = np.array([(x, y, positive) for x, y, positive in prompt.points], np.float32).reshape(-1, 3)
    features = np.concatenate(
        [
            np.concatenate([regions.looks, regions.looks_of(layout, own, kinds, page.size)]),
            describe_fit(layout, boxes, all_kinds, cell, drawn, read, points, own_overlap),
        ],
        1,
    )
    return Candidates(boxes, np.concatenate([np.full(len(regions.proposed.boxes), -1), maps]), features)


def choices_of(
    listed: Candidates, scores: Floats, page: PreparedPage, pixels: PixelAnswer, row: int, prompt: Prompt
) -> list[PixelChoice]:
    """Return the candidates as answers by pixels, best first, without those that nearly repeat a better one.

    A region that contradicts the user's clicks or box comes after all that do not. Of a map its box is taken: regions
    of pages have straight sides, which a map of such cells draws badly. Only who drew a mask gets the map itself.

    Args:
        listed: the candidates.
        scores: their predicted IoU, [P], 0..1.
        page: the page as the network read it.
        pixels: scores of the pixel path, for the maps.
        row: index of the question in `pixels`.
        prompt: what was asked.
    """
    high, wide = cells_of(page)
    contradicts = np.array([listed.maps[at] < 0 and not _fits(box, prompt) for at, box in enumerate(listed.boxes)])
    order = np.lexsort((-scores, contradicts))
    chosen: list[int] = []
    for at in order.tolist():
        if len(chosen) == _CHOICES:
            break
        if not chosen or overlaps(listed.boxes[at : at + 1], listed.boxes[chosen]).max() < _SAME:
            chosen.append(at)
    choices = []
    for at in chosen:
        shape = listed.boxes[at] / cell_of(page)
        if listed.maps[at] >= 0 and prompt.mask is not None:
            shape = _array(pixels.logits[row, int(listed.maps[at]), :high, :wide])
        choices.append(PixelChoice(shape, float(scores[at])))
    return choices


def _fits(box: Floats, prompt: Prompt) -> bool:
    """Return whether a region holds all clicks on the answer, none beside it, and lies in the box that was drawn."""
    x0, y0, x1, y1 = box.tolist()
    if any((x0 <= x <= x1 and y0 <= y <= y1) != positive for x, y, positive in prompt.points):
        return False
    if prompt.box is None:
        return True
    within = overlaps(box[None], np.array([prompt.box], np.float32))[0, 0] > 0
    inside = (min(x1, prompt.box[2]) - max(x0, prompt.box[0])) * (min(y1, prompt.box[3]) - max(y0, prompt.box[1]))
    return bool(within) and inside >= _IN_BOX * (x1 - x0) * (y1 - y0)


def _drawn_boxes(drawn: Drawn, read: Read, cell: float, size: tuple[int, int]) -> tuple[Floats, np.ndarray, np.ndarray]:
    """Return the boxes around what the network drew, their kinds, and the numbers of the maps."""
    boxes, kinds, maps = [], [], []
    for number, probabilities in enumerate(drawn.maps):
        ys, xs = np.flatnonzero((probabilities > 0.5).any(1)), np.flatnonzero((probabilities > 0.5).any(0))
        if len(ys):
            boxes.append((xs[0] * cell, ys[0] * cell, (xs[-1] + 1) * cell, (ys[-1] + 1) * cell))
            kinds.append(MAP)
            maps.append(number)
    edges = (drawn.box * cell).tolist()
    if edges[2] - edges[0] >= 1 and edges[3] - edges[1] >= 1:
        boxes.append(tuple(edges))
        kinds.append(EDGES)
        maps.append(-1)
    for answer in read.answers.tolist():
        boxes.append(tuple(answer))
        kinds.append(WORDS)
        maps.append(-1)
    clipped = np.array(boxes, np.float32).reshape(-1, 4)
    clipped = clipped.clip(0, np.array([*size, *size], np.float32))
    return clipped, np.array(kinds, np.int64), np.array(maps, np.int64)


def _own_overlaps(boxes: Floats, others: Floats) -> Floats:
    """Return the IoU of each box with the other of its row, [P]."""
    wide = np.minimum(boxes[:, 2], others[:, 2]) - np.maximum(boxes[:, 0], others[:, 0])
    high = np.minimum(boxes[:, 3], others[:, 3]) - np.maximum(boxes[:, 1], others[:, 1])
    both = np.maximum(wide, 0) * np.maximum(high, 0)
    areas = [(group[:, 2] - group[:, 0]) * (group[:, 3] - group[:, 1]) for group in (boxes, others)]
    shared: Floats = both / np.maximum(areas[0] + areas[1] - both, 1e-6)
    return shared


def _union(boxes: Floats) -> FloatBox:
    return boxes[:, 0].min(), boxes[:, 1].min(), boxes[:, 2].max(), boxes[:, 3].max()


def _array(values: Tensor) -> Floats:
    array: Floats = values.detach().float().numpy(force=True)
    return array
