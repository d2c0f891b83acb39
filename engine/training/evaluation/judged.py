"""Answers on words of OCR as a person would judge them: is the text right, and is it the right place? Pure.

IoU against the given words' boxes punishes OCR for tighter boxes, which nobody minds. So the text of the answer is
compared with the given text, and masks are compared after both are snapped to the given words.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.fields.answer_text import anls, is_exact
from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from model.boxes import Box
from model.masks import Mask, iou, rasterise, words_under


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement of one answer, best over the acceptable answers."""

    anls: float  # 0..1, see answer_text.anls
    exact: bool  # text equal but for case and white space
    place_iou: float  # of the given words that both answers lie on


@dataclass(frozen=True, slots=True)
class Judged:
    """Judgement of the model's answer and of the lexical baseline's.

    `reachable_exact`: whether the OCR words inside an acceptable mask spell its text, the upper bound of `exact`.
    """

    model: Judgement
    baseline: Judgement
    reachable_exact: bool


def judge(
    page: GroundedPage,
    question: GroundedQuestion,
    read: Sequence[GroundedWord],
    *,
    acceptable: Sequence[Mask],
    model: tuple[Mask, Sequence[int]],
    baseline: tuple[Mask, Sequence[int]],
) -> Judged | None:
    """Judge the answers to one question; None when no words answer it.

    Args:
        page: Page with its given words.
        question: Question with its acceptable answers.
        read: Words of OCR in reading order.
        acceptable: Masks of the acceptable answers, bool [H, W].
        model: The model's mask, bool [H, W], and the indices of the read words that it names.
        baseline: The same of the lexical baseline.
    """
    if not question.answers:
        return None
    texts = [text_of(page.words, answer) for answer in question.answers]
    given_boxes, boxes = [word.box for word in page.words], [word.box for word in read]
    size = (page.height, page.width)
    places = [rasterise([given_boxes[at] for at in words_under(mask, given_boxes)], size) for mask in acceptable]

    def judge_answer(mask: Mask, words: Sequence[int]) -> Judgement:
        """Judge one answer."""
        text = text_of(read, words)
        on = snap_to_words(mask, [boxes[at] for at in words], given_boxes)
        place = rasterise([given_boxes[at] for at in on], size)
        return Judgement(
            anls(text, texts), is_exact(text, texts), max(iou(place, acceptable_place) for acceptable_place in places)
        )

    of_words = acceptable[: len(texts)]  # masks of regions come behind those of words, and have no text
    reachable = any(
        is_exact(text_of(read, words_under(mask, boxes)), [text]) for mask, text in zip(of_words, texts, strict=True)
    )
    return Judged(judge_answer(*model), judge_answer(*baseline), reachable)


def text_of(words: Sequence[GroundedWord], indices: Sequence[int]) -> str:
    """Return the text of some words of a page, joined by spaces in the page's reading order."""
    return " ".join(words[at].text for at in sorted(set(indices)))


def snap_to_words(mask: Mask, read: Sequence[Box], given: Sequence[Box]) -> list[int]:
    """Return the indices of the given words that an answer lies on.

    A given word counts when the mask covers half of it or its centre, or when the centre of a read word of the answer
    lies in it: OCR draws tighter boxes, which may cover less than half.

    Args:
        mask: The answer, bool [H, W].
        read: Boxes (x0, y0, x1, y1) of the read words that the answer names.
        given: Boxes of the given words.
    """
    half = set(words_under(mask, given))
    centres = [centre(box) for box in read]
    return [
        at
        for at, box in enumerate(given)
        if at in half or _covers(mask, centre(box)) or any(holds(box, point) for point in centres)
    ]


def centre(box: Box) -> tuple[float, float]:
    """Return the centre (x, y) of a box (x0, y0, x1, y1)."""
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def holds(box: Box, point: tuple[float, float]) -> bool:
    """Return whether a point (x, y) lies in a box (x0, y0, x1, y1), whose x1 and y1 are exclusive."""
    return box[0] <= point[0] < box[2] and box[1] <= point[1] < box[3]


def _covers(mask: Mask, point: tuple[float, float]) -> bool:
    x, y = int(point[0]), int(point[1])
    return 0 <= y < mask.shape[0] and 0 <= x < mask.shape[1] and bool(mask[y, x])
