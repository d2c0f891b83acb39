"""What frozen features know: a linear probe of classes, a linear map between two views, retrieval of one from the
other.

All of it is fitted on some pages and judged on others. Pure, on tensors, float32.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

_DECAY = 1e-2  # of the probe's weights, on standardised features
_RIDGE = 0.1  # of a linear map, times the number of rows


@dataclass(frozen=True, slots=True)
class Standardizer:
    """Shift and scale of features as some rows have them."""

    mean: Tensor  # [D]
    std: Tensor  # [D]

    @classmethod
    def of(cls, rows: Tensor) -> "Standardizer":
        return cls(rows.mean(0), rows.std(0).clamp_min(1e-6))

    def __call__(self, rows: Tensor) -> Tensor:
        return (rows - self.mean) / self.std


def pooled(feature_map: Tensor, boxes: Tensor) -> Tensor:
    """[R, D]: the mean of a map [D, h, w] over boxes [R, 4] (x0, y0, x1, y1; 1 = a cell), cells weighted by how much of
    them is inside. A box that is narrower than a cell reads the cell it lies in; boxes must have an area on the map."""
    height, width = feature_map.shape[-2:]
    across, down = _overlap(boxes[:, 0], boxes[:, 2], width), _overlap(boxes[:, 1], boxes[:, 3], height)
    return torch.einsum("rh,rw,dhw->rd", down, across, feature_map)


def _overlap(start: Tensor, end: Tensor, cells: int) -> Tensor:
    """[R, cells], rows sum to 1: the share of each interval that lies in each cell."""
    left = torch.arange(cells, dtype=start.dtype, device=start.device)
    inside = (torch.minimum(end[:, None], left + 1) - torch.maximum(start[:, None], left)).clamp_min(0)
    return inside / inside.sum(1, keepdim=True).clamp_min(1e-9)


@dataclass(frozen=True, slots=True)
class Probe:
    """How well classes are told apart. Recalls of classes that were not there are NaN and count for nothing."""

    balanced: float  # mean over the classes of the share that is recognised; chance is 1 / classes
    recalls: tuple[float, ...]  # by class


def linear_probe(rows: Tensor, classes: Tensor, test_rows: Tensor, test_classes: Tensor, count: int) -> Probe:
    """A linear classifier (multinomial logistic regression, all ``count`` classes weighing the same, L-BFGS from zero)
    of frozen features [R, D] with classes [R], judged on others."""
    standard = Standardizer.of(rows)
    rows, test_rows = standard(rows), standard(test_rows)
    often = torch.bincount(classes, minlength=count)
    weight = torch.where(often > 0, 1 / often.clamp_min(1), 0.0)
    weights = torch.zeros(rows.shape[1], count, requires_grad=True)
    bias = torch.zeros(count, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights, bias], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(rows @ weights + bias, classes, weight) + _DECAY * weights.square().sum() / 2
        loss.backward()
        return loss

    with torch.enable_grad():
        optimizer.step(closure)
    told = (test_rows @ weights + bias).argmax(1)
    recalls = torch.stack([(told[test_classes == one] == one).float().mean() for one in range(count)])
    return Probe(float(recalls.nanmean()), tuple(recalls.tolist()))


@dataclass(frozen=True, slots=True)
class LinearMap:
    """From one view's features to another's, both standardised."""

    source: Standardizer
    target: Standardizer
    matrix: Tensor  # [D, E]

    def __call__(self, rows: Tensor) -> Tensor:
        """[R, D] -> what the other view's standardised features would be, [R, E]."""
        return self.source(rows) @ self.matrix


def fit_map(rows: Tensor, targets: Tensor) -> LinearMap:
    """Ridge regression from rows [R, D] to targets [R, E]."""
    source, target = Standardizer.of(rows), Standardizer.of(targets)
    x, y = source(rows).double(), target(targets).double()
    gram = x.T @ x + _RIDGE * len(x) * torch.eye(x.shape[1], dtype=x.dtype)
    return LinearMap(source, target, torch.linalg.solve(gram, x.T @ y).float())


def retrieval_accuracy(queries: Tensor, rows: Tensor, candidates: Sequence[Sequence[int]]) -> float:
    """Top-1: the share of queries [R, E] whose own row of ``rows`` [R, E] is more alike (cosine) than each of the other
    ``candidates``, numbers of rows, of that query. A tie counts as a miss. NaN without any query that has
    candidates."""
    alike = F.normalize(queries, dim=1) @ F.normalize(rows, dim=1).T
    hits = [bool((alike[own, list(others)] < alike[own, own]).all()) for own, others in enumerate(candidates) if others]
    return sum(hits) / len(hits) if hits else float("nan")
