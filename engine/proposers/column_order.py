"""Words of a page in the order of its columns: what stands below goes on, rather than what stands beside. Pure."""

from collections.abc import Sequence

from model.examples import Word
from model.layout import read_layout

_NEXT = 2.2  # line heights between the tops of two lines of a text
_OVER = 0.5  # share of the narrower of two segments that stand over each other


def column_order(words: Sequence[Word]) -> list[int]:
    """Return indices of words: each segment of a line is followed by the one that stands below it.

    Source of the segments: `model.layout`. A segment goes on in the nearest free one below that stands under it.
    """
    layout = read_layout(words)
    members: list[list[int]] = [[] for _ in range(len(layout.segment_boxes))]
    for at in layout.order:
        members[int(layout.segment[at])].append(int(at))
    boxes = [tuple(map(float, box)) for box in layout.segment_boxes]
    free = sorted(range(len(boxes)), key=lambda number: (boxes[number][1], boxes[number][0]))
    order: list[int] = []
    while free:
        number: int | None = free[0]
        while number is not None:
            free.remove(number)
            order += members[number]
            number = _below(boxes[number], free, boxes)
    return order


def _below(box: tuple[float, ...], free: Sequence[int], boxes: Sequence[tuple[float, ...]]) -> int | None:
    x0, y0, x1, _ = box
    for number in free:
        left, top, right, _ = boxes[number]
        if top - y0 > _NEXT:
            break
        common = min(x1, right) - max(x0, left)
        if top - y0 > 0.5 and common > _OVER * min(x1 - x0, right - left):
            return number
    return None
