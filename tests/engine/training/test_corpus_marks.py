"""Answers enter a corpus as their words or their pixels, as if each were painted on its whole page."""

import random

import numpy as np
import pytest

from engine.annotation.state import PageMark, to_patch
from engine.datasets.manifest import FrozenPage
from engine.run_lengths import encode_rle
from engine.training.sources import corpus
from model.boxes import Box
from model.masks import Mask, iou, rasterise, words_under

HEIGHT, WIDTH = 50, 61
PAGE = FrozenPage("p", 1, WIDTH, HEIGHT, "", "image/png", "")


def slow(mask: Mask, chosen: list[int], boxes: list[Box], exact: bool) -> list[int] | None:
    """The words that stand for a mask, with rasters of the whole page; None where none do."""
    for candidate in (chosen, [] if exact else words_under(mask, boxes)):
        words = rasterise([boxes[at] for at in candidate], mask.shape)
        if candidate and (np.array_equal(words, mask) if exact else iou(words, mask) >= corpus.NEAR):
            return candidate
    return None


@pytest.mark.parametrize("exact", [True, False])
def test_words_and_pixels_are_those_of_whole_pages(exact: bool) -> None:
    rng, met = random.Random(4), {"words": 0, "pixels": 0}
    for _ in range(300):
        corners = [(rng.randrange(-8, WIDTH + 8), rng.randrange(-8, HEIGHT + 8)) for _ in range(6)]
        boxes = [(x, y, x + rng.randrange(1, 25), y + rng.randrange(1, 9)) for x, y in corners]
        numbers = rng.sample(range(20), 6)
        chosen = sorted(rng.sample(range(6), rng.randrange(4)))
        mask = rasterise([boxes[at] for at in chosen or [0, 1]], (HEIGHT, WIDTH))
        if rng.random() < 0.5:
            y, x = rng.randrange(HEIGHT), rng.randrange(WIDTH)
            mask[y : y + 4, x : x + 6] = rng.random() < 0.5
        if not mask.any():
            continue
        entry = corpus._Asked("Where?", [], [])
        mark = PageMark(words=[numbers[at] for at in chosen], mask=to_patch(mask))
        corpus._enter(entry, mark, PAGE, numbers, boxes, exact)
        words = slow(mask, chosen, boxes, exact)
        assert entry.answers == ([words] if words else [])
        assert entry.masks == ([] if words else [encode_rle(mask)])
        met["words" if words else "pixels"] += 1
    assert min(met.values()) > 40
