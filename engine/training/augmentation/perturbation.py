"""Pages made strange, so that a network learns where things stand and not what our generated pages are wont to say.

A generator has a vocabulary and habits of spacing. What is learned of them is wrong on a real page: that a word is a
key, because generated values never hold it. On a page in cipher nothing but matching, shape and layout is left.
"""

import random
import string
from dataclasses import replace

from engine.training.augmentation.corruption import misread
from model.examples import Example, Question, Word
from model.vocabulary import bare, weight_of, words_of

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"
TELLING = 0.5  # weight of a word that says what is asked: "the" weighs less
_MATCHED = 0.7  # share of a question's words that the page must hold, for it to be asked in cipher
_NARROW, _WIDE = 0.8, 1.3  # of letters and spaces against the height of a line
_LOWEST, _HIGHEST = 0.85, 1.35  # of the distance between lines
_MISREAD = 0.01, 0.1  # share of characters
_COLONLESS = 0.15  # share of pages that lose their colons


def in_cipher(example: Example, rng: random.Random) -> Example:
    """Page and questions with their letters exchanged, vowels for vowels: the same words match, none means anything.

    Questions that ask in other words than the page's cannot be understood then; others take their place, and the example is
    left as it is where there are none.
    """
    cipher = _cipher(rng)
    on_page = {bare(word.text) for word in example.words}
    literal = [one for one in example.questions if one.answered and _literal(one, on_page)]
    if not literal:
        return example
    questions = [
        one if not one.answered or _literal(one, on_page) else rng.choice(literal) for one in example.questions
    ]
    return replace(
        example,
        words=tuple(Word(word.text.translate(cipher), word.box) for word in example.words),
        questions=[replace(one, text=_translated(one.text, cipher), prompt=None) for one in questions],
    )


def _translated(question: str, cipher: dict[int, int]) -> str:
    """What is asked for, in cipher, also where the page does not have it; words of asking ("What is the") stay."""
    parts = question.split(" ")
    return " ".join(part.translate(cipher) if weight_of(part) >= TELLING else part for part in parts)


def stretched(example: Example, rng: random.Random) -> Example:
    """The page, without its picture, with all letters narrower or wider, all lines nearer or farther, perhaps no colons; as it
    is where its questions are answered by regions."""
    if any(question.masks for question in example.questions):
        return example
    across, down = rng.uniform(_NARROW, _WIDE), rng.uniform(_LOWEST, _HIGHEST)
    colonless = rng.random() < _COLONLESS
    words = []
    for word in example.words:
        x0, y0, x1, y1 = word.box
        middle, half = (y0 + y1) / 2 * down, (y1 - y0) / 2
        left, top = round(x0 * across), round(middle - half)
        box = (left, top, max(left + 1, round(x1 * across)), max(top + 1, round(middle + half)))
        words.append(Word(word.text.rstrip(":") or word.text if colonless else word.text, box))
    size = (max(1, round(example.size[0] * across)), max(1, round(example.size[1] * down)))
    return replace(example, words=tuple(words), size=size, image=None)


def blurred(example: Example, rng: random.Random) -> Example:
    """The page with characters read as others, at one rate for the whole page."""
    rate = rng.uniform(*_MISREAD)
    return replace(example, words=tuple(Word(misread(word.text, rate, rng), word.box) for word in example.words))


def _literal(question: Question, on_page: set[str]) -> bool:
    """Whether the page says what the question says."""
    telling = [bare(word) for word in words_of(question.text, 40) if weight_of(word) >= TELLING]
    return bool(telling) and sum(word in on_page for word in telling) >= _MATCHED * len(telling)


def _cipher(rng: random.Random) -> dict[int, int]:
    table: dict[int, int] = {}
    for letters in (_VOWELS, _CONSONANTS):
        mixed = rng.sample(letters, len(letters))
        table |= {ord(a): ord(b) for a, b in zip(letters, mixed, strict=True)}
        table |= {ord(a.upper()): ord(b.upper()) for a, b in zip(letters, mixed, strict=True)}
    assert len(table) == len(string.ascii_letters)
    return table
