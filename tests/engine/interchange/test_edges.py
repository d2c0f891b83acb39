"""Outlines along the edges between pixels cover exactly their mask, as pycocotools rasters them."""

import numpy as np
import pytest
from scipy import ndimage

from engine.interchange.edges import edge_rings
from engine.interchange.polygons import fill_inside

_AROUND = np.ones((3, 3))  # pixels that touch by a corner


def test_a_page_ends_at_its_edges_and_a_pixel_is_a_square() -> None:
    assert edge_rings(np.ones((3, 5), bool)) == [[(0, 0), (5, 0), (5, 3), (0, 3)]]
    pixel = np.zeros((4, 4), bool)
    pixel[2, 1] = True
    assert edge_rings(pixel, (10, 20)) == [[(11, 22), (12, 22), (12, 23), (11, 23)]]
    assert edge_rings(np.zeros((4, 4), bool)) == []


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_outlines_of_random_masks_cover_the_masks_without_holes(share: float) -> None:
    random = np.random.default_rng(7)
    for _ in range(25):
        mask = random.random(random.integers(1, 25, 2)) < share
        parts, count = ndimage.label(mask)
        rings = edge_rings(mask)
        filled = [ndimage.binary_fill_holes(parts == part, structure=_AROUND) for part in range(1, count + 1)]
        assert len(rings) == count
        assert not rings or np.array_equal(fill_inside(rings, mask.shape), np.logical_or.reduce(filled))
