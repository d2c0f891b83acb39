"""Assembly of a grounded page from a laid-out canvas: simulated OCR, reading order, and answers by word index."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PIL import Image

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.synthetic import render
from engine.synthetic.canvas import Asked, Canvas, Rule
from engine.synthetic.ocr import Reading, ReadWord, read_pieces
from engine.synthetic.regions import region_mask
from model.boxes import Box, FloatBox

MOST_QUESTIONS = 28
UNANSWERABLE = 0.15
Paper = Callable[[tuple[int, int]], Image.Image]
_STOP = frozenset("what is the of a an in on for to and which are was does it".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class SyntheticPage:
    """Generated page: `page` has words as OCR found them, `render` draws the page.

    `paper` draws a printed page of a size in pixels under the canvas; `slope` is the shear of the whole page.
    """

    page: GroundedPage
    kind: str
    canvas: Canvas
    seed: str
    paper: Paper | None = None
    slope: float = 0.0

    def render(self) -> Image.Image:
        """Draw the page as an RGB image of its size; deterministic for equal fonts."""
        size = (self.page.width, self.page.height)
        ground = None if self.paper is None else render.shear(self.paper(size), self.slope)
        return render.draw(self.canvas, *size, random.Random(f"{self.seed} picture"), ground=ground)


def assemble(
    canvas: Canvas,
    kind: str,
    seed: str,
    page_id: str,
    absent: Callable[[], str],
    *,
    reading: Reading | None = None,
    paper: Paper | None = None,
) -> SyntheticPage:
    """Return the finished page.

    `absent` returns negative questions. `reading` is the quality of OCR; None draws one. `paper` draws what the canvas
    stands on; see `SyntheticPage`.
    """
    rng = canvas.rng
    slope = rng.gauss(0, 0.004)
    tilt(canvas, slope)
    size = (round(canvas.width), round(canvas.height))
    words = in_order(read_pieces(canvas.pieces, reading or Reading.sample(rng), rng))
    places: dict[int, list[int]] = {}  # piece -> words that show it
    for at, word in enumerate(words):
        for source in word.sources:
            places.setdefault(source, []).append(at)
    grounded_words = [GroundedWord(word.text, _whole(word.box, size)) for word in words]
    asked = _merge_equal(
        [
            translated
            for question in canvas.asked
            if (translated := _translate_answers(question, canvas, words, places)) is not None
        ]
    )
    asked = _balance_questions(asked, absent, {token for word in words for token in _tokens(word.text)}, rng)
    questions = [
        GroundedQuestion(
            question_id=f"{page_id}-{at}",
            question=question.question,
            answers=question.answers,
            printed_key=question.printed_key and bool(question.answers or question.figures),
            masks=[region_mask(figure.box, size) for figure in question.figures],
            region_type=question.region_type,
        )
        for at, question in enumerate(asked)
    ]
    return SyntheticPage(
        GroundedPage(page_id, None, *size, grounded_words, questions), kind, canvas, seed, paper, slope
    )


def tilt(canvas: Canvas, slope: float) -> None:
    """Shear the whole canvas slightly, like a page fed askew; questions keep their figures."""

    def shear_box(box: FloatBox) -> FloatBox:
        """Return a sheared box."""
        shift = slope * ((box[0] + box[2]) / 2 - middle)
        return (box[0], box[1] + shift, box[2], box[3] + shift)

    middle = canvas.width / 2
    for piece in canvas.pieces:
        piece.baseline += slope * (piece.x + (piece.width / 2 if piece.upright else 0) - middle)
    canvas.rules = [  # not `replace`, which takes six times as long: dense papers have hundreds of rules
        Rule(
            rule.x0,
            rule.y0 + slope * (rule.x0 - middle),
            rule.x1,
            rule.y1 + slope * (rule.x1 - middle),
            rule.width,
            rule.ink,
            rule.dash,
        )
        for rule in canvas.rules
    ]
    canvas.panels = [replace(panel, box=shear_box(panel.box)) for panel in canvas.panels]
    canvas.figures = [replace(figure, box=shear_box(figure.box)) for figure in canvas.figures]
    canvas.asked = [
        replace(question, figures=[replace(figure, box=shear_box(figure.box)) for figure in question.figures])
        if question.figures
        else question
        for question in canvas.asked
    ]


def in_order(words: list[ReadWord]) -> list[ReadWord]:
    """Return the words line by line from the top, each line from left to right."""
    lines: list[tuple[float, float, list[ReadWord]]] = []
    for word in sorted(words, key=lambda word: word.box[1] + word.box[3]):
        centre, height = (word.box[1] + word.box[3]) / 2, word.box[3] - word.box[1]
        home = next((at for at in range(len(lines) - 1, max(-1, len(lines) - 6), -1)
                     if abs(lines[at][0] - centre) < 0.5 * min(height, lines[at][1])), None)  # fmt: skip
        if home is None:
            lines.append((centre, height, [word]))
        else:
            lines[home][2].append(word)
    return [word for _, _, members in lines for word in sorted(members, key=lambda word: word.box[0])]


def _whole(box: FloatBox, size: tuple[int, int]) -> Box:
    x0, y0 = min(max(round(box[0]), 0), size[0] - 1), min(max(round(box[1]), 0), size[1] - 1)
    return (x0, y0, max(x0 + 1, min(round(box[2]), size[0])), max(y0 + 1, min(round(box[3]), size[1])))


def _translate_answers(
    asked: Asked, canvas: Canvas, words: Sequence[ReadWord], places: dict[int, list[int]]
) -> Asked | None:
    """Return the question with answers as word indices; None when OCR lost too much of all answers."""
    answers = []
    for answer in asked.answers:
        wanted = set(answer)
        indices, letters = [], 0
        for at in sorted({place for piece in wanted for place in places.get(piece, ())}):
            sources = words[at].sources
            share = sum(count for source, count in sources.items() if source in wanted)
            if 2 * share > sum(sources.values()):
                indices.append(at)
                letters += share
        if indices not in answers and letters >= 0.7 * sum(len(canvas.pieces[at].text) for at in wanted) > 0:
            answers.append(indices)
    if asked.answers and not answers and not asked.figures:
        return None
    return replace(asked, answers=answers)


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\W_]+|[#$%]", text.lower())


def _merge_equal(asked: list[Asked]) -> list[Asked]:
    """Merge equal questions: answers become alternatives, contradictory blanks are dropped."""
    grouped: dict[tuple[str, ...], list[Asked]] = {}
    for question in asked:
        grouped.setdefault(tuple(_tokens(question.question)), []).append(question)
    merged = []
    for group in grouped.values():
        answered = [question for question in group if question.answers or question.figures]
        if not answered:
            merged.append(group[0])
        elif len(answered) == len(group) <= 3:
            answers: list[list[int]] = []
            for question in group:
                answers += [answer for answer in question.answers if answer not in answers]
            merged.append(
                replace(
                    group[0], answers=answers, figures=[figure for question in group for figure in question.figures]
                )
            )
    return merged


def _balance_questions(
    asked: list[Asked], absent: Callable[[], str], on_page: set[str], rng: random.Random
) -> list[Asked]:
    """Return at most `MOST_QUESTIONS` questions, a share `UNANSWERABLE` of them negative."""
    answered = [question for question in asked if question.answers or question.figures]
    blank = [question for question in asked if not question.answers and not question.figures]
    rng.shuffle(answered)
    answered = answered[:MOST_QUESTIONS]
    odds = UNANSWERABLE / (1 - UNANSWERABLE)
    wanted = sum(rng.random() < odds for _ in answered) if answered else 2
    rng.shuffle(blank)
    negatives = blank[: (wanted + 1) // 2]
    seen = {tuple(_tokens(question.question)) for question in asked}
    for _ in range(4 * wanted):
        if len(negatives) >= wanted:
            break
        text = absent()
        tokens = tuple(_tokens(text))
        # A question whose words are all on the page might have an answer there.
        if tokens not in seen and not {token for token in tokens if token not in _STOP} <= on_page:
            seen.add(tokens)
            negatives.append(Asked(text, [], False))
    mixed = answered + negatives
    rng.shuffle(mixed)
    return mixed
