import random
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from engine.grounded import GroundedPage, GroundedQuestion
from engine.synthetic import generate
from engine.training.sources.examples import draw_questions, example_of, mixed_source, page_source, synthetic_source
from model.examples import Example, Question


@pytest.fixture(scope="module")
def pages() -> list[GroundedPage]:
    return [one.page for one in islice(generate(3), 12)]


def test_an_example_keeps_words_answers_and_masks(pages):
    page = next(page for page in pages if any(question.masks for question in page.questions))
    example = example_of(page, None, page.questions)
    assert [word.text for word in example.words] == [word.text for word in page.words]
    for question, source in zip(example.questions, page.questions, strict=True):
        assert question.text == source.question
        assert [list(answer) for answer in question.answers] == source.answers[:3]
        assert all(mask.shape == (page.height, page.width) and mask.any() for mask in question.masks)
        assert len(question.masks) == min(3, len(source.masks))
        assert question.answered == source.answerable


def test_the_same_step_gives_the_same_examples_in_any_order():
    one, other = synthetic_source(4, pages=2, questions=3), synthetic_source(4, pages=2, questions=3)
    forward = {step: one(step) for step in range(8)}
    for step in (7, 2, 5):
        again = other(step)
        assert [example.words for example in again] == [example.words for example in forward[step]]
        assert [[q.text for q in e.questions] for e in again] == [[q.text for q in e.questions] for e in forward[step]]
    assert synthetic_source(5, pages=2, questions=3)(0)[0].words != forward[0][0].words


def test_a_step_has_as_many_questions_on_each_page():
    for example in synthetic_source(6, pages=3, questions=5)(1):
        assert len(example.questions) == 5


def test_rendered_pages_bring_their_image_and_questions_about_regions():
    source = synthetic_source(2, pages=1, questions=4, regions=0.5, images=True)
    examples = [source(step)[0] for step in range(6)]
    assert all(example.image is not None and example.image.size == example.size for example in examples)
    asked = [question for example in examples for question in example.questions]
    assert any(question.masks and not question.answers for question in asked)


def test_every_page_of_a_snapshot_is_seen_before_any_is_seen_twice(pages):
    source = page_source(pages, lambda page: None, seed=1, pages=3, questions=2)
    seen = [example.words for step in range(4) for example in source(step)]
    assert len(seen) == 12 and len(set(seen)) == 12
    assert [e.words for e in source(0)] == [e.words for e in page_source(pages, lambda p: None, 1, pages=3)(0)]


def test_pages_of_like_length_share_a_step_and_each_is_still_seen_once(pages):
    words = [word for page in pages for word in page.words]
    lengths = [5 * number for number in range(1, 13)]
    of_length = [replace(pages[at], page_id=str(at), words=words[:length]) for at, length in enumerate(lengths)]
    asked = [replace(page, questions=[GroundedQuestion("q", "What?", [[0]])]) for page in of_length]

    def spread(in_turn):
        source = page_source(asked, lambda page: None, seed=1, pages=3, questions=1, in_turn=in_turn)
        steps = [sorted(len(example.words) for example in source(step)) for step in range(4)]
        assert sorted(length for step in steps for length in step) == lengths
        return sum(step[-1] - step[0] for step in steps)

    assert spread(in_turn=False) == 4 * 10 < spread(in_turn=True)


def test_a_snapshot_without_questions_is_refused(pages):
    empty = GroundedPage("x", None, 10, 10, pages[0].words, [])
    with pytest.raises(ValueError, match="No page has a question to train on"):
        page_source([empty], lambda page: None, seed=0)


def test_replay_takes_its_share_of_the_steps():
    old, new = (Example((), (1, 1), [Question(text)]) for text in ("old", "new"))
    mixed = mixed_source(lambda step: [old], lambda step: [new], 0.25, seed=9)
    drawn = [mixed(step)[0] for step in range(2000)]
    assert drawn == [mixed(step)[0] for step in range(2000)]
    assert np.mean([one == new for one in drawn]) == pytest.approx(0.25, abs=0.04)


def test_a_page_with_few_questions_repeats_them(pages):
    page = pages[0]
    few = GroundedPage(page.page_id, None, page.width, page.height, page.words, page.questions[:2])
    assert len(draw_questions(few, 6, random.Random(0))) == 6
    distinct = draw_questions(page, len(page.questions), random.Random(0))
    assert {q.question_id for q in distinct} == {q.question_id for q in page.questions}
