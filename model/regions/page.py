"""The regions of a page, found once and kept with it."""

from dataclasses import dataclass

import numpy as np

from model.layout import Floats, Layout
from model.regions.features import LOOKS, looks
from model.regions.ink import PackedInk
from model.regions.proposals import Proposed, nothing_proposed, propose_regions

_THINNEST = 8  # working pixels: a thinner strip of a page holds no region


@dataclass(frozen=True, slots=True)
class PageRegions:
    """Regions of one page.

    `looks`: how they look, [P, LOOKS]. `ink`: ink of the page, for regions that a question adds.
    """

    proposed: Proposed
    looks: Floats
    ink: PackedInk

    def looks_of(self, layout: Layout, boxes: Floats, kinds: np.ndarray, size: tuple[int, int]) -> Floats:
        """Describe how other regions of the page look; arguments as in `model.regions.features.looks`."""
        return looks(self.proposed, self.ink.unpack(), layout, boxes, kinds, size)


def find_regions(ink: PackedInk, layout: Layout, size: tuple[int, int]) -> PageRegions:
    """Find the regions of a page.

    Args:
        ink: its ink.
        layout: layout of its words.
        size: width and height of the page in pixels.
    """
    unpacked = ink.unpack()
    if min(unpacked.dark.shape) < _THINNEST:
        return PageRegions(nothing_proposed(), np.zeros((0, LOOKS), np.float32), ink)
    proposed = propose_regions(unpacked, layout)
    return PageRegions(proposed, looks(proposed, unpacked, layout, proposed.boxes, proposed.kinds, size), ink)
