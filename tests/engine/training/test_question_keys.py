"""Questions as people ask them, keys as papers print them, and what the figures make of vectors of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from engine.training.pretraining.question_keys import question_key_figures, question_keys


def words_of(text: str) -> set[str]:
    return {word.strip("?.,:()#").casefold() for word in text.split()}


def test_each_question_has_a_key_and_a_near_one_of_its_own() -> None:
    asked = question_keys()
    assert len(asked) == len({one.question for one in asked}) == len({one.key.casefold() for one in asked}) == 100
    assert all(one.key.casefold() != one.near.casefold() for one in asked)


def test_words_alone_do_not_tell_the_right_keys() -> None:
    asked = question_keys()
    shared = [len(words_of(one.question) & words_of(one.key)) for one in asked]
    assert sum(count > 0 for count in shared) < 15


def test_vectors_that_know_the_keys_score_one() -> None:
    place = {text: at for at, one in enumerate(question_keys()) for text in (one.question, one.key)}
    near = {one.near for one in question_keys()} - set(place)

    def vectors(texts: Sequence[str]) -> Tensor:
        return torch.stack([torch.eye(101)[100 if text in near else place[text]] for text in texts])

    found = question_key_figures(vectors)
    assert found["key_found"] == 1 and found["key_above_near"] == 1 and found["question_key_auroc"] == 1


def test_vectors_without_meaning_score_by_chance() -> None:
    generator = torch.Generator().manual_seed(0)
    found = question_key_figures(lambda texts: torch.randn(len(texts), 64, generator=generator))
    assert found["question_key_auroc"] == pytest.approx(0.5, abs=0.12) and found["key_found"] < 0.05
