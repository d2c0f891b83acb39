"""The order in which pages are looked at: what each rule does, on arrays made for it."""

import numpy as np
import pytest

from engine.selection.ordering import AGE_EVERY, order

RNG = np.random.default_rng(3)


def reasons(chosen, kind: str) -> list[int]:  # type: ignore[no-untyped-def]
    return [each.index for each in chosen if each.reason == kind]


def test_where_all_pages_look_alike_the_unsure_ones_come_first() -> None:
    unsure = np.array([0.1, 0.9, 0.3, 0.7, 0.5])
    chosen = order(unsure, np.ones((5, 4)), 5, random_share=0)
    assert [each.index for each in chosen] == [1, 3, 4, 2, 0]
    assert {each.reason for each in chosen} == {"model"}


def test_a_kind_that_was_picked_waits_until_the_other_kinds_were() -> None:
    """Three kinds; all of the first are the most uncertain. By uncertainty alone the first ten would be of one kind."""
    kinds = np.repeat([0, 1, 2], 20)
    features = np.eye(3)[kinds] + RNG.normal(0, 0.01, (60, 3))
    unsure = np.where(kinds == 0, 0.9, 0.5) + RNG.uniform(0, 0.05, 60)
    first = [kinds[each.index] for each in order(unsure, features, 3, random_share=0)]
    assert sorted(first) == [0, 1, 2]
    assert first[0] == 0


def test_an_outlier_that_the_model_is_sure_of_is_not_taken_for_being_far() -> None:
    features = np.concatenate([RNG.normal((1, 0), 0.2, (30, 2)), RNG.normal((-1, 0), 0.2, (30, 2)), [[0, 5]]])
    unsure = np.concatenate([RNG.uniform(0.5, 0.6, 60), [0.01]])
    assert 60 not in [each.index for each in order(unsure, features, 20, random_share=0)]


def test_what_looks_like_answered_pages_comes_later() -> None:
    features = np.array([[1.0, 0.0], [0.99, 0.01], [0.0, 1.0]])
    alone = order([0.6, 0.6, 0.5], features, 1, random_share=0)
    assert alone[0].index == 0
    assert order([0.6, 0.6, 0.5], features, 1, random_share=0, known=[[1.0, 0.0]])[0].index == 2


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_the_random_share_is_kept_and_spread(share: float) -> None:
    chosen = order(RNG.uniform(0, 1, 100), RNG.normal(0, 1, (100, 8)), 50, random_share=share)
    assert sorted(each.index for each in chosen) == sorted({each.index for each in chosen})
    for upto in (5, 10, 25, 50):
        assert abs(len(reasons(chosen[:upto], "random")) - share * upto) <= 1


def test_the_random_ones_are_a_fair_sample_of_all_pages_also_of_the_unsure_ones() -> None:
    """Drawn from what the model left over, the control would lack the hardest pages."""
    unsure = np.linspace(0, 1, 200)
    drawn = [
        unsure[each]
        for seed in range(60)
        for each in reasons(order(unsure, np.ones((200, 2)), 100, 0.2, seed), "random")
    ]
    assert len(drawn) == 60 * 20
    error = 1 / np.sqrt(12 * len(drawn))
    assert abs(np.mean(drawn) - 0.5) < 4 * error
    assert abs(np.mean(np.array(drawn) > 0.75) - 0.25) < 4 * np.sqrt(0.25 * 0.75 / len(drawn))


def test_the_same_seed_gives_the_same_order_and_another_one_another() -> None:
    unsure, features = RNG.uniform(0, 1, 40), RNG.normal(0, 1, (40, 6))
    assert order(unsure, features, 20, 0.3, 7) == order(unsure, features, 20, 0.3, 7)
    assert order(unsure, features, 20, 0.3, 7) != order(unsure, features, 20, 0.3, 8)


def test_every_fourth_place_goes_to_a_document_that_has_waited() -> None:
    unsure = np.concatenate([np.zeros(6), np.full(60, 0.9)])
    chosen = order(unsure, RNG.normal(0, 1, (66, 4)), 40, 0.2, waiting=[5, 4, 3, 2, 1, 0])
    old = [(at, each.index) for at, each in enumerate(chosen) if each.index < 6]
    assert [index for at, index in old if chosen[at].reason == "age"] == [
        index for index in (5, 4, 3, 2, 1, 0) if index in reasons(chosen, "age")
    ]
    assert {index for _, index in old} == set(range(6))
    assert max(at for at, _ in old) <= 6 * AGE_EVERY - 1
    assert abs(len(reasons(chosen, "random")) - 8) <= 1  # the control does not pay for it


def test_every_page_gets_a_place_when_all_are_asked_for() -> None:
    chosen = order(RNG.uniform(0, 1, 37), RNG.normal(0, 1, (37, 3)), 1000, 0.35, waiting=[3, 9])
    assert sorted(each.index for each in chosen) == list(range(37))


def test_no_page_no_order_and_arrays_that_do_not_fit_are_refused() -> None:
    assert order([], np.zeros((0, 4)), 5) == []
    with pytest.raises(ValueError, match="do not fit"):
        order([0.5, 0.5], np.zeros((3, 4)), 2)
    with pytest.raises(ValueError, match="share"):
        order([0.5], np.zeros((1, 4)), 1, random_share=1.5)
