"""Draw the user's points, box and mask as maps, beside SAM's tokens for them.

Clicks drawn as disks work best in interactive segmentation (RITM, https://arxiv.org/abs/2102.06583): a small network
reads a disk long before it learns to locate a position from Fourier features. An earlier mask is SAM's dense prompt
(https://arxiv.org/abs/2304.02643, appendix A).
"""

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from model.examples import Prompt
from model.masks import Mask

MASK_STRIDE = 4  # pixels of the scaled page to a cell
DRAWN = 4  # maps: earlier mask, clicks on the answer, clicks beside it, box
_DISK = 1.5  # radius in cells


def shows_a_place(prompt: Prompt) -> bool:
    """Return whether the prompt has a point, a box or a mask to draw."""
    return bool(prompt.points) or prompt.box is not None or prompt.mask is not None


def drawn_prompt(prompt: Prompt, size: tuple[int, int], grid: tuple[int, int], long_side: int) -> Tensor:
    """Draw a prompt as maps.

    Args:
        prompt: points, box and mask in pixels of the page.
        size: width and height of the page in pixels.
        grid: rows and columns of the maps.
        long_side: pixels to which the long side of the page is scaled.

    Returns:
        [DRAWN, rows, columns], values 0..1: earlier mask, positive clicks, negative clicks, box.
    """
    maps = torch.zeros(DRAWN, *grid)
    if prompt.mask is not None:
        small = shrunk(prompt.mask, long_side)
        maps[0, : small.shape[0], : small.shape[1]] = small[: grid[0], : grid[1]]
    cells = long_side / max(size) / MASK_STRIDE
    for x, y, positive in prompt.points:
        _draw_disk(maps[1 if positive else 2], x * cells, y * cells)
    if prompt.box is not None:
        x0, y0, x1, y1 = (value * cells for value in prompt.box)
        maps[3] = _cover_cells(y0, y1, grid[0])[:, None] * _cover_cells(x0, x1, grid[1])
    return maps


def shrink_mask(mask: Mask, image: Tensor, long_side: int) -> Tensor:
    """Shrink a page mask to the cells of a scaled image.

    Args:
        mask: bool [H, W] in pixels of the page.
        image: the scaled and padded page, [..., h, w].
        long_side: pixels to which the long side of the page was scaled.

    Returns:
        [h / 4, w / 4], the share of each cell that the mask covers.
    """
    canvas = torch.zeros(image.shape[-2] // MASK_STRIDE, image.shape[-1] // MASK_STRIDE)
    small = shrunk(mask, long_side)
    canvas[: small.shape[0], : small.shape[1]] = small[: canvas.shape[0], : canvas.shape[1]]
    return canvas


def shrunk(mask: Mask, long_side: int) -> Tensor:
    """Return the share of each cell that a mask (bool [H, W]) covers, without padding."""
    scale = long_side / max(mask.shape) / MASK_STRIDE
    width, height = max(1, round(mask.shape[1] * scale)), max(1, round(mask.shape[0] * scale))
    small = Image.fromarray(mask.astype(np.uint8) * 255).resize((width, height), Image.Resampling.BOX)
    return torch.from_numpy(np.asarray(small, np.float32) / 255)


def _draw_disk(grid: Tensor, x: float, y: float) -> None:
    """Set the cells whose centres lie within the disk around a position."""
    down = torch.arange(grid.shape[0])[:, None] + 0.5 - y
    across = torch.arange(grid.shape[1]) + 0.5 - x
    grid[down**2 + across**2 <= _DISK**2] = 1.0


def _cover_cells(start: float, end: float, cells: int) -> Tensor:
    """Return the share [cells] of each cell that lies between `start` and `end`."""
    left = torch.arange(cells, dtype=torch.float32)
    return ((left + 1).clamp(max=end) - left.clamp(min=start)).clamp(min=0)
