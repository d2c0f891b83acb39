"""Weights of labels, from agreement on the same question and from the author's reliability. Pure.

Reliability of person p, from comparisons a in 0..1 with other answers and with gold answers (an IoU of AGREED counts as
1, and so does the equal value of a date, an amount or another type that tells more than its text):

    r_p = (PRIOR + GOLD sum_g a_pg + sum_q r_q a_pq) / (PRIOR + GOLD n_g + sum_q r_q)

A comparison weighs as much as the other person is reliable, so a person who disagrees with everybody lowers nobody's
value. This is the fixed-point iteration of weighted voting (Li and Yu 2014, Error Rate Bounds and Iterative Weighted
Majority Voting for Crowdsourcing), in the spirit of Dawid and Skene 1979. The prior of PRIOR agreeing comparisons gives
1 to a person who was never compared. Who answers in haste agrees with a proposal, and not with people: r_p is
multiplied by the share of the person's answers that took HASTY_SECONDS or more, from FEWEST timed answers on.

Weight of a label of person p, with the other answers q to the same question:

    w = r_p (1 + sum_q r_q a_q) / (1 + sum_q r_q),  and 0 where r_p < LEAST

with r_p = 1 for reviewed and gold answers.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine import plurals
from engine.annotation.agreement import AGREED, Agreement

PRIOR = 4.0  # comparisons
GOLD = 2.0  # comparisons that one gold comparison counts as
LEAST = 0.2  # reliability below which labels weigh 0: 16 comparisons without agreement
DOUBTFUL = 0.5  # reliability below which a person is named
MUCH_HASTE = 0.2  # share of hasty answers from which a person is named
FEWEST = 5  # comparisons needed before a person is named
HASTY_SECONDS = 1.5  # of active work: too short to read a question and a page
_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Reliability:
    """Reliability of a person's answers, 0..1, with the numbers of comparisons behind it.

    `sentence`: names the person when they disagree with everybody else, or answer in haste; otherwise None.
    `hasty_share`: share of their answers that took less than HASTY_SECONDS.
    """

    person: str
    reliability: float
    comparisons: int
    gold_questions: int
    sentence: str | None = None
    hasty_share: float = 0.0


@dataclass(frozen=True, slots=True)
class FinishedAnswers:
    """Number of a person's answers whose seconds are known, and of those that were finished in haste."""

    timed: int
    hasty: int

    @property
    def share(self) -> float:
        """Return the share of hasty answers, 0..1; 0 while there are too few to tell."""
        return self.hasty / self.timed if self.timed >= FEWEST else 0.0


def share_agreed(agreement: Agreement) -> float:
    """Return the agreement of two answers, 0..1: 1 from an IoU of AGREED on, and where they say the same value."""
    return 1.0 if agreement.says_same else min(1.0, agreement.iou / AGREED)


def reliabilities(
    pairs: Mapping[tuple[str, str], Sequence[Agreement]],
    gold: Mapping[str, Sequence[Agreement]],
    finished: Mapping[str, FinishedAnswers] | None = None,
) -> list[Reliability]:
    """Return the reliability of everybody who was compared, the least reliable first.

    `pairs`: two people and their agreements, once each. `gold`: a person's agreements with gold answers. `finished`:
    a person's answers, and those of them given in haste.
    """
    in_haste = {name: answers for name, answers in (finished or {}).items() if answers.share}
    compared: dict[str, list[tuple[str, int, float]]] = defaultdict(list)  # person -> (other person, count, sum)
    for (first, second), agreements in pairs.items():
        total = sum(map(share_agreed, agreements))
        compared[first].append((second, len(agreements), total))
        compared[second].append((first, len(agreements), total))
    known = {
        name: [share_agreed(agreement) for agreement in agreements] for name, agreements in gold.items() if agreements
    }
    people = sorted(compared.keys() | known.keys() | in_haste.keys())
    reliability = dict.fromkeys(people, 1.0)
    for _ in range(_ROUNDS):
        reliability = {
            name: _round(known.get(name, ()), compared[name], reliability) * _care(in_haste.get(name))
            for name in people
        }
    rows = [
        Reliability(
            name,
            round(reliability[name], 4),
            sum(count for _, count, _ in compared[name]),
            len(known.get(name, ())),
            _sentence(name, reliability, compared, known.get(name, ()), in_haste.get(name)),
            round(in_haste[name].share, 4) if name in in_haste else 0.0,
        )
        for name in people
    ]
    return sorted(rows, key=lambda row: (row.reliability, row.person))


def label_weight(reliability: float, votes: Iterable[tuple[float, float]]) -> float:
    """Return the weight of a label, 0..1, from its author's reliability and other votes.

    `votes`: (reliability, agreement) of each other answer, both 0..1.
    """
    if reliability < LEAST:
        return 0.0
    counted = list(votes)
    for_it = sum(voter * agreed for voter, agreed in counted)
    return round(reliability * (1 + for_it) / (1 + sum(voter for voter, _ in counted)), 4)


def _round(known: Sequence[float], compared: Sequence[tuple[str, int, float]], before: Mapping[str, float]) -> float:
    agreed = GOLD * sum(known) + sum(before[person] * total for person, _, total in compared)
    counted = GOLD * len(known) + sum(before[person] * count for person, count, _ in compared)
    return (PRIOR + agreed) / (PRIOR + counted)


def _care(answers: FinishedAnswers | None) -> float:
    return 1.0 - answers.share if answers is not None else 1.0


def _sentence(
    name: str,
    reliability: Mapping[str, float],
    compared: Mapping[str, Sequence[tuple[str, int, float]]],
    known: Sequence[float],
    answers: FinishedAnswers | None,
) -> str | None:
    """Return a sentence on a person who disagrees with everybody else or with gold answers, or answers in haste."""
    if answers is not None and answers.share >= MUCH_HASTE:
        return (
            f"{name} finished {answers.hasty:,} of {answers.timed:,} answers in under {HASTY_SECONDS:g} seconds: "
            "too fast to read question and page."
        )
    mine = compared.get(name, ())
    count = sum(number for _, number, _ in mine)
    if reliability[name] >= DOUBTFUL or count + len(known) < FEWEST:
        return None
    parts = []
    if count:
        share = sum(total for _, _, total in mine) / count
        parts.append(f"with others on {share:.0%} of {plurals.count(count, 'question')}")
    if known:
        parts.append(f"with gold answers on {sum(known) / len(known):.0%} of {len(known)}")
    others = [
        (number, total)
        for person, rows in compared.items()
        for other_person, number, total in rows
        if name not in (person, other_person)
    ]
    sentence = f"{name} agrees {' and '.join(parts)}"
    if others and sum(number for number, _ in others):
        between = sum(total for _, total in others) / sum(number for number, _ in others)
        sentence += f"; the others agree with each other on {between:.0%}"
    elif not known:
        return f"{sentence}. No other people were compared: a third person or gold questions would show who is right."
    weight = f"{reliability[name]:.2f}"
    return f"{sentence}. Check these answers before the next retraining; their weight is {weight} until then."
