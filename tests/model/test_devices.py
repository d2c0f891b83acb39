"""Devices: names, and that everything crosses to the network's device and back, on a simulated one."""

import copy
import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.device_missing import DeviceMissing
from model.devices import device_named, to_device
from model.inference import SHIPPED, Predictor, Word
from model.inputs import batch_pages, prepare_page
from model.network import load_network
from model.objectives.promptable import Asking, PromptableSegmentation
from tests.support.drawn_pages import example, page_image, page_words
from tests.support.second_device import DEVICE, There, moved, second_device

# Two places of one key, so that the question is asked of each place again.
REPEATED = [
    Word(text, (x, y, x + 11 * len(text), y + 20))
    for y, amount in ((60, "12.50"), (300, "99.10"))
    for text, x in (("Total:", 40), (amount, 240))
]


@pytest.fixture(scope="module")
def predictors():
    """The shipped weights on the CPU and on the simulated device."""
    network, version = load_network(SHIPPED)
    return Predictor(copy.deepcopy(network), version), Predictor(moved(network), version)


def test_the_simulated_device_refuses_to_meet_the_cpu():
    there = There(torch.ones(3))
    assert there.device == DEVICE and torch.equal((there + there).to("cpu"), torch.full((3,), 2.0))
    with pytest.raises(RuntimeError, match="same device"):
        there + torch.ones(3)
    with pytest.raises((RuntimeError, TypeError)):
        there.numpy()


@pytest.mark.parametrize(
    "asked",
    [
        {"question": "What is the total due?"},
        {"question": "Where is the ticked checkbox?", "both_paths": True},
        {"question": "", "points": [(50, 510, True), (300, 700, False)]},
        {"question": "total", "box": (30, 350, 560, 400)},
        {"question": "the box", "mask": np.pad(np.ones((20, 20), bool), ((500, 280), (40, 540)))},
    ],
    ids=["words", "pixels", "clicks", "box", "mask"],
)
def test_answers_of_another_device_equal_those_of_the_cpu(predictors, asked):
    here, there = predictors
    assert there.device == DEVICE
    expected = here.ask(here.encode(page_image(), page_words()), **asked)
    with second_device():
        page = there.encode(page_image(), page_words())
        assert isinstance(page.state.words, There), "the network computed there"
        found = there.ask(page, **asked)
    assert (found.text, found.words) == (expected.text, expected.words)
    assert found.score == pytest.approx(expected.score, abs=2e-3)
    assert found.answered == pytest.approx(expected.answered, abs=2e-3)
    assert (found.mask == expected.mask).mean() > 0.999
    likely = [[one.text for one in answer.candidates if one.score > 0.05] for answer in (found, expected)]
    assert likely[0] == likely[1]  # the order of impossible ones, with a chance of 1e-12, is that of rounding


def test_repeated_keys_and_signatures_of_another_device_equal_those_of_the_cpu(predictors):
    here, there = predictors
    page = here.encode(None, REPEATED, (600, 800))
    expected, signature = here.ask_many(page, ["total", "date"]), here.signature(page)
    assert expected[0].repeated == 2 and expected[0].candidates, "each place is asked again"
    with second_device():
        page = there.encode(None, REPEATED, (600, 800))
        found = there.ask_many(page, ["total", "date"])
        np.testing.assert_allclose(there.signature(page), signature, atol=1e-4)
    for one, other in zip(found, expected, strict=True):
        assert (one.words, [each.words for each in one.candidates]) == (
            other.words,
            [each.words for each in other.candidates],
        )


@pytest.mark.parametrize("image", [False, True])
def test_a_training_step_on_another_device_has_the_loss_and_gradient_of_the_cpu(network, image):
    def source(step):
        return [replace(example(image), questions=example().questions)]

    losses, gradients = [], []
    for place in (network, moved(copy.deepcopy(network))):
        objective = PromptableSegmentation(place, source, Asking(prompted_steps=0.0))
        torch.manual_seed(1)
        with second_device():
            loss, _ = objective.loss(0, random.Random(2))
            loss.backward()
        losses.append(loss.item())
        gradients.append({n: p.grad.to("cpu") for n, p in place.named_parameters() if p.grad is not None})
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)
    assert gradients[0].keys() == gradients[1].keys()
    for name, one in gradients[0].items():
        torch.testing.assert_close(gradients[1][name], one, rtol=1e-2, atol=1e-4, msg=name)


def test_every_tensor_of_a_record_is_moved(config, vocabulary):
    pages = batch_pages([prepare_page(page_words(), (600, 800), page_image(), vocabulary, config)])

    def tensors(record):
        for value in (getattr(record, name) for name in record.__dataclass_fields__):
            if isinstance(value, torch.Tensor):
                yield value
            elif hasattr(value, "__dataclass_fields__"):
                yield from tensors(value)

    assert len(list(tensors(pages))) > 5
    with second_device():
        assert all(isinstance(one, There) for one in tensors(to_device(pages, DEVICE)))


def test_devices_have_names():
    assert device_named("cpu") == torch.device("cpu")
    assert device_named("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("name", ["tpu", "meta", "cuda:99", ""])
def test_devices_that_are_not_there_are_refused_with_a_sentence(name):
    with pytest.raises(DeviceMissing, match="choose cpu"):
        device_named(name)
    with pytest.raises(DeviceMissing):
        Predictor.load(device=name)
