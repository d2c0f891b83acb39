"""Measure frozen features: linear probes of classes, linear maps between two views, retrieval.

All of it is fitted on some pages and judged on others. The functions are pure, on float32 tensors.
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
    """Shift and scale of features, taken from some rows."""

    mean: Tensor  # [D]
    std: Tensor  # [D]

    @classmethod
    def of(cls, rows: Tensor) -> "Standardizer":
        """Take mean and standard deviation from rows [R, D]."""
        return cls(rows.mean(0), rows.std(0).clamp_min(1e-6))

    def __call__(self, rows: Tensor) -> Tensor:
        """Standardise rows [R, D]."""
        return (rows - self.mean) / self.std


def pool_boxes(feature_map: Tensor, boxes: Tensor) -> Tensor:
    """Average a map over boxes; cells are weighted by the share of them inside.

    Args:
        feature_map: [D, h, w].
        boxes: x0, y0, x1, y1 in cells, [R, 4]. Each must have an area on the map; one narrower than a cell reads the
            cell that contains it.

    Returns:
        [R, D].
    """
    height, width = feature_map.shape[-2:]
    across, down = _overlap(boxes[:, 0], boxes[:, 2], width), _overlap(boxes[:, 1], boxes[:, 3], height)
    return torch.einsum("rh,rw,dhw->rd", down, across, feature_map)


def _overlap(start: Tensor, end: Tensor, cells: int) -> Tensor:
    """Return the share of each interval that lies in each cell, [R, cells]; rows sum to 1."""
    left = torch.arange(cells, dtype=start.dtype, device=start.device)
    inside = (torch.minimum(end[:, None], left + 1) - torch.maximum(start[:, None], left)).clamp_min(0)
    return inside / inside.sum(1, keepdim=True).clamp_min(1e-9)


@dataclass(frozen=True, slots=True)
class Probe:
    """Result of a probe; recalls of classes without test rows are NaN and do not count."""

    balanced: float  # mean over the classes of the share that is recognised; chance is 1 / classes
    recalls: tuple[float, ...]  # by class


def linear_probe(rows: Tensor, classes: Tensor, test_rows: Tensor, test_classes: Tensor, count: int) -> Probe:
    """Fit a linear classifier on frozen features and judge it on others.

    It is multinomial logistic regression by L-BFGS from zero; all classes weigh the same.

    Args:
        rows: features to fit, [R, D].
        classes: their classes, [R].
        test_rows: features to judge.
        test_classes: their classes.
        count: number of classes.

    Returns:
        Balanced accuracy and recalls.
    """
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
    predicted = (test_rows @ weights + bias).argmax(1)
    recalls = torch.stack([(predicted[test_classes == label] == label).float().mean() for label in range(count)])
    return Probe(float(recalls.nanmean()), tuple(recalls.tolist()))


@dataclass(frozen=True, slots=True)
class LinearMap:
    """Linear map from one view's features to another's, both standardised."""

    source: Standardizer
    target: Standardizer
    matrix: Tensor  # [D, E]

    def __call__(self, rows: Tensor) -> Tensor:
        """Predict the other view's standardised features: [R, D] -> [R, E]."""
        return self.source(rows) @ self.matrix


def fit_map(rows: Tensor, targets: Tensor) -> LinearMap:
    """Fit a linear map by ridge regression, from rows [R, D] to targets [R, E]."""
    source, target = Standardizer.of(rows), Standardizer.of(targets)
    x, y = source(rows).double(), target(targets).double()
    gram = x.T @ x + _RIDGE * len(x) * torch.eye(x.shape[1], dtype=x.dtype)
    return LinearMap(source, target, torch.linalg.solve(gram, x.T @ y).float())


def retrieval_accuracy(queries: Tensor, rows: Tensor, candidates: Sequence[Sequence[int]]) -> float:
    """Return the share of queries that are closer to their own row than to each other candidate (cosine).

    Args:
        queries: [R, E].
        rows: [R, E]; row i belongs to query i.
        candidates: for each query, indices of other rows.

    Returns:
        Top-1 accuracy, 0..1; a tie counts as a miss. NaN if no query has candidates.
    """
    alike = F.normalize(queries, dim=1) @ F.normalize(rows, dim=1).T
    hits = [bool((alike[own, list(others)] < alike[own, own]).all()) for own, others in enumerate(candidates) if others]
    return sum(hits) / len(hits) if hits else float("nan")
