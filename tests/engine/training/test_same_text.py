"""In a verdict, every place that says the same as an accepted answer counts."""

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.retraining.same_text import MOST_PLACES, with_places_of_the_same_text

TEXTS = [
    "Total",
    "12.50",
    "Cash",
    "12.50.",
    "Tax",
    "0.00",
    "Paid",
    "0.00",
    "Smith",
    "&",
    "Co",
    ".",
    "x",
    "x",
    "Smith",
    "&",
    "Co,",
    "Tax",
]


def answers_with(*questions: list[list[int]]) -> list[list[list[int]]]:
    words = [GroundedWord(text, (30 * at, 0, 30 * at + 25, 12)) for at, text in enumerate(TEXTS)]
    asked = [GroundedQuestion(f"q{number}", "Which?", answers) for number, answers in enumerate(questions)]
    page = GroundedPage("p", None, 30 * len(TEXTS), 20, words, asked)
    return [one.answers for one in with_places_of_the_same_text(page).questions]


def test_the_same_amount_elsewhere_counts_after_the_accepted_one() -> None:
    assert answers_with([[3]]) == [[[3], [1]]]


def test_several_words_count_where_they_stand_side_by_side() -> None:
    assert TEXTS[8:11] == ["Smith", "&", "Co"]
    assert answers_with([[8, 9, 10]]) == [[[8, 9, 10], [14, 15, 16]]]


def test_a_place_that_answers_another_question_does_not_count() -> None:
    assert answers_with([[5]], [[7]]) == [[[5]], [[7]]]


def test_texts_of_one_or_two_characters_stand_elsewhere_by_chance() -> None:
    assert answers_with([[12]], [[11]]) == [[[12]], [[11]]]


def test_a_text_that_fills_a_table_counts_at_the_accepted_place_alone() -> None:
    words = [GroundedWord("0.00", (30 * at, 0, 30 * at + 25, 12)) for at in range(MOST_PLACES + 1)]
    question = GroundedQuestion("q", "Which?", [[2]])
    page = GroundedPage("p", None, 600, 20, words, [question])
    assert with_places_of_the_same_text(page).questions[0].answers == [[2]]
    fewer = GroundedPage("p", None, 600, 20, words[:-1], [question])
    assert len(with_places_of_the_same_text(fewer).questions[0].answers) == MOST_PLACES


def test_words_of_an_answer_that_are_parted_are_no_place() -> None:
    assert answers_with([[0, 2]]) == [[[0, 2]]]


def test_a_text_at_the_end_of_the_page_and_a_question_without_answer_are_left_alone() -> None:
    assert answers_with([[4, 5]], [], [[17]]) == [[[4, 5]], [], [[17]]]
