"""Source of rendered pages with typed regions, without questions, for training and probing."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TypeVar

from PIL import Image

from engine.synthetic import SyntheticPage, generate
from engine.synthetic.region_types import TypedRegion, typed_regions
from engine.training.sources.examples import MOST_WORDS
from engine.training.sources.page_supply import GENERATED, MadePage, Pages
from model.examples import Example, Source, Word

M = TypeVar("M", bound=MadePage)

_NARROWEST = 0.2  # ratio of a page's sides: a longer strip becomes unreadable when scaled


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """Page with its scaled image, and its regions in pixels of the page."""

    example: Example
    regions: tuple[TypedRegion, ...]


def render_page(made: SyntheticPage, long_side: int) -> RenderedPage:
    """Draw the page; its image is scaled to `long_side` pixels."""
    return RenderedPage(_example_without_questions(made, long_side), tuple(typed_regions(made)))


def picture(made: MadePage, long_side: int) -> Image.Image:
    """Draw the image of a page with a long side of `long_side` pixels."""
    image = made.render()
    scale = min(1.0, long_side / max(image.size))
    size = tuple(max(1, round(side * scale)) for side in image.size)
    return image.resize((size[0], size[1]), Image.Resampling.BILINEAR, reducing_gap=2.0)


def drawn_pages(seed: int, count: int) -> list[SyntheticPage]:
    """Return the first `count` pages of `endless_pages`."""
    return list(islice(endless_pages(seed), count))


def endless_pages(seed: int) -> Iterator[SyntheticPage]:
    """Yield generated pages of a seed, without strips and without pages of too many words."""
    return wide_pages(generate(seed))


def wide_pages(pages: Iterator[M]) -> Iterator[M]:
    """Yield the pages that are no strips and have not too many words."""
    for made in pages:
        sides = made.page.width, made.page.height
        if min(sides) >= _NARROWEST * max(sides) and len(made.page.words) <= MOST_WORDS:
            yield made


def rendered_source(
    seed: int, *, long_side: int, pages: int = 4, pool: int = 512, made: Pages = GENERATED.drawn
) -> Source:
    """Return a source of `pages` rendered, similar-shaped pages a step, without questions.

    Drawing a page takes as long as training on it, so `pool` pages are drawn at first use and kept; each occurs once an
    epoch. They are generated unless `made` yields others.
    """
    waiting = list(islice(wide_pages(made(seed)), pool))
    examples: dict[int, Example] = {}

    def example_of(number: int) -> Example:
        """Return the example of a page; drawn at first use."""
        if number not in examples:
            examples[number] = _example_without_questions(waiting[number], long_side)
        return examples[number]

    turns = turns_of([(made.page.width, made.page.height) for made in waiting], seed, pages)
    return lambda step: [example_of(number) for number in turns(step)]


def _example_without_questions(made: MadePage, long_side: int) -> Example:
    words = tuple(Word(word.text, word.box) for word in made.page.words)
    return Example(words, (made.page.width, made.page.height), (), picture(made, long_side))


def source_of(examples: Sequence[Example], seed: int, *, pages: int = 4) -> Source:
    """Return the same kind of source from existing examples."""
    turns = turns_of([example.size for example in examples], seed, pages)
    return lambda step: [examples[number] for number in turns(step)]


def turns_of(sizes: Sequence[tuple[int, int]], seed: int, pages: int) -> Callable[[int], list[int]]:
    """Return a function from a step to the indices of `pages` similar-shaped pages; each once an epoch."""
    alike = sorted(range(len(sizes)), key=lambda number: sizes[number][0] / sizes[number][1])
    groups = [alike[at : at + pages] for at in range(0, len(alike), pages)]

    @lru_cache(maxsize=2)  # of this turn; a million pages would be shuffled at every step
    def order_of(turn: int) -> list[int]:
        """Return the order of the groups in one turn."""
        return random.Random(f"{seed}:{turn}:rendered").sample(range(len(groups)), len(groups))

    def turn_at(step: int) -> list[int]:
        """Return the indices of one step."""
        turn, place = divmod(step, len(groups))
        return groups[order_of(turn)[place]]

    return turn_at
