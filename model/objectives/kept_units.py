"""Run the image encoder on the kept units of a page alone: hidden tokens are dropped, not replaced.

Hiera (https://arxiv.org/abs/2306.00989, section 3) drops units of 32 x 32 pixels, 8 x 8 tokens at stride 4. Its own
attention stays inside units in the first two stages and is global in the last two, so that dropping is exact. HieraDet
(SAM 2) has windows instead. Those of the first two stages are the units themselves. Those of the last two span several
units; there, kept tokens attend to the kept tokens of their window. Two things differ from the whole page. Tokens of
the zeros that timm pads windows with are dropped, too. The patch embedding is computed for the whole page, with zeros
for hidden pixels, because its kernels overlap; it is a small part of the cost.
"""

from typing import cast

import torch
import torch.nn.functional as F
from timm.models.hieradet_sam2 import HieraDet, MultiScaleBlock
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from model.encoders.image import ImageEncoder
from model.objectives.mask_sampling import UNIT
from model.objectives.masked_inputs import TOKEN_STRIDE, spread_mask

_SIDE = UNIT // TOKEN_STRIDE  # tokens of a unit's side right after the patch embedding


def kept_indices(hidden: Tensor, page: Tensor) -> Tensor:
    """Return the indices of the units that are page and not hidden, [G, K], row by row.

    `hidden` and `page` are bool [G, h, w]; every page must keep the same number of units, as `hide_units` draws them.
    """
    visible = (page & ~hidden).flatten(1)
    return visible.nonzero()[:, 1].view(len(visible), -1)


def encode_kept(encoder: ImageEncoder, image: Tensor, kept: Tensor) -> Tensor:
    """Encode the kept units of images.

    Args:
        encoder: image encoder; its trunk's windows of the first two stages must be units.
        image: [G, 3, H, W], H and W multiples of 32.
        kept: indices of units, [G, K].

    Returns:
        The map at stride 16 of each kept unit, [G, K, 2, 2, D].

    Raises:
        ValueError: a window of the trunk cuts a unit.
    """
    pages, count = kept.shape
    levels = _levels(encoder.trunk, image, kept)
    level16, level32 = (level.flatten(0, 1).permute(0, 3, 1, 2) for level in levels[2:4])
    coarse = encoder.lateral16(level16) + F.interpolate(encoder.lateral32(level32), scale_factor=2, mode="nearest")
    maps: Tensor = coarse.permute(0, 2, 3, 1)
    return torch.unflatten(maps, 0, (pages, count))


def _levels(trunk: HieraDet, image: Tensor, kept: Tensor) -> list[Tensor]:
    """Return the maps of the trunk's stages on the kept units, each [G, K, side, side, C]."""
    rows, columns = image.shape[-2] // UNIT, image.shape[-1] // UNIT
    seen = torch.zeros(len(kept), rows * columns, dtype=torch.bool, device=image.device).scatter_(1, kept, True)
    hidden = ~seen.view(len(kept), rows, columns)
    shown = image.masked_fill(spread_mask(hidden, *image.shape[-2:])[:, None], 0.0)  # kernels reach into neighbours
    patches = trunk._pos_embed(trunk.patch_embed(shown))  # [G, h, w, C], each with its own place
    units = patches.unflatten(2, (columns, _SIDE)).unflatten(1, (rows, _SIDE)).transpose(2, 3).flatten(1, 2)
    x = units[torch.arange(len(kept), device=image.device)[:, None], kept]
    levels = []
    for number, block in enumerate(trunk.blocks):
        arguments = cast(MultiScaleBlock, block), x, kept, columns
        x = (
            checkpoint(_apply_block, *arguments, use_reentrant=False)
            if trunk.grad_checkpointing
            else _apply_block(*arguments)
        )
        if number in trunk.stage_ends:
            levels.append(x)
    return levels


def _apply_block(block: MultiScaleBlock, x: Tensor, kept: Tensor, columns: int) -> Tensor:
    """Run a block of the trunk on kept units, [G, K, side, side, C]; `columns`: units in a row of the page."""
    side, window = x.shape[2], block.window_size
    if block.is_windowed and window[0] % side:
        raise ValueError(f"A window of {window[0]} tokens cuts a unit of {side}; hidden units cannot be dropped.")
    if block.is_windowed and window[0] == side:
        made: Tensor = torch.unflatten(block(x.flatten(0, 1)), 0, kept.shape)
        return made
    return _across_units(block, x, _same_window(kept, columns, window[0] // side) if block.is_windowed else None)


def _same_window(kept: Tensor, columns: int, units: int) -> Tensor:
    """Return which kept units share a window of `units` x `units` units, bool [G, K, K]."""
    window = (kept // columns // units) * columns + kept % columns // units
    return window[:, :, None] == window[:, None]


def _across_units(block: MultiScaleBlock, x: Tensor, together: Tensor | None) -> Tensor:
    """Run a block whose attention reaches over units; see timm's `MultiScaleBlock.forward` and its attention.

    Args:
        block: the block.
        x: [G, K, side, side, C].
        together: units that attend to each other, bool [G, K, K]; None: all.
    """
    pages, count, side = x.shape[:3]
    shortcut, normed = x, block.norm1(x)
    if block.dim != block.dim_out:
        shortcut = block.proj(normed)
        if block.pool is not None:
            shortcut = _pool_units(block.pool, shortcut)
    query, key, value = block.attn.qkv(normed).chunk(3, -1)
    if block.attn.q_pool is not None:
        query = _pool_units(block.attn.q_pool, query)
    after = query.shape[2]
    query, key, value = (
        part.flatten(1, 3).unflatten(-1, (block.attn.num_heads, -1)).transpose(1, 2) for part in (query, key, value)
    )
    mask = None
    if together is not None:
        mask = together.repeat_interleave(after**2, 1).repeat_interleave(side**2, 2)[:, None]
    attended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(1, 2).flatten(2)
    x = shortcut + block.drop_path1(block.ls1(block.attn.proj(attended.view(pages, count, after, after, -1))))
    made: Tensor = x + block.drop_path2(block.ls2(block.mlp(block.norm2(x))))
    return made


def _pool_units(pool: torch.nn.Module, x: Tensor) -> Tensor:
    """Pool maps [G, K, side, side, C] inside each unit."""
    made: Tensor = pool(x.flatten(0, 1).permute(0, 3, 1, 2)).permute(0, 2, 3, 1)
    return torch.unflatten(made, 0, x.shape[:2])
