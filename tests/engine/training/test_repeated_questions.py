from dataclasses import replace

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.evaluation.evaluate import evaluate
from engine.training.evaluation.repeated_questions import repeated_figures, repeated_questions
from model.inference import Predictor

LINES = (("BILLING",), ("Date:", "03/04/2024"), ("SHIPPING",), ("Date:", "07/04/2024"))
WORDS = [
    GroundedWord(text, (40 + 160 * at, 60 + 40 * row, 40 + 160 * at + 9 * len(text), 76 + 40 * row))
    for row, line in enumerate(LINES)
    for at, text in enumerate(line)
]


def question(name: str, text: str, *answers: int) -> GroundedQuestion:
    return GroundedQuestion(name, text, [[at] for at in answers])


def page(*questions: GroundedQuestion) -> GroundedPage:
    return GroundedPage("p", None, 640, 400, WORDS, list(questions))


def test_the_same_words_with_another_answer_are_repeated():
    asked = page(question("a", "What is the Date?", 2), question("b", "what is the date", 5), question("c", "Bill?", 0))
    assert repeated_questions(asked) == {"a", "b"}


def test_the_same_answer_or_none_is_not_repeated():
    assert (
        repeated_questions(page(question("a", "Date?", 2), question("b", "Date?", 2), question("c", "Date?"))) == set()
    )


def test_any_shown_answer_counts_beside_the_first():
    asked = page(question("a", "What is the date?", 2), question("b", "What is the date?", 5))
    found = evaluate(Predictor.load(), [asked], timed=False)
    assert found.to_json()["repeated"] == {"questions": 2, "first": 0.5, "shown": 1.0}


def test_a_set_without_repeated_questions_has_no_shares():
    asked = page(question("a", "What is the date?", 2))
    found = evaluate(Predictor.load(), [replace(asked)], timed=False)
    assert found.to_json()["repeated"] == repeated_figures([]) == {"questions": 0, "first": None, "shown": None}
