"""The figures of an evaluation, and the clicks of an asker who corrects."""

import numpy as np
import pytest

from engine.training.evaluation.clicks import next_click
from engine.training.evaluation.metric_intervals import metric_intervals
from engine.training.evaluation.metrics import (
    Scored,
    auroc,
    best_iou,
    best_word_f1,
    calibration_error,
    summarise,
    to_json,
    word_f1,
)
from engine.training.evaluation.slices import places, slices
from model.masks import iou, rasterise

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
        "baseline_iou": 0.0,
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
            scored(iou=0.9, baseline_iou=0.2, answered=0.9, milliseconds=10),
            scored(iou=0.5, baseline_iou=0.6, answered=0.8, milliseconds=20),
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


def test_word_f1_is_the_harmonic_mean_of_precision_and_recall() -> None:
    answer, words = [3, 4, 5, 6], [5, 6, 7]
    precision, recall = 2 / 3, 2 / 4
    assert word_f1(words, answer) == pytest.approx(2 * precision * recall / (precision + recall))
    assert word_f1([4, 3, 3], [3, 4]) == 1.0  # order and repetition tell nothing
    assert (word_f1([], [1]), word_f1([], [])) == (0.0, 0.0)
    assert best_word_f1(words, [[1], [5, 6, 7], answer]) == 1.0
    assert best_word_f1(words, []) is None


def test_word_figures_are_over_questions_that_words_answer() -> None:
    figures = summarise(
        [
            scored(word_f1=1.0, baseline_word_f1=0.5),
            scored(word_f1=0.8, baseline_word_f1=0.0),
            scored(iou=0.9),  # a region
            scored(answerable=False),
        ]
    )
    assert figures.word_f1 == pytest.approx(0.9) and figures.exact == 0.5
    assert (figures.floor_word_f1, figures.floor_exact) == (0.25, 0.0)
    none = to_json(summarise([scored(iou=0.9)]))
    assert [none[name] for name in ("word_f1", "exact", "floor_word_f1", "floor_exact")] == [None] * 4


def of_pages(pages: int, questions: int, seed: int = 1) -> list[Scored]:
    """Questions whose model and baseline both do as well as their page lets them, the model always a tenth better."""
    rng = np.random.default_rng(seed)
    found = []
    for page in range(pages):
        ease = rng.uniform(0, 0.9)
        for question in range(questions):
            changes = {"iou": ease + 0.1, "baseline_iou": ease, "word_f1": ease + 0.1, "baseline_word_f1": ease}
            found.append(scored(page_id=str(page), question_id=f"{page}-{question}", **changes))
    return found


def test_the_difference_to_the_floor_is_surer_than_either() -> None:
    found = metric_intervals(of_pages(20, 5))
    wide, narrow = found["mean_iou"], found["difference_mean_iou"]
    assert wide is not None
    assert wide[1] - wide[0] > 0.1
    assert narrow == pytest.approx([0.1, 0.1])
    assert found["difference_word_f1"] == pytest.approx([0.1, 0.1])


def test_every_main_figure_lies_within_its_interval() -> None:
    answers = of_pages(20, 5)
    figures, found = to_json(summarise(answers)), metric_intervals(answers)
    for name in ("mean_iou", "acc_50", "word_f1", "exact"):
        for full in (name, f"floor_{name}"):
            low, high = found[full] or (1, 0)
            assert low <= figures[full] <= high


def test_intervals_draw_pages_and_not_questions() -> None:
    """The same answers, once on the pages they came from, once each on a page of its own."""
    together = of_pages(12, 8)
    apart = [scored(page_id=one.question_id, iou=one.iou) for one in together]
    wide, narrow = metric_intervals(together)["mean_iou"], metric_intervals(apart)["mean_iou"]
    assert wide is not None
    assert narrow is not None
    assert wide[1] - wide[0] > 1.5 * (narrow[1] - narrow[0])


def test_what_was_not_measured_has_no_interval() -> None:
    found = metric_intervals([scored(iou=0.4), scored(answerable=False)])
    assert found["mean_iou"] == [0.4, 0.4]
    assert found["word_f1"] is None
    assert found["difference_exact"] is None


def test_slices_hold_answerable_questions_once_by_place_length_and_type() -> None:
    answers = [
        scored(places=1, answer_words=1),
        scored(places=1, answer_words=4, printed_key=False),
        scored(places=2, answer_words=9),
        scored(places=3, answer_words=30),
        scored(region_type="signature", printed_key=False),
        scored(answerable=False, printed_key=False),
    ]
    found = {name: {value: len(part) for value, part in parts.items()} for name, parts in slices(answers).items()}
    assert found == {
        "printed_key": {"true": 3, "false": 2},
        "regions": {"one": 2, "several": 2},
        "answer_words": {"1": 1, "2": 0, "3-4": 1, "5-8": 0, "9+": 2},
        "region_type": {"signature": 1},
    }
    assert "region_type" not in slices(answers[:4])


def test_an_answer_stands_in_one_place_while_its_words_are_neighbours() -> None:
    line = [(0, 0, 30, 10), (36, 0, 60, 10), (66, 1, 90, 11)]
    below = [(0, 18, 30, 28), (36, 18, 60, 28)]
    far = [(200, 0, 230, 10)]
    lower = [(0, 80, 30, 90)]
    assert places(line) == places(line + below) == places([line[0], *below]) == 1
    assert places(line + far) == 2
    assert places([*far, *below, *lower]) == 3
    assert places([]) == 0


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
def test_a_click_hits_a_thin_error_even_on_a_large_page(seed: int) -> None:
    rng = np.random.default_rng(seed)
    right = np.zeros((1500, 1100), bool)
    x = int(rng.integers(0, 1100))
    right[100:1400, x] = True  # one pixel wide
    click = next_click(np.zeros_like(right), right)
    assert click is not None
    assert right[int(click[1]), int(click[0])]


def test_certainty_is_badly_calibrated_and_the_mean_is_well_calibrated() -> None:
    true = np.array([1.0] * 7 + [0.0] * 3)
    certain, modest = np.ones(10), np.full(10, 0.7)
    spread = np.linspace(0, 1, 200)
    assert calibration_error(np.tile(certain, 20), np.tile(true, 20)) == pytest.approx(0.3)
    assert calibration_error(np.tile(modest, 20), np.tile(true, 20)) == pytest.approx(0.0)
    assert calibration_error(spread, spread) == pytest.approx(0.0)
    assert calibration_error(spread[::-1], spread) == pytest.approx(0.5, abs=0.01)
    assert calibration_error(np.array([]), np.array([])) is None


def test_the_predicted_iou_tells_found_answers_from_others() -> None:
    there = [
        scored(iou=0.9, predicted_iou=0.8),
        scored(iou=0.8, predicted_iou=0.6),
        scored(iou=0.1, predicted_iou=0.7),
        scored(iou=0.0, predicted_iou=0.2),
    ]
    assert summarise(there).confidence_auroc == 0.75
    assert summarise(there[:2]).confidence_auroc is None
