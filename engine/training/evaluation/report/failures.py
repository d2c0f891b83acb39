"""Failures of an evaluation: their kinds, derived from the masks, and the worst of each kind."""

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
_SURE = 0.5  # probability below which the model says "not in the document"
_SLACK = 0.1  # share of a region that a mask may miss or exceed: its edge is drawn by hand, or by OCR

Patch = dict[str, list[int]]


class Kind(StrEnum):
    """Kind of a failure, in the order of a report."""

    MISSED = "missed"
    TOO_MUCH = "too much"
    TOO_LITTLE = "too little"
    BOTH = "too much and too little"
    NOT_HERE = "wrongly \u201cnot on this page\u201d"
    INVENTED = "wrongly answered"


MEANING = {
    Kind.MISSED: "Nothing of the answer is marked.",
    Kind.TOO_MUCH: "The answer is marked, and more.",
    Kind.TOO_LITTLE: "A part of the answer is marked, and nothing else.",
    Kind.BOTH: "A part of the answer is marked, and something else.",
    Kind.NOT_HERE: "The answer is on the page; its predicted probability is below 0.5.",
    Kind.INVENTED: "The answer is not on the page; its predicted probability is 0.5 or more.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Wrong answer; masks are patches (model.masks) on the page, `gold` is empty without an answer."""

    kind: Kind
    page: GroundedPage
    question: str
    gold: Patch
    marked: Patch
    by_baseline: Patch
    gold_text: str
    marked_text: str
    scored: Scored


def kind_of(scored: Scored, marked: Mask, gold: Mask | None) -> Kind | None:
    """Return the kind of failure of a mask; None for a right one.

    `gold`: the nearest acceptable answer. Compared words must match exactly; regions may differ by a tenth of either
    mask. On words of OCR an answer that lies on the right given words is right.
    """
    if not scored.answerable or gold is None:
        return Kind.INVENTED if scored.answered >= _SURE else None
    if scored.answered < _SURE:
        return Kind.NOT_HERE
    if scored.word_f1 == 1 or (scored.judged is not None and scored.judged.model.place_iou == 1):
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
    """Collector of the failures of an evaluation."""

    def __init__(self, most: int = MOST) -> None:
        """Create an empty collector; `most` is the number of failures to show."""
        self._most = most
        self._found: dict[Kind, list[Failure]] = {kind: [] for kind in Kind}

    def add(self, answered: Answered) -> None:
        """Add an answer; kept when it is wrong."""
        gold_at = _nearest(answered)
        gold = None if gold_at is None else answered.acceptable[gold_at]
        kind = kind_of(answered.scored, answered.answer.mask, gold)
        if kind is not None:
            self._found[kind].append(_failure(kind, answered, gold, gold_at))

    @property
    def counts(self) -> dict[Kind, int]:
        """Return the number of failures of each kind, in the order of a report."""
        return {kind: len(failures) for kind, failures in self._found.items() if failures}

    @property
    def shown(self) -> int:
        """Return the number of failures that `worst` returns."""
        return min(self._most, sum(self.counts.values()))

    def worst(self) -> dict[Kind, list[Failure]]:
        """Return the failures to show, worst first.

        Kinds take turns, and pages within a kind, so that the pictures vary.
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
    """Return the worst of each page, then the second of each, and so on."""
    turns: Counter[str] = Counter()
    placed = []
    for failure in sorted(failures, key=_goodness):
        placed.append((turns[failure.page.page_id], failure))
        turns[failure.page.page_id] += 1
    return [failure for _, failure in sorted(placed, key=lambda pair: pair[0])]


def _goodness(failure: Failure) -> tuple[float, float]:
    """Return the sort key: largest error first, then highest confidence."""
    if failure.kind is Kind.INVENTED:
        return -failure.scored.answered, -failure.scored.predicted_iou
    if failure.kind is Kind.NOT_HERE:
        return failure.scored.answered, 0.0
    return failure.scored.iou, -failure.scored.predicted_iou


def _nearest(answered: Answered) -> int | None:
    """Return the acceptable answer nearest to the model's, the first of equals; None without any."""
    ious = [iou(answered.answer.mask, answer) for answer in answered.acceptable]
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
        by_baseline=encode_patch(answered.by_baseline),
        gold_text=gold_text,
        marked_text=answered.answer.text,
        scored=answered.scored,
    )
