"""Pictures on a page with text: pieces put together, so that the words in them can be found."""

from collections.abc import Sequence

from model.boxes import FloatBox

_LEAST = 12  # pixels: a lower or narrower picture holds no word
_TOUCHING = 2  # pixels between two pieces of one picture; some programs store pictures in strips
_MOST = 200  # pieces that are looked at, the largest


def whole_pictures(boxes: Sequence[FloatBox]) -> tuple[FloatBox, ...]:
    """Return the boxes of pictures, those that touch or overlap as one, without the smallest."""
    whole: list[FloatBox] = []
    for box in sorted(boxes, key=_area, reverse=True)[:_MOST]:
        if _area(box) <= 0:
            continue
        touching = [other for other in whole if _touch(box, other)]
        whole = [other for other in whole if other not in touching]
        touching.append(box)
        whole.append(
            (
                min(piece[0] for piece in touching),
                min(piece[1] for piece in touching),
                max(piece[2] for piece in touching),
                max(piece[3] for piece in touching),
            )
        )
    return tuple(box for box in whole if min(box[2] - box[0], box[3] - box[1]) >= _LEAST)


def _area(box: FloatBox) -> float:
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _touch(a: FloatBox, b: FloatBox) -> bool:
    return min(a[2], b[2]) - max(a[0], b[0]) >= -_TOUCHING and min(a[3], b[3]) - max(a[1], b[1]) >= -_TOUCHING
