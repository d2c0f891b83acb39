"""Slices of an evaluation by difficulty: printed key, number of places, length of the answer. Pure."""

from collections.abc import Sequence

from engine.training.evaluation.metrics import Scored
from model.boxes import Box

Slices = dict[str, dict[str, list[Scored]]]

_GAP = 1.2  # line heights between words of one place; also the gap between segments (lexical_baseline.GAP)
_HALVES = {"true": True, "false": False}
_LENGTHS = {"1": (1, 1), "2": (2, 2), "3-4": (3, 4), "5-8": (5, 8), "9+": (9, 10**9)}


def slices(scored: Sequence[Scored]) -> Slices:
    """Return the answerable questions by slice and value.

    Slices: "printed_key" (true, false), "regions" (one, several), "answer_words" (1, 2, 3-4, 5-8, 9+), and
    "region_type" if any.
    """
    answerable = [score for score in scored if score.answerable]
    types = sorted({score.region_type for score in answerable if score.region_type is not None})
    slices_by_name: Slices = {
        "printed_key": {
            name: [score for score in answerable if score.printed_key is value] for name, value in _HALVES.items()
        },
        "regions": {
            "one": [score for score in answerable if score.places == 1],
            "several": [score for score in answerable if score.places is not None and score.places > 1],
        },
        "answer_words": {
            name: [
                score for score in answerable if score.answer_words is not None and low <= score.answer_words <= high
            ]
            for name, (low, high) in _LENGTHS.items()
        },
    }
    if types:
        slices_by_name["region_type"] = {
            name: [score for score in answerable if score.region_type == name] for name in types
        }
    return slices_by_name


def places(boxes: Sequence[Box]) -> int:
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
            near = [box for box in left if _near(boxes[at], boxes[box])]
            left = [box for box in left if box not in near]
            reached += near
    return count


def _near(first: Box, second: Box) -> bool:
    reach = _GAP * max(first[3] - first[1], second[3] - second[1])
    across = max(first[0], second[0]) - min(first[2], second[2])
    down = max(first[1], second[1]) - min(first[3], second[3])
    return across <= reach and down <= reach
