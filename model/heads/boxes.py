"""Predict regions as boxes: a map cell inside the region, and the distances from it to the four edges.

Page elements other than words (a box to tick, a signature, a stamp) are small and have straight sides. A mask of a few
cells draws them badly, and it hedges between two candidate regions. Distances from a position are FCOS's
(https://arxiv.org/abs/1904.01355, section 3.1); here a position is found for a question instead of a class.
"""

import torch
from torch import Tensor

_LONGEST = 7.0  # largest logarithm of a distance in cells
_CLOSE, _APART = 0.25, 0.3  # smallest distance in cells; weight of the logarithms
EPSILON = 1e-6
_NOTHING = 1e-12  # share of a cell outside; above 0, so that a confidently wrong cell still has a gradient


def edges_from(distances: Tensor) -> Tensor:
    """Convert predicted distances into edges.

    Args:
        distances: [B, 4, h, w], logarithms of cells to the left, upper, right and lower edge.

    Returns:
        [B, 4, h, w]: x0, y0, x1, y1 of the box as each cell predicts it, in cells.
    """
    height, width = distances.shape[-2:]
    left, up, right, down = distances.clamp(-4, _LONGEST).exp().unbind(1)
    y = (torch.arange(height, device=distances.device) + 0.5)[:, None]
    x = (torch.arange(width, device=distances.device) + 0.5)[None]
    return torch.stack([x - left, y - up, x + right, y + down], 1)


def box_at_peak(place: Tensor, edges: Tensor) -> Tensor:
    """Return the box that the most likely cell predicts, averaged over the cells inside it.

    Args:
        place: logits of the cells, [B, h, w].
        edges: edges as each cell predicts them, [B, 4, h, w].

    Returns:
        [B, 4]: x0, y0, x1, y1 in cells, weighted by the cells' probability.
    """
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
    """Return the negative log-probability that the position lies in the region.

    Args:
        place: logits, [B, h, w].
        truth: share of each cell that the region covers, [B, h, w].

    Returns:
        [B].
    """
    chances = place.flatten(1).log_softmax(-1)
    return -torch.logsumexp(chances + truth.flatten(1).clamp_min(_NOTHING).log(), -1)


def edge_loss(edges: Tensor, truth: Tensor, boxes: Tensor) -> Tensor:
    """Return the error of the boxes that the cells of the region predict.

    It is 1 - generalised IoU (https://arxiv.org/abs/1902.09630) plus the mean distance of logarithms, which still has a
    gradient where boxes hardly meet.

    Args:
        edges: [B, 4, h, w], in cells.
        truth: share of each cell that the region covers, [B, h, w].
        boxes: the true boxes, [B, 4], in cells.

    Returns:
        [B], the mean over the cells of the region.
    """
    weights = truth / truth.sum((-2, -1), keepdim=True).clamp_min(EPSILON)
    apart = (_logs(edges) - _logs(boxes[:, :, None, None].expand_as(edges))).abs().mean(1)
    wrong = 1 - generalised_iou(edges.movedim(1, -1), boxes[:, None, None]) + _APART * apart
    return (wrong * weights).sum((-2, -1))


def _logs(edges: Tensor) -> Tensor:
    """Return the logarithms of each cell's distances to the edges, clamped for edges on the wrong side."""
    height, width = edges.shape[-2:]
    y = (torch.arange(height, device=edges.device) + 0.5)[:, None]
    x = (torch.arange(width, device=edges.device) + 0.5)[None]
    x0, y0, x1, y1 = edges.unbind(1)
    return torch.stack([x - x0, y - y0, x1 - x, y1 - y], 1).clamp_min(_CLOSE).log()


def generalised_iou(first: Tensor, second: Tensor) -> Tensor:
    """Return the generalised IoU [...] of boxes [..., 4]: 1 for equal boxes, towards -1 for distant ones."""
    union, both = _union(first, second)
    corners = torch.maximum(first[..., 2:], second[..., 2:]) - torch.minimum(first[..., :2], second[..., :2])
    hull = corners.clamp_min(0).prod(-1).clamp_min(EPSILON)
    return both / union - (hull - union) / hull


def box_iou(first: Tensor, second: Tensor) -> Tensor:
    """Return the IoU [...] of boxes [..., 4]."""
    union, both = _union(first, second)
    return both / union


def _union(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    sides = torch.minimum(first[..., 2:], second[..., 2:]) - torch.maximum(first[..., :2], second[..., :2])
    both = sides.clamp_min(0).prod(-1)
    areas = [(box[..., 2:] - box[..., :2]).clamp_min(0).prod(-1) for box in (first, second)]
    return (areas[0] + areas[1] - both).clamp_min(EPSILON), both
