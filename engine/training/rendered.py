"""Generated pages as pictures with typed regions: to learn from without questions, and to judge what was learned."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from PIL import Image

from engine.synthetic import SyntheticPage, generate
from engine.synthetic.region_types import TypedRegion, typed_regions
from engine.training.examples import MOST_WORDS
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
    image = made.render()
    scale = min(1.0, long_side / max(image.size))
    size = tuple(max(1, round(side * scale)) for side in image.size)
    small = image.resize((size[0], size[1]), Image.Resampling.BILINEAR, reducing_gap=2.0)
    return RenderedPage(Example(words, (made.page.width, made.page.height), (), small), tuple(typed_regions(made)))


def drawn_pages(seed: int, count: int) -> list[SyntheticPage]:
    """The first ``count`` generated pages of a seed that are no strips and have not too many words to learn from."""
    fit = (
        made
        for made in generate(seed)
        if min(made.page.width, made.page.height) >= _NARROWEST * max(made.page.width, made.page.height)
        and len(made.page.words) <= MOST_WORDS
    )
    return list(islice(fit, count))


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

    return _grouped([(made.page.width, made.page.height) for made in waiting], drawn, seed, pages)


def source_of(examples: Sequence[Example], seed: int, *, pages: int = 4) -> Source:
    """The same from pages that are there already."""
    return _grouped([example.size for example in examples], lambda number: examples[number], seed, pages)


def _grouped(sizes: Sequence[tuple[int, int]], drawn: Callable[[int], Example], seed: int, pages: int) -> Source:
    alike = sorted(range(len(sizes)), key=lambda number: sizes[number][0] / sizes[number][1])
    groups = [alike[at : at + pages] for at in range(0, len(alike), pages)]

    def source(step: int) -> Sequence[Example]:
        turn, place = divmod(step, len(groups))
        order = random.Random(f"{seed}:{turn}:rendered").sample(range(len(groups)), len(groups))
        return [drawn(number) for number in groups[order[place]]]

    return source
