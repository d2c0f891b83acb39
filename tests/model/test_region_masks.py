"""The pixel path alone learns, and nothing else is touched."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.examples import Prompt, Question
from model.objectives.region_masks import Pointing, RegionMasks, only, pixel_parts
from tests.support.drawn_pages import SIZE, example


def ticked(prompt: Prompt | None = None) -> Question:
    mask = np.zeros(SIZE[::-1], bool)
    mask[500:521, 40:61] = True
    return Question("Is it ticked?", masks=(mask,), prompt=prompt)


def pages(step):
    return [replace(example(image=True), words=() if step % 2 else example().words, questions=[ticked()] * 3)]


def test_pixels_learn_and_what_reads_words_stays_as_it_is(network):
    objective = RegionMasks(network, pages, Pointing(long_side=64, prompted_steps=1.0))
    before = {name: value.clone() for name, value in network.state_dict().items()}
    own = {id(parameter) for parameter in objective.learning()}
    optimizer = torch.optim.SGD(objective.learning(), 0.1)
    for step in range(4):
        loss, parts = objective.loss(step, random.Random(step))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        assert {"mask_one", "mask_best", "mask_iou", "mask_answered"} < set(parts)
    for name, parameter in network.named_parameters():
        assert parameter.requires_grad, name
        if id(parameter) in own:
            assert parameter.grad is not None, name
        else:
            assert parameter.grad is None and torch.equal(parameter, before[name]), name
    assert not torch.equal(network.mask_decoder.mask_tokens, before["mask_decoder.mask_tokens"])
    assert not torch.equal(network.image_encoder.to_skip4.weight, before["image_encoder.to_skip4.weight"])


def test_recomputed_activations_give_equal_gradients(network):
    objective = RegionMasks(network, pages, Pointing(long_side=64))
    found = []
    for on in (False, True):
        network.train().checkpointing(on)
        network.zero_grad()
        torch.manual_seed(0)
        objective.loss(0, random.Random(0))[0].backward()
        found.append({name: one.grad for name, one in network.named_parameters() if one.grad is not None})
        assert all(one.requires_grad for one in network.parameters())
    network.checkpointing(False)
    assert found[0].keys() == found[1].keys()
    for name, gradient in found[0].items():
        torch.testing.assert_close(found[1][name], gradient, rtol=1e-4, atol=1e-6, msg=name)


def test_every_parameter_of_the_pixel_path_is_among_those_that_learn(network):
    own = {id(parameter) for parameter in list(pixel_parts(network).parameters())}
    for part in (network.image_encoder, network.mask_decoder, network.prompt_encoder.drawn_in):
        assert all(id(parameter) in own for parameter in part.parameters())
    for part in (network.text_encoder, network.word_head, network.layout_bias):
        assert not any(id(parameter) in own for parameter in part.parameters())


def test_what_was_silenced_learns_again_after_an_error(network):
    with pytest.raises(RuntimeError, match="stop"), only(network, list(pixel_parts(network).parameters())):
        raise RuntimeError("stop")
    assert all(parameter.requires_grad for parameter in network.parameters())


def test_pages_without_pictures_are_refused(network):
    objective = RegionMasks(network, lambda step: [replace(example(), questions=[Question("total")])])
    with pytest.raises(ValueError, match="pictures"):
        objective.loss(0, random.Random(0))
