"""Questions that a page does not answer, among those that people asked of it.

People mark answers and rarely ask for what is not there, so accepted answers alone teach that every question has one. Measured on 28
training documents, 120 steps, half of them replay: the share of rightly declined questions on generated pages fell by .54 without these, by
.20 with keys of random words as 15 % of the questions, and by .07 with qualified keys among them ("second rate") as 30 %.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from engine.synthetic.keys import KeySource
from engine.synthetic.questions import about
from engine.training.evaluation.lexical_baseline import telling_tokens, tokens
from model.examples import Example, Question, Source

_TRIES = 20


def with_absent(source: Source, share: float, seed: int) -> Source:
    """The same steps with a `share` (0..1) of the questions replaced by ones about made-up keys that share no word with the page.

    Keys without a meaning, because a real concept might be answered on the page under another name.
    """

    def changed(step: int) -> Sequence[Example]:
        rng = random.Random(f"{seed}:{step}:absent")
        return [_changed(example, share, rng) for example in source(step)]

    return changed


def _changed(example: Example, share: float, rng: random.Random) -> Example:
    on_page = {token for word in example.words for token in tokens(word.text)}
    return replace(
        example,
        questions=[
            absent_question(on_page, rng) or question if rng.random() < share else question
            for question in example.questions
        ],
    )


def absent_question(on_page: set[str], rng: random.Random) -> Question | None:
    """A question whose telling words are none of `on_page`; None when chance finds none."""
    keys = KeySource(rng)
    for _ in range(_TRIES):
        key = keys.next()
        if key.concept is None and tokens(key.text) and not on_page.intersection(telling_tokens(key.text)):
            return Question(about(rng, key.text))
    return None
