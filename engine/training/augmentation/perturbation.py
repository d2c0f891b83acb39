"""Perturbation of generated pages: a network learns layout instead of the generator's vocabulary.

A generator has a fixed vocabulary and fixed spacing. Shortcuts learned from them fail on real pages, for example "this
word is a key because no generated value contains it". A ciphered page leaves only matching, shape and layout.
"""

import random
import string
from dataclasses import replace

from engine.training.augmentation.corruption import misread
from model.examples import Example, Question, Word
from model.vocabulary import bare, weight_of, words_of

_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnpqrstvwxyz"
TELLING = 0.5  # weight of a content word: "the" weighs less
_MATCHED = 0.7  # share of a question's words that must be on the page for the question to be ciphered
_NARROW, _WIDE = 0.8, 1.3  # of letters and spaces, relative to the line height
_LOWEST, _HIGHEST = 0.85, 1.35  # of the distance between lines
_MISREAD = 0.01, 0.1  # share of characters
_COLONLESS = 0.15  # share of pages that lose their colons


def cipher_page(example: Example, rng: random.Random) -> Example:
    """Cipher the letters of page and questions, vowels to vowels: equal words stay equal, without meaning.

    Paraphrased questions cannot be understood then and are replaced. Without a replacement the example stays unchanged.
    """
    cipher = _cipher(rng)
    on_page = {bare(word.text) for word in example.words}
    literal = [question for question in example.questions if question.answered and _literal(question, on_page)]
    if not literal:
        return example
    questions = [
        question if not question.answered or _literal(question, on_page) else rng.choice(literal)
        for question in example.questions
    ]
    return replace(
        example,
        words=tuple(Word(word.text.translate(cipher), word.box) for word in example.words),
        questions=[
            replace(question, text=_cipher_question(question.text, cipher), prompt=None) for question in questions
        ],
    )


def _cipher_question(question: str, cipher: dict[int, int]) -> str:
    """Cipher the content of a question; question phrases ("What is the") stay."""
    parts = question.split(" ")
    return " ".join(part.translate(cipher) if weight_of(part) >= TELLING else part for part in parts)


def stretch_page(example: Example, rng: random.Random) -> Example:
    """Stretch letters and line distances at random, without the image, perhaps without colons.

    Unchanged when regions answer its questions.
    """
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


def misread_words(example: Example, rng: random.Random) -> Example:
    """Replace characters by similar ones, at one rate for the whole page."""
    rate = rng.uniform(*_MISREAD)
    return replace(example, words=tuple(Word(misread(word.text, rate, rng), word.box) for word in example.words))


def _literal(question: Question, on_page: set[str]) -> bool:
    """Return whether the page contains the question's words."""
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
