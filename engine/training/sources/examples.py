"""Grounded pages as examples for the network, and where a run takes them from, step by step."""

import random
import string
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from PIL import Image
from pycocotools import mask as coco

from engine.grounded import GroundedPage, GroundedQuestion
from engine.synthetic import SyntheticPage, generate
from engine.training.augmentation.corruption import shortened
from engine.training.augmentation.perturbation import blurred, in_cipher, stretched
from model.examples import Example, Prompt, Question, Source, Word

MOST_WORDS = 350  # of a page to learn from: the cost of a step grows with the square
MOST_ANSWERS = 3  # acceptable answers a question keeps; the rest costs memory and teaches little
_BLOCK_STEPS = 6  # steps whose pages are drawn together and grouped by length, so that little is padding
_SEED_STRIDE = 1_000_003
_PLAIN_KEPT = 0.25  # of rendered pages without signature, box or stamp: two thirds of all, and an image is dear
_DISGUISED = 0.5  # share of generated pages of words that are stretched
_MISREAD, _IN_CIPHER = 0.8, 0.5  # shares of pages that are misread or in cipher, to those that are stretched
_LOST = 0.4  # share of its telling words that a question loses, if it loses any
_TYPO, _DROPPED_WORD = 0.08, 0.3  # shares of questions that are asked badly


def example_of(page: GroundedPage, image: Image.Image | None, questions: Sequence[GroundedQuestion]) -> Example:
    """The page with the given questions, as the network reads it. ``image`` has the page's size, or is None."""
    words = tuple(Word(word.text, word.box) for word in page.words)
    return Example(words, (page.width, page.height), [question_of(one) for one in questions], image)


def question_of(question: GroundedQuestion) -> Question:
    """A question with its acceptable answers, masks decoded."""
    answers = tuple(tuple(answer) for answer in question.answers if answer)[:MOST_ANSWERS]
    masks = tuple(np.asarray(coco.decode(one), bool) for one in question.masks[:MOST_ANSWERS])
    return Question(question.question, answers, masks)


def draw_questions(
    page: GroundedPage,
    count: int,
    rng: random.Random,
    regions: float = 0.0,
    weights: Mapping[str, float] | None = None,
) -> list[GroundedQuestion]:
    """``count`` questions of a page, without repetition while there are enough; a share ``regions`` of them are asked for
    what no words make (signatures, checkboxes), where the page has such. ``weights``: question id -> how often it is
    drawn beside one that weighs 1; never at 0."""
    if weights:
        return _drawn_by_weight(
            page.questions, [weights.get(one.question_id, 1.0) for one in page.questions], count, rng
        )
    pointed = [question for question in page.questions if question.masks and not question.answers]
    wanted = round(count * regions) if pointed else 0
    drawn = rng.sample(pointed, min(wanted, len(pointed)))
    others = [question for question in page.questions if all(question is not one for one in drawn)] or page.questions
    rest = count - len(drawn)
    return drawn + (rng.sample(others, rest) if len(others) >= rest else [rng.choice(others) for _ in range(rest)])


def badly_asked(example: Example, rng: random.Random) -> Example:
    """The example with typing errors in some questions and words missing in others."""
    return replace(example, questions=[_badly_asked(question, rng) for question in example.questions])


def synthetic_source(
    seed: int, *, pages: int = 4, questions: int = 8, regions: float = 0.0, images: bool = False
) -> Source:
    """Endless generated pages: step n always gives the same ``pages`` pages with ``questions`` questions each."""
    block: dict[int, list[list[Example]]] = {}

    def source(step: int) -> Sequence[Example]:
        number, place = divmod(step, _BLOCK_STEPS)
        if number not in block:
            block.clear()
            block[number] = _drawn_block(seed * _SEED_STRIDE + number, pages, questions, regions, images)
        return block[number][place]

    return source


def page_source(
    corpus: Sequence[GroundedPage],
    image_of: Callable[[GroundedPage], Image.Image | None],
    seed: int,
    *,
    pages: int = 4,
    questions: int = 8,
    disguised: float = 0.0,
    badly: bool = True,
    weights: Mapping[str, Mapping[str, float]] | None = None,
) -> Source:
    """Pages of a snapshot: step n draws ``pages`` of them, so that each is seen once before any is seen twice.

    disguised: share of the pages without image that are stretched; see engine.training.augmentation.perturbation. badly: some questions
    with typing errors and lost words. ``weights``: page id -> question id -> weight, 1 where it is not named. Questions are drawn in
    proportion to it, and a page in proportion to the mean of its questions'; what weighs 0 never is. ValueError when nothing is
    left to learn from.
    """
    given = weights or {}
    usable = []
    for page in corpus:
        of_page = [given.get(page.page_id, {}).get(one.question_id, 1.0) for one in page.questions]
        if len(page.words) <= MOST_WORDS * 4 and any(of_page):
            usable.append((page, sum(of_page) / len(of_page)))
    if not usable:
        weightless = " whose answer weighs anything; the tab Quality shows why" if given else ""
        raise ValueError(f"None of the pages has a question to learn from{weightless}.")
    turns = Turns([weight for _, weight in usable], seed)

    def source(step: int) -> Sequence[Example]:
        rng = random.Random(f"{seed}:{step}:pages")
        chosen = [usable[turns.place(step * pages + at)][0] for at in range(pages)]
        found = [image_of(page) for page in chosen]
        together = all(image is not None for image in found)
        asked = [
            example_of(
                page,
                image if together else None,
                draw_questions(page, questions, rng, weights=given.get(page.page_id)),
            )
            for page, image in zip(chosen, found, strict=True)
        ]
        if badly:
            asked = [badly_asked(example, rng) for example in asked]
        return [_strange(example, rng, disguised) for example in asked] if disguised else asked

    return source


def pooled(source: Source, steps: int) -> Source:
    """The first ``steps`` of a source again and again: what was seen once can be remembered."""
    return lambda step: source(step % steps)


def mixed_source(first: Source, second: Source, share: float, seed: int) -> Source:
    """Steps of ``second`` for a ``share`` (0..1) of the steps, else of ``first``: replay beside corrections."""

    def source(step: int) -> Sequence[Example]:
        return second(step) if random.Random(f"{seed}:{step}:mix").random() < share else first(step)

    return source


def _drawn_block(seed: int, pages: int, questions: int, regions: float, images: bool) -> list[list[Example]]:
    rng = random.Random(f"{seed}:block")
    usable = _usable(generate(seed), rng, _PLAIN_KEPT if images and regions else 1.0)
    drawn = list(islice(usable, pages * _BLOCK_STEPS))
    drawn.sort(key=lambda one: len(one.page.words))
    groups = [drawn[at : at + pages] for at in range(0, len(drawn), pages)]
    rng.shuffle(groups)
    return [
        [
            _strange(
                badly_asked(
                    example_of(
                        one.page, one.render() if images else None, draw_questions(one.page, questions, rng, regions)
                    ),
                    rng,
                ),
                rng,
                _DISGUISED,
            )
            for one in group
        ]
        for group in groups
    ]


def _strange(example: Example, rng: random.Random, share: float) -> Example:
    if example.image is not None:
        return example
    if rng.random() < share:
        example = stretched(example, rng)
    if rng.random() < share * _MISREAD:
        example = blurred(example, rng)
    return in_cipher(example, rng) if rng.random() < share * _IN_CIPHER else example


def _usable(pages: Iterator[SyntheticPage], rng: random.Random, plain: float) -> Iterator[SyntheticPage]:
    """Pages worth a step; of those without a region to point at, a share ``plain`` (0..1)."""
    for one in pages:
        page = one.page
        pointed = any(question.masks and not question.answers for question in page.questions)
        if page.questions and 4 <= len(page.words) <= MOST_WORDS and (pointed or rng.random() < plain):
            yield one


class Turns:
    """Places in a list, drawn in proportion to their weights, turn by turn; a function of seed and number alone.

    In each turn a place of the greatest weight comes once, one of half its weight every other turn (systematic sampling, Madow 1949,
    with a start of its own for every place), so that what is drawn rarely is still drawn; the order in a turn is shuffled.
    """

    def __init__(self, weights: Sequence[float], seed: int) -> None:
        most = max(weights)
        self._shares = [weight / most for weight in weights]
        self._starts = [random.Random(f"{seed}:{at}:start").random() for at in range(len(weights))]
        self._seed = seed
        self._ends: list[int] = []  # how many were drawn by the end of each turn so far
        self._turn: tuple[int, list[int]] = (-1, [])

    def place(self, number: int) -> int:
        """Return the place that is drawn as the `number`-th, from 0."""
        while not self._ends or self._ends[-1] <= number:
            self._ends.append((self._ends[-1] if self._ends else 0) + len(self._drawn(len(self._ends))))
        turn = bisect_right(self._ends, number)
        if self._turn[0] != turn:
            order = self._drawn(turn)
            random.Random(f"{self._seed}:{turn}:turn").shuffle(order)
            self._turn = (turn, order)
        return self._turn[1][number - (self._ends[turn - 1] if turn else 0)]

    def _drawn(self, turn: int) -> list[int]:
        return [
            at
            for at, (share, start) in enumerate(zip(self._shares, self._starts, strict=True))
            if share == 1.0 or int(share * (turn + 1) + start) > int(share * turn + start)
        ]


def _drawn_by_weight(
    questions: Sequence[GroundedQuestion], weights: Sequence[float], count: int, rng: random.Random
) -> list[GroundedQuestion]:
    """Without repetition where there are enough (Efraimidis and Spirakis 2006), else each draw by itself."""
    there = [(one, weight) for one, weight in zip(questions, weights, strict=True) if weight > 0]
    if len(there) < count:
        return rng.choices([one for one, _ in there], [weight for _, weight in there], k=count)
    keys = [(rng.random() ** (1 / weight), at) for at, (_, weight) in enumerate(there)]
    return [there[at][0] for _, at in sorted(keys, reverse=True)[:count]]


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
        text = shortened(text, _LOST, rng)
    if text == question.text:
        return question
    prompt = question.prompt or Prompt(text)
    return replace(question, text=text, prompt=replace(prompt, text=text))
