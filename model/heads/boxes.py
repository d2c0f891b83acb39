"""Regions as boxes: a cell of the map that lies in the region, and from there the distances to its four edges.

What a page shows beside words (a box to tick, a signature, a stamp) is small and has straight sides: a mask of a few
cells draws it badly, and a mask hedges between two regions of which one is meant. Distances from a place are FCOS's
(https://arxiv.org/abs/1904.01355, section 3.1); here a place is found for a question, not a class.
"""

import torch
from torch import Tensor

_LONGEST = 7.0  # of the logarithm of a distance in cells
_CLOSE, _APART = 0.25, 0.3  # cells; weight of the logarithms
EPSILON = 1e-6
_NOTHING = 1e-12  # share of a cell outside: small enough that a place that is surely wrong still learns


def edges_from(distances: Tensor) -> Tensor:
    """distances [B, 4, h, w], logarithms of cells to the left, upper, right, lower edge -> [B, 4, h, w]: x0, y0, x1, y1 of
    the box as each cell sees it, in cells."""
    height, width = distances.shape[-2:]
    left, up, right, down = distances.clamp(-4, _LONGEST).exp().unbind(1)
    y = (torch.arange(height, device=distances.device) + 0.5)[:, None]
    x = (torch.arange(width, device=distances.device) + 0.5)[None]
    return torch.stack([x - left, y - up, x + right, y + down], 1)


def box_at_peak(place: Tensor, edges: Tensor) -> Tensor:
    """place [B, h, w] logits, edges [B, 4, h, w] -> [B, 4]: the box that the likeliest cell sees, its edges averaged over
    the cells inside it by their likelihood."""
    height, width = place.shape[-2:]
    chances, seen = place.flatten(1).softmax(-1), edges.flatten(2)
    peak = chances.argmax(-1)
    x0, y0, x1, y1 = seen.gather(2, peak[:, None, None].expand(-1, 4, 1)).unbind(1)  # [B, 1]
    y = (torch.arange(height, device=place.device) + 0.5).repeat_interleave(width)
    x = (torch.arange(width, device=place.device) + 0.5).repeat(height)
    inside = (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
    weights = chances * inside
    weights = weights / weights.sum(-1, keepdim=True).clamp_min(EPSILON)
    return (seen * weights[:, None]).sum(-1)


def place_loss(place: Tensor, truth: Tensor) -> Tensor:
    """[B]: how little of the likelihood lies in the region; place [B, h, w] logits, truth [B, h, w] shares of cells."""
    chances = place.flatten(1).log_softmax(-1)
    return -torch.logsumexp(chances + truth.flatten(1).clamp_min(_NOTHING).log(), -1)


def edge_loss(edges: Tensor, truth: Tensor, boxes: Tensor) -> Tensor:
    """[B]: how wrong the box is as each cell of the region sees it, mean over these: 1 - generalised IoU
    (https://arxiv.org/abs/1902.09630), and the mean distance of the logarithms, which pulls where boxes hardly meet; edges
    [B, 4, h, w], truth [B, h, w], boxes [B, 4]."""
    weights = truth / truth.sum((-2, -1), keepdim=True).clamp_min(EPSILON)
    apart = (_logs(edges) - _logs(boxes[:, :, None, None].expand_as(edges))).abs().mean(1)
    wrong = 1 - generalised_iou(edges.movedim(1, -1), boxes[:, None, None]) + _APART * apart
    return (wrong * weights).sum((-2, -1))


def _logs(edges: Tensor) -> Tensor:
    """Logarithms of the distances of each cell to its edges; of an edge on the wrong side, as of one close by."""
    height, width = edges.shape[-2:]
    y = (torch.arange(height, device=edges.device) + 0.5)[:, None]
    x = (torch.arange(width, device=edges.device) + 0.5)[None]
    x0, y0, x1, y1 = edges.unbind(1)
    return torch.stack([x - x0, y - y0, x1 - x, y1 - y], 1).clamp_min(_CLOSE).log()


def generalised_iou(one: Tensor, other: Tensor) -> Tensor:
    """[...] of boxes [..., 4]: 1 for the same, towards -1 for far ones."""
    union, both = _union(one, other)
    corners = torch.maximum(one[..., 2:], other[..., 2:]) - torch.minimum(one[..., :2], other[..., :2])
    hull = corners.clamp_min(0).prod(-1).clamp_min(EPSILON)
    return both / union - (hull - union) / hull


def box_iou(one: Tensor, other: Tensor) -> Tensor:
    """[...] of boxes [..., 4]."""
    union, both = _union(one, other)
    return both / union


def _union(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    sides = torch.minimum(one[..., 2:], other[..., 2:]) - torch.maximum(one[..., :2], other[..., :2])
    both = sides.clamp_min(0).prod(-1)
    areas = [(box[..., 2:] - box[..., :2]).clamp_min(0).prod(-1) for box in (one, other)]
    return (areas[0] + areas[1] - both).clamp_min(EPSILON), both
