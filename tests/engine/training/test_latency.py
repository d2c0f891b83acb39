"""Comparing the time of two models on a clock that the test sets."""

from collections.abc import Iterator
from itertools import count

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.retraining.latency import compare_latency
from model.inference import Predictor

PAGE = GroundedPage(
    page_id="p",
    image=None,
    width=300,
    height=200,
    words=[GroundedWord("Total:", (10, 10, 60, 24)), GroundedWord("12.50", (70, 10, 110, 24))],
    questions=[GroundedQuestion("q", "What is the total?", [[1]])],
)


def test_the_ratio_is_that_of_the_fastest_rounds_of_the_same_page() -> None:
    predictor, other = Predictor.load(), Predictor.load()
    # Who begins changes with the round: champion, challenger | challenger, champion | champion, challenger.
    taken = iter([2.0, 3.0, 9.0, 1.0, 5.0, 2.0])
    moments: Iterator[float] = _moments(taken)
    pace = compare_latency(predictor, other, [PAGE], clock=lambda: next(moments))
    assert pace is not None
    assert (pace.champion_ms, pace.challenger_ms, pace.ratio) == (1000.0, 2000.0, 2.0)


def test_pages_without_words_or_questions_tell_nothing() -> None:
    predictor = Predictor.load()
    bare = GroundedPage(page_id="b", image=None, width=10, height=10, words=[], questions=PAGE.questions)
    assert compare_latency(predictor, predictor, [bare]) is None


def test_no_page_is_asked_once_it_is_time_to_stop() -> None:
    predictor = Predictor.load()
    asked = count()
    assert (
        compare_latency(predictor, predictor, [PAGE], should_stop=lambda: "cancel", clock=lambda: next(asked)) is None
    )
    assert next(asked) == 0


def _moments(taken: Iterator[float]) -> Iterator[float]:
    now = 0.0
    for seconds in taken:
        yield now
        now += seconds
        yield now
