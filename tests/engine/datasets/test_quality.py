"""What makes an accepted answer unfit, each check with an answer that fails it and one that does not."""

from collections.abc import Sequence

import numpy as np
import pytest

from engine.annotation.state import AnnotationState, PageMark, to_patch
from engine.datasets import quality
from engine.datasets.quality import Answer, SeenPage, SeenWord, find_contradicted, find_failed_checks

HEIGHT, WIDTH = 100, 200
WORDS = {
    0: SeenWord("Total:", (10, 10, 50, 20), 0.95),
    1: SeenWord("10.50", (60, 10, 100, 20), 0.9),
    2: SeenWord("~l;", (10, 60, 40, 70), 0.31),
}


def answer(box: Sequence[int] | None, words: Sequence[int] = (), *, no_answer: bool = False, **more: object) -> Answer:
    state = AnnotationState(no_answer=no_answer)
    if box is not None:
        mask = np.zeros((HEIGHT, WIDTH), bool)
        mask[box[1] : box[3], box[0] : box[2]] = True
        state.pages["page"] = PageMark(words=list(words), mask=to_patch(mask))
    return Answer(state, {"page": SeenPage(WIDTH, HEIGHT, WORDS)}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("nothing_marked", answer(None), answer(None, no_answer=True)),
        ("far_from_its_words", answer((150, 80, 190, 90), [1]), answer((58, 9, 101, 21), [1])),
        ("far_from_its_words", answer((60, 10, 63, 20), [1]), answer((60, 10, 100, 20), [1])),
        ("most_of_the_page", answer((0, 0, 200, 80)), answer((0, 0, 100, 80))),
        ("words_unread", answer((10, 60, 40, 70), [2]), answer((60, 10, 100, 20), [1])),
        (
            "in_haste",
            answer((60, 10, 100, 20), [1], seconds=0.7, reliability=0.3),
            answer((60, 10, 100, 20), [1], seconds=0.7),
        ),
        (
            "in_haste",
            answer((60, 10, 100, 20), [1], seconds=0.7, reliability=0.3),
            answer((60, 10, 100, 20), [1], seconds=0.7, reliability=0.3, reviewed=True),
        ),
    ],
)
def test_a_check_holds_for_what_is_wrong_and_for_nothing_else(name: str, wrong: Answer, right: Answer) -> None:
    assert find_failed_checks(wrong) == [name]
    assert find_failed_checks(right) == []


def test_a_region_without_words_is_fit() -> None:
    assert find_failed_checks(answer((120, 50, 180, 90))) == []


def test_answers_on_the_same_page_that_cannot_both_be_right_contradict() -> None:
    total, label, none = answer((60, 10, 100, 20), [1]), answer((10, 10, 50, 20), [0]), answer(None, no_answer=True)
    assert find_contradicted([total, total]) == [False, False]
    assert find_contradicted([total, label]) == [True, True]
    assert find_contradicted([total, none]) == [True, True]
    here, there = answer((0, 0, 50, 50)), answer((120, 50, 180, 90))
    assert find_contradicted([here, there]) == [True, True]
    assert find_contradicted([here, here]) == [False, False]


def test_what_a_reviewer_judged_stands_against_what_nobody_did() -> None:
    reviewed = answer((60, 10, 100, 20), [1], reviewed=True)
    assert find_contradicted([reviewed, answer((10, 10, 50, 20), [0])]) == [False, True]


def test_every_reason_has_a_sentence() -> None:
    assert set(quality.SENTENCES) == {check.name for check in quality.CHECKS} | {quality.CONTRADICTED}
    assert all(sentence.endswith(".") for sentence in quality.SENTENCES.values())
