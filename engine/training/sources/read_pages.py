"""Generated pages as an OCR engine really reads them: rendered, worn, read, and their answers found again."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from PIL import Image

from engine.documents.ocr.engine import OcrEngine
from engine.documents.ocr.levels import level_words
from engine.documents.reading.order import reading_order
from engine.grounded import GroundedPage, GroundedWord, page_from_json, page_to_json
from engine.synthetic import SyntheticPage, generate
from model.boxes import Box, FloatBox
from model.masks import iou, rasterise, words_under

_LEAST_IOU = 0.5  # of the read words with an answer, below which reading lost it


def read_pages(seed: int, engine: OcrEngine, start: int = 0) -> Iterator[tuple[SyntheticPage, GroundedPage]]:
    """Yield generated pages from number `start`, each with what `engine` reads on its picture, without end.

    Equal seeds, fonts and engines give equal pages. A question whose answer reading lost is left out. Raises OcrFailed.
    """
    for made in islice(generate(seed), start, None):
        yield made, with_words(made.page, words_of_picture(made.render(), engine))


def kept_read_pages(path: Path, seed: int, count: int, engine: OcrEngine) -> list[GroundedPage]:
    """Return `count` read pages of a seed, kept in `path` line by line: a run that was stopped goes on behind them.

    Reading takes some seconds a page. Raises OcrFailed and OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    # The last line may have been cut by the stop: whole lines end with a line break.
    whole = [line for line in path.read_text(encoding="utf-8").splitlines(keepends=True) if line.endswith("\n")]
    pages = [page_from_json(json.loads(line)) for line in whole[:count]]
    if len(pages) < count:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(whole)
            for _, page in islice(read_pages(seed, engine, len(pages)), count - len(pages)):
                file.write(json.dumps(page_to_json(page), ensure_ascii=False) + "\n")
                file.flush()
                pages.append(page)
    return pages


def words_of_picture(picture: Image.Image, engine: OcrEngine) -> list[GroundedWord]:
    """Return the words that an engine reads on a trusted picture, in reading order, in its pixels.

    Uploads are read in a guarded process instead (engine.documents.reading.open). A picture that the engine turns has
    no words.
    """
    grey = picture.convert("L")
    scale = engine.scale_for(grey.size)
    size = max(1, round(grey.width * scale)), max(1, round(grey.height * scale))
    reading = engine.read_image(grey.resize(size, Image.Resampling.BICUBIC) if scale != 1 else grey, float("inf"))
    if reading.turn:
        return []
    words = [word for line in reading_order(reading.lines) for word in level_words(line)]
    return [GroundedWord(word.text, _whole(word.box, scale, grey.size)) for word in words]


def with_words(page: GroundedPage, words: Sequence[GroundedWord]) -> GroundedPage:
    """Return a page with other words: its answers are the words under them; lost answers are left out."""
    size = (page.height, page.width)
    boxes = [word.box for word in words]
    questions = []
    for question in page.questions:
        answers = []
        for answer in question.answers:
            mask = rasterise([page.words[at].box for at in answer], size)
            under = words_under(mask, boxes)
            if under and under not in answers and iou(rasterise([boxes[at] for at in under], size), mask) >= _LEAST_IOU:
                answers.append(under)
        if answers or question.masks or not question.answers:
            questions.append(replace(question, answers=answers))
    return replace(page, words=list(words), questions=questions)


def _whole(box: FloatBox, scale: float, size: tuple[int, int]) -> Box:
    width, height = size
    x0, y0, x1, y1 = (value / scale for value in box)
    left, top = min(max(round(x0), 0), width - 1), min(max(round(y0), 0), height - 1)
    return left, top, max(left + 1, min(round(x1), width)), max(top + 1, min(round(y1), height))
