"""What labels weigh: by agreement, and by how reliable their author was so far."""

import pytest

from engine.annotation.agreement import Agreement
from engine.datasets.weights import LEAST, label_weight, reliabilities, share_agreed

YES, NO = Agreement(0.9, 1.0), Agreement(0.0, 0.0)


def test_who_was_never_compared_weighs_one() -> None:
    assert reliabilities({}, {}) == []
    assert label_weight(1.0, []) == 1.0


def test_agreement_that_is_good_enough_counts_wholly() -> None:
    assert share_agreed(Agreement(0.8, None)) == share_agreed(Agreement(1.0, None)) == 1.0
    assert share_agreed(Agreement(0.375, None)) == 0.5


def test_who_disagrees_with_everybody_falls_alone_and_is_named_first() -> None:
    found = reliabilities({("Ann", "Ben"): [YES] * 20, ("Ann", "Mal"): [NO] * 20, ("Ben", "Mal"): [NO] * 20}, {})
    assert [row.person for row in found] == ["Mal", "Ann", "Ben"]
    mal, ann, ben = found
    assert mal.reliability < LEAST < 0.85 < ann.reliability == ben.reliability
    assert mal.sentence is not None
    assert "Mal agrees with others on 0% of 40 questions; the others agree with each other on 100%." in mal.sentence
    assert ann.sentence is None and ben.sentence is None


def test_two_who_disagree_are_doubted_alike_and_nobody_is_silenced() -> None:
    one, other = reliabilities({("Ann", "Ben"): [NO] * 30}, {})
    assert one.reliability == other.reliability > LEAST
    assert one.sentence is not None and "a third person or gold questions would show who is right" in one.sentence


def test_known_answers_tell_who_is_right() -> None:
    one, other = reliabilities({("Ann", "Ben"): [NO] * 10}, {"Ann": [YES] * 5, "Ben": [NO] * 5})
    assert (one.person, other.person) == ("Ben", "Ann")
    assert one.reliability < 0.4 < 0.6 < other.reliability
    assert one.sentence is not None and "with gold answers on 0% of 5" in one.sentence


def test_reliability_is_what_its_equation_says() -> None:
    found = {row.person: row.reliability for row in reliabilities({("Ann", "Ben"): [YES, NO]}, {"Ann": [YES]})}
    ann = (4 + 2 * 1 + found["Ben"] * 1) / (4 + 2 * 1 + found["Ben"] * 2)
    ben = (4 + found["Ann"] * 1) / (4 + found["Ann"] * 2)
    assert found["Ann"] == pytest.approx(ann, abs=1e-3)
    assert found["Ben"] == pytest.approx(ben, abs=1e-3)


def test_a_few_comparisons_name_nobody() -> None:
    worst = reliabilities({("Ann", "Mal"): [NO] * 2, ("Ben", "Mal"): [NO] * 2, ("Ann", "Ben"): [YES] * 2}, {})[0]
    assert worst.person == "Mal" and worst.sentence is None


def test_a_label_falls_with_the_votes_against_it_and_with_its_author() -> None:
    assert label_weight(1.0, [(1.0, 1.0)]) == 1.0
    assert label_weight(1.0, [(1.0, 0.0)]) == 0.5
    assert label_weight(1.0, [(1.0, 0.0), (1.0, 0.0)]) == pytest.approx(1 / 3, abs=1e-4)
    assert label_weight(1.0, [(0.1, 0.0)]) > 0.9, "a vote counts what the voter is worth"
    assert label_weight(0.6, []) == 0.6
    assert label_weight(LEAST - 0.01, [(1.0, 1.0)]) == 0.0
