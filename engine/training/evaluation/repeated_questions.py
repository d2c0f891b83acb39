"""Questions that a page is asked several times in the same words, with a different right answer each time. Pure.

Forms ask so where they print a key more than once. One shown answer cannot be right for all of them; the others must be
among the candidates.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from engine.grounded import GroundedPage, GroundedQuestion
from engine.training.evaluation.metrics import HIT, Scored

_WORD = re.compile(r"\w+")


def repeated_questions(page: GroundedPage) -> set[str]:
    """Return the ids of answerable questions that stand on the page again with other answers.

    Questions are compared without case and signs.
    """
    alike: dict[str, list[GroundedQuestion]] = defaultdict(list)
    for question in page.questions:
        if question.answerable:
            alike[" ".join(_WORD.findall(question.question.casefold()))].append(question)
    return {
        question.question_id
        for questions in alike.values()
        if any(
            (repetition.answers, repetition.masks) != (questions[0].answers, questions[0].masks)
            for repetition in questions
        )
        for question in questions
    }


def repeated_figures(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return the figures of repeated questions as JSON.

    Returns:
        "questions": their number; "first" and "shown": the shares (0..1, None without any) whose answer, and whose
        answer or one of its candidates, has an IoU above one half.
    """
    repeated = [score for score in scored if score.repeated]
    if not repeated:
        return {"questions": 0, "first": None, "shown": None}
    return {
        "questions": len(repeated),
        "first": round(sum(score.iou > HIT for score in repeated) / len(repeated), 6),
        "shown": round(sum((score.shown_iou or 0.0) > HIT for score in repeated) / len(repeated), 6),
    }
