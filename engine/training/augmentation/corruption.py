"""Corruption of evaluation pages: misread characters, dropped question words. Answers stay.

Random draws follow the reference of the evaluation data (one generator, seed 3; a page's characters first, then its
questions with word answers, in order), so that the lexical baseline gets the same figures.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.evaluation.lexical_baseline import STOP_WORDS, tokens

SEED = 3
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def corrupt_pages(pages: Iterable[GroundedPage], *, noise: float = 0.0, drop: float = 0.0) -> Iterator[GroundedPage]:
    """Yield the pages with misread characters and shortened questions.

    Questions without word answers are shortened too, with a generator of their own: the reference does not ask them,
    and the draws of the others must not change.

    Args:
        pages: Pages to corrupt; unchanged when both probabilities are 0.
        noise: Probability of replacing each character of a word, 0..1.
        drop: Probability of dropping each content word of a question, 0..1; one always remains.

    Raises:
        ValueError: A probability lies outside 0..1; raised at the call.
    """
    for name, share in (("noise", noise), ("drop", drop)):
        if not 0 <= share <= 1:
            raise ValueError(f"The share to {name} is {share:g}; it must lie between 0 and 1.")
    return _generate_corrupted(pages, noise, drop) if noise or drop else iter(pages)


def _generate_corrupted(pages: Iterable[GroundedPage], noise: float, drop: float) -> Iterator[GroundedPage]:
    rng, rng_of_others = random.Random(SEED), random.Random(SEED)
    for page in pages:
        words = [GroundedWord(misread(word.text, noise, rng), word.box) for word in page.words] if noise else page.words
        questions = page.questions
        if drop:
            questions = [
                _shorten_question(question, drop, rng if question.answers else rng_of_others)
                for question in page.questions
            ]
        yield replace(page, words=words, questions=questions)


def _shorten_question(question: GroundedQuestion, share: float, rng: random.Random) -> GroundedQuestion:
    return replace(question, question=shorten(question.question, share, rng))


def misread(text: str, rate: float, rng: random.Random) -> str:
    """Replace each character with probability `rate` by a random letter or digit, perhaps the same."""
    return "".join(rng.choice(_ALPHABET) if rng.random() < rate else character for character in text)


def shorten(question: str, share: float, rng: random.Random) -> str:
    """Drop each content word of a question with probability `share`; unchanged when none would remain."""
    # Draws for stop words too: otherwise the following draws would differ.
    shorter = " ".join(word for word in question.split() if rng.random() >= share or _is_stop_word(word))
    return shorter if any(token not in STOP_WORDS for token in tokens(shorter)) else question


def _is_stop_word(word: str) -> bool:
    word_tokens = tokens(word)
    return bool(word_tokens) and word_tokens[0] in STOP_WORDS
