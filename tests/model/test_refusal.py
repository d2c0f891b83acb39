"""Uncertain answers by pixels are declined: nothing is marked, and what was found can still be chosen."""

from dataclasses import replace

import numpy as np
import pytest

from model.answers import Answer
from model.examples import Prompt
from model.refusal import THRESHOLD, confidence, or_declined

SIZE = 40, 60


def answer(score: float, answered: float = 0.9) -> Answer:
    mask = np.zeros(SIZE, bool)
    mask[10:20, 10:30] = True
    other = Answer(~mask, [], "", score / 2, answered, np.zeros(SIZE, bool), ~mask)
    return Answer(mask, [3], "word", score, answered, np.zeros(SIZE, bool), mask, [other])


def test_confidence_grows_with_both_and_stays_a_probability() -> None:
    assert confidence(0.9, 0.9) > confidence(0.5, 0.9) > confidence(0.5, 0.2)
    assert 0 < confidence(0, 0) < 0.05 and 0.95 < confidence(1, 1) < 1


def test_a_sure_answer_is_shown_and_its_confidence_says_that_the_page_answers() -> None:
    sure = answer(0.95, answered=0.1)  # the word path doubts every region
    shown = or_declined(sure, Prompt("stamp"), 3)
    assert np.array_equal(shown.mask, sure.mask) and shown.score == sure.score
    assert shown.answered == confidence(sure.score, sure.answered) > THRESHOLD


def test_an_unsure_answer_marks_nothing_and_becomes_a_candidate() -> None:
    unsure = answer(0.2, 0.55)
    declined = or_declined(unsure, Prompt("stamp"), 3)
    assert not declined.mask.any() and declined.words == [] and declined.text == "" and declined.answered < 0.5
    assert declined.score == unsure.score and np.array_equal(declined.pixel_mask, unsure.pixel_mask)
    first, second = declined.candidates
    assert np.array_equal(first.mask, unsure.mask) and first.text == "word" and not first.candidates
    assert second is unsure.candidates[0]
    assert len(or_declined(unsure, Prompt("stamp"), 1).candidates) == 1


def test_a_page_that_hardly_answers_is_not_made_likelier() -> None:
    assert or_declined(answer(0.2, answered=0.03), Prompt("stamp"), 3).answered == 0.03


@pytest.mark.parametrize(
    "prompt",
    [
        Prompt("stamp", ((5.0, 5.0, True),)),
        Prompt("stamp", (), (1, 1, 9, 9)),
        Prompt("stamp", (), None, np.ones(SIZE, bool)),
    ],
)
def test_a_person_who_points_at_a_place_is_answered(prompt: Prompt) -> None:
    unsure = answer(0.2, 0.55)
    assert or_declined(unsure, prompt, 3) is unsure


def test_an_empty_answer_stays_empty() -> None:
    empty = replace(answer(0.2, 0.55), mask=np.zeros(SIZE, bool), candidates=[])
    assert or_declined(empty, Prompt("stamp"), 3) is empty
