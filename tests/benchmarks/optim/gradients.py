"""Gradients of the shipped network on generated pages, as retraining meets them."""

from __future__ import annotations

import random
from pathlib import Path

import torch
from torch import Tensor

import model
from engine.training.retraining.learner import network_of
from engine.training.sources.examples import synthetic_source
from model.batches import make_batch
from model.network import GroundingNetwork
from model.objectives.segmentation import loss_of
from model.optim import parameter_groups
from model.simulation import with_prompts
from model.vocabulary import Vocabulary

SHIPPED = Path(model.__file__).parent / "weights" / "nano.safetensors"


def shipped_network() -> GroundingNetwork:
    """The network that ships, in train mode."""
    return network_of(SHIPPED, "full").train()


def gradients_of(network: GroundingNetwork, batches: int, seed: int = 0) -> list[dict[str, Tensor]]:
    """Gradients of `batches` steps of one rendered page and 8 questions, all at the weights as they are, most questions
    with clicks, boxes or
    masks so that every part of the network has a share: name -> gradient, of the parameters that go to the subspace and
    got one."""
    source = synthetic_source(seed, pages=1, questions=8, regions=0.25, images=True)
    vocabulary = Vocabulary(network.config.text.buckets)
    matrices = {id(parameter) for parameter in parameter_groups(network)[0]["params"]}
    found = []
    for step in range(batches):
        rng = random.Random(f"{seed}:{step}")
        torch.manual_seed(rng.getrandbits(62))
        batch = with_prompts(network, make_batch(source(step), vocabulary, network.config), vocabulary, rng, 0.6)
        loss, _ = loss_of(network(batch.pages, batch.questions), batch.targets, 1.0)
        network.zero_grad(set_to_none=True)
        loss.backward()
        found.append(
            {
                name: parameter.grad.clone()
                for name, parameter in network.named_parameters()
                if id(parameter) in matrices and parameter.grad is not None and bool(parameter.grad.any())
            }
        )
    return found
