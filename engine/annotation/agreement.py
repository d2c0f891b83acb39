"""Agreement of two answers to one question: IoU of their pixels and F1 of their words. Pure.

Answers are compared page by page, inside the box that encloses both marks, so memory is bounded by the largest mark. F1
as in SQuAD (Rajpurkar et al. 2016, section 6.1), with the words' stable numbers in place of their text.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from engine.annotation.proposal import read_state
from engine.annotation.state import AnnotationState, PageGeometry, PageMark, Patch, raster
from model.boxes import Box

AGREED = 0.75  # smallest IoU at which two answers count as equal; leaves room for a currency sign or a comma


@dataclass(frozen=True, slots=True)
class Agreement:
    """IoU of the pixels, 0..1, and F1 of the words, 0..1; F1 is None when neither answer names a word."""

    iou: float
    word_f1: float | None


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean agreement over questions; None when nothing was compared."""

    questions: int
    iou: float | None
    word_f1: float | None


def compare(one: AnnotationState, other: AnnotationState) -> Agreement:
    """Return the agreement of two answers; two answers of "not in the document" agree fully."""
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
    """Return the mean of agreements, with equal weight for each question."""
    given = list(agreements)
    f1 = [each.word_f1 for each in given if each.word_f1 is not None]
    return Mean(
        questions=len(given),
        iou=sum(each.iou for each in given) / len(given) if given else None,
        word_f1=sum(f1) / len(f1) if f1 else None,
    )


def _marks(state: AnnotationState) -> dict[str, PageMark]:
    """Return the marks that count, by page; an answer of "not in the document" has none."""
    return {} if state.no_answer else state.pages


def _pixels(one: Patch, other: Patch) -> tuple[int, int]:
    """Return the number of pixels in both masks, and in at least one of them."""
    boxes = [patch.box for patch in (one, other) if patch.counts]
    if not boxes:
        return 0, 0
    left, top = min(box[0] for box in boxes), min(box[1] for box in boxes)
    size = max(box[3] for box in boxes) - top, max(box[2] for box in boxes) - left
    first, second = (raster(_move_patch(patch, left, top), PageGeometry(size, {})) for patch in (one, other))
    return int(np.count_nonzero(first & second)), int(np.count_nonzero(first | second))


def _move_patch(patch: Patch, left: int, top: int) -> Patch:
    """Return a patch with its box relative to (left, top); an empty patch is unchanged."""
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
    """Return whether a person's answer and a stored model answer agree: IoU of at least AGREED."""
    return compare(state, read_state(answer, page_id)).iou >= AGREED
