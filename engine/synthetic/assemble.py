"""Assembly of a grounded page from a sheet: simulated OCR, reading order, and answers by word index."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PIL import Image

from engine.grounded import Box, GroundedPage, GroundedQuestion, GroundedWord
from engine.synthetic import render
from engine.synthetic.ocr import Reading, ReadWord, read
from engine.synthetic.regions import region_mask
from engine.synthetic.sheet import Asked, FloatBox, Rule, Sheet

MOST_QUESTIONS = 28
UNANSWERABLE = 0.15
Paper = Callable[[tuple[int, int]], Image.Image]
_STOP = frozenset("what is the of a an in on for to and which are was does it".split())  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class SyntheticPage:
    """Generated page: `page` has words as OCR found them, `render` draws the page.

    `paper` draws a printed page of a size in pixels under the sheet; `slope` is the shear of the whole page.
    """

    page: GroundedPage
    kind: str
    sheet: Sheet
    seed: str
    paper: Paper | None = None
    slope: float = 0.0

    def render(self) -> Image.Image:
        """Draw the page as an RGB image of its size; deterministic for equal fonts."""
        size = (self.page.width, self.page.height)
        ground = None if self.paper is None else render.sheared(self.paper(size), self.slope)
        return render.draw(self.sheet, *size, random.Random(f"{self.seed} picture"), ground=ground)


def assemble(
    sheet: Sheet,
    kind: str,
    seed: str,
    page_id: str,
    absent: Callable[[], str],
    *,
    reading: Reading | None = None,
    paper: Paper | None = None,
) -> SyntheticPage:
    """Return the finished page.

    `absent` returns negative questions. `reading` is the quality of OCR; None draws one. `paper` draws what the sheet
    stands on; see `SyntheticPage`.
    """
    chance = sheet.chance
    slope = chance.gauss(0, 0.004)
    tilt(sheet, slope)
    size = (round(sheet.width), round(sheet.height))
    words = in_order(read(sheet.pieces, reading or Reading.drawn(chance), chance))
    places: dict[int, list[int]] = {}  # piece -> words that show it
    for at, word in enumerate(words):
        for source in word.sources:
            places.setdefault(source, []).append(at)
    grounded_words = [GroundedWord(word.text, _whole(word.box, size)) for word in words]
    asked = _without_doubles(
        [carried for one in sheet.asked if (carried := _carried(one, sheet, words, places)) is not None]
    )
    asked = _balanced(asked, absent, {token for word in words for token in _tokens(word.text)}, chance)
    questions = [
        GroundedQuestion(
            question_id=f"{page_id}-{at}",
            question=one.question,
            answers=one.answers,
            printed_key=one.printed_key and bool(one.answers or one.figures),
            masks=[region_mask(figure.box, size) for figure in one.figures],
            region_type=one.region_type,
        )
        for at, one in enumerate(asked)
    ]
    return SyntheticPage(GroundedPage(page_id, None, *size, grounded_words, questions), kind, sheet, seed, paper, slope)


def tilt(sheet: Sheet, slope: float) -> None:
    """Shear the whole sheet slightly, like a page fed askew; questions keep their figures."""

    def moved(box: FloatBox) -> FloatBox:
        """Return a sheared box."""
        shift = slope * ((box[0] + box[2]) / 2 - middle)
        return (box[0], box[1] + shift, box[2], box[3] + shift)

    middle = sheet.width / 2
    for piece in sheet.pieces:
        piece.baseline += slope * (piece.x + (piece.width / 2 if piece.upright else 0) - middle)
    sheet.rules = [  # not `replace`, which takes six times as long: dense papers have hundreds of rules
        Rule(
            rule.x0,
            rule.y0 + slope * (rule.x0 - middle),
            rule.x1,
            rule.y1 + slope * (rule.x1 - middle),
            rule.width,
            rule.ink,
            rule.dash,
        )
        for rule in sheet.rules
    ]
    sheet.panels = [replace(panel, box=moved(panel.box)) for panel in sheet.panels]
    sheet.figures = [replace(figure, box=moved(figure.box)) for figure in sheet.figures]
    sheet.asked = [
        replace(one, figures=[replace(figure, box=moved(figure.box)) for figure in one.figures]) if one.figures else one
        for one in sheet.asked
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


def _carried(asked: Asked, sheet: Sheet, words: Sequence[ReadWord], places: dict[int, list[int]]) -> Asked | None:
    """Return the question with answers as word indices; None when OCR lost too much of all answers."""
    answers = []
    for answer in asked.answers:
        wanted = set(answer)
        found, letters = [], 0
        for at in sorted({place for piece in wanted for place in places.get(piece, ())}):
            sources = words[at].sources
            share = sum(count for source, count in sources.items() if source in wanted)
            if 2 * share > sum(sources.values()):
                found.append(at)
                letters += share
        if found not in answers and letters >= 0.7 * sum(len(sheet.pieces[at].text) for at in wanted) > 0:
            answers.append(found)
    if asked.answers and not answers and not asked.figures:
        return None
    return replace(asked, answers=answers)


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\W_]+|[#$%]", text.lower())


def _without_doubles(asked: list[Asked]) -> list[Asked]:
    """Merge equal questions: answers become alternatives, contradictory blanks are dropped."""
    grouped: dict[tuple[str, ...], list[Asked]] = {}
    for one in asked:
        grouped.setdefault(tuple(_tokens(one.question)), []).append(one)
    kept = []
    for group in grouped.values():
        answered = [one for one in group if one.answers or one.figures]
        if not answered:
            kept.append(group[0])
        elif len(answered) == len(group) <= 3:
            answers: list[list[int]] = []
            for one in group:
                answers += [answer for answer in one.answers if answer not in answers]
            kept.append(replace(group[0], answers=answers, figures=[figure for one in group for figure in one.figures]))
    return kept


def _balanced(asked: list[Asked], absent: Callable[[], str], on_page: set[str], chance: random.Random) -> list[Asked]:
    """Return at most `MOST_QUESTIONS` questions, a share `UNANSWERABLE` of them negative."""
    answered = [one for one in asked if one.answers or one.figures]
    blank = [one for one in asked if not one.answers and not one.figures]
    chance.shuffle(answered)
    answered = answered[:MOST_QUESTIONS]
    odds = UNANSWERABLE / (1 - UNANSWERABLE)
    wanted = sum(chance.random() < odds for _ in answered) if answered else 2
    chance.shuffle(blank)
    kept = blank[: (wanted + 1) // 2]
    seen = {tuple(_tokens(one.question)) for one in asked}
    for _ in range(4 * wanted):
        if len(kept) >= wanted:
            break
        question = absent()
        tokens = tuple(_tokens(question))
        # A question whose words are all on the page might have an answer there.
        if tokens not in seen and not {token for token in tokens if token not in _STOP} <= on_page:
            seen.add(tokens)
            kept.append(Asked(question, [], False))
    mixed = answered + kept
    chance.shuffle(mixed)
    return mixed
