"""Rendered pages that are asked for their regions: signatures, boxes to tick, stamps, logos, charts, tables."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from PIL import Image

from engine.grounded import GroundedPage, GroundedQuestion
from engine.synthetic import SyntheticPage
from engine.training.sources.examples import badly_asked, example_of
from engine.training.sources.rendered import endless_pages, picture, turns_of
from model.examples import Example, Source

_UNREAD = 0.5  # share of the steps whose pages come without words, as scans that nobody has read
_ABSENT = 0.2  # share of the questions that are for a region that this page has not
_NOT_ALONE = "checkbox"  # which one is meant depends on the words beside it
_BLOCK = 48  # pages that are drawn together
_SEED_STRIDE = 1_000_003


@dataclass(frozen=True, slots=True)
class _Block:
    """Some pages with regions, their pictures where they have been drawn, and questions for regions by type."""

    pages: Sequence[SyntheticPage]
    pictures: dict[int, Image.Image]
    strange: Mapping[str, Sequence[GroundedQuestion]]
    turns: Callable[[int], list[int]]


def region_source(seed: int, *, long_side: int, pages: int = 2, questions: int = 10, pool: int = 768) -> Source:
    """Step n gives ``pages`` pages alike in shape with ``questions`` questions each.

    ``pool`` pages are drawn when they are first seen and kept, scaled to ``long_side``; each visit asks anew.
    """
    blocks: dict[int, _Block] = {}
    steps, count = -(-_BLOCK // pages), max(1, pool // _BLOCK)

    def source(step: int) -> Sequence[Example]:
        rng = random.Random(f"{seed}:{step}:regions")
        unread = rng.random() < _UNREAD
        turn, place = divmod(step, steps)
        number = turn % count
        if number not in blocks:
            blocks[number] = _drawn(seed * _SEED_STRIDE + number, pages)
        block, found = blocks[number], []
        for at in block.turns(turn // count * steps + place):
            if at not in block.pictures:
                block.pictures[at] = picture(block.pages[at], long_side)
            made = block.pages[at]
            page = without_words(made.page) if unread else made.page
            asked = _asked(page, _regions_on(made), block.strange, questions, rng)
            found.append(badly_asked(example_of(page, block.pictures[at], asked), rng))
        return found

    return source


def _drawn(seed: int, pages: int) -> _Block:
    made = list(islice((one for one in endless_pages(seed) if _regions(one.page)), _BLOCK))
    strange: dict[str, list[GroundedQuestion]] = {}
    for question in (question for one in made for question in _regions(one.page)):
        strange.setdefault(str(question.region_type), []).append(question)
    return _Block(made, {}, strange, turns_of([(one.page.width, one.page.height) for one in made], seed, pages))


def _asked(
    page: GroundedPage,
    there: set[str],
    strange: Mapping[str, Sequence[GroundedQuestion]],
    count: int,
    rng: random.Random,
) -> list[GroundedQuestion]:
    """Regions again and again, since each time the asker shows another place; a few of types that are not ``there``, taken
    from ``strange`` questions."""
    regions = _regions(page)
    if not page.words:
        regions = [question for question in regions if question.region_type != _NOT_ALONE] or regions
    missing = sorted(set(strange) - there - {_NOT_ALONE})
    asked = []
    for _ in range(count):
        if missing and rng.random() < _ABSENT:
            asked.append(replace(rng.choice(strange[rng.choice(missing)]), masks=[], answers=[]))
        else:
            asked.append(rng.choice(regions))
    return asked


def _regions_on(made: SyntheticPage) -> set[str]:
    """Types of regions that a page has, asked for or not."""
    tables = {"table"} if made.sheet.tables else set()
    asked = {str(question.region_type) for question in made.page.questions if question.region_type}
    return tables | asked | {figure.kind for figure in made.sheet.figures}


def without_words(page: GroundedPage, region_type: str | None = None) -> GroundedPage:
    """The page as a scan that nobody has read, asked for its regions alone, or for those of one type."""
    asked = [replace(one, answers=[]) for one in page.questions if one.masks and region_type in (None, one.region_type)]
    return replace(page, words=[], questions=asked)


def _regions(page: GroundedPage) -> list[GroundedQuestion]:
    """What no words make."""
    return [question for question in page.questions if question.masks and not question.answers]
