"""Pages made harder on purpose: characters misread, words of questions left out. Answers and boxes stay as they are.

It draws as the reference of the evaluation data does (one generator, seed 3; a page's characters first, then its questions with word answers,
in their order), so that the lexical floor gets the same figures here and there.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.evaluation.lexical_baseline import STOP_WORDS, tokens

SEED = 3
_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


def corrupted(pages: Iterable[GroundedPage], *, noise: float = 0.0, drop: float = 0.0) -> Iterator[GroundedPage]:
    """The pages, each character of their words replaced with probability `noise`, each telling word of a question left out with
    probability `drop` (unless no telling word would remain). Without either they come as they are.

    Questions that no words answer lose theirs, too, but by a generator of their own: the reference does not ask them, and must
    draw the same for the others. ValueError, at the call, when a probability lies outside 0..1.
    """
    for name, share in (("noise", noise), ("drop", drop)):
        if not 0 <= share <= 1:
            raise ValueError(f"The share to {name} lies between 0 and 1, and {share:g} does not.")
    return _corrupted(pages, noise, drop) if noise or drop else iter(pages)


def _corrupted(pages: Iterable[GroundedPage], noise: float, drop: float) -> Iterator[GroundedPage]:
    chance, of_others = random.Random(SEED), random.Random(SEED)
    for page in pages:
        words = [GroundedWord(misread(one.text, noise, chance), one.box) for one in page.words] if noise else page.words
        questions = page.questions
        if drop:
            questions = [_shortened(one, drop, chance if one.answers else of_others) for one in page.questions]
        yield replace(page, words=words, questions=questions)


def _shortened(question: GroundedQuestion, share: float, chance: random.Random) -> GroundedQuestion:
    return replace(question, question=shortened(question.question, share, chance))


def misread(text: str, rate: float, chance: random.Random) -> str:
    """The text, each character replaced with probability `rate` by a letter or digit (perhaps the same)."""
    return "".join(chance.choice(_ALPHABET) if chance.random() < rate else character for character in text)


def shortened(question: str, share: float, chance: random.Random) -> str:
    """The question, each word that is no stop word left out with probability `share`; whole where nothing telling would remain."""
    # Drawn for stop words, too: who draws for fewer words draws other ones.
    kept = " ".join(word for word in question.split() if chance.random() >= share or _is_stop_word(word))
    return kept if any(token not in STOP_WORDS for token in tokens(kept)) else question


def _is_stop_word(word: str) -> bool:
    found = tokens(word)
    return bool(found) and found[0] in STOP_WORDS
