"""Evaluation of a predictor on hand-drawn marks: each question without and with clicks, by answer and by pixels."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from PIL import Image

from engine.grounded import GroundedPage
from engine.training.evaluation.evaluate import Answered, evaluate
from engine.training.evaluation.marks_figures import MarkScore, to_json
from model.inference import Predictor


@dataclass(frozen=True, slots=True)
class MarksEvaluation:
    """Result of an evaluation on marks, question by question."""

    version: str  # of the predictor
    pages: int
    clicks: int
    scores: tuple[MarkScore, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the figures after one click and after the last, by type of region."""
        reported = sorted({number for number in (1, self.clicks) if number})
        return {
            "model": self.version,
            "pages": self.pages,
            "clicks": reported,
            **to_json(self.scores, reported),
        }


def evaluate_marks(
    predictor: Predictor,
    pages: Iterable[GroundedPage],
    *,
    clicks: int = 3,
    on_page: Callable[[int], None] | None = None,
) -> MarksEvaluation:
    """Ask every question about the marked pages, then correct the answer, and the pixel path alone, by clicks.

    Args:
        predictor: model to evaluate.
        pages: pages of `marked_pages`, whose ids begin with the file's SHA-256.
        clicks: number of corrective clicks.
        on_page: called with the number of finished pages.

    Raises:
        ValueError: an image has not the page's size, or the page has too many words.
    """
    scores: list[MarkScore] = []
    done = 0
    for done, page in enumerate(pages, 1):
        answers: list[Answered] = []
        evaluate(predictor, [page], images_from=_picture, clicks=clicks, on_answer=answers.append)
        by_pixels = evaluate(predictor, [page], images_from=_picture, clicks=clicks, corrected="pixels").scored
        scores += [
            MarkScore(
                file=page.page_id.partition("-")[0],
                region_type=str(answered.question.region_type),
                shown=bool(answered.answer.mask.any()),
                answered=answered.scored.answered,
                iou=answered.scored.iou,
                after=answered.scored.after_clicks,
                pixel_iou=pixels.pixel_iou or 0.0,
                pixel_after=pixels.after_clicks,
            )
            for answered, pixels in zip(answers, by_pixels, strict=True)
        ]
        if on_page is not None:
            on_page(done)
    return MarksEvaluation(predictor.version, done, clicks, tuple(scores))


def _picture(page: GroundedPage) -> Image.Image:
    assert page.image is not None
    with Image.open(page.image) as image:
        return image.convert("RGB")
