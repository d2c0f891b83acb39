"""Pages and questions are drawn in proportion to what they weigh, and the same seed and step always draw the same."""

from collections import Counter
from dataclasses import replace

import pytest

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.sources.examples import Turns, page_source, read_as


def pages(count: int, questions: int = 1) -> list[GroundedPage]:
    return [
        GroundedPage(
            f"p{number}",
            None,
            100,
            50,
            [GroundedWord(f"word{number}", (0, 0, 50, 20))],
            [GroundedQuestion(f"q{at}", f"Question{at}ofpage{number}", [[0]]) for at in range(questions)],
        )
        for number in range(count)
    ]


def test_long_pages_share_a_step_with_fewer_others_and_none_is_left_out() -> None:
    lengths = [3] * 5 + [700] * 5 + [800] * 5 + [1400] * 5
    of_length = [replace(page, words=page.words * words) for page, words in zip(pages(20), lengths, strict=True)]
    source = page_source(of_length, lambda _: None, 3, pages=4, questions=1, badly=False)
    steps: list[list[int]] = []
    seen = Counter[str]()
    while sum(seen.values()) < 3 * 20:
        steps.append([len(example.words) for example in source(len(steps))])
        seen.update(example.words[0].text for example in source(len(steps) - 1))
    assert set(seen.values()) == {3}
    assert all(len(step) * max(step) ** 2 <= 4 * 700**2 and len(step) <= 4 for step in steps)
    assert {len(step) for step in steps if max(step) == 1400} == {1}
    assert max(len(step) for step in steps if max(step) == 700) == 4
    assert len(steps) == pytest.approx(3 * read_as(of_length) / 4, rel=0.1)
    assert read_as(of_length[:10]) == 10
    assert read_as([replace(of_length[0], words=of_length[0].words * 500)]) == 0, "not read"
    again = page_source(of_length, lambda _: None, 3, pages=4, questions=1, badly=False)
    assert [len(example.words) for example in again(len(steps) - 1)] == steps[-1]


def drawn(source, steps: int) -> tuple[Counter[str], Counter[str]]:  # type: ignore[no-untyped-def]
    """How often each page and each question came."""
    seen, asked = Counter[str](), Counter[str]()
    for step in range(steps):
        for example in source(step):
            seen[example.words[0].text] += 1
            asked.update(question.answers and question.text[:9] for question in example.questions)
    return seen, asked


def test_without_weights_every_page_comes_once_before_any_comes_twice() -> None:
    turns = Turns([1.0] * 7, seed=3)
    for turn in range(5):
        assert sorted(turns.place(turn * 7 + at) for at in range(7)) == list(range(7))


def test_pages_come_in_proportion_to_their_weight_and_weightless_ones_never() -> None:
    weights = {"p1": {"q0": 0.5}, "p2": {"q0": 0.1}, "p3": {"q0": 0.0}}
    seen, _ = drawn(page_source(pages(4), lambda _: None, 5, pages=4, questions=1, weights=weights), 400)
    assert "word3" not in seen
    assert seen["word1"] / seen["word0"] == pytest.approx(0.5, abs=0.01)
    assert seen["word2"] / seen["word0"] == pytest.approx(0.1, abs=0.01)


def test_equal_weights_draw_as_none_do() -> None:
    one = page_source(pages(5), lambda _: None, 5, weights={f"p{at}": {"q0": 0.4} for at in range(5)})
    other = page_source(pages(5), lambda _: None, 5)
    for step in range(20):
        assert [each.words for each in one(step)] == [each.words for each in other(step)]


def test_questions_of_a_page_come_in_proportion_to_their_weight() -> None:
    weights = {"p0": {"q1": 0.25, "q2": 0.0}}
    _, asked = drawn(page_source(pages(1, 3), lambda _: None, 1, pages=1, questions=8, weights=weights), 1500)
    assert asked["Question2"] == 0
    assert asked["Question1"] / asked["Question0"] == pytest.approx(0.25, abs=0.03)


def test_a_question_is_not_repeated_while_there_are_enough() -> None:
    source = page_source(pages(1, 6), lambda _: None, 1, pages=1, questions=4, weights={"p0": {"q1": 0.5}})
    for step in range(30):
        answers = [question.text for question in source(step)[0].questions]
        assert len({text[:8] + text[8:9] for text in answers}) >= 3  # a typing error may make two look alike


def test_a_step_is_drawn_the_same_whatever_was_drawn_before() -> None:
    weights = {f"p{at}": {"q0": 0.1 + 0.15 * at} for at in range(6)}
    first = page_source(pages(6), lambda _: None, 9, weights=weights)
    forwards = [first(step) for step in range(40)]
    other = page_source(pages(6), lambda _: None, 9, weights=weights)
    backwards = [other(step) for step in reversed(range(40))][::-1]
    assert forwards == backwards


def test_pages_that_weigh_nothing_are_nothing_to_learn_from() -> None:
    with pytest.raises(ValueError, match="No answer for training has a weight above 0"):
        page_source(pages(1), lambda _: None, 1, weights={"p0": {"q0": 0.0}})
