"""Sizes of the presets, against the libraries whose parts they take, and that each runs."""

from dataclasses import replace

import open_clip
import pytest
import timm
import torch
from transformers import BertConfig, BertModel

from model.batches import make_batch
from model.network import GroundingNetwork
from model.objectives.segmentation import loss_of
from model.presets import BASE, LARGE, NANO, PRESETS, ImageConfig, NetworkConfig, TextConfig
from model.vocabulary import Vocabulary
from tests.support.drawn_pages import example


def parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.fixture(scope="module", params=["base", "large"])
def sized(request):
    config = PRESETS[request.param]
    with torch.device("meta"):
        return config, GroundingNetwork(config)


def test_the_image_trunk_has_the_parameters_that_timm_reports(sized):
    config, network = sized
    with torch.device("meta"):
        reported = parameters(timm.create_model(config.image.trunk, num_classes=0))
    assert parameters(network.image_encoder.trunk) == pytest.approx(reported, rel=0.02)


def test_the_prompt_tower_has_the_parameters_that_open_clip_reports(sized):
    config, network = sized
    with torch.device("meta"):
        clip = open_clip.create_model(config.prompt.tower, device="meta")
    reported = parameters(clip) - parameters(clip.visual) - 1  # 1: the temperature
    assert parameters(network.prompt_encoder.clip.tower) == pytest.approx(reported, rel=0.02)


def test_the_text_encoder_has_the_parameters_that_transformers_reports(sized):
    config, network = sized
    text = config.text
    bert = BertConfig(
        hidden_size=text.width,
        num_hidden_layers=text.layers,
        num_attention_heads=text.heads,
        intermediate_size=4 * text.width,
    )
    with torch.device("meta"):
        reported = parameters(BertModel(bert, add_pooling_layer=False))
    ours = parameters(network.text_encoder.bert) + parameters(network.text_encoder.embedding.own)
    assert ours == pytest.approx(reported, rel=0.02)


def test_every_preset_survives_json():
    for config in (NANO, BASE, LARGE):
        assert NetworkConfig.from_dict(config.to_dict()) == config


def test_a_config_of_before_the_presets_still_loads():
    values = NANO.to_dict()
    for key in ("square", "mean", "std", "trunk"):
        del values["image"][key]
    for key in ("bert", "width", "heads"):
        del values["text"][key]
    del values["prompt"]["tower"]
    assert NetworkConfig.from_dict(values) == NANO


@pytest.mark.parametrize("preset", [BASE, LARGE], ids=["base", "large"])
def test_a_preset_of_fewer_layers_goes_forward_and_back_through_every_part(preset):
    """The preset with few layers and small pages; its trunk, BERT and CLIP tower are the real ones."""
    image = replace(preset.image, long_side=128, trunk="sam2_hiera_tiny")
    text = replace(preset.text, layers=2, width=96, buckets=512)
    config = replace(preset, image=image, text=text)
    torch.manual_seed(0)
    network = GroundingNetwork(config)
    batch = make_batch([example(image=True)], Vocabulary(512), config)
    if preset.image.square:
        assert batch.pages.image is not None
        assert batch.pages.image.shape[-2:] == (128, 128)
    loss, _ = loss_of(network(batch.pages, batch.questions), batch.targets)
    loss.backward()
    assert torch.isfinite(loss)
    bert, clip = network.text_encoder.bert, network.prompt_encoder.clip
    assert bert is not None and clip is not None
    for part in (network.image_encoder.trunk, bert, clip.tower):
        gradients = [p.grad for p in part.parameters() if p.grad is not None]
        assert any(g.abs().sum() > 0 for g in gradients) and all(torch.isfinite(g).all() for g in gradients)


def test_names_that_the_libraries_do_not_know_are_refused_with_a_sentence():
    with pytest.raises(ValueError, match="timm knows no model"):
        GroundingNetwork(replace(NANO, image=replace(NANO.image, trunk="no_such_trunk")))
    with pytest.raises(ValueError, match="does not fit as an image trunk"), torch.device("meta"):
        GroundingNetwork(replace(NANO, image=replace(NANO.image, trunk="resnet18")))
    with pytest.raises(ValueError, match="open_clip knows no model"):
        GroundingNetwork(replace(NANO, prompt=replace(NANO.prompt, tower="no_such_tower")))
    with pytest.raises(ValueError, match="does not fit as a prompt tower"):
        GroundingNetwork(replace(NANO, prompt=replace(NANO.prompt, tower="ViT-B-16-SigLIP")))
    with pytest.raises(ValueError, match="multiple of 32"):
        ImageConfig(long_side=500)
    with pytest.raises(ValueError, match="Only a BERT"):
        TextConfig(width=768)
