"""Source of rendered pages with questions for their regions: signatures, checkboxes, stamps, charts."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from PIL import Image

from engine.grounded import GroundedPage, GroundedQuestion
from engine.training.sources.examples import badly_asked, example_of
from engine.training.sources.page_supply import GENERATED, MadePage, Pages, region_types_of
from engine.training.sources.rendered import picture, turns_of, wide_pages
from model.examples import Example, Source

_UNREAD = 0.5  # share of the steps with pages without words, like scans without OCR
_NEGATIVE = 0.2  # share of questions for a region that the page does not have
_NOT_ALONE = "checkbox"  # words beside it tell which one is meant
_BLOCK = 48  # pages drawn together
_SEED_STRIDE = 1_000_003


@dataclass(frozen=True, slots=True)
class _Block:
    """Pages with regions, their cached images, and questions for regions by type."""

    pages: Sequence[MadePage]
    pictures: dict[int, Image.Image]
    foreign: Mapping[str, Sequence[GroundedQuestion]]
    turns: Callable[[int], list[int]]


def region_source(
    seed: int,
    *,
    long_side: int,
    pages: int = 2,
    questions: int = 10,
    pool: int = 768,
    made: Pages = GENERATED.drawn,
) -> Source:
    """Return a source of `pages` similar-shaped pages a step with `questions` questions each.

    Keeps `pool` pages of those that `made` yields, drawn at first use and scaled to `long_side` pixels; questions are
    drawn anew at each use.
    """
    blocks: dict[int, _Block] = {}
    steps, count = -(-_BLOCK // pages), max(1, pool // _BLOCK)

    def source(step: int) -> Sequence[Example]:
        """Return the examples of one step."""
        rng = random.Random(f"{seed}:{step}:regions")
        unread = rng.random() < _UNREAD
        turn, place = divmod(step, steps)
        number = turn % count
        if number not in blocks:
            blocks[number] = _draw_block(made, seed * _SEED_STRIDE + number, pages)
        block, examples = blocks[number], []
        for at in block.turns(turn // count * steps + place):
            if at not in block.pictures:
                block.pictures[at] = picture(block.pages[at], long_side)
            drawn = block.pages[at]
            page = without_words(drawn.page) if unread else drawn.page
            asked = _draw_questions(page, region_types_of(drawn), block.foreign, questions, rng)
            examples.append(badly_asked(example_of(page, block.pictures[at], asked), rng))
        return examples

    return source


def _draw_block(supply: Pages, seed: int, pages: int) -> _Block:
    made = list(islice((made_page for made_page in wide_pages(supply(seed)) if regions_asked(made_page.page)), _BLOCK))
    foreign: dict[str, list[GroundedQuestion]] = {}
    for question in (question for made_page in made for question in regions_asked(made_page.page)):
        foreign.setdefault(str(question.region_type), []).append(question)
    return _Block(
        made, {}, foreign, turns_of([(made_page.page.width, made_page.page.height) for made_page in made], seed, pages)
    )


def _draw_questions(
    page: GroundedPage,
    own_types: set[str],
    foreign: Mapping[str, Sequence[GroundedQuestion]],
    count: int,
    rng: random.Random,
) -> list[GroundedQuestion]:
    """Return questions for regions of the page, repeated, and a few `foreign` ones of types not `there`.

    Repetition is useful: each time another place of the region is clicked.
    """
    regions = regions_asked(page)
    if not page.words:
        regions = [question for question in regions if question.region_type != _NOT_ALONE] or regions
    missing = sorted(set(foreign) - own_types - {_NOT_ALONE})
    asked = []
    for _ in range(count):
        if missing and rng.random() < _NEGATIVE:
            asked.append(replace(rng.choice(foreign[rng.choice(missing)]), masks=[], answers=[]))
        else:
            asked.append(rng.choice(regions))
    return asked


def without_words(page: GroundedPage, region_type: str | None = None) -> GroundedPage:
    """Return the page as a scan without OCR, with questions for regions of one or all types."""
    asked = [
        replace(question, answers=[])
        for question in page.questions
        if question.masks and region_type in (None, question.region_type)
    ]
    return replace(page, words=[], questions=asked)


def regions_asked(page: GroundedPage) -> list[GroundedQuestion]:
    """Return the questions that no words answer."""
    return [question for question in page.questions if question.masks and not question.answers]
