"""Embeddings of hidden words are predicted from the visible words of a page."""

import random
from collections.abc import Mapping
from dataclasses import replace

import torch

from model.examples import Example, Word
from model.learning import Plan, learn
from model.objectives.masked_language import word_batch, words_in_context
from model.objectives.text_jepa import TextJepa, hidden_runs, indices_of


def page(number: int) -> Example:
    """A page of twelve lines; its words follow from each other, so hidden ones can be told."""
    rng = random.Random(number)
    words = []
    for line in range(12):
        first = rng.randrange(8)
        for at in range(5):
            x, y = 20 + 60 * at, 20 + 24 * line
            words.append(Word(f"word{(first + at) % 8}", (x, y, x + 50, y + 14)))
    return Example(tuple(words), (400, 400), ())


def source(step: int) -> list[Example]:
    return [page(4 * (step % 6) + at) for at in range(4)]


def test_runs_of_words_are_hidden_and_some_stay():
    valid = torch.ones(3, 40, dtype=torch.bool)
    valid[1, 10:] = False
    valid[2, 2:] = False
    for seed in range(20):
        hidden = hidden_runs(valid, random.Random(seed))
        assert not bool((hidden & ~valid).any())
        assert hidden.sum(1).tolist() == [12, 3, 1]


def test_what_hidden_words_say_is_not_read(network, vocabulary):
    objective = TextJepa(network, source)
    objective.learned.eval()
    predicted = []
    for text in ("4711.50", "Amsterdam"):
        words = [replace(word, text=text) if 12 <= at < 20 else word for at, word in enumerate(page(0).words)]
        pages = word_batch(network, [replace(page(0), words=tuple(words))], vocabulary)
        hidden = torch.zeros_like(pages.valid)
        hidden[0, 12:20] = True
        states = words_in_context(network, replace(pages, valid=pages.valid & ~hidden))
        chosen, there = indices_of(hidden)
        assert chosen.tolist() == [list(range(12, 20))] and bool(there.all())
        predicted.append(objective.predict(pages, states, hidden, chosen))
    torch.testing.assert_close(*predicted)


def test_learning_beats_the_mean_of_the_targets(network):
    torch.nn.init.normal_(network.text_encoder.embedding.piece_vectors, std=0.01)  # so that places tell more than words
    objective = TextJepa(network, source)
    log: list[Mapping[str, float]] = []
    optimizer = torch.optim.AdamW(objective.learned.parameters(), 3e-3)
    learn(objective, optimizer, Plan(steps=80, warmup=5, metrics_every=10), on_metrics=log.append)
    assert log[-1]["of_mean"] < 0.9 * log[0]["of_mean"]
    assert log[-1]["contrast"] < log[0]["contrast"]
    assert log[-1]["target_std"] > 0.5 * log[0]["target_std"]
