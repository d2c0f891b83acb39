"""Refusal of uncertain answers by pixels: below a calibrated confidence nothing is marked.

The confidence is the probability that the mark lies where the answer is (an IoU of at least one tenth), by a logistic
regression on the log odds of the predicted IoU and of the probability that the page answers. It was fitted on 533
questions about regions that pixels decide, a sixth of them about regions that the page lacks, on 500 generated pages of
seed 91 that training never saw, with the shipped weights ffa27d15d166: `python -m tests.benchmarks.model.refusal
--pages 500` fits it again and prints the weights below. Judged by the fit of the other half of the pages, it separates
marks in the right place from others with an area under the curve of .88.

The threshold is the lowest of seven steps at which .85 of the marks that are shown lie where the answer is: .86,
against .74 of all. It keeps .91 of those that do.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from model.drawn_prompts import shows_a_place
from model.examples import Prompt

if TYPE_CHECKING:
    from model.answers import Answer

THRESHOLD = 0.6
_PREDICTED, _ANSWERED, _CONSTANT = 1.067, 0.105, 1.258
_HELD = 0.01  # probabilities are held this far from 0 and 1
# Of a declined answer: the page doubts that there is an answer, but no label is contradicted by it.
_DOUBT = 0.45


def confidence(predicted: float, answered: float) -> float:
    """Return the probability that the pixels of an answer lie where the answer is, 0..1.

    Args:
        predicted: predicted IoU, 0..1.
        answered: probability that the page answers, 0..1.
    """
    return 1 / (1 + math.exp(-(_PREDICTED * _log_odds(predicted) + _ANSWERED * _log_odds(answered) + _CONSTANT)))


def or_declined(answer: Answer, prompt: Prompt, most: int) -> Answer:
    """Return an answer by pixels, or one that marks nothing where the confidence is below THRESHOLD.

    Of one that is shown the confidence becomes the probability that the page answers: the word path knows little of
    regions. A declined answer keeps its pixels among its candidates. A person who pointed at a place is always
    answered.

    Args:
        answer: answer whose mask comes from the pixel path.
        prompt: what was asked.
        most: number of candidates.
    """
    if shows_a_place(prompt) or not answer.mask.any():
        return answer
    sure = confidence(answer.score, answer.answered)
    if sure >= THRESHOLD:
        return replace(answer, answered=sure)
    candidates = [replace(answer, candidates=[]), *answer.candidates][:most]
    return replace(
        answer,
        mask=np.zeros_like(answer.mask),
        words=[],
        text="",
        answered=min(answer.answered, _DOUBT),
        candidates=sorted(candidates, key=lambda candidate: -candidate.score),
    )


def _log_odds(share: float) -> float:
    held = min(max(share, _HELD), 1 - _HELD)
    return math.log(held / (1 - held))
