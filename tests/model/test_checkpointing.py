"""Gradient checkpointing: recomputed activations give equal gradients, and fewer are kept."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from model.batches import make_batch
from model.encoders.image import ImageEncoder
from model.network import GroundingNetwork
from model.objectives.kept_units import encode_kept
from model.objectives.segmentation import loss_of
from model.presets import BASE, NANO, ImageConfig, NetworkConfig
from model.vocabulary import Vocabulary
from tests.support.drawn_pages import example


def step(config: NetworkConfig, on: bool) -> tuple[dict[str, Tensor], int]:
    torch.manual_seed(0)
    network = GroundingNetwork(config).train()
    torch.nn.init.normal_(network.text_encoder.embedding.piece_vectors, std=0.05)
    network.checkpointing(on)
    batch = make_batch([example(image=True)], Vocabulary(config.text.buckets), config)
    return gradients_of(network, lambda: loss_of(network(batch.pages, batch.questions), batch.targets)[0])


def gradients_of(network: nn.Module, loss_of_step: Callable[[], Tensor]) -> tuple[dict[str, Tensor], int]:
    """Return the gradients of a loss, and the bytes that the graph kept for the backward pass."""
    own = {parameter.data_ptr() for parameter in network.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = loss_of_step()
    held = sum(kept.values())
    loss.backward()
    return {name: one.grad for name, one in network.named_parameters() if one.grad is not None}, held


@pytest.mark.parametrize("preset", [NANO, BASE], ids=["nano", "base"])
def test_checkpointing_gives_equal_gradients_and_keeps_less(preset):
    trunk = None if preset is NANO else "sam2_hiera_tiny"
    text = (
        replace(preset.text, buckets=512) if preset is NANO else replace(preset.text, layers=2, width=96, buckets=512)
    )
    config = replace(preset, image=replace(preset.image, long_side=128, trunk=trunk), text=text)
    plain, held = step(config, on=False)
    again, held_less = step(config, on=True)
    assert plain.keys() == again.keys()
    for name, gradient in plain.items():
        torch.testing.assert_close(again[name], gradient, rtol=1e-4, atol=1e-7, msg=name)
    assert held_less < 0.7 * held


def test_checkpointing_is_off_until_it_is_asked_for(config):
    network = GroundingNetwork(config)
    assert not network.fusion.checkpointing and not network.text_encoder.checkpointing
    assert not network.image_encoder.trunk.grad_checkpointing


def test_units_of_pages_that_are_not_dropped_are_recomputed_too():
    def encoded(on: bool) -> tuple[dict[str, Tensor], int]:
        torch.manual_seed(0)
        shape = ImageConfig(embed_dim=16, stages=(1, 2, 3, 2), global_attention=(4,), windows=(8, 4, 4, 2))
        encoder = ImageEncoder(shape, 24).train()
        encoder.trunk.set_grad_checkpointing(on)
        pages, units = torch.rand(2, 3, 128, 128), torch.tensor([[0, 1, 6, 10, 15], [2, 3, 4, 9, 12]])
        return gradients_of(encoder, lambda: encode_kept(encoder, pages, units).square().mean())

    plain, held = encoded(on=False)
    again, held_less = encoded(on=True)
    assert plain.keys() == again.keys() and any(name.startswith("trunk.blocks") for name in plain)
    for name, gradient in plain.items():
        torch.testing.assert_close(again[name], gradient, rtol=1e-4, atol=1e-7, msg=name)
    assert held_less < 0.7 * held
