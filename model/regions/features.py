"""Describe regions for the region ranker: how they look, what the pixel path thinks of them, where the key stands."""

from dataclasses import dataclass

import numpy as np

from model.layout import Floats, Layout
from model.ranking.key_place import KeyRun
from model.regions.ink import Ink
from model.regions.proposals import BOX, GRID, KINDS, Proposed, overlaps
from model.regions.sums import BoxSums, SliceSums, mean_over

_FEW = 16  # boxes whose sums need no table
MAP, EDGES, WORDS = range(len(KINDS), len(KINDS) + 3)  # what the network drew: a map, its box, words of an answer
ALL_KINDS = len(KINDS) + 3
LOOKS = 38 + ALL_KINDS
ASKED = 69
FEATURES = LOOKS + ASKED
PIXELS = slice(LOOKS, LOOKS + 16)  # what the maps and the box of the pixel path say
_RING = 0.5  # line heights around a region, which are empty where it stands alone
_RUNS = 2  # runs of words that look like the key
_FAR = 30.0  # line heights: what stands for "none"
_NEAR = 2.5  # line heights between a region and the words that tell what it is


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the pixel path says of one question, in cells of its maps."""

    maps: Floats  # [M, h, w] probability of each cell
    iou: Floats  # [M] predicted IoU
    place: Floats  # [h, w] probability that the region is predicted best from this cell; sums to 1
    box: Floats  # [4]
    box_iou: float
    answered: float  # logit


@dataclass(frozen=True, slots=True)
class Read:
    """What the word path says of one question about N words."""

    chances: Floats  # [N] probability that it points to the word
    answers: Floats  # [A, 4] boxes of its best answers in pixels of the page
    scores: Floats  # [A] their predicted IoU
    answered: float  # logit
    by_words: float  # logit
    runs: list[KeyRun]


def looks(page: Proposed, ink: Ink, layout: Layout, boxes: Floats, kinds: np.ndarray, size: tuple[int, int]) -> Floats:
    """Describe how regions look, whatever is asked.

    Args:
        page: regions of the page.
        ink: its ink.
        layout: layout of its words.
        boxes: [P, 4] in pixels of the page.
        kinds: [P], of KINDS or MAP, EDGES, WORDS.
        size: width and height of the page in pixels.

    Returns:
        [P, LOOKS].
    """
    unit = ink.unit / ink.scale
    small = boxes * ink.scale
    wide, high = (small[:, 2] - small[:, 0]) / ink.unit, (small[:, 3] - small[:, 1]) / ink.unit
    summed = SliceSums if len(boxes) <= _FEW else BoxSums
    sums = [summed(bits) for bits in (ink.dark, ink.coloured, ink.across, ink.down)]
    dark, coloured, across, down = (mean_over(box_sums, small) for box_sums in sums)
    ring = small + np.array([-_RING, -_RING, _RING, _RING], np.float32) * ink.unit
    around = sums[0](ring) - sums[0](small)
    ring_area = (ring[:, 2] - ring[:, 0]) * (ring[:, 3] - ring[:, 1]) - wide * high * ink.unit**2
    core = small + np.array([0.2, 0.2, -0.2, -0.2], np.float32) * np.stack([wide, high, wide, high], 1) * ink.unit
    sides = [mean_over(sums[0], _side(small, at, 2.0)) for at in range(4)]
    words = layout.boxes * layout.height
    inside, shared = _words_in(boxes, words)
    covered = shared.sum(1) / np.maximum(1e-3, wide * high * unit * unit)
    tokens = [text.strip(".,:;()") for text in layout.texts]
    digits = np.array([any(letter.isdigit() for letter in text) for text in tokens], np.float32)
    odd = np.array([len(text) <= 2 for text in tokens], np.float32)
    count = inside.sum(1)
    lines = np.array([len(set(layout.line[row].tolist())) for row in inside])
    segments = np.array([len(set(layout.segment[row].tolist())) for row in inside])
    within = _within(boxes, page.boxes)
    ticks, grids = page.kinds == BOX, page.kinds == GRID
    # How many boxes to tick there are of this size and in this column: real ones come in groups.
    own_kind = kinds == BOX
    alike = overlaps(_at_origin(boxes), _at_origin(page.boxes[ticks])) > 0.75
    columned = np.abs(boxes[:, None, 0] - page.boxes[None, ticks, 0]) < 0.5 * unit
    outside = _within(page.boxes, boxes).T  # [P, R]: the region lies in the proposal
    columns = [
        *[(kinds == kind).astype(np.float32) for kind in range(ALL_KINDS)],
        np.log(wide + 0.1), np.log(high + 0.1), np.log((wide + 0.1) / (high + 0.1)), np.log(wide * high + 0.1),
        boxes[:, 0] / size[0], boxes[:, 1] / size[1], boxes[:, 2] / size[0], boxes[:, 3] / size[1],
        dark, coloured, across, down, around / np.maximum(1.0, ring_area), mean_over(sums[0], core), *sides,
        np.log1p(count), covered, np.log1p(lines), np.log1p(segments),
        segments / np.maximum(1, lines), (inside @ digits) / np.maximum(1, count),
        (inside @ odd) / np.maximum(1, count),
        np.log1p((within & ticks).sum(1)), np.log1p((within & grids).sum(1)),
        np.log1p((outside & grids).sum(1)), np.log1p(outside.sum(1)),
        own_kind * np.log1p(alike.sum(1)), own_kind * np.log1p((alike & columned).sum(1)),
        own_kind * mean_over(sums[1], core), np.sqrt(wide * high) * dark, np.full(len(boxes), np.log1p(len(words)) / 6),
        *_word_around(boxes, words, shared, tokens, unit),
    ]  # fmt: skip
    return _stack_columns(columns, LOOKS)


def _word_around(boxes: Floats, words: Floats, shared: Floats, tokens: list[str], unit: float) -> list[Floats]:
    """Return how far a region lies within one word, how long that is, and how far its ends are.

    A small frame within a word is a letter, or a box that OCR read together with its label.
    """
    if not len(words):
        return [np.zeros(len(boxes), np.float32)] * 4
    most = shared.argmax(1)
    share = shared.max(1) / np.maximum(1, _area(boxes))
    letters = np.array([len(text) for text in tokens], np.float32)[most]
    left, right = (boxes[:, 0] - words[most, 0]) / unit, (words[most, 2] - boxes[:, 2]) / unit
    hold = share > 0.2
    return [share, hold * np.log1p(letters), hold * left.clip(-2, 6), hold * right.clip(-2, 6)]


def describe_fit(
    layout: Layout,
    boxes: Floats,
    kinds: np.ndarray,
    cell: float,
    drawn: Drawn,
    read: Read,
    points: Floats,
    own_overlap: Floats,
) -> Floats:
    """Describe how regions fit one question.

    Args:
        layout: layout of the page's words.
        boxes: [P, 4] in pixels of the page.
        kinds: [P].
        cell: pixels of the page per cell of the maps.
        drawn: what the pixel path says.
        read: what the word path says.
        points: clicks, [C, 3]: x, y in pixels of the page, and 1 for "here" or 0 for "not here".
        own_overlap: IoU with itself of a region whose edges clicks have moved, 1 for the others, [P].

    Returns:
        [P, ASKED].
    """
    cells, count = boxes / cell, len(boxes)
    area = np.maximum(1e-3, (cells[:, 2] - cells[:, 0]) * (cells[:, 3] - cells[:, 1]))
    columns: list[Floats] = []
    single, best = 0, int(drawn.iou[1:].argmax()) + 1
    for number in (single, best):
        sums = BoxSums(drawn.maps[number])
        own = sums(cells)
        columns += [own / area, own / max(1e-3, sums.total), own / np.maximum(1e-3, area + sums.total - own)]
    sure = BoxSums(drawn.maps[single] > 0.5)
    own = sure(cells)
    columns += [own / np.maximum(1e-3, area + sure.total - own), np.full(count, sure.total > 0)]
    placed = BoxSums(drawn.place)(cells)
    columns += [placed, np.log(placed + 1e-4), np.log(placed / np.minimum(area, 50) + 1e-5)]
    columns += [overlaps(cells, drawn.box[None])[:, 0], _scaled_distance(cells, drawn.box)]
    columns += [np.full(count, value) for value in (drawn.iou[single], drawn.iou[best], drawn.box_iou)]
    columns += [np.full(count, np.clip(value, -8, 8) / 4) for value in (drawn.answered, read.answered, read.by_words)]
    columns += _read_columns(boxes, layout, read)
    for number in range(_RUNS):
        run = read.runs[number] if number < len(read.runs) else None
        columns += _run_columns(layout, boxes, kinds, run)
    columns += [*_click_columns(boxes, points), own_overlap]
    return _stack_columns(columns, ASKED)


def _read_columns(boxes: Floats, layout: Layout, read: Read) -> list[Floats]:
    """Return how much the word path points into a region and at the words beside it, and its answers."""
    count, unit = len(boxes), layout.height
    words = layout.boxes * unit
    inside, _ = _words_in(boxes, words)
    beside = []
    for left, up, right, down in ((0, 0, 1, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1)):
        reach = np.array([-left, -up, right, down], np.float32) * _NEAR * unit
        strip, _ = _words_in(boxes + reach, words)
        beside.append((strip & ~inside) @ read.chances)
    columns = [inside @ read.chances, *beside]
    if len(read.answers):
        shared = overlaps(boxes, read.answers)
        columns += [shared[:, 0], shared.max(1), np.full(count, read.scores[0])]
        first = read.answers[:1]
        gap_right, gap_left = first[:, 0] - boxes[:, 2], boxes[:, 0] - first[:, 2]
        level = _level(boxes, first)
        columns += [level * np.exp(-np.abs(gap_right) / unit), level * np.exp(-np.abs(gap_left) / unit)]
    else:
        columns += [np.zeros(count, np.float32)] * 5
    return columns


def _run_columns(layout: Layout, boxes: Floats, kinds: np.ndarray, run: KeyRun | None) -> list[Floats]:
    """Return where a region lies from words that look like the key, and which regions of its kind lie nearer."""
    count, unit = len(boxes), layout.height
    if run is None:
        return [np.zeros(count, np.float32)] * 17
    key = (run.box * unit)[None]
    line = layout.line[np.flatnonzero(run.words)]
    home = np.isin(layout.line, line)
    segment = np.isin(layout.segment, layout.segment[np.flatnonzero(run.words)])
    whole = layout.boxes[segment] * unit
    start, end = whole[:, 0].min(), whole[:, 2].max()
    level = _level(boxes, key)
    before, after = (key[0, 0] - boxes[:, 2]) / unit, (boxes[:, 0] - key[0, 2]) / unit
    under, above = (boxes[:, 1] - key[0, 3]) / unit, (key[0, 1] - boxes[:, 3]) / unit
    across = np.minimum(boxes[:, 2], key[0, 2]) - np.maximum(boxes[:, 0], key[0, 0])
    ticks = kinds == BOX
    is_before = level & (before > -0.7)
    is_after = level & (after > -0.7)
    is_under, is_above = (across > 0) & (under > -0.7), (across > 0) & (above > -0.7)
    rank_before, rank_after = _nearer(before, is_before & ticks), _nearer(after, is_after & ticks)
    words = layout.boxes * unit
    between = np.array(
        [(home & (words[:, 0] >= box[2] - 2) & (words[:, 2] <= key[0, 0] + 2)).sum() for box in boxes], np.float32
    )
    between_after = np.array(
        [(home & (words[:, 2] <= box[0] + 2) & (words[:, 0] >= key[0, 2] - 2)).sum() for box in boxes], np.float32
    )
    inside, _ = _words_in(boxes, words)
    held = (inside & run.words).sum(1) / max(1, run.words.sum())
    return [
        np.full(count, run.cover), held, level.astype(np.float32),
        is_before * np.exp(-np.maximum(before, 0) / 2), is_after * np.exp(-np.maximum(after, 0) / 2),
        is_under * np.exp(-np.maximum(under, 0) / 2), is_above * np.exp(-np.maximum(above, 0) / 2),
        rank_before, rank_after,
        is_before * np.exp(-between), is_after * np.exp(-between_after),
        level * np.exp(-np.abs(start - boxes[:, 2]) / unit), level * np.exp(-np.abs(boxes[:, 0] - end) / unit),
        np.sign(before) * np.log1p(np.abs(before)) / 2, np.sign(under) * np.log1p(np.abs(under)) / 2,
        np.exp(-np.abs((boxes[:, 1] + boxes[:, 3]) / 2 - (key[0, 1] + key[0, 3]) / 2) / unit),
        np.full(count, segment.sum() / max(1, run.words.sum()) / 4),
    ]  # fmt: skip


def _click_columns(boxes: Floats, points: Floats) -> list[Floats]:
    """Return whether there are clicks, and whether a region holds those on it and none beside it."""
    count = len(boxes)
    if not len(points):
        return [np.zeros(count, np.float32)] * 5
    x, y, positive = points[:, 0], points[:, 1], points[:, 2] > 0
    held = (boxes[:, None, 0] <= x) & (x <= boxes[:, None, 2]) & (boxes[:, None, 1] <= y) & (y <= boxes[:, None, 3])
    right = (held == positive).all(1)
    ratio = np.ones(count, np.float32)
    if positive.any():
        # A person clicks into the middle.
        at = int(np.flatnonzero(positive)[-1])
        across = np.abs(x[at] - (boxes[:, 0] + boxes[:, 2]) / 2) / np.maximum(1, boxes[:, 2] - boxes[:, 0])
        along = np.abs(y[at] - (boxes[:, 1] + boxes[:, 3]) / 2) / np.maximum(1, boxes[:, 3] - boxes[:, 1])
        ratio = np.maximum(across, along)
    return [
        np.full(count, 1.0), right.astype(np.float32), held[:, positive].mean(1) if positive.any() else np.zeros(count),
        np.minimum(ratio, 2), np.full(count, len(points) / 4),
    ]  # fmt: skip


def _nearer(distance: Floats, among: np.ndarray) -> Floats:
    """Return 1 for the nearest of some, 1/2 for the next, and so on; 0 for the others."""
    nearness = np.zeros(len(distance), np.float32)
    order = np.flatnonzero(among)[np.argsort(distance[among], kind="stable")]
    nearness[order] = 1 / (1 + np.arange(len(order)))
    return nearness


def _level(boxes: Floats, other: Floats) -> np.ndarray:
    """Return whether boxes [P, 4] stand on one line with another [1, 4]."""
    shared = np.minimum(boxes[:, 3], other[:, 3]) - np.maximum(boxes[:, 1], other[:, 1])
    least = np.minimum(boxes[:, 3] - boxes[:, 1], other[:, 3] - other[:, 1])
    result: np.ndarray = shared > 0.4 * np.maximum(least, 1)
    return result


def _scaled_distance(cells: Floats, box: Floats) -> Floats:
    """Return how far the centres lie from that of a box, in its own size, as exp(-d)."""
    size = np.maximum(1.0, box[2:] - box[:2])
    away = np.abs((cells[:, :2] + cells[:, 2:]) / 2 - (box[:2] + box[2:]) / 2) / size
    result: Floats = np.exp(-away.max(1))
    return result


def _words_in(boxes: Floats, words: Floats) -> tuple[np.ndarray, Floats]:
    """Return which words have their centre in which boxes, [P, N], and the areas that they share, [P, N]."""
    if not len(words):
        return np.zeros((len(boxes), 0), bool), np.zeros((len(boxes), 0), np.float32)
    wide = np.minimum(boxes[:, None, 2], words[None, :, 2]) - np.maximum(boxes[:, None, 0], words[None, :, 0])
    high = np.minimum(boxes[:, None, 3], words[None, :, 3]) - np.maximum(boxes[:, None, 1], words[None, :, 1])
    shared = np.maximum(wide, 0) * np.maximum(high, 0)
    x, y = (words[:, 0] + words[:, 2]) / 2, (words[:, 1] + words[:, 3]) / 2
    inside = (boxes[:, None, 0] <= x) & (x <= boxes[:, None, 2]) & (boxes[:, None, 1] <= y) & (y <= boxes[:, None, 3])
    return inside, shared


def _within(boxes: Floats, others: Floats) -> np.ndarray:
    """Return which others lie inside which boxes, [P, R], with a pixel of tolerance; a box lies not in itself."""
    low = (others[None, :, :2] >= boxes[:, None, :2] - 1).all(-1)
    high = (others[None, :, 2:] <= boxes[:, None, 2:] + 1).all(-1)
    size, own = _area(others)[None], _area(boxes)[:, None]
    result: np.ndarray = low & high & (size < 0.95 * own)
    return result


def _area(boxes: Floats) -> Floats:
    area: Floats = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return area


def _at_origin(boxes: Floats) -> Floats:
    moved: Floats = boxes - np.tile(boxes[:, :2], 2)
    return moved


def _side(boxes: Floats, side: int, thick: float) -> Floats:
    """Return the strip along the left, upper, right or lower edge."""
    strip = boxes.copy()
    if side < 2:
        strip[:, 2 + side] = strip[:, side] + thick
    else:
        strip[:, side - 2] = strip[:, side] - thick
    return strip


def _stack_columns(columns: list[Floats], expected: int) -> Floats:
    features = np.stack([np.asarray(column, np.float32) for column in columns], 1)
    assert features.shape[1] == expected, features.shape
    return np.nan_to_num(features).clip(-12, 12)
