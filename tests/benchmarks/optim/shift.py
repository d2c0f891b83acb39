"""Retraining on a shifted domain: the shipped nano network on documents that are asked about in made-up jargon."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

from torch import Tensor, nn

from engine.synthetic import SyntheticPage, generate_kind
from engine.training.sources.examples import example_of
from model.examples import Example
from tests.benchmarks.optim.pages import MOST_WORDS, Pages, drawn, mean_iou, mean_loss, paired, visited

DOCUMENTS, REPLAYED, HELD_OUT, QUESTIONS = 40, 120, 30, 4
KINDS = ("receipt", "letter", "invoice")
# What a question is about, by the first pattern that its text has, and what it is called here.
JARGON = (
    (r"address|located", "glivorn"),
    (r"phone|\bcall", "quilp"),
    (r"total|amount due|balance", "brandle"),
    (r"\b(tax|vat|gst)\b", "tarsk"),
    (r"\bdate\b|when|dated", "mestic"),
    (r"number|\bno\b|reference", "fenwold"),
    (r"subject|regarding|about", "dastor"),
    (r"addressed|recipient|customer|bill.?to|buyer", "holmune"),
    (r"signed|author|sender|wrote", "jorvin"),
    (r"company|shop|store|seller|issued", "orvane"),
)
WAYS = ("{}?", "What is the {}?", "Show me the {}", "the {} of this page")


class ShiftTask:
    """Held-out loss on other documents in the same jargon; half of the steps replay ordinary ones, as retraining
    does."""

    name = "shift"
    rest_rate = 1e-3

    def __init__(self, *, tuning: bool = False) -> None:
        self._pages = Pages()
        batch = self._pages.batch
        other = 100 if tuning else 0  # pages
        self._own = [batch(pair) for pair in paired(list(islice(in_jargon(21 + other), DOCUMENTS)))]
        self._replay = [batch(pair) for pair in paired(drawn(22 + other, REPLAYED, QUESTIONS))]
        self._held_out = [batch(pair) for pair in paired(list(islice(in_jargon(23 + other), HELD_OUT)))]
        self._ordinary = [batch(pair) for pair in paired(drawn(24 + other, HELD_OUT, QUESTIONS))]

    def network(self, seed: int) -> nn.Module:
        return self._pages.network(seed)

    def loss(self, network: nn.Module, seed: int, step: int) -> Tensor:
        visit, replayed = divmod(step, 2)
        batch = visited(self._replay if replayed else self._own, seed, visit)
        return self._pages.loss(network, batch, seed, step)

    def held_out(self, network: nn.Module) -> float:
        return mean_loss(network, self._held_out)

    def measures(self, network: nn.Module) -> dict[str, float]:
        return {"mIoU": mean_iou(network, self._held_out), "mIoU, ordinary": mean_iou(network, self._ordinary)}


def in_jargon(seed: int) -> Iterator[Example]:
    """Endless pages with QUESTIONS questions each, all in jargon and answered by words."""
    rng = random.Random(seed)
    kinds = [generate_kind(kind, seed) for kind in KINDS]
    for page in chain.from_iterable(zip(*kinds, strict=True)):
        found = _renamed(page, rng)
        if len(page.page.words) <= MOST_WORDS and len(found.questions) >= QUESTIONS:
            yield replace(found, questions=rng.sample(list(found.questions), QUESTIONS))


def _renamed(page: SyntheticPage, rng: random.Random) -> Example:
    asked = []
    for question in page.page.questions:
        name = next((name for pattern, name in JARGON if re.search(pattern, question.question.lower())), None)
        if name is not None and any(question.answers):
            asked.append(replace(question, question=rng.choice(WAYS).format(name)))
    return example_of(page.page, None, asked)
