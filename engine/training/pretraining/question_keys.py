"""Measure whether text vectors match questions as people ask them with keys as papers print them.

`question_key_pairs.json` holds 100 questions of our own. Each has the key that answers it, in other words than the
question's ("Who has to pay?", "Bill To"), and a near one that shares words with the question or the key but means
something else ("Pay To"). Nothing is learned from them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch.nn.functional as F
from torch import Tensor

from engine.training.evaluation.metrics import auroc

_PAIRS = Path(__file__).with_name("question_key_pairs.json")

Vectors = Callable[[Sequence[str]], Tensor]  # S texts -> [S, D]


@dataclass(frozen=True, slots=True)
class QuestionKeys:
    """A question, the key that answers it, and a near key that does not."""

    question: str
    key: str
    near: str


@cache
def question_keys() -> tuple[QuestionKeys, ...]:
    """Return the questions with their keys."""
    return tuple(QuestionKeys(**row) for row in json.loads(_PAIRS.read_text(encoding="utf-8")))


def question_key_figures(vectors: Vectors) -> Mapping[str, float]:
    """Measure vectors of questions and keys by their cosines.

    Args:
        vectors: encodes texts.

    Returns:
        `question_key_auroc`: how well cosines tell right keys from near ones, .5 by chance. `key_above_near`: share of
        questions that are closer to their key than to the near one, .5 by chance. `key_found`: share of questions whose
        key is closer than every other key, .005 by chance.
    """
    asked = question_keys()
    keys = list(dict.fromkeys(key for entry in asked for key in (entry.key, entry.near)))
    places = {key: place for place, key in enumerate(keys)}
    encoded = vectors([*(entry.question for entry in asked), *keys]).float()
    cosines = F.normalize(encoded[: len(asked)], dim=-1) @ F.normalize(encoded[len(asked) :], dim=-1).T
    rows = range(len(asked))
    right = cosines[rows, [places[entry.key] for entry in asked]]
    near = cosines[rows, [places[entry.near] for entry in asked]]
    area = auroc(right.tolist(), near.tolist())
    assert area is not None  # the list has both kinds
    return {
        "question_key_auroc": area,
        "key_above_near": float((right > near).float().mean()),
        "key_found": float(((cosines >= right[:, None]).sum(1) == 1).float().mean()),  # a tie finds nothing
    }
