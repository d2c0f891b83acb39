"""Retraining on a shifted domain: the shipped nano network on documents that are asked about in made-up jargon."""

from __future__ import annotations

import hashlib
import random
from dataclasses import replace

from torch import Tensor, nn

from model.examples import Example
from tests.benchmarks.optim.pages import Pages, drawn, mean_iou, mean_loss, paired

DOCUMENTS, REPLAYED, HELD_OUT, QUESTIONS = 40, 120, 24, 6
REPLAY = 0.5  # share of the steps on ordinary pages
_SYLLABLES = (
    "bra",
    "du",
    "fen",
    "gil",
    "hom",
    "jor",
    "kel",
    "lim",
    "mur",
    "nop",
    "quis",
    "rav",
    "sto",
    "tir",
    "vun",
    "wex",
)
_KEPT = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "at",
        "be",
        "by",
        "do",
        "does",
        "for",
        "from",
        "how",
        "in",
        "is",
        "it",
        "many",
        "much",
        "of",
        "on",
        "or",
        "the",
        "there",
        "this",
        "to",
        "was",
        "what",
        "when",
        "where",
        "who",
    ]
)


class ShiftTask:
    """Held-out loss on other documents in the same jargon."""

    name = "shift"
    steps = 150

    def __init__(self) -> None:
        self._pages = Pages()
        batch = self._pages.batch
        self._own = [batch(pair) for pair in paired([in_jargon(one) for one in drawn(21, DOCUMENTS, QUESTIONS)])]
        self._replay = [batch(pair) for pair in paired(drawn(22, REPLAYED, QUESTIONS))]
        self._held_out = [batch(pair) for pair in paired([in_jargon(one) for one in drawn(23, HELD_OUT, QUESTIONS)])]
        self._ordinary = [batch(pair) for pair in paired(drawn(24, HELD_OUT, QUESTIONS))]

    def network(self, seed: int) -> nn.Module:
        return self._pages.network(seed)

    def loss(self, network: nn.Module, seed: int, step: int) -> Tensor:
        rng = random.Random(f"{seed}:{step}:batch")
        return self._pages.loss(network, rng.choice(self._replay if rng.random() < REPLAY else self._own), seed, step)

    def held_out(self, network: nn.Module) -> float:
        return mean_loss(network, self._held_out)

    def measures(self, network: nn.Module) -> dict[str, float]:
        return {"mIoU": mean_iou(network, self._held_out), "mIoU, ordinary": mean_iou(network, self._ordinary)}


def in_jargon(example: Example) -> Example:
    """The page as it is, its questions with an invented word for each word that means something."""
    return replace(
        example,
        questions=[
            replace(question, text=" ".join(map(_invented, question.text.split()))) for question in example.questions
        ],
    )


def _invented(word: str) -> str:
    plain = word.strip("?.,:!\"'()").lower()
    if not plain.isalpha() or plain in _KEPT:
        return word
    digest = hashlib.blake2b(plain.encode(), digest_size=3).digest()
    return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in digest)
