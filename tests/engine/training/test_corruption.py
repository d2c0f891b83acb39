"""Harder pages: they draw as the reference does, and leave alone what the figures are told from."""

import random
import re
from collections.abc import Iterable, Sequence

import pytest

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.run_lengths import encode_rle
from engine.training.augmentation.corruption import corrupt_pages
from model.masks import rasterise

STOPS = "what is the of a an in on for to and s which value are was were does do how much this that"
STOP = set(STOPS.split())
ASKED = ("What is the invoice number?", "total due", "Which of the two dates is the date of issue?", "what is the -- ?")


def page(number: int) -> GroundedPage:
    texts = ("Invoice", "No.:", "A-1093", f"page-{number}", "TOTAL", "due", "1,204.50", "")
    words = [GroundedWord(text, (10, 10 + 20 * at, 90, 22 + 20 * at)) for at, text in enumerate(texts)]
    stamp = dict(encode_rle(rasterise([(5, 5, 30, 30)], (200, 100))))
    questions = [GroundedQuestion(f"{number}-{at}", text, [[at]], True) for at, text in enumerate(ASKED)]
    questions.insert(1, GroundedQuestion(f"{number}-absent", "Who signed the invoice as a witness?", []))
    questions.insert(2, GroundedQuestion(f"{number}-stamp", "Where is the round stamp?", [], masks=[stamp]))
    return GroundedPage(f"p{number}", None, 100, 200, words, questions)


def reference(pages: Iterable[GroundedPage], noise: float, drop: float) -> list[tuple[list[str], list[str]]]:
    """What the reference draws, told step by step: texts of the words, and the questions that words answer."""
    rng = random.Random(3)
    told = []
    for one in pages:
        texts = [word.text for word in one.words]
        if noise:
            for at, text in enumerate(texts):
                characters = []
                for character in text:
                    if rng.random() < noise:
                        character = rng.choice("abcdefghijklmnopqrstuvwxyz0123456789")
                    characters.append(character)
                texts[at] = "".join(characters)
        asked = []
        for question in one.questions:
            if question.answers:
                asked.append(dropped(question.question, drop, rng) if drop else question.question)
        told.append((texts, asked))
    return told


def dropped(question: str, share: float, rng: random.Random) -> str:
    kept: list[str] = []
    for word in question.split():
        stays = rng.random() >= share
        found = re.findall(r"[a-z0-9#$%]+", word.lower())
        if stays or (found and found[0] in STOP):
            kept.append(word)
    left = re.findall(r"[a-z0-9#$%]+", " ".join(kept).lower())
    return " ".join(kept) if set(left) - STOP else question


def told(pages: Iterable[GroundedPage]) -> list[tuple[list[str], list[str]]]:
    return [([w.text for w in one.words], [q.question for q in one.questions if q.answers]) for one in pages]


PAGES: Sequence[GroundedPage] = [page(number) for number in range(6)]


@pytest.mark.parametrize(("noise", "drop"), [(0.06, 0.0), (0.0, 0.4), (0.2, 0.5), (1.0, 1.0)])
def test_it_draws_what_the_reference_draws(noise: float, drop: float) -> None:
    found = told(corrupt_pages(PAGES, noise=noise, drop=drop))
    assert found == reference(PAGES, noise, drop)
    assert found != told(PAGES)


def test_the_first_pages_alone_are_the_same_as_the_first_of_all() -> None:
    assert told(corrupt_pages(PAGES[:2], noise=0.1, drop=0.3)) == told(corrupt_pages(PAGES, noise=0.1, drop=0.3))[:2]


def test_boxes_answers_and_masks_stay_as_they_are() -> None:
    for before, after in zip(PAGES, corrupt_pages(PAGES, noise=0.5, drop=0.5), strict=True):
        assert [word.box for word in before.words] == [word.box for word in after.words]
        assert [(q.question_id, q.answers, q.masks) for q in before.questions] == [
            (q.question_id, q.answers, q.masks) for q in after.questions
        ]


def test_questions_without_word_answers_lose_words_too() -> None:
    """Otherwise long questions would be the unanswerable ones, and telling them apart would be no art."""
    absent = [q.question for one in corrupt_pages(PAGES, drop=0.6) for q in one.questions if not q.answers]
    assert len(absent) == 12
    assert sum(len(text.split()) for text in absent) < 0.8 * 6 * (7 + 5)


def test_pages_are_corrupted_alike_every_time_and_never_without_a_rate() -> None:
    assert list(corrupt_pages(PAGES, noise=0.3, drop=0.3)) == list(corrupt_pages(PAGES, noise=0.3, drop=0.3))
    assert list(corrupt_pages(PAGES)) == list(PAGES)


@pytest.mark.parametrize("rate", [-0.1, 1.5, float("nan")])
def test_a_rate_outside_0_to_1_is_refused_before_anything_is_read(rate: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        corrupt_pages(PAGES, noise=rate)
    with pytest.raises(ValueError, match="between 0 and 1"):
        corrupt_pages(PAGES, drop=rate)
