"""Examples for the network from grounded pages, and sources that yield them step by step."""

import random
import string
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TypeVar

import numpy as np
from PIL import Image
from pycocotools import mask as coco

from engine.grounded import GroundedPage, GroundedQuestion
from engine.training.augmentation.corruption import shorten
from engine.training.augmentation.perturbation import cipher_page, misread_words, stretch_page
from engine.training.sources.page_supply import GENERATED, MadePage, Pages
from model.examples import Example, Prompt, Question, Source, Word
from model.kind_shapes import kind_of_value
from model.kinds import Kind

T = TypeVar("T")

MOST_WORDS = 350  # of a training page: the cost of a step grows with the square
MOST_TAUGHT = 4 * MOST_WORDS  # of a corrected page; longer ones only judge
_MOST_TOGETHER = 2 * MOST_WORDS  # of all pages of a full step; longer ones have steps of fewer pages
MOST_ANSWERS = 3  # acceptable answers kept per question; more cost memory and add little
_BLOCK_STEPS = 6  # steps whose pages are drawn together and grouped by length, to reduce padding
_SEED_STRIDE = 1_000_003
# share kept of rendered pages without signature, checkbox or stamp (two thirds of all): images are expensive
_PLAIN_KEPT = 0.25
_PERTURBED = 0.5  # share of generated pages of words that are stretched
_MISREAD, _IN_CIPHER = 0.8, 0.5  # shares of misread and of ciphered pages, relative to stretched ones
_LONG = 9  # words of an answer that is drawn more often: real forms have more of them than generated pages
_LONG_WEIGHT = 2.0
_LOST = 0.4  # share of content words that a shortened question loses
_TYPO, _DROPPED_WORD = 0.08, 0.3  # shares of corrupted questions


def example_of(page: GroundedPage, image: Image.Image | None, questions: Sequence[GroundedQuestion]) -> Example:
    """Convert a page with the given questions to an example. `image` has the page's size, or is None."""
    words = tuple(Word(word.text, word.box) for word in page.words)
    asked = [question_of(question, question.kind or _kind_of_answer(page, question)) for question in questions]
    return Example(words, (page.width, page.height), asked, image)


def _kind_of_answer(page: GroundedPage, question: GroundedQuestion) -> Kind | None:
    """Return the kind that a field for this answer would have."""
    return kind_of_value(" ".join(page.words[at].text for at in question.answers[0])) if question.answers else None


def question_of(question: GroundedQuestion, kind: Kind | None = None) -> Question:
    """Convert a question with its acceptable answers and the kind of its value; masks are decoded."""
    answers = tuple(tuple(answer) for answer in question.answers if answer)[:MOST_ANSWERS]
    masks = tuple(np.asarray(coco.decode(mask), bool) for mask in question.masks[:MOST_ANSWERS])
    prompt = None if kind is None else Prompt(question.question, kind=kind)
    return Question(question.question, answers, masks, prompt)


def draw_questions(
    page: GroundedPage,
    count: int,
    rng: random.Random,
    regions: float = 0.0,
    weights: Mapping[str, float] | None = None,
) -> list[GroundedQuestion]:
    """Return `count` questions of a page, without repetition while there are enough.

    `regions`: share of questions for regions without words (signatures, checkboxes), if any. `weights`: question id ->
    relative frequency, 1 by default; 0 is never drawn.
    """
    if weights:
        return _draw_by_weight(
            page.questions, [weights.get(question.question_id, 1.0) for question in page.questions], count, rng
        )
    pointed = [question for question in page.questions if question.masks and not question.answers]
    wanted = round(count * regions) if pointed else 0
    drawn = rng.sample(pointed, min(wanted, len(pointed)))
    others = [
        question for question in page.questions if all(question is not drawn_question for drawn_question in drawn)
    ] or page.questions
    remaining = count - len(drawn)
    return drawn + (
        rng.sample(others, remaining) if len(others) >= remaining else [rng.choice(others) for _ in range(remaining)]
    )


def badly_asked(example: Example, rng: random.Random) -> Example:
    """Return the example with typing errors in some questions and words missing in others."""
    return replace(example, questions=[_badly_asked(question, rng) for question in example.questions])


def synthetic_source(
    seed: int,
    *,
    pages: int = 4,
    questions: int = 8,
    regions: float = 0.0,
    images: bool = False,
    made: Pages = GENERATED.words,
) -> Source:
    """Return an endless source of pages, generated unless `made` yields others; see `block_source`."""
    return block_source(made, seed, pages=pages, questions=questions, regions=regions, images=images)


def block_source(
    made: Pages,
    seed: int,
    *,
    pages: int = 4,
    questions: int = 8,
    regions: float = 0.0,
    images: bool = False,
) -> Source:
    """Return an endless source of the pages that `made` yields for a seed: `pages` a step with `questions` each; pure.

    Pages of like length share a step.
    """
    block: dict[int, list[list[Example]]] = {}

    def source(step: int) -> Sequence[Example]:
        """Return the examples of one step."""
        number, place = divmod(step, _BLOCK_STEPS)
        if number not in block:
            block.clear()
            block_seed = seed * _SEED_STRIDE + number
            block[number] = _draw_block(made(block_seed), block_seed, pages, questions, regions, images)
        return block[number][place]

    return source


def page_source(
    corpus: Sequence[GroundedPage],
    image_of: Callable[[GroundedPage], Image.Image | None],
    seed: int,
    *,
    pages: int = 4,
    questions: int = 8,
    perturbed: float = 0.0,
    badly: bool = True,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    in_turn: bool = False,
) -> Source:
    """Return a source of a snapshot's pages: `pages` a step, each page once an epoch.

    Pages of like length share a step: those of up to six steps are drawn together and grouped. Long pages have steps of
    fewer pages, down to one, because the memory of a step grows with the square of their words. Questions are drawn in
    proportion to their weight, pages in proportion to the mean weight of their questions.

    Args:
        corpus: Pages with questions.
        image_of: Opens a page's image, or returns None.
        seed: Seed of the draws.
        pages: Pages a step.
        questions: Questions a page.
        perturbed: Share of pages without image that are perturbed; see engine.training.augmentation.perturbation.
        badly: Corrupt some questions with typing errors and missing words.
        weights: Page id -> question id -> weight, 1 by default; 0 is never drawn.
        in_turn: Leave the pages in the order in which they are drawn, so that the first steps have all of them.

    Raises:
        ValueError: No question of weight is left.
    """
    weights_by_page = weights or {}
    usable = []
    for page in corpus:
        of_page = [weights_by_page.get(page.page_id, {}).get(question.question_id, 1.0) for question in page.questions]
        if len(page.words) <= MOST_TAUGHT and any(of_page):
            usable.append((page, sum(of_page) / len(of_page)))
    if not usable:
        raise ValueError(_nothing_usable(corpus, weights_by_page))
    turns = Turns([weight for _, weight in usable], seed)
    steps = max(1, min(_BLOCK_STEPS, len(usable) // pages))  # of a block: not more than an epoch
    begins = [0]  # first step of each block

    @lru_cache(maxsize=1)
    def block(number: int) -> list[Sequence[GroundedPage]]:
        """Return the pages of the steps of a block; long pages make it have more steps."""
        drawn = [usable[turns.place(number * steps * pages + at)][0] for at in range(steps * pages)]
        return _group_by_length(drawn, lambda page: len(page.words), pages, random.Random(f"{seed}:{number}:block"))

    def chosen_for(step: int) -> Sequence[GroundedPage]:
        if in_turn or pages == 1:
            return [usable[turns.place(step * pages + at)][0] for at in range(pages)]
        while begins[-1] <= step:
            begins.append(begins[-1] + len(block(len(begins) - 1)))
        number = bisect_right(begins, step) - 1
        return block(number)[step - begins[number]]

    def source(step: int) -> Sequence[Example]:
        """Return the examples of one step."""
        rng = random.Random(f"{seed}:{step}:pages")
        chosen = chosen_for(step)
        images = [image_of(page) for page in chosen]
        together = all(image is not None for image in images)
        asked = [
            example_of(
                page,
                image if together else None,
                draw_questions(page, questions, rng, weights=weights_by_page.get(page.page_id)),
            )
            for page, image in zip(chosen, images, strict=True)
        ]
        if badly:
            asked = [badly_asked(example, rng) for example in asked]
        return [_perturb(example, rng, perturbed) for example in asked] if perturbed else asked

    return source


def _nothing_usable(corpus: Sequence[GroundedPage], weights: Mapping[str, Mapping[str, float]]) -> str:
    asked = [page for page in corpus if page.questions]
    if asked and all(len(page.words) > MOST_TAUGHT for page in asked):
        return f"Every page with an answer has more than {MOST_TAUGHT:,} words, which are too many to train on."
    weightless = "No answer for training has a weight above 0; the tab Quality shows why."
    return weightless if weights else "No page has a question to train on."


def read_as(pages: Iterable[GroundedPage]) -> float:
    """Return as how many pages of a step these count: one of more than _MOST_TOGETHER words as several.

    Pages of more than MOST_TAUGHT words are not read.
    """
    lengths = (len(page.words) for page in pages)
    return sum(max(1.0, (length / _MOST_TOGETHER) ** 2) for length in lengths if length <= MOST_TAUGHT)


def _group_by_length(
    drawn: Sequence[T], length: Callable[[T], int], pages: int, rng: random.Random
) -> list[Sequence[T]]:
    """Part what was drawn into groups of at most `pages` of like length, in random order.

    The memory of a step grows with its pages times the square of the longest one's words, so groups of pages longer
    than _MOST_TOGETHER are smaller: of four pages of 700 words, three of 800, one of 1,400.
    """
    left = sorted(drawn, key=length)
    groups: list[Sequence[T]] = []
    while left:
        longest = max(length(left[-1]), _MOST_TOGETHER)
        fitting = max(1, pages * _MOST_TOGETHER**2 // longest**2)
        groups.append(left[-fitting:])
        del left[-fitting:]
    groups.reverse()
    rng.shuffle(groups)
    return groups


def repeat_steps(source: Source, steps: int) -> Source:
    """Repeat the first `steps` steps of a source, so that their features can be cached."""
    return lambda step: source(step % steps)


def mixed_source(first: Source, second: Source, share: float, seed: int) -> Source:
    """Mix steps of `second` into `first` at a `share` of 0..1: replay beside corrections."""

    def source(step: int) -> Sequence[Example]:
        """Return the examples of one step."""
        return second(step) if random.Random(f"{seed}:{step}:mix").random() < share else first(step)

    return source


def _draw_block(
    made: Iterator[MadePage], seed: int, pages: int, questions: int, regions: float, images: bool
) -> list[list[Example]]:
    rng = random.Random(f"{seed}:block")
    usable = _usable(made, rng, _PLAIN_KEPT if images and regions else 1.0)
    drawn = list(islice(usable, pages * _BLOCK_STEPS))
    return [
        [
            _perturb(
                badly_asked(
                    example_of(
                        made_page.page,
                        made_page.render() if images else None,
                        draw_questions(
                            made_page.page, questions, rng, regions, None if regions else _weights(made_page.page)
                        ),
                    ),
                    rng,
                ),
                rng,
                _PERTURBED,
            )
            for made_page in group
        ]
        for group in _group_by_length(drawn, lambda made_page: len(made_page.page.words), pages, rng)
    ]


def _weights(page: GroundedPage) -> dict[str, float]:
    return {
        question.question_id: _LONG_WEIGHT
        for question in page.questions
        if any(len(answer) >= _LONG for answer in question.answers)
    }


def _perturb(example: Example, rng: random.Random, share: float) -> Example:
    if example.image is not None:
        return example
    if rng.random() < share:
        example = stretch_page(example, rng)
    if rng.random() < share * _MISREAD:
        example = misread_words(example, rng)
    return cipher_page(example, rng) if rng.random() < share * _IN_CIPHER else example


def _usable(pages: Iterator[MadePage], rng: random.Random, plain: float) -> Iterator[MadePage]:
    """Yield pages worth a step; of those without a region to ask for, a share `plain` (0..1)."""
    for made in pages:
        page = made.page
        pointed = any(question.masks and not question.answers for question in page.questions)
        if page.questions and 4 <= len(page.words) <= MOST_WORDS and (pointed or rng.random() < plain):
            yield made


class Turns:
    """Draws list positions in proportion to their weights, epoch by epoch; a function of seed and number.

    In each epoch a position of the greatest weight occurs once, one of half its weight every other epoch (systematic
    sampling, Madow 1949, with a separate offset for every position), so that rare positions are still drawn. The order
    within an epoch is shuffled.
    """

    def __init__(self, weights: Sequence[float], seed: int) -> None:
        most = max(weights)
        self._shares = [weight / most for weight in weights]
        self._starts = [random.Random(f"{seed}:{at}:start").random() for at in range(len(weights))]
        self._seed = seed
        self._ends: list[int] = []  # number of draws up to the end of each epoch so far
        self._turn: tuple[int, list[int]] = (-1, [])

    def place(self, number: int) -> int:
        """Return the position of the `number`-th draw, from 0."""
        while not self._ends or self._ends[-1] <= number:
            self._ends.append((self._ends[-1] if self._ends else 0) + len(self._draw_turn(len(self._ends))))
        turn = bisect_right(self._ends, number)
        if self._turn[0] != turn:
            order = self._draw_turn(turn)
            random.Random(f"{self._seed}:{turn}:turn").shuffle(order)
            self._turn = (turn, order)
        return self._turn[1][number - (self._ends[turn - 1] if turn else 0)]

    def _draw_turn(self, turn: int) -> list[int]:
        return [
            at
            for at, (share, start) in enumerate(zip(self._shares, self._starts, strict=True))
            if share == 1.0 or int(share * (turn + 1) + start) > int(share * turn + start)
        ]


def _draw_by_weight(
    questions: Sequence[GroundedQuestion], weights: Sequence[float], count: int, rng: random.Random
) -> list[GroundedQuestion]:
    """Draw without repetition while possible (Efraimidis and Spirakis 2006), else independently."""
    drawable = [(question, weight) for question, weight in zip(questions, weights, strict=True) if weight > 0]
    if len(drawable) < count:
        return rng.choices([question for question, _ in drawable], [weight for _, weight in drawable], k=count)
    keys = [(rng.random() ** (1 / weight), at) for at, (_, weight) in enumerate(drawable)]
    return [drawable[at][0] for _, at in sorted(keys, reverse=True)[:count]]


def _badly_asked(question: Question, rng: random.Random) -> Question:
    text, draw = question.text, rng.random()
    if draw < _TYPO and len(text) > 4:
        at = rng.randrange(len(text) - 1)
        letter = rng.choice(string.ascii_lowercase)
        text = rng.choice(
            [
                text[:at] + letter + text[at + 1 :],
                text[:at] + text[at + 1 :],
                text[:at] + text[at + 1] + text[at] + text[at + 2 :],
            ]
        )
    elif draw < _TYPO + _DROPPED_WORD and text.count(" ") > 1:
        text = shorten(text, _LOST, rng)
    if text == question.text:
        return question
    prompt = question.prompt or Prompt(text)
    return replace(question, text=text, prompt=replace(prompt, text=text))
