"""Generated pages as pictures with typed regions: to learn from without questions, and to judge what was learned."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from PIL import Image

from engine.synthetic import SyntheticPage, generate
from engine.synthetic.region_types import TypedRegion, typed_regions
from engine.training.sources.examples import MOST_WORDS
from model.examples import Example, Source, Word

_NARROWEST = 0.2  # of the sides of a page: a longer strip leaves nothing to see when it is scaled


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page with its picture, scaled down, and its regions in pixels of the page."""

    example: Example
    regions: tuple[TypedRegion, ...]


def rendered(made: SyntheticPage, long_side: int) -> RenderedPage:
    """The page drawn, its picture scaled down to what a network of ``long_side`` pixels looks at."""
    words = tuple(Word(word.text, word.box) for word in made.page.words)
    small = picture(made, long_side)
    return RenderedPage(Example(words, (made.page.width, made.page.height), (), small), tuple(typed_regions(made)))


def picture(made: SyntheticPage, long_side: int) -> Image.Image:
    """The page drawn, its long side scaled down to ``long_side`` pixels."""
    image = made.render()
    scale = min(1.0, long_side / max(image.size))
    size = tuple(max(1, round(side * scale)) for side in image.size)
    return image.resize((size[0], size[1]), Image.Resampling.BILINEAR, reducing_gap=2.0)


def drawn_pages(seed: int, count: int) -> list[SyntheticPage]:
    """The first ``count`` of ``endless_pages``."""
    return list(islice(endless_pages(seed), count))


def endless_pages(seed: int) -> Iterator[SyntheticPage]:
    """The generated pages of a seed that are no strips and have not too many words to learn from."""
    for made in generate(seed):
        sides = made.page.width, made.page.height
        if min(sides) >= _NARROWEST * max(sides) and len(made.page.words) <= MOST_WORDS:
            yield made


def rendered_source(seed: int, *, long_side: int, pages: int = 4, pool: int = 512) -> Source:
    """Rendered pages without questions: step n gives ``pages`` of them, alike in shape so that little is margin.

    Drawing a page takes as long as learning from it; so there are ``pool`` pages, drawn when they are first seen and
    kept, and each is seen once before any is seen again.
    """
    waiting = drawn_pages(seed, pool)
    kept: dict[int, Example] = {}

    def drawn(number: int) -> Example:
        if number not in kept:
            kept[number] = rendered(waiting[number], long_side).example
        return kept[number]

    turns = turns_of([(made.page.width, made.page.height) for made in waiting], seed, pages)
    return lambda step: [drawn(number) for number in turns(step)]


def source_of(examples: Sequence[Example], seed: int, *, pages: int = 4) -> Source:
    """The same from pages that are there already."""
    turns = turns_of([example.size for example in examples], seed, pages)
    return lambda step: [examples[number] for number in turns(step)]


def turns_of(sizes: Sequence[tuple[int, int]], seed: int, pages: int) -> Callable[[int], list[int]]:
    """Step -> numbers of ``pages`` pages of these sizes, alike in shape; each is seen once before any is seen again."""
    alike = sorted(range(len(sizes)), key=lambda number: sizes[number][0] / sizes[number][1])
    groups = [alike[at : at + pages] for at in range(0, len(alike), pages)]

    def turn_at(step: int) -> list[int]:
        turn, place = divmod(step, len(groups))
        order = random.Random(f"{seed}:{turn}:rendered").sample(range(len(groups)), len(groups))
        return groups[order[place]]

    return turn_at
