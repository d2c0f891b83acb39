"""Measuring a predictor on pages whose answers are known, with the lexical floor beside it."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.run_lengths import decode_rle
from engine.training.evaluation import lexical_baseline
from engine.training.evaluation.clicks import Click, next_click
from engine.training.evaluation.confidence_intervals import intervals
from engine.training.evaluation.metrics import Figures, Scored, best_iou, best_word_f1, summarise, to_json
from engine.training.evaluation.slices import places, slices
from model.inference import Answer, EncodedPage, Predictor, Word
from model.masks import Mask, iou, rasterise, words_under

Corrected = Literal["answer", "pixels"]  # which mask clicks correct
ImageOf = Callable[[GroundedPage], Image.Image | None]
WordsOf = Callable[[GroundedPage], Sequence[GroundedWord]]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with what was answered, for those who look at single answers. Masks are bool [H, W] at page size."""

    page: GroundedPage
    question: GroundedQuestion
    answer: Answer
    by_floor: Mask
    acceptable: Sequence[Mask]
    scored: Scored


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What an evaluation found, question by question."""

    version: str  # of the predictor
    pages: int
    encode_ms: tuple[float, ...]  # one a page
    scored: tuple[Scored, ...]

    @property
    def figures(self) -> Figures:
        """The figures of all questions."""
        return summarise(self.scored)

    def to_json(self) -> dict[str, Any]:
        """The figures of all questions, the "interval" of the main ones, and the figures "by" slices of the questions.

        Slices hold answerable questions; all of them are told from the same unanswerable ones.
        """
        absent = [one for one in self.scored if not one.answerable]
        return {
            "model": self.version,
            "pages": self.pages,
            **to_json(self.figures),
            "encode_ms_p50": round(float(np.median(self.encode_ms)), 2) if self.encode_ms else None,
            "interval": intervals(self.scored),
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
    clicks: int = 0,
    corrected: Corrected = "answer",
    limit: int | None = None,
    timed: bool = True,
    on_page: Callable[[int], None] | None = None,
    on_answer: Callable[[Answered], None] | None = None,
    should_stop: Callable[[], object] | None = None,
) -> Evaluation:
    """Ask every question of the first `limit` pages and score the masks, in pixels of the page.

    `images_from`: the folder that the pages' images are relative to, or a function that opens a page's image; None reads
    words alone. `words_from`: what is asked instead of the given words; answers are scored against the given words' boxes all the
    same, nothing is told of words, but how far the right ones of those asked would reach. `clicks`: how often each answer is then corrected by a click;
    `corrected` "pixels" corrects what the pixel path alone says. `timed` asks one question at a time; without, a
    page's questions are asked together (the same answers, sooner). `on_page(done)` is called after each page, `on_answer`
    after each question; when `should_stop()` turns true, what was measured so far is returned. ValueError when an image is
    missing or has not its page's size.
    """
    opened = opener_of(images_from)
    scored: list[Scored] = []
    encode_ms: list[float] = []
    for done, page in enumerate(islice(pages, limit), 1):
        if should_stop is not None and should_stop():
            break
        image = opened(page)
        seen = page.words if words_from is None else words_from(page)
        began = time.perf_counter()
        encoded = predictor.encode(image, [Word(one.text, one.box) for one in seen], (page.width, page.height))
        encode_ms.append(_since(began))
        for one in _answer_page(predictor, encoded, page, seen, clicks, corrected, timed):
            scored.append(one.scored)
            if on_answer is not None:
                on_answer(one)
        if on_page is not None:
            on_page(done)
    return Evaluation(predictor.version, len(encode_ms), tuple(encode_ms), tuple(scored))


def _answer_page(
    predictor: Predictor,
    encoded: EncodedPage,
    page: GroundedPage,
    seen: Sequence[GroundedWord],
    clicks: int,
    corrected: Corrected,
    timed: bool,
) -> Iterator[Answered]:
    prepared = lexical_baseline.prepare(seen)
    for question, (answer, milliseconds) in zip(
        page.questions, _answers(predictor, encoded, page.questions, timed), strict=True
    ):
        acceptable = masks_of(page, question)
        found = lexical_baseline.predict(prepared, question.question)
        by_floor = rasterise([seen[at].box for at in found], (page.height, page.width))
        first = question.answers[0] if question.answers else None
        comparable = question.answers if seen is page.words else []  # indices of other words tell nothing
        scored = Scored(
            page_id=page.page_id,
            question_id=question.question_id,
            answerable=question.answerable,
            printed_key=question.printed_key,
            iou=best_iou(answer.mask, acceptable),
            word_iou=best_iou(answer.word_mask, acceptable),
            pixel_iou=best_iou(answer.pixel_mask, acceptable),
            floor_iou=best_iou(by_floor, acceptable),
            answered=answer.answered,
            predicted_iou=answer.score,
            milliseconds=milliseconds,
            after_clicks=_corrected(predictor, encoded, question, answer, acceptable, clicks, corrected),
            word_f1=best_word_f1(answer.words, comparable),
            floor_word_f1=best_word_f1(found, comparable),
            reachable_iou=None if seen is page.words else _reachable(acceptable, seen),
            answer_words=None if first is None else len(set(first)),
            places=None if first is None else places([page.words[at].box for at in first]),
            region_type=question.region_type,
        )
        yield Answered(page, question, answer, by_floor, acceptable, scored)


def masks_of(page: GroundedPage, question: GroundedQuestion) -> list[Mask]:
    """Every acceptable answer as bool [height, width]: the unions of its words' boxes, then the given masks."""
    size = (page.height, page.width)
    by_words = [rasterise([page.words[at].box for at in answer], size) for answer in question.answers]
    return by_words + [decode_rle(one) for one in question.masks]


def _reachable(acceptable: Sequence[Mask], words: Sequence[GroundedWord]) -> float:
    """IoU of the words that stand in an acceptable answer with it, the best of them: what is lost before anybody answers."""
    boxes = [word.box for word in words]
    return max(
        (iou(rasterise([boxes[at] for at in words_under(one, boxes)], one.shape), one) for one in acceptable),
        default=0.0,
    )


def _answers(
    predictor: Predictor, encoded: EncodedPage, questions: Sequence[GroundedQuestion], timed: bool
) -> Iterator[tuple[Answer, float]]:
    if not timed:
        began = time.perf_counter()
        answers = predictor.ask_many(encoded, [one.question for one in questions])
        each = _since(began) / max(1, len(questions))
        yield from ((answer, each) for answer in answers)
        return
    for question in questions:
        began = time.perf_counter()
        answer = predictor.ask(encoded, question.question)
        yield answer, _since(began)


def _corrected(
    predictor: Predictor,
    encoded: EncodedPage,
    question: GroundedQuestion,
    answer: Answer,
    acceptable: Sequence[Mask],
    clicks: int,
    corrected: Corrected,
) -> tuple[float, ...]:
    """IoU after each click. The asker means the acceptable answer that the model came nearest to, and stays with it."""
    if not clicks or not acceptable:
        return ()
    mask = _mask_of(answer, corrected)
    meant = max(acceptable, key=lambda one: iou(mask, one))
    points: list[Click] = []
    reached = []
    for _ in range(clicks):
        click = next_click(mask, meant)
        if click is not None:
            points.append(click)
            mask = _mask_of(predictor.ask(encoded, question.question, points=points), corrected)
        reached.append(iou(mask, meant))
    return tuple(reached)


def _mask_of(answer: Answer, corrected: Corrected) -> Mask:
    return answer.mask if corrected == "answer" else answer.pixel_mask


def opener_of(images_from: Path | ImageOf | None) -> ImageOf:
    """What opens the image of a page, RGB: see `evaluate`. It raises ValueError where an image is not there."""
    if images_from is None:
        return lambda page: None
    if not isinstance(images_from, Path):
        return images_from
    folder = images_from

    def opened(page: GroundedPage) -> Image.Image | None:
        if page.image is None:
            return None
        try:
            with Image.open(folder / page.image) as image:
                return image.convert("RGB")
        except FileNotFoundError:
            raise ValueError(
                f"Page {page.page_id}: its image {folder / page.image} does not exist; --words-only reads no images."
            ) from None

    return opened


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
