"""Answers of the model to questions about pages, and the rows that store them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from db.session import Encoded
from db.tables import Prediction
from engine.annotation.page_cache import CachedPage
from engine.annotation.predictors import Loaded
from engine.annotation.proposal import Candidate, RankedPage, StoredAnswer
from engine.annotation.state import to_patch
from engine.annotation.survey_answers import Prepared

if TYPE_CHECKING:
    from model.answers import Answer


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """Answer of one page."""

    page_id: str
    cached: CachedPage
    answer: "Answer"
    milliseconds: float

    @property
    def worth(self) -> float:
        """Rank of the page: probability that it answers, times the predicted IoU."""
        return self.answer.answered * self.answer.score

    @property
    def marks(self) -> bool:
        """Whether anything is marked: a page whose answer was declined comes after all others."""
        return bool(np.any(self.answer.mask))

    def to_ranked(self) -> RankedPage:
        """Return the page with its scores, as stored in the ranking."""
        return RankedPage(page_id=self.page_id, answered=float(self.answer.answered), score=float(self.answer.score))


def ranked_so_far(proposal: Prediction | None) -> list[RankedPage]:
    """Return the pages already asked; only the proposal's page when no ranking was stored."""
    if proposal is None:
        return []
    ranked = [RankedPage.model_validate(page) for page in proposal.answer.get("ranked", [])]
    return ranked or [RankedPage(page_id=proposal.page_id, answered=proposal.answered, score=proposal.score)]


def stored_answer(answer: "Answer", numbers: Sequence[int]) -> StoredAnswer:
    """Convert an answer of the model to its stored form; words become their stable numbers."""
    return StoredAnswer(
        **_candidate(answer, numbers).model_dump(),
        candidates=[_candidate(candidate, numbers) for candidate in answer.candidates],
        repeated=answer.repeated,
    )


def _candidate(answer: "Answer", numbers: Sequence[int]) -> Candidate:
    return Candidate(
        words=[numbers[index] for index in answer.words],
        mask=to_patch(np.asarray(answer.mask, dtype=bool)),
        text=answer.text,
        score=float(answer.score),
        place=answer.place,
    )


def build_prediction(
    annotation_id: str,
    page_id: str,
    question_id: str,
    loaded: Loaded | None,
    stored: StoredAnswer,
    answer: "Answer | Prepared",
    milliseconds: float,
    prompts: dict[str, Any],
) -> Prediction:
    """Return the row of an answer of the model; its JSON is encoded already. `loaded`: None for a model of others."""
    return Prediction(
        annotation_id=annotation_id,
        page_id=page_id,
        question_id=question_id,
        model_version_id=loaded.version.id if loaded is not None else None,
        outside_model_id=answer.outside_model_id if isinstance(answer, Prepared) else None,
        prompts=prompts,
        answer=Encoded(stored.model_dump_json()),
        score=float(answer.score),
        answered=float(answer.answered),
        milliseconds=milliseconds,
    )
