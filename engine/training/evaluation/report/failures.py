"""What went wrong with an answer, told from its mask, and the worst answers of each kind."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from engine.grounded import GroundedPage
from engine.training.evaluation.evaluate import Answered
from engine.training.evaluation.metrics import Scored
from model.masks import Mask, encode_patch, iou

MOST = 40  # pictures of a report
_SURE = 0.5  # a model that is less sure says "not here"
_SLACK = 0.1  # share of a region that a mask may miss or have too much: its edge is drawn by hand, or by OCR

Patch = dict[str, list[int]]


class Kind(StrEnum):
    """A kind of failure, in the order of a report."""

    MISSED = "missed"
    TOO_MUCH = "too much"
    TOO_LITTLE = "too little"
    BOTH = "too much and too little"
    NOT_HERE = "said \u201cnot here\u201d"
    INVENTED = "found what is not there"


MEANING = {
    Kind.MISSED: "Nothing of the answer is marked.",
    Kind.TOO_MUCH: "The answer is marked, and more.",
    Kind.TOO_LITTLE: "A part of the answer is marked, and nothing else.",
    Kind.BOTH: "A part of the answer is marked, and something else.",
    Kind.NOT_HERE: "The answer is on the page; the model gives it less than even odds.",
    Kind.INVENTED: "The answer is not on the page; the model gives it even odds or more.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A question that was answered wrong. Masks are patches (model.masks) on the page; `gold` is empty where there is no answer."""

    kind: Kind
    page: GroundedPage
    question: str
    gold: Patch
    marked: Patch
    by_floor: Patch
    gold_text: str
    marked_text: str
    scored: Scored


def kind_of(scored: Scored, marked: Mask, gold: Mask | None) -> Kind | None:
    """What is wrong with the mask of an answer, `gold` being the acceptable answer nearest to it; None if nothing.

    Where words are compared, any word too many or too few counts; of regions a tenth of either mask is forgiven.
    """
    if not scored.answerable or gold is None:
        return Kind.INVENTED if scored.answered >= _SURE else None
    if scored.answered < _SURE:
        return Kind.NOT_HERE
    if scored.word_f1 == 1:
        return None
    slack = _SLACK if scored.word_f1 is None else 0.0
    both = np.count_nonzero(marked & gold)
    if not both:
        return Kind.MISSED
    whole = both >= (1 - slack) * np.count_nonzero(gold)
    alone = both >= (1 - slack) * np.count_nonzero(marked)
    if whole and alone:
        return None
    return Kind.TOO_MUCH if whole else Kind.TOO_LITTLE if alone else Kind.BOTH


class Failures:
    """Collects the failures of an evaluation."""

    def __init__(self, most: int = MOST) -> None:
        """`most`: how many of them are to be shown."""
        self._most = most
        self._found: dict[Kind, list[Failure]] = {kind: [] for kind in Kind}

    def add(self, answered: Answered) -> None:
        """Look at an answer, and keep it if it is wrong."""
        gold_at = _nearest(answered)
        gold = None if gold_at is None else answered.acceptable[gold_at]
        kind = kind_of(answered.scored, answered.answer.mask, gold)
        if kind is not None:
            self._found[kind].append(_failure(kind, answered, gold, gold_at))

    @property
    def counts(self) -> dict[Kind, int]:
        """How many there are of each kind, in the order of a report."""
        return {kind: len(found) for kind, found in self._found.items() if found}

    @property
    def shown(self) -> int:
        """How many `worst` returns."""
        return min(self._most, sum(self.counts.values()))

    def worst(self) -> dict[Kind, list[Failure]]:
        """At most so many failures, worst first. Every kind gets its turn, and within a kind every page: forty times the same
        would tell little.
        """
        taken = dict.fromkeys(Kind, 0)
        left = self.shown
        while left:
            for kind in Kind:
                if left and taken[kind] < len(self._found[kind]):
                    taken[kind] += 1
                    left -= 1
        return {kind: _by_turns(self._found[kind])[: taken[kind]] for kind in Kind if taken[kind]}


def _by_turns(failures: Sequence[Failure]) -> list[Failure]:
    """The worst of each page, then the second of each, and so on; worst first in each turn."""
    turns: Counter[str] = Counter()
    placed = []
    for one in sorted(failures, key=_goodness):
        placed.append((turns[one.page.page_id], one))
        turns[one.page.page_id] += 1
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]


def _goodness(one: Failure) -> tuple[float, float]:
    """The lowest is the worst: wrong by most, then wrong with most confidence."""
    if one.kind is Kind.INVENTED:
        return -one.scored.answered, -one.scored.predicted_iou
    if one.kind is Kind.NOT_HERE:
        return one.scored.answered, 0.0
    return one.scored.iou, -one.scored.predicted_iou


def _nearest(answered: Answered) -> int | None:
    """The acceptable answer that the model came nearest to, the first of equals; None where there is none."""
    ious = [iou(answered.answer.mask, one) for one in answered.acceptable]
    return ious.index(max(ious)) if ious else None


def _failure(kind: Kind, answered: Answered, gold: Mask | None, gold_at: int | None) -> Failure:
    page, question = answered.page, answered.question
    if gold_at is None:
        gold_text = ""
    elif gold_at < len(question.answers):
        gold_text = " ".join(page.words[at].text for at in question.answers[gold_at])
    else:
        gold_text = f"({question.region_type or 'a region'})"
    return Failure(
        kind=kind,
        page=page,
        question=question.question,
        gold=encode_patch(np.zeros((page.height, page.width), bool) if gold is None else gold),
        marked=encode_patch(answered.answer.mask),
        by_floor=encode_patch(answered.by_floor),
        gold_text=gold_text,
        marked_text=answered.answer.text,
        scored=answered.scored,
    )
