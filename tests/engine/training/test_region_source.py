"""Pages that are asked for their regions."""

from __future__ import annotations

from itertools import islice

import pytest

from engine.synthetic import generate
from engine.training.sources import region_source as sources
from engine.training.sources.region_source import region_source, without_words

STEPS = 12


@pytest.fixture(autouse=True)
def few_pages_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw sixteen pages at once, where training draws 48."""
    monkeypatch.setattr(sources, "_BLOCK", 16)


def test_a_step_gives_pages_alike_in_shape_with_as_many_questions_each() -> None:
    source = region_source(1, long_side=64, pages=2, questions=6, pool=16)
    for step in range(STEPS):
        first, second = source(step)
        assert len(first.questions) == len(second.questions) == 6
        shapes = [one.size[0] / one.size[1] for one in (first, second)]
        assert max(shapes) < 2 * min(shapes)
        assert all(one.image is not None and max(one.image.size) == 64 for one in (first, second))


def test_about_half_of_the_steps_are_scans_without_words_some_without_answer() -> None:
    source = region_source(1, long_side=64, pages=2, questions=8, pool=16)
    examples = [source(step) for step in range(STEPS)]
    unread = [all(not page.words for page in pages) for pages in examples]
    assert 2 < sum(unread) < STEPS - 2
    assert all(not any(q.answers for q in page.questions) for pages in examples for page in pages)
    absent = [not question.answered for pages in examples for page in pages for question in page.questions]
    assert 0.03 < sum(absent) / len(absent) < 0.3


def test_the_same_step_gives_the_same_whatever_was_asked_before() -> None:
    one, other = (region_source(3, long_side=64, pool=32) for _ in range(2))
    for step in (0, 5, 30):
        one(step)
    for first, second in zip(one(30), other(30), strict=True):
        assert first.size == second.size and [q.text for q in first.questions] == [q.text for q in second.questions]
        assert first.image is not None and second.image is not None
        assert first.image.tobytes() == second.image.tobytes()


def test_each_page_is_seen_once_before_any_is_seen_again() -> None:
    source = region_source(2, long_side=64, pages=2, questions=2, pool=16)
    seen = [page.image.tobytes() for step in range(8) for page in source(step) if page.image is not None]
    assert len(seen) == len(set(seen)) == 16
    assert {page.image.tobytes() for step in range(8, 16) for page in source(step) if page.image} == set(seen)


def test_a_page_without_words_is_asked_for_regions_of_the_named_type() -> None:
    checked = 0
    for made in islice(generate(6), 60):
        for kind in {question.region_type for question in made.page.questions if question.masks}:
            page = without_words(made.page, kind)
            assert not page.words and all(q.masks and not q.answers and q.region_type == kind for q in page.questions)
            checked += 1
    assert checked > 5
