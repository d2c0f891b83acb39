"""Source of pages without labels that are read as words alone, for masked words."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.training.sources.rendered import turns_of
from model.examples import Example, Source

FEWEST_WORDS = 8  # of a page that words are learned from
_MOST_WORDS = 350  # of a page of words: the cost of a step grows with the square


def word_source(lengths: Sequence[int], page: Callable[[int], Example], seed: int, *, pages: int = 4) -> Source:
    """Return a source of `pages` pages of words a step, of like length; each page once an epoch.

    Of a long page a run of words in reading order is drawn, other ones in each epoch.

    Args:
        lengths: Number of words of each page.
        page: Returns a page by its place.
        seed: Seed of the draws.
        pages: Pages a step.
    """
    turns = turns_of([(min(words, _MOST_WORDS), 1) for words in lengths], seed, pages)

    def source(step: int) -> list[Example]:
        """Return the pages of one step."""
        rng = random.Random(f"{seed}:{step}:words")
        return [cut_words(page(number), rng) for number in turns(step)]

    return source


def cut_words(example: Example, rng: random.Random) -> Example:
    """Return a page of at most _MOST_WORDS words: a run in reading order."""
    start = rng.randint(0, max(0, len(example.words) - _MOST_WORDS))
    return replace(example, words=example.words[start : start + _MOST_WORDS])
