"""Agreement of two answers to one question: IoU of their pixels, F1 of their words, and of their values. Pure.

Answers are compared page by page, inside the box that encloses both marks, so memory is bounded by the largest mark. F1
as in SQuAD (Rajpurkar et al. 2016, section 6.1), with the words' stable numbers in place of their text. Values are
compared beside the marks (engine.fields.compare_values): a value may stand at several places, and a place may be read
in several ways.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.annotation.proposal import read_state
from engine.annotation.state import AnnotationState, PageGeometry, PageMark, Patch, raster
from engine.annotation.typed_values import TypedValues
from engine.fields.compare_values import PLACED, TEXTS, ValueAgreement, compare_values
from engine.fields.types import FieldType
from model.boxes import Box

AGREED = 0.75  # smallest IoU at which two answers count as equal; leaves room for a currency sign or a comma


@dataclass(frozen=True, slots=True)
class Agreement:
    """IoU of the pixels, 0..1, and F1 of the words, 0..1; F1 is None when neither answer names a word.

    `values`: agreement of the values; None when they were not compared, or where no text says them.
    """

    iou: float
    word_f1: float | None
    values: ValueAgreement | None = None

    @property
    def same_value(self) -> bool | None:
        """Return whether the values are equal as the type of the field; None where there is nothing to tell."""
        return None if self.values is None else self.values.all_equal

    @property
    def says_same(self) -> bool:
        """Return whether the values are equal, wherever they are marked; ticks and plain texts are told by place."""
        return self.values is not None and bool(self.same_value) and self.values.kind not in PLACED

    @property
    def right(self) -> bool:
        """Return whether one answer is right where the other is known.

        The value decides in a typed field, and the mark where there is none (IoU of AGREED). A text is right by either;
        a tick needs both.
        """
        marked = self.iou >= AGREED
        if self.values is None or self.same_value is None:
            return marked
        if self.values.kind in TEXTS:
            return self.same_value or marked
        return self.same_value and (marked or self.values.kind is not FieldType.BOOLEAN)


@dataclass(frozen=True, slots=True)
class Mean:
    """Mean agreement over questions; None when nothing was compared.

    Attributes:
        questions: Number of comparisons.
        iou: Of the pixels.
        word_f1: Of the words.
        typed: Number of comparisons of values of a typed field.
        value_equal: Share of equal values as the type of the field, over those.
        value_exact: Share of equal texts but for case and white space, over all answers with text.
        value_anls: Similarity of the texts, over the same.
        equal_elsewhere: Number of comparisons with equal values at different places (IoU below AGREED).
        other_value_here: Number of comparisons with different values at the same place.
    """

    questions: int
    iou: float | None
    word_f1: float | None
    typed: int = 0
    value_equal: float | None = None
    value_exact: float | None = None
    value_anls: float | None = None
    equal_elsewhere: int = 0
    other_value_here: int = 0


def compare(
    one: AnnotationState, other: AnnotationState, typed: tuple[TypedValues, TypedValues] | None = None
) -> Agreement:
    """Return the agreement of two answers; two answers of "not in the document" agree fully.

    `typed`: values of both; without them, values are not compared.
    """
    ours, theirs = _marks(one), _marks(other)
    common = either = 0
    for page in ours.keys() | theirs.keys():
        first, second = ours.get(page, PageMark()), theirs.get(page, PageMark())
        both, any_ = _pixels(first.mask, second.mask)
        common, either = common + both, either + any_
    our_words = {(page, number) for page, mark in ours.items() for number in mark.words}
    their_words = {(page, number) for page, mark in theirs.items() for number in mark.words}
    return Agreement(
        iou=common / either if either else 1.0,
        word_f1=_f1(len(our_words & their_words), len(our_words), len(their_words), either == 0),
        values=None if typed is None else compare_values(typed[0].type, typed[0].values, typed[1].values),
    )


def mean(agreements: Iterable[Agreement]) -> Mean:
    """Return the mean of agreements, with equal weight for each question."""
    given = list(agreements)
    values = [agreement.values for agreement in given if agreement.values is not None]
    equal = [value.equal for value in values if value.equal is not None]
    return Mean(
        questions=len(given),
        iou=_average([agreement.iou for agreement in given]),
        word_f1=_average([agreement.word_f1 for agreement in given if agreement.word_f1 is not None]),
        typed=len(equal),
        value_equal=_average(equal),
        value_exact=_average([value.exact for value in values]),
        value_anls=_average([value.anls for value in values]),
        equal_elsewhere=sum(agreement.same_value is True and agreement.iou < AGREED for agreement in given),
        other_value_here=sum(agreement.same_value is False and agreement.iou >= AGREED for agreement in given),
    )


def _average(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


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


def _f1(common: int, ours: int, theirs: int, nothing_marked: bool) -> float | None:
    if ours + theirs:
        return 2 * common / (ours + theirs)
    return 1.0 if nothing_marked else None


def agrees(state: AnnotationState, answer: dict[str, object], page_id: str) -> bool:
    """Return whether a person's answer and a stored model answer agree: IoU of at least AGREED."""
    return compare(state, read_state(answer, page_id)).iou >= AGREED
