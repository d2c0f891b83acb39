"""Bias attention by the spatial relation of two words.

N words have N x N pairs, and the biases of all pairs of 5,000 words would take gigabytes. On a page of more than
LONG_PAGE words they are computed a few rows at a time and kept in half precision.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.blocks import MASKED, RowsOf, row_parts, soft_log
from model.inputs import PageBatch

RELATIONS = 11  # features of a pair of words
_HIDDEN = 16


@dataclass(frozen=True, slots=True)
class HalfBias:
    """Bias of one layer [G, heads, N, N] in half precision; `bias[:, :, rows]` returns full precision."""

    values: Tensor

    def __getitem__(self, index: tuple[slice, slice, slice]) -> Tensor:
        return self.values[index].float()


Bias = Tensor | HalfBias
Biases = Sequence[RowsOf]


class LayoutBias(nn.Module):
    """Attention biases of all layers, from the spatial relation of two words.

    The first `shared_by` layers, if any, share one bias of `shared_heads` heads. `layers` more have one bias each.
    """

    def __init__(self, layers: int, heads: int, shared_by: int = 0, shared_heads: int = 0) -> None:
        super().__init__()
        self.shared_by = shared_by
        self.heads = [shared_heads] * bool(shared_by) + [heads] * layers
        self.mlp = nn.Sequential(nn.Linear(RELATIONS, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, sum(self.heads)))

    def forward(self, pages: PageBatch) -> list[Bias]:
        """Compute the bias [G, heads, N, N] of each layer; keys that are padding are masked."""
        parts = row_parts(pages.valid.shape[1])
        if len(parts) == 1:
            biases: list[Bias] = list(self._rows(pages, parts[0]).split(self.heads, 1))
        else:
            biases = [HalfBias(own) for own in self._compute_half_biases(pages, parts)]
        return biases[:1] * (self.shared_by - 1) + biases if self.shared_by else biases

    def _compute_half_biases(self, pages: PageBatch, parts: Sequence[slice]) -> list[Tensor]:
        if torch.is_grad_enabled():
            return list(torch.cat([self._rows(pages, rows).half() for rows in parts], 2).split(self.heads, 1))
        count, most = pages.valid.shape
        # One tensor for each layer, so that it can be freed after its layer; filled in place, without a second copy.
        biases = [
            torch.empty(count, own, most, most, dtype=torch.half, device=pages.valid.device) for own in self.heads
        ]
        for rows in parts:
            for layer, bias in zip(biases, self._rows(pages, rows).split(self.heads, 1), strict=True):
                layer[:, :, rows] = bias
        return biases

    def _rows(self, pages: PageBatch, rows: slice) -> Tensor:
        """Compute the biases of all heads for some rows, [G, all heads, rows, N]."""
        bias: Tensor = self.mlp(relations(pages, rows)).permute(0, 3, 1, 2)
        return bias + (~pages.valid).float()[:, None, None] * MASKED


def relations(pages: PageBatch, rows: slice = slice(None)) -> Tensor:
    """Compute the spatial relation of each pair of words.

    Args:
        pages: G pages of N words.
        rows: words i to compute; all by default.

    Returns:
        [G, rows, N, RELATIONS]: the position of word j seen from word i.
    """
    boxes = pages.boxes
    seen_from, place = boxes[:, rows], pages.place[:, rows]
    centre, from_centre = (boxes[..., 1] + boxes[..., 3]) / 2, (seen_from[..., 1] + seen_from[..., 3]) / 2
    segment, line, rank = pages.place.unbind(-1)
    own_segment, own_line, own_rank = place.unbind(-1)
    from_end = boxes[:, None, :, 0] - seen_from[:, :, None, 2]
    from_start = boxes[:, None, :, 0] - seen_from[:, :, None, 0]
    down = centre[:, None] - from_centre[:, :, None]
    step = rank[:, None] - own_rank[:, :, None]
    same_line = (line[:, None] == own_line[:, :, None]).float()
    return torch.stack(
        [
            soft_log(from_end),
            soft_log(from_start),
            soft_log(down),
            (segment[:, None] == own_segment[:, :, None]).float(),
            same_line,
            same_line * (step == 1),
            same_line * (step == -1),
            torch.exp(-((from_start / 0.8) ** 2)),  # same left edge
            torch.exp(-(down**2)),  # same height
            torch.exp(-(((down - 1.6) / 0.6) ** 2)),  # one line below
            torch.exp(-(((down + 1.6) / 0.6) ** 2)),  # one line above
        ],
        -1,
    )
