"""Slices of an evaluation by difficulty: printed key, number of places, length of the answer. Pure."""

from collections.abc import Sequence

from engine.training.evaluation.metrics import Scored

Slices = dict[str, dict[str, list[Scored]]]

_GAP = 1.2  # line heights between words of one place; also the gap between segments (lexical_baseline.GAP)
_HALVES = {"true": True, "false": False}
_LENGTHS = {"1": (1, 1), "2": (2, 2), "3-4": (3, 4), "5-8": (5, 8), "9+": (9, 10**9)}


def slices(scored: Sequence[Scored]) -> Slices:
    """Return the answerable questions by slice and value.

    Slices: "printed_key" (true, false), "regions" (one, several), "answer_words" (1, 2, 3-4, 5-8, 9+), and
    "region_type" if any.
    """
    there = [one for one in scored if one.answerable]
    types = sorted({one.region_type for one in there if one.region_type is not None})
    found: Slices = {
        "printed_key": {name: [one for one in there if one.printed_key is value] for name, value in _HALVES.items()},
        "regions": {
            "one": [one for one in there if one.places == 1],
            "several": [one for one in there if one.places is not None and one.places > 1],
        },
        "answer_words": {
            name: [one for one in there if one.answer_words is not None and low <= one.answer_words <= high]
            for name, (low, high) in _LENGTHS.items()
        },
    }
    if types:
        found["region_type"] = {name: [one for one in there if one.region_type == name] for name in types}
    return found


def places(boxes: Sequence[tuple[int, int, int, int]]) -> int:
    """Return the number of places of some words.

    A place is a connected group of boxes (x0, y0, x1, y1) nearer than 1.2 line heights to each other, horizontally and
    vertically. Consecutive lines of an answer are one place.
    """
    left = list(range(len(boxes)))
    count = 0
    while left:
        count += 1
        reached = [left.pop()]
        while reached:
            at = reached.pop()
            near = [other for other in left if _near(boxes[at], boxes[other])]
            left = [other for other in left if other not in near]
            reached += near
    return count


def _near(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    reach = _GAP * max(one[3] - one[1], other[3] - other[1])
    across = max(one[0], other[0]) - min(one[2], other[2])
    down = max(one[1], other[1]) - min(one[3], other[3])
    return across <= reach and down <= reach
