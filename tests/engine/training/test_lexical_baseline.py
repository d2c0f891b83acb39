"""The lexical baseline: small pages whose answer can be told by eye, and its shortcuts against the plain search."""

import math
import random

import pytest
from rapidfuzz import fuzz

from engine.grounded import GroundedWord
from engine.training.evaluation.lexical_baseline import (
    BaselinePage,
    best_run,
    predict,
    prepare,
    segments,
    telling_tokens,
)


def line(text: str, x: int, y: int) -> list[GroundedWord]:
    """Words of a line in a fixed-width face: 8 pixels a character, 12 high."""
    words = []
    for word in text.split():
        words.append(GroundedWord(word, (x, y, x + 8 * len(word), y + 12)))
        x += 8 * len(word) + 8
    return words


def answer(words: list[GroundedWord], question: str) -> str:
    return " ".join(words[index].text for index in predict(words, question))


INVOICE = [
    *line("Invoice number:", 20, 20),
    *line("A-1093", 180, 20),
    *line("Date of issue", 20, 50),
    *line("4 May 2019", 180, 50),
    *line("Customer", 20, 90),
    *line("Order", 400, 90),
    *line("Maria Lopez", 20, 110),
    *line("77120", 400, 110),
    *line("Total due: $1,200.50", 20, 160),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the invoice number?", "A-1093"),
        ("date of issue", "4 May 2019"),
        ("Which customer is it?", "Maria Lopez"),
        ("order", "77120"),
        ("What is the total due?", "$1,200.50"),
        ("What is the invoise numbr?", "A-1093"),
    ],
)
def test_the_answer_stands_on_the_line_or_right_of_the_key_or_below_it(question: str, expected: str) -> None:
    assert answer(INVOICE, question) == expected


def test_a_nearer_segment_below_is_no_rival_to_one_close_on_the_right() -> None:
    words = [*line("Brand", 20, 20), *line("LARK", 110, 20), *line("Region", 20, 40)]
    assert answer(words, "brand") == "LARK"


def test_another_key_is_never_the_answer() -> None:
    words = [*line("Name:", 20, 20), *line("Age:", 120, 20), *line("Ann", 20, 40), *line("41", 120, 40)]
    assert answer(words, "name") == "Ann"


def test_segments_end_at_a_colon_and_at_a_wide_space() -> None:
    words = [*line("Ship to: Bonn", 20, 20), *line("42", 400, 21)]
    assert [[words[index].text for index in part] for part in segments(words)] == [["Ship", "to:"], ["Bonn"], ["42"]]


@pytest.mark.parametrize("words", [[], line("... ---", 10, 10)])
def test_a_page_without_tokens_has_no_answer(words: list[GroundedWord]) -> None:
    assert predict(words, "What is the total?") == []


def test_a_prepared_page_answers_as_its_words_do() -> None:
    page = prepare(INVOICE)
    for question in ("customer", "What is the date?", "nothing of the kind", "of the"):
        assert predict(page, question) == predict(INVOICE, question)


def score_of_every_run(page: BaselinePage, question: str) -> list[float]:
    """The definition, without the index: every run against every token of the question."""
    asked = telling_tokens(question)
    scores = []
    for run in page.runs:
        words = [page.words[index] for index in page.segments[run.segment][run.start : run.end]]
        found = telling_tokens(" ".join(word.text for word in words))
        score, used = 0.0, set()
        for token in asked:
            ratio, at = max((fuzz.ratio(token, other), at) for at, other in enumerate(found))
            weight = math.log(1 + len(page.words) / (1 + page.frequency.get(token, 0)))
            score += weight * ratio / 100 if ratio >= 80 else -0.3 * weight
            if ratio >= 80:
                used.add(at)
        scores.append(score - (len(found) - len(used)) + 0.5 * words[-1].text.endswith(":"))
    return scores


def test_the_index_finds_the_run_that_scoring_every_run_finds() -> None:
    rng = random.Random(4)
    vocabulary = ["total", "totals", "amount", "the", "of", "date", "dated", "No.:", "net", "name:", "12", "net-amount"]
    for _ in range(60):
        words = []
        for row in range(5):
            text = " ".join(rng.choices(vocabulary, k=rng.randint(1, 6)))
            words += line(text, rng.choice([10, 90]), 10 + 20 * row)
        page = prepare(words)
        question = " ".join(rng.choices([*vocabulary, "amuont", "what"], k=rng.randint(1, 4)))
        scores = score_of_every_run(page, question)
        run = best_run(page, question)
        assert run is page.runs[scores.index(max(scores))]
