"""The reader of a page, and the way from pieces to words: answers survive splitting, merging and shaking."""

import itertools
import random

import pytest

from engine.synthetic import questions
from engine.synthetic.assemble import assemble, in_order
from engine.synthetic.canvas import Canvas, Face
from engine.synthetic.concepts import CONCEPTS
from engine.synthetic.keys import KeySource
from engine.synthetic.ocr import Reading, read_pieces
from engine.synthetic.values import KINDS, value


def small_sheet(seed: int = 1) -> tuple[Canvas, list[int]]:
    canvas = Canvas(600, 200, random.Random(seed), Face("sans", 16))
    canvas.write("Invoice date:", 20, 20)
    answer = canvas.write("12/03/2018 (paid)", 200, 20).pieces
    canvas.write("Total due", 20, 60)
    canvas.ask("What is the invoice date?", answer)
    return canvas, answer


def answer_text(reading: Reading, seed: int = 1) -> str:
    canvas, _ = small_sheet(seed)
    page = assemble(canvas, "form", "seed", "page", lambda: "Who is the captain?", reading=reading).page
    (question,) = (one for one in page.questions if one.answers)
    return " ".join(page.words[at].text for at in question.answers[0])


def test_a_perfect_reader_sees_the_words_as_they_were_set() -> None:
    canvas, _ = small_sheet()
    words = read_pieces(canvas.pieces, Reading(), random.Random(1))
    assert [word.text for word in words] == [piece.text for piece in canvas.pieces]
    assert [word.box for word in words] == [piece.box(tight=False) for piece in canvas.pieces]


def test_an_answer_keeps_all_parts_of_a_word_that_was_split() -> None:
    assert answer_text(Reading(splits=1.0)) == "12/ 03/ 2018 (paid)"


def test_an_answer_keeps_a_word_that_was_merged_with_its_neighbour() -> None:
    assert answer_text(Reading(merges=1.0)) == "12/03/2018(paid)"


def test_split_words_lie_side_by_side_within_the_word() -> None:
    canvas, answer = small_sheet()
    whole = canvas.pieces[answer[0]].box(tight=False)
    parts = [
        word.box
        for word in read_pieces(canvas.pieces, Reading(splits=1.0), random.Random(1))
        if answer[0] in word.sources
    ]
    assert len(parts) == 3
    assert parts[0][0] == whole[0]
    assert parts[-1][2] <= whole[2]
    assert all(left[2] <= right[0] for left, right in itertools.pairwise(parts))


def test_character_errors_change_the_text_about_as_often_as_asked() -> None:
    canvas = Canvas(4000, 4000, random.Random(1), Face("sans", 16))
    canvas.write("measurement " * 1500, 10, 10, right=3900)
    words = read_pieces(canvas.pieces, Reading(slips=0.02), random.Random(2))
    changed = sum(word.text != "measurement" for word in words) / len(words)
    assert 0.15 < changed < 0.29


def test_a_question_whose_answer_was_lost_is_not_asked() -> None:
    canvas, _ = small_sheet()
    page = assemble(canvas, "form", "s", "p", lambda: "Who is the captain?", reading=Reading(losses=1.0)).page
    assert not page.words
    assert not any(question.answers for question in page.questions)


def test_words_are_ordered_line_by_line() -> None:
    canvas = Canvas(600, 200, random.Random(1), Face("sans", 16))
    canvas.write("fourth", 300, 62)
    canvas.write("third", 20, 60)
    canvas.write("second", 300, 21)
    canvas.write("first", 20, 20)
    words = in_order(read_pieces(canvas.pieces, Reading(), random.Random(1)))
    assert [word.text for word in words] == ["first", "second", "third", "fourth"]


def test_the_same_question_twice_accepts_either_answer() -> None:
    canvas = Canvas(600, 200, random.Random(1), Face("sans", 16))
    for y in (20, 60):
        canvas.write("Phone", 20, y)
        canvas.ask("phone", canvas.write(f"555-{y}", 200, y).pieces)
    page = assemble(canvas, "form", "s", "p", lambda: "Who is the captain?", reading=Reading()).page
    (question,) = (one for one in page.questions if one.answers)
    assert [[page.words[at].text for at in answer] for answer in question.answers] == [["555-20"], ["555-60"]]


def test_a_question_that_the_page_might_answer_is_never_unanswerable() -> None:
    canvas, _ = small_sheet()
    for _ in range(30):
        canvas.ask(f"key {len(canvas.asked)}", [0])
    page = assemble(canvas, "form", "s", "p", lambda: "What is the total due?", reading=Reading()).page
    assert all(question.answerable for question in page.questions)


def test_a_page_never_gets_the_same_key_twice() -> None:
    for seed in range(20):
        keys = KeySource(random.Random(seed))
        drawn = [keys.next().text for _ in range(40)]
        assert len(set(drawn)) == len(drawn)
        assert keys.absent().text not in drawn


def test_synonyms_ask_for_a_concept_without_its_printed_words() -> None:
    concept = next(concept for concept in CONCEPTS if concept.printed[0] == "date of birth" or "dob" in concept.printed)
    asked = {questions.about(random.Random(seed), "DOB:", concept, synonyms=1.0) for seed in range(60)}
    assert any("born" in question for question in asked)
    assert not any("DOB" in question for question in asked)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_values_of_a_kind_vary(kind: str) -> None:
    seen = {value(random.Random(seed), kind) for seed in range(60)}
    assert len(seen) >= 8
    assert all(text.strip() == text and text for text in seen)
