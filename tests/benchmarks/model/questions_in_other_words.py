"""Pages that are asked in other words than their keys: "Who has to pay?" where "Bill To" is printed.

    python -m tests.benchmarks.model.questions_in_other_words OUT
    glossator evaluate OUT --words-only [--model WEIGHTS]

Each of the 100 pages has ten keys with their values: the right key of one question, a near key that means something
else, and the keys of eight other questions. All values look alike, so that the key alone tells the answer. Chance is .1.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord, write_pages
from engine.training.pretraining.question_keys import QuestionKeys, question_keys

_OTHERS = 8  # keys of other questions on a page
_SIZE = (800, 600)  # pixels
_LEFT, _TOP, _VALUES, _LETTER, _LINE, _HEIGHT = 60, 60, 380, 9, 40, 18  # pixels


def pages(seed: int = 7) -> Iterator[GroundedPage]:
    """Yield a page for each question."""
    rng, asked = random.Random(seed), question_keys()
    for number, one in enumerate(asked):
        others = rng.sample([other.key for other in asked if other is not one], _OTHERS)
        keys = [one.key, one.near, *others]
        rng.shuffle(keys)
        yield _page(f"asked-{number}", one, keys, rng)


def _page(name: str, asked: QuestionKeys, keys: list[str], rng: random.Random) -> GroundedPage:
    words: list[GroundedWord] = []
    answer = -1
    for row, key in enumerate(keys):
        x, y = _LEFT, _TOP + row * _LINE
        for text in f"{key}:".split():
            words.append(_word(text, x, y))
            x = words[-1].box[2] + _LETTER
        if key == asked.key:
            answer = len(words)
        letters = "".join(rng.choice("ABCDEFGHKLMNPRSTW") for _ in range(2))
        words.append(_word(f"{letters}-{rng.randint(1000, 9999)}", _VALUES, y))
    return GroundedPage(name, None, *_SIZE, words, [GroundedQuestion(name, asked.question, [[answer]])])


def _word(text: str, x: int, y: int) -> GroundedWord:
    return GroundedWord(text, (x, y, x + _LETTER * len(text), y + _HEIGHT))


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for pages.jsonl")
    out = parser.parse_args().out
    print(f"{write_pages(out, ((page, None) for page in pages()))} pages in {out}")


if __name__ == "__main__":
    main()
