"""Which parts of a page are hidden: units for masked images, blocks for joint embeddings. Never the white margin of a
page.

A page lies on a grid of cells, [h, w], row by row; ``page`` [G, h, w] (bool) tells the page from the margin that pads
it. Everything random comes from the ``random.Random`` that is given.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

UNIT = 32  # pixels: 8 x 8 tokens at stride 4, one token of the coarsest level
_TRIES = 20  # draws of blocks for a page until enough of it is left to be seen
_FEWEST_SEEN = 0.1  # of the page's cells


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShapes:
    """How blocks are drawn (I-JEPA, https://arxiv.org/abs/2301.08243, section 3 and appendix A.1).

    Scales are shares of the page's area, aspects width / height. Text runs in lines: a share ``lines`` of the targets
    is as wide as lines are. An aspect that the page has no room for at the scale drawn is cut, the scale is not.
    """

    targets: int = 4
    target_scale: tuple[float, float] = (0.15, 0.2)
    target_aspect: tuple[float, float] = (0.75, 1.5)
    context_scale: tuple[float, float] = (0.85, 1.0)
    lines: float = 0.5
    line_aspect: tuple[float, float] = (3.0, 12.0)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of G pages, as numbers of cells; every page has as many."""

    context: Tensor  # [G, K] cells that are seen; none of them is in a target
    targets: Tensor  # [G, B, T] cells to predict, block by block
    hidden: Tensor  # [G, h, w] bool: the page without its context


def page_cells(sizes: Sequence[tuple[int, int]], long_side: int, cell: int, grid: tuple[int, int]) -> Tensor:
    """[G, h, w] bool: the cells, ``cell`` pixels wide, whose centre lies on the page.

    sizes: (width, height) of each page in any unit; its long side is scaled to ``long_side`` pixels. A page has one
    cell at least.
    """
    height, width = grid
    page = torch.zeros(len(sizes), height, width, dtype=torch.bool)
    for row, size in enumerate(sizes):
        right, foot = (side * long_side / max(size) for side in size)
        page[row, : max(1, round(foot / cell)), : max(1, round(right / cell))] = True
    return page


def hide_units(page: Tensor, ratio: float, rng: random.Random) -> Tensor:
    """[G, h, w] bool: hidden units, drawn evenly (MAE, https://arxiv.org/abs/2111.06377, section 3).

    Every page keeps the same number of units: what ``ratio`` leaves of the smallest one.
    """
    fewest = int(page.flatten(1).sum(1).min())
    kept = min(fewest, max(1, round(fewest * (1 - ratio))))
    hidden = page.clone()
    for cells, row in zip(page.flatten(1), hidden.view(len(page), -1), strict=True):
        row[rng.sample(cells.nonzero()[:, 0].tolist(), kept)] = False
    return hidden


def draw_blocks(page: Tensor, rng: random.Random, shapes: BlockShapes | None = None) -> Blocks:
    """Target blocks of each page, and a context block without the cells that are in a target.

    Where blocks differ in size, all are cut to the smallest: to cells drawn at random, not to the first ones, which
    would all lie at the head of the page. ValueError for a page of so few cells that nothing would be left to see.
    """
    shapes = shapes or BlockShapes()
    drawn = [_of_page(cells, rng, shapes) for cells in page]
    seen = min(len(context) for context, _ in drawn)
    told = min(len(target) for _, targets in drawn for target in targets)
    context = torch.tensor([sorted(rng.sample(sorted(context), seen)) for context, _ in drawn])
    targets = torch.tensor([[sorted(rng.sample(sorted(target), told)) for target in targets] for _, targets in drawn])
    hidden = page.flatten(1).clone().scatter_(1, context, False)
    return Blocks(context, targets, hidden.view(page.shape))


def _of_page(page: Tensor, rng: random.Random, shapes: BlockShapes) -> tuple[set[int], list[set[int]]]:
    """Context and targets of one page; the page is the rectangle at the top left of its grid."""
    rows, columns, stride = int(page.any(1).sum()), int(page.any(0).sum()), page.shape[1]
    wide = round(shapes.targets * shapes.lines)
    best: tuple[set[int], list[set[int]]] = (set(), [])
    for _ in range(_TRIES):
        targets = [
            _block(rows, columns, stride, rng.uniform(*shapes.target_scale),
                   rng.uniform(*(shapes.line_aspect if number < wide else shapes.target_aspect)), rng)
            for number in range(shapes.targets)
        ]  # fmt: skip
        context = _block(rows, columns, stride, rng.uniform(*shapes.context_scale), 1.0, rng).difference(*targets)
        if len(context) > len(best[0]):
            best = context, targets
        if len(context) >= _FEWEST_SEEN * rows * columns:
            break
    if not best[0]:
        raise ValueError(f"A page of {rows} x {columns} cells is too small to hide blocks of it.")
    return best


def _block(rows: int, columns: int, stride: int, scale: float, aspect: float, rng: random.Random) -> set[int]:
    area = scale * rows * columns
    aspect = min(max(aspect, area / rows**2), columns**2 / area)
    height = min(rows, max(1, round(math.sqrt(area / aspect))))
    width = min(columns, max(1, round(area / height)))
    top, left = rng.randint(0, rows - height), rng.randint(0, columns - width)
    return {y * stride + x for y in range(top, top + height) for x in range(left, left + width)}
