"""Generated pages as an OCR engine really reads them: rendered, worn, read, and their answers found again."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from PIL import Image

from engine.documents.levels import levelled
from engine.documents.ocr.engine import OcrEngine
from engine.documents.order import reading_order
from engine.grounded import Box, GroundedPage, GroundedWord
from engine.synthetic import generate
from engine.synthetic.corpus import FEWEST_WORDS
from model.masks import iou, rasterise, words_under

_LEAST_IOU = 0.5  # of the read words with an answer, below which reading lost it


def read_pages(seed: int, engine: OcrEngine) -> Iterator[tuple[GroundedPage, Image.Image]]:
    """Yield generated pages with the words that `engine` reads on their pictures, without end.

    Equal seeds, fonts and engines give equal pages. A question whose answer reading lost is left out, a page without
    words or questions too. Raises OcrFailed.
    """
    for made in generate(seed):
        picture = made.render()
        words = words_of_picture(picture, engine)
        page = read_again(made.page, words)
        if len(page.words) >= FEWEST_WORDS and any(question.answers for question in page.questions):
            yield page, picture


def words_of_picture(picture: Image.Image, engine: OcrEngine) -> list[GroundedWord]:
    """Return the words that an engine reads on a trusted picture, in reading order, in its pixels.

    Uploads are read in a guarded process instead (engine.documents.open). A picture that the engine turns has no words.
    """
    grey = picture.convert("L")
    scale = engine.scale_for(grey.size)
    size = max(1, round(grey.width * scale)), max(1, round(grey.height * scale))
    found = engine.read(grey.resize(size, Image.Resampling.BICUBIC) if scale != 1 else grey, float("inf"))
    if found.turn:
        return []
    words = [word for line in reading_order(found.lines) for word in levelled(line)]
    return [GroundedWord(word.text, _whole(word.box, scale, grey.size)) for word in words]


def read_again(page: GroundedPage, words: Sequence[GroundedWord]) -> GroundedPage:
    """Return a page with other words: answers are the words under them; lost ones are left out."""
    size = (page.height, page.width)
    boxes = [word.box for word in words]
    questions = []
    for question in page.questions:
        if not question.answers:
            questions.append(question)
            continue
        answers = []
        for answer in question.answers:
            mask = rasterise([page.words[at].box for at in answer], size)
            under = words_under(mask, boxes)
            if under and under not in answers and iou(rasterise([boxes[at] for at in under], size), mask) >= _LEAST_IOU:
                answers.append(under)
        if answers or question.masks:
            questions.append(replace(question, answers=answers))
    return replace(page, words=list(words), questions=questions)


def _whole(box: tuple[float, float, float, float], scale: float, size: tuple[int, int]) -> Box:
    width, height = size
    x0, y0, x1, y1 = (value / scale for value in box)
    left, top = min(max(round(x0), 0), width - 1), min(max(round(y0), 0), height - 1)
    return left, top, max(left + 1, min(round(x1), width)), max(top + 1, min(round(y1), height))
