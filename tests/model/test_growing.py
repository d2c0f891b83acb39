"""The stage that learns growth alone."""

import random

import torch

from model.learning import Plan, learn
from model.objectives.growing import Growing, restart_fit
from tests.support.drawn_pages import example


def test_only_growth_changes_and_what_was_frozen_before_stays_so(network):
    network.text_encoder.requires_grad_(False)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    objective = Growing(network, lambda step: [example(), example()])
    optimizer = torch.optim.AdamW(network.word_head.growth.parameters(), 1e-2)
    learn(objective, optimizer, Plan(steps=3, warmup=1))
    changed = {name for name, tensor in network.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed and all(name.startswith("word_head.growth.") for name in changed)
    frozen = {name.split(".")[0] for name, one in network.named_parameters() if not one.requires_grad}
    assert frozen == {"text_encoder"}


def test_building_it_changes_nothing_and_restarting_the_predicted_fit_is_asked_for(network):
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    Growing(network, lambda step: [example()])
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())
    restart_fit(network)
    changed = {name for name, tensor in network.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed and all(name.startswith("word_head.growth.iou.") for name in changed)


def test_nothing_else_gets_a_gradient(network):
    torch.manual_seed(0)
    loss, parts = Growing(network, lambda step: [example(), example()]).loss(0, random.Random(0))
    loss.backward()
    moved = {name for name, one in network.named_parameters() if one.grad is not None and one.grad.any()}
    assert moved and all(name.startswith("word_head.growth.") for name in moved)
    assert {"words", "word_iou"} <= set(parts)
