"""Measuring a predictor on pages whose answers are known, with the lexical floor beside it."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from engine.interchange.grounded import GroundedPage, GroundedQuestion
from engine.interchange.rle import decode_rle
from engine.training import floor
from engine.training.clicks import Click, next_click
from engine.training.figures import Figures, Scored, best_iou, iou, summarise, to_json
from model.inference import Answer, EncodedPage, Predictor, Word
from model.masks import Mask, rasterise

Corrected = Literal["answer", "pixels"]  # which mask clicks correct
ImageOf = Callable[[GroundedPage], Image.Image | None]


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
        """The figures of all questions, and "by" whether the page prints a key to match the question with.

        Questions that the page does not answer have no key; both halves are told from all of them.
        """
        absent = [one for one in self.scored if not one.answerable]
        halves = {
            name: [one for one in self.scored if one.answerable and one.printed_key is value]
            for name, value in (("true", True), ("false", False))
        }
        return {
            "model": self.version,
            "pages": self.pages,
            **to_json(self.figures),
            "encode_ms_p50": round(float(np.median(self.encode_ms)), 2) if self.encode_ms else None,
            "by": {"printed_key": {name: to_json(summarise(half, absent)) for name, half in halves.items()}},
        }


def evaluate(
    predictor: Predictor,
    pages: Iterable[GroundedPage],
    *,
    images_from: Path | ImageOf | None = None,
    clicks: int = 0,
    corrected: Corrected = "answer",
    limit: int | None = None,
    timed: bool = True,
    on_page: Callable[[int], None] | None = None,
    should_stop: Callable[[], object] | None = None,
) -> Evaluation:
    """Ask every question of the first `limit` pages and score the masks, in pixels of the page.

    `images_from`: the folder that the pages' images are relative to, or a function that opens a page's image; None reads
    words alone. `clicks`: how often each answer is then corrected by a click;
    `corrected` "pixels" corrects what the pixel path alone says. `timed` asks one question at a time; without, a
    page's questions are asked together (the same answers, sooner). `on_page(done)` is called after each page; when
    `should_stop()` turns true, what was measured so far is returned. ValueError when an image has not its page's size.
    """
    opened = _opener(images_from)
    scored: list[Scored] = []
    encode_ms: list[float] = []
    for done, page in enumerate(islice(pages, limit), 1):
        if should_stop is not None and should_stop():
            break
        image = opened(page)
        began = time.perf_counter()
        words = [Word(word.text, word.box) for word in page.words]
        encoded = predictor.encode(image, words, (page.width, page.height))
        encode_ms.append(_since(began))
        scored += _score_page(predictor, encoded, page, clicks, corrected, timed)
        if on_page is not None:
            on_page(done)
    return Evaluation(predictor.version, len(encode_ms), tuple(encode_ms), tuple(scored))


def _score_page(
    predictor: Predictor, encoded: EncodedPage, page: GroundedPage, clicks: int, corrected: Corrected, timed: bool
) -> Iterator[Scored]:
    size = (page.height, page.width)
    prepared = floor.prepare(page.words)
    for question, (answer, milliseconds) in zip(
        page.questions, _answers(predictor, encoded, page.questions, timed), strict=True
    ):
        acceptable = masks_of(page, question)
        by_floor = rasterise([page.words[at].box for at in floor.predict(prepared, question.question)], size)
        yield Scored(
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
        )


def masks_of(page: GroundedPage, question: GroundedQuestion) -> list[Mask]:
    """Every acceptable answer as bool [height, width]: the unions of its words' boxes, then the given masks."""
    size = (page.height, page.width)
    by_words = [rasterise([page.words[at].box for at in answer], size) for answer in question.answers]
    return by_words + [decode_rle(one) for one in question.masks]


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


def _opener(images_from: Path | ImageOf | None) -> ImageOf:
    if images_from is None:
        return lambda page: None
    if not isinstance(images_from, Path):
        return images_from
    folder = images_from

    def opened(page: GroundedPage) -> Image.Image | None:
        if page.image is None:
            return None
        with Image.open(folder / page.image) as image:
            return image.convert("RGB")

    return opened


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
