"""Rendered pages that are asked for their regions: signatures, boxes to tick, stamps, logos, charts, tables."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

from PIL import Image

from engine.interchange.grounded import GroundedPage, GroundedQuestion
from engine.training.examples import badly_asked, draw_questions, example_of
from engine.training.rendered import drawn_pages, picture, turns_of
from model.examples import Example, Source

_UNREAD = 0.5  # share of the steps whose pages come without words, as scans that nobody has read
_ABSENT = 0.15  # share of the questions that are for a region that this page has not
_NOT_ALONE = "checkbox"  # which one is meant depends on the words beside it
_WORTH = 0.4  # of generated pages have a region to ask for; how many to draw for a pool follows from it


def region_source(seed: int, *, long_side: int, pages: int = 2, questions: int = 10, pool: int = 768) -> Source:
    """Step n gives ``pages`` pages alike in shape with ``questions`` questions each.

    ``pool`` pages are drawn when they are first seen and kept, scaled to ``long_side``; each visit asks anew.
    """
    waiting = [made for made in drawn_pages(seed, round(pool / _WORTH)) if _regions(made.page)][:pool]
    turns = turns_of([(made.page.width, made.page.height) for made in waiting], seed, pages)
    strange: dict[str, list[GroundedQuestion]] = {}
    for made in waiting:
        for question in _regions(made.page):
            strange.setdefault(str(question.region_type), []).append(question)
    kept: dict[int, Image.Image] = {}

    def source(step: int) -> Sequence[Example]:
        rng = random.Random(f"{seed}:{step}:regions")
        unread = rng.random() < _UNREAD
        found = []
        for number in turns(step):
            if number not in kept:
                kept[number] = picture(waiting[number], long_side)
            page = without_words(waiting[number].page) if unread else waiting[number].page
            asked = _asked(page, strange, questions, rng)
            found.append(badly_asked(example_of(page, kept[number], asked), rng))
        return found

    return source


def _asked(
    page: GroundedPage, strange: Mapping[str, Sequence[GroundedQuestion]], count: int, rng: random.Random
) -> list[GroundedQuestion]:
    """Regions again and again, since each time the asker shows another place; a few that the page has not, taken from
    ``strange`` questions by type."""
    regions = [question for question in page.questions if question.masks and not question.answers]
    if not regions:
        return draw_questions(page, count, rng)
    missing = sorted(set(strange) - {question.region_type for question in page.questions} - {_NOT_ALONE})
    asked = []
    for _ in range(count):
        if missing and rng.random() < _ABSENT:
            asked.append(replace(rng.choice(strange[rng.choice(missing)]), masks=[], answers=[]))
        else:
            asked.append(rng.choice(regions))
    return asked


def without_words(page: GroundedPage, region_type: str | None = None) -> GroundedPage:
    """The page as a scan that nobody has read, asked for its regions alone, or for those of one type."""
    asked = [replace(one, answers=[]) for one in _regions(page) if region_type in (None, one.region_type)]
    return replace(page, words=[], questions=asked)


def _regions(page: GroundedPage) -> list[GroundedQuestion]:
    return [question for question in page.questions if question.masks]
