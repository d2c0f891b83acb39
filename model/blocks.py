"""Attention layers and perceptrons that several parts of the network share. All layers are pre-norm."""

import math
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

MASKED = -1e4  # added to masked scores; finite, so that a row without any key stays finite


def additive_mask(valid: Tensor) -> Tensor:
    """Return the mask [B, 1, 1, K] to add to attention scores, from `valid` [B, K] (bool)."""
    return (~valid)[:, None, None] * MASKED


def split_heads(x: Tensor, heads: int) -> Tensor:
    """Split features into attention heads: [B, T, D] -> [B, heads, T, D / heads]."""
    split: Tensor = x.unflatten(-1, (heads, -1)).transpose(1, 2)
    return split


def merge_heads(x: Tensor) -> Tensor:
    """Merge attention heads: [B, heads, T, d] -> [B, T, heads * d]."""
    return x.transpose(1, 2).flatten(2)


def soft_log(x: Tensor) -> Tensor:
    """Return sign(x) log(1 + |x|), which is exact near zero and coarse far from it."""
    return x.sign() * x.abs().log1p()


class Perceptron(nn.Sequential):
    """Two linear layers with GELU between them."""

    def __init__(self, into: int, hidden: int, out: int) -> None:
        super().__init__(nn.Linear(into, hidden), nn.GELU(), nn.Linear(hidden, out))

    @property
    def last(self) -> nn.Linear:
        """Return the second linear layer."""
        layer = self[2]
        assert isinstance(layer, nn.Linear)
        return layer


LONG_PAGE = 1024  # words; on longer pages attention is computed in parts of _ROWS rows
_ROWS = 64


def row_parts(count: int) -> list[slice]:
    """Split rows into parts that bound the memory of N x N attention; one part unless the page is long."""
    if count <= LONG_PAGE:
        return [slice(0, count)]
    return [slice(first, min(first + _ROWS, count)) for first in range(0, count, _ROWS)]


class RowsOf(Protocol):
    """A bias [B, heads, T, T] that can be read by rows: a tensor, or a compact form of one."""

    def __getitem__(self, index: tuple[slice, slice, slice], /) -> Tensor: ...


class SelfAttentionLayer(nn.Module):
    """Transformer layer with a bias on the attention scores."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm_mlp = nn.LayerNorm(width)
        self.mlp = Perceptron(width, 4 * width, width)

    def forward(self, x: Tensor, bias: RowsOf) -> Tensor:
        """Apply the layer to x [B, T, D] with bias [B, heads, T, T]; returns [B, T, D]."""
        q, k, v = (split_heads(part, self.heads) for part in self.qkv(self.norm(x)).chunk(3, -1))
        parts = [
            F.scaled_dot_product_attention(q[:, :, rows], k, v, attn_mask=bias[:, :, rows])
            for rows in row_parts(x.shape[1])
        ]
        x = x + self.out(merge_heads(torch.cat(parts, 2)))
        states: Tensor = x + self.mlp(self.norm_mlp(x))
        return states


class CrossAttention(nn.Module):
    """Attention from queries to keys.

    The inner width may be smaller than the outer one; SAM's decoder halves it.
    """

    def __init__(self, width: int, heads: int, inner: int | None = None) -> None:
        super().__init__()
        inner = inner or width
        self.heads = heads
        self.q = nn.Linear(width, inner)
        self.k = nn.Linear(width, inner)
        self.v = nn.Linear(width, inner)
        self.out = nn.Linear(inner, width)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor | None = None) -> Tensor:
        """Attend from queries to keys.

        Args:
            queries: [B, T, D].
            keys: [B, K, D].
            values: [B, K, D].
            bias: added to the scores, broadcastable to [B, heads, T, K].

        Returns:
            [B, T, D].
        """
        q, k, v = (
            split_heads(layer(x), self.heads) for layer, x in ((self.q, queries), (self.k, keys), (self.v, values))
        )
        attended: Tensor = self.out(merge_heads(F.scaled_dot_product_attention(q, k, v, attn_mask=bias)))
        return attended


class LayerNorm2d(nn.Module):
    """Layer norm over the channels of a map [B, C, H, W]."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the channels of x [B, C, H, W]."""
        normed: Tensor = self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return normed


class PointEncoding(nn.Module):
    """Random Fourier features of positions (SAM, prompt encoder); 1 is the page's long side."""

    frequencies: Tensor

    def __init__(self, width: int, scale: float = 4.0) -> None:
        super().__init__()
        self.register_buffer("frequencies", torch.randn(2, width // 2) * scale)

    def forward(self, places: Tensor) -> Tensor:
        """Encode positions: [..., 2] -> [..., width]."""
        angles = (2 * places - 1) @ self.frequencies * (2 * math.pi)
        return torch.cat([angles.sin(), angles.cos()], -1)

    def grid(self, height: int, width: int, step: float) -> Tensor:
        """Encode the centres of a grid's cells.

        Args:
            height: rows of the grid.
            width: columns of the grid.
            step: side of a cell; 1 is the page's long side.

        Returns:
            [height * width, D], row by row.
        """
        y = (torch.arange(height, device=self.frequencies.device) + 0.5) * step
        x = (torch.arange(width, device=self.frequencies.device) + 0.5) * step
        encoded: Tensor = self(torch.stack(torch.meshgrid(y, x, indexing="ij")[::-1], -1).reshape(-1, 2))
        return encoded
