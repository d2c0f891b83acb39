"""Questions without an answer, mixed among those that people asked."""

from collections.abc import Sequence

from engine.training.augmentation.negative_questions import with_negative_questions
from engine.training.evaluation.lexical_baseline import telling_tokens, tokens
from model.examples import Example, Question, Word

PAGE = Example(
    (Word("Total", (0, 0, 40, 12)), Word("due:", (48, 0, 80, 12)), Word("12.50", (88, 0, 120, 12))),
    (200, 100),
    [Question("What is the total?", ((2,),))] * 8,
)


def source(step: int) -> Sequence[Example]:
    return [PAGE, PAGE]


def test_about_the_share_of_questions_gets_keys_that_the_page_lacks() -> None:
    mixed = with_negative_questions(source, 0.25, seed=3)
    questions = [question for step in range(60) for example in mixed(step) for question in example.questions]
    absent = [question for question in questions if not question.answered]
    assert 0.2 < len(absent) / len(questions) < 0.3
    assert len({question.text for question in absent}) > 0.9 * len(absent)
    on_page = {token for word in PAGE.words for token in tokens(word.text)}
    kept = [question for question in questions if question.answered]
    assert all(question == PAGE.questions[0] for question in kept)
    touching = [one for one in absent if on_page & set(telling_tokens(one.text))]
    assert len(touching) < 0.02 * len(absent)  # the phrasing around the key may use a word of the page


def test_a_step_is_the_same_whenever_it_is_taken() -> None:
    assert with_negative_questions(source, 0.5, seed=3)(17) == with_negative_questions(source, 0.5, seed=3)(17)
    assert with_negative_questions(source, 0.5, seed=3)(17) != with_negative_questions(source, 0.5, seed=4)(17)


def test_no_share_changes_nothing() -> None:
    assert list(with_negative_questions(source, 0.0, seed=3)(5)) == [PAGE, PAGE]
