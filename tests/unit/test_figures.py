"""The figures of an evaluation, and the clicks of an asker who corrects."""

import numpy as np
import pytest

from engine.training.clicks import next_click
from engine.training.figures import Scored, auroc, best_iou, iou, summarise
from model.masks import rasterise

SIZE = (60, 80)


def scored(**changes: object) -> Scored:
    values: dict[str, object] = {
        "page_id": "p",
        "question_id": "q",
        "answerable": True,
        "printed_key": True,
        "iou": 0.0,
        "word_iou": 0.0,
        "pixel_iou": 0.0,
        "floor_iou": 0.0,
        "answered": 0.5,
        "predicted_iou": 0.0,
        "milliseconds": 1.0,
    }
    return Scored(**{**values, **changes})  # type: ignore[arg-type]


def test_iou_is_the_share_of_the_union_that_both_cover() -> None:
    one, other = rasterise([(0, 0, 10, 10)], SIZE), rasterise([(5, 0, 15, 10)], SIZE)
    assert iou(one, other) == pytest.approx(50 / 150)
    assert iou(one, one) == 1.0
    assert iou(np.zeros(SIZE, bool), np.zeros(SIZE, bool)) == 0.0
    assert best_iou(one, [other, one]) == 1.0
    assert best_iou(one, []) == 0.0


def test_auroc_agrees_with_counting_pairs() -> None:
    rng = np.random.default_rng(0)
    positives = rng.integers(0, 8, 40).tolist()  # many ties
    negatives = rng.integers(0, 6, 30).tolist()
    pairs = [(a > b) + (a == b) / 2 for a in positives for b in negatives]
    assert auroc(positives, negatives) == pytest.approx(np.mean(pairs))
    assert auroc([1.0], []) is None


def test_accuracy_counts_answerable_questions_above_one_half() -> None:
    figures = summarise(
        [
            scored(iou=0.9, floor_iou=0.2, answered=0.9, milliseconds=10),
            scored(iou=0.5, floor_iou=0.6, answered=0.8, milliseconds=20),
            scored(answerable=False, answered=0.1, milliseconds=30),
        ]
    )
    assert (figures.questions, figures.unanswerable) == (3, 1)
    assert figures.mean_iou == pytest.approx(0.7)
    assert figures.acc_50 == 0.5
    assert figures.floor_mean_iou == pytest.approx(0.4)
    assert figures.unanswerable_auroc == 1.0
    assert figures.ask_ms_p50 == 20


def test_nothing_measured_is_none_and_not_zero() -> None:
    figures = summarise([scored(answerable=False)])
    assert figures.mean_iou is None
    assert figures.unanswerable_auroc is None


def test_a_click_goes_into_the_middle_of_what_is_missing() -> None:
    right = rasterise([(10, 10, 50, 20)], SIZE)
    click = next_click(rasterise([(10, 10, 20, 20)], SIZE), right)
    assert click is not None
    x, y, positive = click
    assert positive
    assert 22 < x < 48
    assert 13 < y < 17


def test_a_click_goes_into_the_middle_of_what_is_too_much() -> None:
    right = rasterise([(10, 10, 20, 20)], SIZE)
    click = next_click(right | rasterise([(40, 30, 70, 50)], SIZE), right)
    assert click is not None
    x, y, positive = click
    assert not positive
    assert (40 < x < 70, 38 < y < 42) == (True, True)


def test_a_right_answer_needs_no_click() -> None:
    right = rasterise([(10, 10, 20, 20)], SIZE)
    assert next_click(right, right) is None


@pytest.mark.parametrize("seed", range(5))
def test_a_click_lies_on_the_error_even_when_the_page_is_large_and_the_error_thin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    right = np.zeros((1500, 1100), bool)
    x = int(rng.integers(0, 1100))
    right[100:1400, x] = True  # one pixel wide
    click = next_click(np.zeros_like(right), right)
    assert click is not None
    assert right[int(click[1]), int(click[0])]
