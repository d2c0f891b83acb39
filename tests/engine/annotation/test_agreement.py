"""Agreement of two answers, against counting pixel by pixel."""

import numpy as np
import pytest

from engine.annotation.agreement import Agreement, compare, mean
from engine.annotation.state import AnnotationState, PageMark, to_patch

SIZE = (60, 80)


def state(**pages: tuple[list[int], np.ndarray]) -> AnnotationState:
    return AnnotationState(
        pages={page: PageMark(words=words, mask=to_patch(mask)) for page, (words, mask) in pages.items()}
    )


def box(x0: int, y0: int, x1: int, y1: int) -> np.ndarray:
    mask = np.zeros(SIZE, dtype=bool)
    mask[y0:y1, x0:x1] = True
    return mask


def test_the_same_answer_agrees_wholly() -> None:
    one = state(a=([1, 2], box(5, 5, 20, 9)))
    assert compare(one, one) == Agreement(1.0, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_iou_is_what_counting_pixels_over_all_pages_gives(seed: int) -> None:
    draw = np.random.default_rng(seed)
    one = {page: draw.random(SIZE) < 0.3 for page in "ab"}
    other = {page: draw.random(SIZE) < 0.5 for page in "bc"}
    nothing = np.zeros(SIZE, dtype=bool)
    pairs = [(one.get(page, nothing), other.get(page, nothing)) for page in "abc"]
    expected = sum((x & y).sum() for x, y in pairs) / sum((x | y).sum() for x, y in pairs)
    found = compare(
        state(**{page: ([], mask) for page, mask in one.items()}),
        state(**{page: ([], mask) for page, mask in other.items()}),
    )
    assert found.iou == pytest.approx(expected)
    assert found.word_f1 is None


def test_word_f1_counts_the_same_number_on_another_page_as_another_word() -> None:
    one = state(a=([1, 2, 3], box(0, 0, 9, 9)))
    other = state(a=([2, 3], box(0, 0, 9, 9)), b=([1], box(0, 0, 9, 9)))
    assert compare(one, other).word_f1 == pytest.approx(2 * 2 / (3 + 3))


def test_two_who_say_there_is_no_answer_agree_whatever_marks_are_left() -> None:
    left_over = state(a=([1], box(0, 0, 9, 9))).model_copy(update={"no_answer": True})
    assert compare(left_over, AnnotationState(no_answer=True)) == Agreement(1.0, 1.0)
    assert compare(left_over, state(a=([1], box(0, 0, 9, 9)))) == Agreement(0.0, 0.0)


def test_marks_far_apart_share_nothing() -> None:
    assert compare(state(a=([1], box(0, 0, 2, 2))), state(a=([2], box(70, 50, 80, 60)))) == Agreement(0.0, 0.0)


def test_regions_without_words_leave_the_mean_of_f1_alone() -> None:
    found = mean([Agreement(1.0, None), Agreement(0.5, 0.5)])
    assert (found.questions, found.iou, found.word_f1) == (2, 0.75, 0.5)
    assert (mean([]).iou, mean([]).word_f1) == (None, None)
