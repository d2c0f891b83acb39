"""How well two answers to the same question agree: IoU of their pixels and F1 of their words. Pure: no database.

Answers are compared page by page, inside the box that both marks need, so that a document of many pages takes no more memory
than its largest answer. F1 as in SQuAD (Rajpurkar et al. 2016, section 6.1), over the words' stable numbers instead of their text.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.annotation.proposal import marked
from engine.annotation.state import AnnotationState, Box, PageGeometry, PageMark, Patch, raster

AGREED = 0.75  # IoU from which on two answers count as the same: a currency sign or a comma may be in or out


@dataclass(frozen=True, slots=True)
class Agreement:
    """IoU, 0..1, and F1 of the words, 0..1; None where neither answer names a word (a region of a picture)."""

    iou: float
    word_f1: float | None


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean over questions; None where there was nothing to compare."""

    questions: int
    iou: float | None
    word_f1: float | None


def compare(one: AnnotationState, other: AnnotationState) -> Agreement:
    """Return how well two answers agree. Two that say "the document does not answer" agree wholly."""
    ours, theirs = _marks(one), _marks(other)
    common = either = 0
    for page in ours.keys() | theirs.keys():
        first, second = ours.get(page, PageMark()), theirs.get(page, PageMark())
        both, any_ = _pixels(first.mask, second.mask)
        common, either = common + both, either + any_
    said = {(page, number) for page, mark in ours.items() for number in mark.words}
    heard = {(page, number) for page, mark in theirs.items() for number in mark.words}
    iou = common / either if either else 1.0
    return Agreement(iou, _f1(len(said & heard), len(said), len(heard), either == 0))


def mean(agreements: Iterable[Agreement]) -> Mean:
    """Return the mean of agreements, each question with the same weight."""
    given = list(agreements)
    f1 = [each.word_f1 for each in given if each.word_f1 is not None]
    return Mean(
        questions=len(given),
        iou=sum(each.iou for each in given) / len(given) if given else None,
        word_f1=sum(f1) / len(f1) if f1 else None,
    )


def _marks(state: AnnotationState) -> dict[str, PageMark]:
    """Return the pages that count: with "no answer", marks that are left over do not."""
    return {} if state.no_answer else state.pages


def _pixels(one: Patch, other: Patch) -> tuple[int, int]:
    """Return how many pixels lie in both masks and in either."""
    boxes = [patch.box for patch in (one, other) if patch.counts]
    if not boxes:
        return 0, 0
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    size = max(box[3] for box in boxes) - top, max(box[2] for box in boxes) - left
    first, second = (raster(_moved(patch, left, top), PageGeometry(size, {})) for patch in (one, other))
    return int(np.count_nonzero(first & second)), int(np.count_nonzero(first | second))


def _moved(patch: Patch, left: int, top: int) -> Patch:
    """Return a patch with its box counted from another corner of the page; the empty one as it is."""
    if not patch.counts:
        return patch
    x0, y0, x1, y1 = patch.box
    moved: Box = (x0 - left, y0 - top, x1 - left, y1 - top)
    return patch.model_copy(update={"box": moved})


def _f1(common: int, said: int, heard: int, nothing_marked: bool) -> float | None:
    if said + heard:
        return 2 * common / (said + heard)
    return 1.0 if nothing_marked else None


def agrees(state: AnnotationState, answer: dict[str, object], page_id: str) -> bool:
    """Return whether a person's answer and a model's stored one mark the same."""
    return compare(state, marked(answer, page_id)).iou >= AGREED
