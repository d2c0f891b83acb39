"""Evaluation of a predictor on pages with known answers, compared with the lexical baseline."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from PIL import Image

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.run_lengths import decode_rle
from engine.training.evaluation import lexical_baseline
from engine.training.evaluation.clicks import Click, next_click
from engine.training.evaluation.judged import judge
from engine.training.evaluation.metric_intervals import metric_intervals
from engine.training.evaluation.metrics import (
    Figures,
    Scored,
    best_iou,
    best_word_f1,
    summarise,
    to_json,
    values_by_type,
)
from engine.training.evaluation.repeated_questions import repeated_figures, repeated_questions
from engine.training.evaluation.slices import places, slices
from model.answers import questions_at_once
from model.inference import Answer, EncodedPage, Predictor, Word
from model.masks import Mask, iou, rasterise, words_under
from model.ranking.keys import find_keys, plain_cell

if TYPE_CHECKING:
    from engine.training.evaluation.judged_values import JudgedValues, KnownValues

Corrected = Literal["answer", "pixels"]  # mask that clicks correct
_LISTED, _LISTED_REPEATED = 3, 9  # proposals on the page: see `choices` in annotator/static/state/answer.js
ImageOf = Callable[[GroundedPage], Image.Image | None]
WordsOf = Callable[[GroundedPage], Sequence[GroundedWord]]


@dataclass(frozen=True, slots=True)
class Answered:
    """Question with the model's answer and its score; masks are bool [H, W] of the page."""

    page: GroundedPage
    question: GroundedQuestion
    answer: Answer
    by_baseline: Mask
    acceptable: Sequence[Mask]
    scored: Scored


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of an evaluation, question by question."""

    version: str  # of the predictor
    pages: int
    encode_ms: tuple[float, ...]  # one a page
    scored: tuple[Scored, ...]

    @property
    def figures(self) -> Figures:
        """Return the figures of all questions."""
        return summarise(self.scored)

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON: also "interval" of the main ones, "repeated" questions, and "by" slices.

        "values_by_type" has the figures of values, where some are known. Slices hold answerable questions; all share
        the same unanswerable ones.
        """
        absent = [score for score in self.scored if not score.answerable]
        return {
            "model": self.version,
            "pages": self.pages,
            **to_json(self.figures),
            "encode_ms_p50": round(float(np.median(self.encode_ms)), 2) if self.encode_ms else None,
            "interval": metric_intervals(self.scored),
            "repeated": repeated_figures(self.scored),
            **({"values_by_type": types} if (types := values_by_type(self.scored)) else {}),
            "by": {
                name: {value: to_json(summarise(part, absent)) for value, part in parts.items()}
                for name, parts in slices(self.scored).items()
            },
        }


def evaluate(
    predictor: Predictor,
    pages: Iterable[GroundedPage],
    *,
    images_from: Path | ImageOf | None = None,
    words_from: WordsOf | None = None,
    values: "KnownValues | None" = None,
    clicks: int = 0,
    corrected: Corrected = "answer",
    both_paths: bool = False,
    limit: int | None = None,
    timed: bool = True,
    on_page: Callable[[int], None] | None = None,
    on_answer: Callable[[Answered], None] | None = None,
    should_stop: Callable[[], object] | None = None,
) -> Evaluation:
    """Ask every question of the first `limit` pages and score the masks, in pixels of the page.

    Args:
        predictor: Model to evaluate.
        pages: Pages with questions and acceptable answers.
        images_from: Folder of the pages' images, or a function that opens them; None uses words only.
        words_from: Words to ask instead of the given ones. Scored against the given words' boxes, and by text and
            place (judged.py); word metrics are omitted.
        values: Fields of the questions and accepted values, to judge answers as values too.
        clicks: Number of corrective clicks after each answer.
        corrected: "answer" or "pixels": the mask that clicks correct; "pixels" takes `both_paths`.
        both_paths: Answer by pixels too where words answer, and score that path alone. It takes longer.
        limit: Number of pages; None for all.
        timed: Ask one question at a time to measure it; otherwise several of a page are asked in a batch.
        on_page: Called with the number of finished pages.
        on_answer: Called after each question.
        should_stop: Ends the evaluation early when it returns true; the result so far is returned.

    Raises:
        ValueError: An image is missing or has not the page's size.
    """
    open_image = opener_of(images_from)
    both_paths = both_paths or corrected == "pixels"
    scored: list[Scored] = []
    encode_ms: list[float] = []
    for done, page in enumerate(islice(pages, limit), 1):
        if should_stop is not None and should_stop():
            break
        image = open_image(page)
        seen = page.words if words_from is None else words_from(page)
        began = time.perf_counter()
        encoded = predictor.encode(image, [Word(word.text, word.box) for word in seen], (page.width, page.height))
        encode_ms.append(_since(began))
        for answered in _answer_page(predictor, encoded, page, seen, values, clicks, corrected, both_paths, timed):
            scored.append(answered.scored)
            if on_answer is not None:
                on_answer(answered)
        if on_page is not None:
            on_page(done)
    return Evaluation(predictor.version, len(encode_ms), tuple(encode_ms), tuple(scored))


def _answer_page(
    predictor: Predictor,
    encoded: EncodedPage,
    page: GroundedPage,
    seen: Sequence[GroundedWord],
    values: "KnownValues | None",
    clicks: int,
    corrected: Corrected,
    both_paths: bool,
    timed: bool,
) -> Iterator[Answered]:
    prepared = lexical_baseline.prepare(seen)
    keys = find_keys(encoded.prepared.layout)
    repeated = repeated_questions(page)
    for question, (answer, milliseconds) in zip(
        page.questions, _answers(predictor, encoded, page.questions, both_paths, timed), strict=True
    ):
        acceptable = masks_of(page, question)
        baseline_words = lexical_baseline.predict(prepared, question.question)
        by_baseline = rasterise([seen[at].box for at in baseline_words], (page.height, page.width))
        plain = plain_cell(keys, question.question)
        first = question.answers[0] if question.answers else None
        comparable = question.answers if seen is page.words else []  # indices of other words cannot be compared
        scored = Scored(
            page_id=page.page_id,
            question_id=question.question_id,
            answerable=question.answerable,
            printed_key=question.printed_key,
            iou=best_iou(answer.mask, acceptable),
            word_iou=best_iou(answer.word_mask, acceptable),
            pixel_iou=best_iou(answer.pixel_mask, acceptable) if both_paths else None,
            baseline_iou=best_iou(by_baseline, acceptable),
            answered=answer.answered,
            predicted_iou=answer.score,
            milliseconds=milliseconds,
            after_clicks=_correct_by_clicks(predictor, encoded, question, answer, acceptable, clicks, corrected),
            word_f1=best_word_f1(answer.words, comparable),
            baseline_word_f1=best_word_f1(baseline_words, comparable),
            reachable_iou=None if seen is page.words else _reachable(acceptable, seen),
            judged=None
            if seen is page.words
            else judge(
                page,
                question,
                seen,
                acceptable=acceptable,
                model=(answer.mask, answer.words),
                baseline=(by_baseline, baseline_words),
            ),
            values=None if values is None else _judge_values(values, page, question, seen, answer, baseline_words),
            plain_iou=None
            if plain is None
            else best_iou(rasterise([seen[at].box for at in plain], (page.height, page.width)), acceptable),
            answer_words=None if first is None else len(set(first)),
            places=None if first is None else places([page.words[at].box for at in first]),
            region_type=question.region_type,
            repeated=question.question_id in repeated,
            shown_iou=_shown_iou(answer, acceptable) if question.question_id in repeated else None,
        )
        yield Answered(page, question, answer, by_baseline, acceptable, scored)


def _shown_iou(answer: Answer, acceptable: Sequence[Mask]) -> float:
    """Return the best IoU of the proposals that the page lists: nine where the key is repeated, else three."""
    others = [candidate for candidate in answer.candidates if not np.array_equal(candidate.mask, answer.mask)]
    listed = [candidate for candidate in (answer, *others) if candidate.mask.any()][
        : _LISTED_REPEATED if answer.repeated else _LISTED
    ]
    return max((best_iou(candidate.mask, acceptable) for candidate in listed), default=0.0)


def masks_of(page: GroundedPage, question: GroundedQuestion) -> list[Mask]:
    """Return every acceptable answer as bool [height, width]: unions of word boxes, then given masks."""
    size = (page.height, page.width)
    by_words = [rasterise([page.words[at].box for at in answer], size) for answer in question.answers]
    return by_words + [decode_rle(rle) for rle in question.masks]


def _judge_values(
    known: "KnownValues",
    page: GroundedPage,
    question: GroundedQuestion,
    seen: Sequence[GroundedWord],
    answer: Answer,
    baseline: Sequence[int],
) -> "JudgedValues | None":
    # Here: a machine that only pretrains lacks what fields are made of (engine.training.gpu).
    from engine.training.evaluation.judged_values import judge_values

    return judge_values(known, page, question, seen, model=answer.words, baseline=baseline)


def _reachable(acceptable: Sequence[Mask], words: Sequence[GroundedWord]) -> float:
    """Return the best IoU that these words can reach with an acceptable answer: the upper bound given OCR."""
    boxes = [word.box for word in words]
    return max(
        (iou(rasterise([boxes[at] for at in words_under(mask, boxes)], mask.shape), mask) for mask in acceptable),
        default=0.0,
    )


def _answers(
    predictor: Predictor, encoded: EncodedPage, questions: Sequence[GroundedQuestion], both_paths: bool, timed: bool
) -> Iterator[tuple[Answer, float]]:
    if not timed:
        at_once = questions_at_once(*encoded.size)
        for start in range(0, len(questions), at_once):
            some = questions[start : start + at_once]
            texts, kinds = [question.question for question in some], [question.kind for question in some]
            began = time.perf_counter()
            answers = predictor.ask_many(encoded, texts, kinds=kinds, both_paths=both_paths)
            milliseconds = _since(began) / len(some)
            yield from ((answer, milliseconds) for answer in answers)
        return
    for question in questions:
        began = time.perf_counter()
        answer = predictor.ask(encoded, question.question, kind=question.kind, both_paths=both_paths)
        yield answer, _since(began)


def _correct_by_clicks(
    predictor: Predictor,
    encoded: EncodedPage,
    question: GroundedQuestion,
    answer: Answer,
    acceptable: Sequence[Mask],
    clicks: int,
    corrected: Corrected,
) -> tuple[float, ...]:
    """Return the IoU after each click, which corrects towards the nearest acceptable answer."""
    if not clicks or not acceptable:
        return ()
    mask = _mask_of(answer, corrected)
    meant = max(acceptable, key=lambda candidate: iou(mask, candidate))
    points: list[Click] = []
    reached = []
    for _ in range(clicks):
        click = next_click(mask, meant)
        if click is not None:
            points.append(click)
            answer = predictor.ask(
                encoded, question.question, kind=question.kind, points=points, both_paths=corrected == "pixels"
            )
            mask = _mask_of(answer, corrected)
        reached.append(iou(mask, meant))
    return tuple(reached)


def _mask_of(answer: Answer, corrected: Corrected) -> Mask:
    return answer.mask if corrected == "answer" else answer.pixel_mask


def opener_of(images_from: Path | ImageOf | None) -> ImageOf:
    """Return the function that opens a page's image, RGB; see `evaluate`. It raises ValueError."""
    if images_from is None:
        return lambda page: None
    if not isinstance(images_from, Path):
        return images_from
    folder = images_from

    def open_image(page: GroundedPage) -> Image.Image | None:
        """Open the image of a page; None without images."""
        if page.image is None:
            return None
        try:
            with Image.open(folder / page.image) as image:
                return image.convert("RGB")
        except FileNotFoundError:
            raise ValueError(
                f"Page {page.page_id}: its image {folder / page.image} does not exist; add it, or use --words-only."
            ) from None

    return open_image


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
