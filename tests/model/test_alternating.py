"""Objectives that take turns on one network."""

import random

import pytest
import torch

from model import checkpoint
from model.learning import Plan, learn
from model.objectives.alternating import Alternating
from model.objectives.masked_language import MaskedWords
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.promptable import PromptableSegmentation
from tests.support.drawn_pages import example
from tests.support.factories import tiny_network


def alternating(share, **options):
    network = tiny_network()
    torch.nn.init.normal_(network.text_encoder.embedding.piece_vectors, std=0.05)
    torch.manual_seed(1)
    parts = {
        "questions": PromptableSegmentation(network, lambda step: [example()]),
        "words": MaskedWords(network, lambda step: [example()]),
    }
    return Alternating(network, parts, (1 - share, share), **options)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_of_nothing_leaves_a_part_out(share):
    objective = alternating(share)
    names = {name for step in range(4) for name in objective.loss(step, random.Random(step))[1]}
    assert "loss" in names and ("words_loss" in names) is bool(share) and ("questions_loss" in names) is not bool(share)


def test_figures_of_the_main_part_keep_their_names_and_are_of_its_steps_alone():
    objective = alternating(0.5, main="questions")
    steps = [set(objective.loss(step, random.Random(step))[1]) for step in range(12)]
    words = {"words_loss", "words_accuracy"}
    assert words in steps and any("loss" in one for one in steps)
    assert all(one == words or not one & words for one in steps)


def test_a_resumed_run_ends_with_the_heads_of_an_uninterrupted_one(tmp_path):
    plan = Plan(steps=4, seed=2, warmup=1, checkpoint_every=2)

    def learned(folder, **options):
        objective = alternating(0.5)
        optimizer = torch.optim.AdamW(objective.learned.parameters(), 1e-3)
        learn(objective, optimizer, plan, folder=tmp_path / folder, **options)
        return objective.learned.state_dict()

    whole = learned("whole")
    stops = iter([False, True])
    learned("parts", cancelled=lambda: next(stops))
    parts = learned("parts", resume=True)
    assert any(name.startswith("words_head") for name in whole)
    assert all(torch.equal(value, parts[name]) for name, value in whole.items())
    kept = checkpoint.load(tmp_path / "whole" / CHECKPOINT_FILE).state
    assert set(kept) == set(tiny_network().state_dict()), "the network alone is handed on"
