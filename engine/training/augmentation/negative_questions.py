"""Negative questions: questions that a page does not answer, mixed into training.

People mark answers and rarely ask for absent ones, so accepted answers alone would teach that every question has an
answer.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from engine.synthetic.keys import KeySource
from engine.synthetic.questions import about
from engine.training.evaluation.lexical_baseline import telling_tokens, tokens
from model.examples import Example, Question, Source

_TRIES = 20


def with_negative_questions(source: Source, share: float, seed: int) -> Source:
    """Return a source that replaces a `share` (0..1) of the questions by negative ones.

    Their keys are made up and share no word with the page: a real concept might be on the page under another name.
    """

    def replaced_source(step: int) -> Sequence[Example]:
        """Return the changed examples of one step."""
        rng = random.Random(f"{seed}:{step}:absent")
        return [_replace_questions(example, share, rng) for example in source(step)]

    return replaced_source


def _replace_questions(example: Example, share: float, rng: random.Random) -> Example:
    on_page = {token for word in example.words for token in tokens(word.text)}
    return replace(
        example,
        questions=[
            negative_question(on_page, rng) or question if rng.random() < share else question
            for question in example.questions
        ],
    )


def negative_question(on_page: set[str], rng: random.Random) -> Question | None:
    """Return a question whose content words are not in `on_page`; None when no draw succeeds."""
    keys = KeySource(rng)
    for _ in range(_TRIES):
        key = keys.next()
        if key.concept is None and tokens(key.text) and not on_page.intersection(telling_tokens(key.text)):
            return Question(about(rng, key.text))
    return None
