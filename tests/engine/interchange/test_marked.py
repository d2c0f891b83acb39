"""Figures of an answer come from its run lengths, and are those of its pixels painted on the whole page."""

import random
from dataclasses import replace

import numpy as np
import pytest

from engine.annotation.state import AnnotationState, Patch, to_patch
from engine.datasets.manifest import FrozenDocument, FrozenItem, FrozenPage, FrozenWord
from engine.interchange.polygons import fill_polygons, outlines
from engine.interchange.release import Marked
from engine.run_lengths import encode_rle
from model.boxes import Box
from model.masks import Mask, encode_patch, iou, rasterise

HEIGHT, WIDTH = 60, 47
PAGE = FrozenPage("p", 1, WIDTH, HEIGHT, "", "image/png", "")
ITEM = FrozenItem(
    "a", "r", 1, "accepted", "q", "Where?", "Ann", "page", None,
    FrozenDocument("d", "", "d.png", "train", None, "upload", (PAGE,)), AnnotationState(),
)  # fmt: skip


def painted(seed: int) -> Mask:
    """Discs and noise; some touch the edges of the page, some fill it, one is a single pixel."""
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    if seed % 10 == 9:
        return np.ones((HEIGHT, WIDTH), bool)
    mask = np.zeros((HEIGHT, WIDTH), bool)
    mask[rng.randrange(HEIGHT), rng.randrange(WIDTH)] = True
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    for _ in range(rng.randrange(4)):
        y, x, radius = rng.randrange(HEIGHT), rng.randrange(WIDTH), rng.randrange(1, 25)
        mask |= (rows - y) ** 2 + (columns - x) ** 2 < radius**2
    if seed % 3 == 0:
        mask &= noise.random((HEIGHT, WIDTH)) < 0.7
        mask[HEIGHT - 1, 0] = True
    if seed % 7 == 0:
        mask[:, rng.randrange(WIDTH)] = True
    return mask


def marked(patch: Patch, words: list[Box] | None = None) -> Marked:
    return Marked(ITEM, PAGE, patch, tuple(FrozenWord(at, "w", box, 0) for at, box in enumerate(words or [])))


@pytest.mark.parametrize("seed", range(60))
def test_run_lengths_give_what_painted_pixels_give(seed: int) -> None:
    mask, rng = painted(seed), random.Random(seed)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    loose = encode_patch(np.ones((HEIGHT, WIDTH), bool)) | {"counts": _counts(mask)}
    for patch in (to_patch(mask), Patch.model_validate(loose)):
        one = marked(patch)
        assert np.array_equal(one.mask, mask)
        assert one.rle == encode_rle(mask)
        assert one.area == np.count_nonzero(mask)
        assert one.box == (columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)
        assert one.rings == outlines(mask)
        assert one.likeness(one.rings) == iou(fill_polygons(outlines(mask), mask.shape), mask)
        boxes = [
            (x, y, x + rng.randrange(30), y + rng.randrange(30))
            for x, y in [(rng.randrange(-9, WIDTH + 9), rng.randrange(-9, HEIGHT + 9)) for _ in range(3)]
        ]
        assert iou(*one.beside(boxes)) == iou(rasterise(boxes, mask.shape), mask)


def test_an_answer_is_made_of_words_only_where_their_boxes_cover_its_pixels() -> None:
    boxes = [(3, 4, 20, 12), (25, 4, WIDTH + 5, 12), (-4, 40, 9, 70)]  # two leave the page, as OCR's may
    exact = marked(to_patch(rasterise(boxes, (HEIGHT, WIDTH))), boxes)
    assert exact.by_words
    assert not replace(exact, words=exact.words[:2]).by_words
    assert not marked(exact.patch).by_words
    more = rasterise(boxes, (HEIGHT, WIDTH))
    more[30, 30] = True
    assert not marked(to_patch(more), boxes).by_words


def _counts(mask: Mask) -> list[int]:
    flat = mask.ravel()
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    counts = np.diff(np.concatenate([[0], edges, [flat.size]])).tolist()
    return [0, *counts] if flat[0] else counts
