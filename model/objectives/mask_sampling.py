"""Sample the hidden parts of a page: units for masked images, blocks for joint embeddings.

A page lies on a grid of cells, [h, w], row by row. `page` [G, h, w] (bool) separates the page from its white padding,
which is never hidden. All randomness comes from the `random.Random` that is passed.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

UNIT = 32  # pixels: 8 x 8 tokens at stride 4, one token of the coarsest level
_TRIES = 20  # draws of blocks for a page, until enough of it is visible
_FEWEST_SEEN = 0.1  # of the page's cells


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockShapes:
    """Shapes of blocks (I-JEPA, https://arxiv.org/abs/2301.08243, section 3 and appendix A.1).

    Scales are shares of the page's area, aspects are width / height. Text runs in lines, so a share `lines` of the
    targets has the aspect of lines. An aspect that does not fit the page at the drawn scale is cut; the scale is not.
    """

    targets: int = 4
    target_scale: tuple[float, float] = (0.15, 0.2)
    target_aspect: tuple[float, float] = (0.75, 1.5)
    context_scale: tuple[float, float] = (0.85, 1.0)
    lines: float = 0.5
    line_aspect: tuple[float, float] = (3.0, 12.0)


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of G pages as indices of cells; every page has equally many."""

    context: Tensor  # [G, K] visible cells, none of them in a target
    targets: Tensor  # [G, B, T] cells to predict, block by block
    hidden: Tensor  # [G, h, w] bool: the page without its context


def page_cells(sizes: Sequence[tuple[int, int]], long_side: int, cell: int, grid: tuple[int, int]) -> Tensor:
    """Mark the cells whose centre lies on the page.

    Args:
        sizes: width and height of each page, in any unit.
        long_side: pixels to which the long side of a page is scaled.
        cell: side of a cell in pixels.
        grid: rows and columns of the grid.

    Returns:
        Bool [G, h, w]; a page has at least one cell.
    """
    height, width = grid
    page = torch.zeros(len(sizes), height, width, dtype=torch.bool)
    for row, size in enumerate(sizes):
        right, foot = (side * long_side / max(size) for side in size)
        page[row, : max(1, round(foot / cell)), : max(1, round(right / cell))] = True
    return page


def hide_units(page: Tensor, ratio: float, rng: random.Random) -> Tensor:
    """Draw hidden units evenly (MAE, https://arxiv.org/abs/2111.06377, section 3).

    Args:
        page: cells of the pages, bool [G, h, w].
        ratio: share that is hidden, 0..1.
        rng: source of randomness.

    Returns:
        Bool [G, h, w]. Every page keeps the same number of units: what `ratio` leaves of the smallest page.
    """
    fewest = int(page.flatten(1).sum(1).min())
    visible_count = min(fewest, max(1, round(fewest * (1 - ratio))))
    hidden = page.clone()
    for cells, row in zip(page.flatten(1), hidden.view(len(page), -1), strict=True):
        row[rng.sample(cells.nonzero()[:, 0].tolist(), visible_count)] = False
    return hidden


def draw_blocks(page: Tensor, rng: random.Random, shapes: BlockShapes | None = None) -> Blocks:
    """Draw target blocks of each page, and a context block without the cells of the targets.

    Blocks of different sizes are cut to the smallest. They are cut to cells drawn at random, because the first cells
    would all lie at the top of the page.

    Args:
        page: cells of the pages, bool [G, h, w].
        rng: source of randomness.
        shapes: shapes of the blocks.

    Returns:
        Blocks with equally many cells on every page.

    Raises:
        ValueError: a page has so few cells that nothing would remain visible.
    """
    shapes = shapes or BlockShapes()
    drawn = [_of_page(cells, rng, shapes) for cells in page]
    context_size = min(len(context) for context, _ in drawn)
    target_size = min(len(target) for _, targets in drawn for target in targets)
    context = torch.tensor([sorted(rng.sample(sorted(context), context_size)) for context, _ in drawn])
    targets = torch.tensor(
        [[sorted(rng.sample(sorted(target), target_size)) for target in targets] for _, targets in drawn]
    )
    hidden = page.flatten(1).clone().scatter_(1, context, False)
    return Blocks(context, targets, hidden.view(page.shape))


def _of_page(page: Tensor, rng: random.Random, shapes: BlockShapes) -> tuple[set[int], list[set[int]]]:
    """Draw context and targets of one page, which is the top left rectangle of its grid."""
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
