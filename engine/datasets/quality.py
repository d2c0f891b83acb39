"""Quality checks: reasons for which an accepted answer is unfit for training and evaluation. Pure.

An unfit answer is left out of snapshots, never deleted. It is fit again as soon as it is fixed, and exports can include
it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rapidfuzz.distance import Indel

from engine.annotation.state import AnnotationState, PageGeometry, PageMark, raster
from engine.datasets.weights import DOUBTFUL, HASTY_SECONDS
from model.boxes import Box, FloatBox

MOST_OF_PAGE = 0.6  # share of a page's pixels
LEAST_COVERED = 0.2  # share of the area of the words that an answer names
LEAST_SURE = 0.4  # mean confidence of OCR
SAME_TEXT, SAME_PLACE = 0.5, 0.25  # text similarity and IoU of two answers below which they contradict each other


@dataclass(frozen=True, slots=True)
class SeenWord:
    """Word that an answer was given on: text, box in pixels, and OCR confidence, 0..1."""

    text: str
    box: Box
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class SeenPage:
    """Page that an answer marks: size in pixels, and words by number."""

    width: int
    height: int
    words: Mapping[int, SeenWord]


@dataclass(frozen=True, slots=True)
class Answer:
    """Accepted answer with the inputs of its checks. `seconds` of active work; 0 when unknown."""

    state: AnnotationState
    pages: Mapping[str, SeenPage]
    seconds: float = 0.0
    reliability: float = 1.0  # of its author
    reviewed: bool = False  # by another person than its author

    def marks(self) -> list[tuple[SeenPage, PageMark]]:
        """Return the pages that carry pixels of the answer, with their marks."""
        return [(self.pages[page], self.state.pages[page]) for page in self.state.marked_pages()]

    def text(self) -> str:
        """Return the text of the named words, reduced to letters and digits."""
        named = [
            page.words[number].text for page, mark in self.marks() for number in mark.words if number in page.words
        ]
        return "".join(sign for word in named for sign in word.casefold() if sign.isalnum())


@dataclass(frozen=True, slots=True)
class Check:
    """Quality check; `sentence` explains a failure to people."""

    name: str
    sentence: str
    holds: Callable[[Answer], bool]


def find_failed_checks(answer: Answer) -> list[str]:
    """Return the names of the checks that an answer fails."""
    return [check.name for check in CHECKS if check.holds(answer)]


def nothing_marked(answer: Answer) -> bool:
    """Return whether an answer marks no pixel, although it is not "not in the document"."""
    return not answer.state.no_answer and not any(_pixels(mark) for _, mark in answer.marks())


def far_from_its_words(answer: Answer) -> bool:
    """Return whether the pixels of a page miss the words that the answer names there."""
    for page, mark in answer.marks():
        boxes = [page.words[number].box for number in mark.words if number in page.words]
        area = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in boxes)
        if area and _count_covered_pixels(mark, boxes) < LEAST_COVERED * area:
            return True
    return False


def most_of_the_page(answer: Answer) -> bool:
    """Return whether the answer covers most of a page."""
    return any(_pixels(mark) > MOST_OF_PAGE * page.width * page.height for page, mark in answer.marks())


def words_unread(answer: Answer) -> bool:
    """Return whether OCR confidence of the named words is very low."""
    sure = [
        page.words[number].confidence for page, mark in answer.marks() for number in mark.words if number in page.words
    ]
    known = [confidence for confidence in sure if confidence is not None]
    return bool(known) and fmean(known) < LEAST_SURE


def in_haste(answer: Answer) -> bool:
    """Return whether a person of low agreement answered faster than anybody can read."""
    return not answer.reviewed and 0 < answer.seconds < HASTY_SECONDS and answer.reliability < DOUBTFUL


def contradict(first: Answer, second: Answer) -> bool:
    """Return whether two answers to one question on duplicate pages cannot both be right."""
    if first.state.no_answer or second.state.no_answer:
        return first.state.no_answer != second.state.no_answer
    texts = first.text(), second.text()
    if all(texts):
        return float(Indel.normalized_similarity(*texts)) < SAME_TEXT
    return _iou(_place(first), _place(second)) < SAME_PLACE


def find_contradicted(answers: Sequence[Answer]) -> list[bool]:
    """Return for each answer to one question on duplicate pages whether another one contradicts it.

    A reviewed answer is contradicted by reviewed answers only.
    """
    flags = [False] * len(answers)
    for first_at, first in enumerate(answers):
        for second_at in range(first_at + 1, len(answers)):
            second = answers[second_at]
            if contradict(first, second):
                flags[first_at] |= second.reviewed or not first.reviewed
                flags[second_at] |= first.reviewed or not second.reviewed
    return flags


def _pixels(mark: PageMark) -> int:
    return sum(mark.mask.counts[1::2])


def _count_covered_pixels(mark: PageMark, boxes: Sequence[Box]) -> int:
    """Return the number of mask pixels in the boxes, each box counted separately."""
    left, top, right, bottom = mark.mask.box
    inside = mark.mask.model_copy(update={"box": (0, 0, right - left, bottom - top)})
    pixels = raster(inside, PageGeometry((bottom - top, right - left), {}))
    return sum(
        int(pixels[max(0, y0 - top) : max(0, y1 - top), max(0, x0 - left) : max(0, x1 - left)].sum())
        for x0, y0, x1, y1 in boxes
    )


def _place(answer: Answer) -> FloatBox:
    """Return the box around the mark on the first marked page, in fractions of the page."""
    page, mark = answer.marks()[0]
    x0, y0, x1, y1 = mark.mask.box
    return x0 / page.width, y0 / page.height, x1 / page.width, y1 / page.height


def _iou(first: FloatBox, second: FloatBox) -> float:
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    common = max(0.0, width) * max(0.0, height)
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (first, second)]
    return common / (sum(areas) - common) if sum(areas) > common else 0.0


CONTRADICTED = "contradicted"
CHECKS = (
    Check("nothing_marked", "It is answered, but nothing is marked.", nothing_marked),
    Check("far_from_its_words", "Its mark covers almost nothing of its words.", far_from_its_words),
    Check("most_of_the_page", "It covers most of the page.", most_of_the_page),
    Check("words_unread", "OCR was unsure of its words; fix them on the tab Annotate.", words_unread),
    Check(
        "in_haste",
        "It was given faster than anybody can read, by a person whose answers agree with few others.",
        in_haste,
    ),
)
SENTENCES = {check.name: check.sentence for check in CHECKS} | {
    CONTRADICTED: "A duplicate of the page has another answer to the same question."
}
