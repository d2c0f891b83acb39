"""Describe clicks, boxes and earlier masks as features of each word."""

import numpy as np

from model.examples import Prompt
from model.layout import Floats, Layout

CLICKS = 14  # features of a word in click_features()
# Of these: under a positive point, under a negative one, share in the box, whether there is a box.
CLICKED, BARRED, INSIDE, IS_BOX = 0, 5, 10, 11
_REACH = 3.0  # line heights at which a click's effect is 1/e


def click_features(layout: Layout, prompt: Prompt) -> Floats:
    """Compute the prompt features of each word.

    Args:
        layout: layout of the page, N words.
        prompt: points, box and mask in pixels of the page.

    Returns:
        [N, CLICKS]. Five for positive and five for negative points: under a point, nearness, same line, same segment,
        any point at all. Then the share inside the box, whether there is a box, the share under the mask, whether there
        is a mask.
    """
    features = np.zeros((len(layout.texts), CLICKS), np.float32)
    if not len(features):
        return features
    boxes = layout.boxes
    for offset, positive in ((CLICKED, True), (BARRED, False)):
        points = np.array([point[:2] for point in prompt.points if bool(point[2]) == positive], np.float32)
        if not len(points):
            continue
        x, y = (points / layout.height).T
        dx = np.maximum(np.maximum(boxes[:, None, 0] - x, x - boxes[:, None, 2]), 0)
        dy = np.maximum(np.maximum(boxes[:, None, 1] - y, y - boxes[:, None, 3]), 0)
        distance = np.hypot(dx, dy)  # [N, points]
        hit = np.unique(
            distance.argmin(0)[distance.min(0) < 1.0]
        )  # a click between two words counts for the nearer one
        features[words_clicked(layout, prompt, positive), offset] = 1
        features[:, offset + 1] = np.exp(-distance.min(1) / _REACH)
        features[:, offset + 2] = np.isin(layout.line, layout.line[hit])
        features[:, offset + 3] = np.isin(layout.segment, layout.segment[hit])
        features[:, offset + 4] = 1
    if prompt.box is not None:
        features[:, INSIDE] = share_inside(boxes, np.array(prompt.box, np.float32) / layout.height)
        features[:, IS_BOX] = 1
    if prompt.mask is not None:
        features[:, 12] = _share_under(np.rint(boxes * layout.height).astype(int), prompt.mask)
        features[:, 13] = 1
    return features


def words_clicked(layout: Layout, prompt: Prompt, positive: bool) -> list[int]:
    """Return the words under the points of one kind; where words overlap, the smallest."""
    boxes, indices = layout.boxes, []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    for x, y, kind in prompt.points:
        x, y = x / layout.height, y / layout.height
        if kind == positive:
            under = (boxes[:, 0] <= x) & (x < boxes[:, 2]) & (boxes[:, 1] <= y) & (y < boxes[:, 3])
            if under.any():
                indices.append(int(np.where(under, area, np.inf).argmin()))
    return indices


def share_inside(boxes: Floats, box: Floats) -> Floats:
    """Return the share [N] of each box's area (boxes [N, 4]) that lies inside `box` [4]."""
    width = np.minimum(boxes[:, 2], box[2]) - np.maximum(boxes[:, 0], box[0])
    height = np.minimum(boxes[:, 3], box[3]) - np.maximum(boxes[:, 1], box[1])
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    share: Floats = (np.maximum(width, 0) * np.maximum(height, 0) / np.maximum(area, 1e-6)).astype(np.float32)
    return share


def _share_under(boxes: np.ndarray, mask: np.ndarray) -> list[float]:
    shares = []
    for x0, y0, x1, y1 in boxes.tolist():
        part = mask[max(0, y0) : max(0, y1), max(0, x0) : max(0, x1)]
        shares.append(np.count_nonzero(part) / part.size if part.size else 0.0)
    return shares
