"""How well plain texts are grounded to the words of real pages.

python -m tests.benchmarks.grounding FOLDER [--noise 0 0.03 0.06]: sends the printed text of each answer of a grounded
set as a model of others would, with letters misread by chance, and compares the places that are offered with the words
that really answer. A place is right when its words are those of an acceptable answer.
"""

import argparse
import random
import statistics
import string
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.grounded import GroundedPage, GroundedQuestion, read_pages
from engine.proposers.grounding import SoughtText
from model.examples import Word
from model.printed_text import printed_text
from tests.benchmarks.markdown import table as markdown

_OFFERED = 8  # places of one text that a person is offered
_LETTERS = string.ascii_letters + string.digits
_HEADS = (
    "letters misread", "texts", "right and alone", "right is the first", "right among those offered", "none is right",
    "none offered", "ms a text",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a grounded set")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.03, 0.06], help="shares of letters misread")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    asked = [(page, question) for page in read_pages(chosen.folder) for question in _with_words(page)]
    rows = [measure(asked, noise, random.Random(f"{chosen.seed} {noise}")) for noise in chosen.noise]
    print(markdown(_HEADS, rows))


def measure(
    asked: Sequence[tuple[GroundedPage, GroundedQuestion]], noise: float, rng: random.Random
) -> tuple[str, ...]:
    """Return the row of a share of misread letters."""
    alone = first = among = wrong = none = 0
    seconds = []
    for page, question in asked:
        words = [Word(word.text, word.box) for word in page.words]
        right = {frozenset(answer) for answer in question.answers}
        text = misread(printed_text(page.words[at] for at in sorted(question.answers[0])), noise, rng)
        began = time.perf_counter()
        places = [frozenset(place.words) for place in SoughtText(text).places_on(words)][:_OFFERED]
        seconds.append(time.perf_counter() - began)
        there = [place in right for place in places]
        alone += there == [True]
        first += bool(there) and there[0]
        among += any(there)
        wrong += bool(there) and not any(there)
        none += not there
    shares = (f"{count / len(asked):.3f}" for count in (alone, first, among, wrong, none))
    return (f"{noise:.2f}", f"{len(asked):,}", *shares, f"{1000 * statistics.median(seconds):.1f}")


def misread(text: str, noise: float, rng: random.Random) -> str:
    """Return a text in which each letter and digit is another one with a probability."""
    return "".join(rng.choice(_LETTERS) if sign.isalnum() and rng.random() < noise else sign for sign in text)


def _with_words(page: GroundedPage) -> Iterator[GroundedQuestion]:
    for question in page.questions:
        if question.answers and question.answers[0]:
            yield question


if __name__ == "__main__":
    main()
