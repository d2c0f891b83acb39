"""A group's split: fixed shares, drawn by nobody's choice."""

from collections import Counter

from engine.documents.duplicates.groups import split_of


def test_the_first_group_of_a_project_trains() -> None:
    assert all(split_of(f"project {number}", 0) == "train" for number in range(300))


def test_every_ten_groups_hold_seven_two_and_one() -> None:
    for block in range(5):
        splits = Counter(split_of("some project", block * 10 + place) for place in range(10))
        assert splits == {"train": 7, "recent": 2, "frozen": 1}


def test_the_split_is_a_function_of_project_and_place_alone() -> None:
    first = [split_of("a", place) for place in range(50)]
    assert first == [split_of("a", place) for place in range(50)]
    assert first != [split_of("b", place) for place in range(50)]


def test_no_place_is_always_a_holdout() -> None:
    for place in range(1, 10):
        splits = Counter(split_of(f"project {number}", place) for number in range(500))
        assert 0.6 < splits["train"] / 500 < 0.8
