"""Learning rates by preset, and layer-wise decay of public parts."""

from dataclasses import replace

import pytest
import torch

from model.network import GroundingNetwork
from model.optim import NaturalGradient, parameter_groups
from model.presets import BASE, NANO
from model.rates import RATES, Rates, with_rates

RATE = 1e-3


@pytest.fixture(scope="module")
def base():
    config = replace(BASE, text=replace(BASE.text, layers=3))
    with torch.device("meta"):
        return GroundingNetwork(config)


def groups_of(network):
    return [{**group, "lr": RATE * times} for group, times in zip(parameter_groups(network, 0.02), (4, 1), strict=True)]


def rates_of(network, groups):
    """Return the factor of each parameter by name, relative to the group that it came from."""
    names = {id(parameter): name for name, parameter in network.named_parameters()}
    before = {id(one): group["lr"] for group in groups_of(network) for one in group["params"]}
    found = {names[id(one)]: group["lr"] / before[id(one)] for group in groups for one in group["params"]}
    assert len(found) == sum(len(group["params"]) for group in groups) == len(before), "each parameter is in one group"
    return found


def test_nano_keeps_the_groups_of_the_stage():
    with torch.device("meta"):
        network = GroundingNetwork(NANO)
    for before, after in zip(groups_of(network), with_rates(groups_of(network), network), strict=True):
        assert before.keys() == after.keys()
        assert [id(one) for one in before["params"]] == [id(one) for one in after["params"]]
        assert all(before[key] == after[key] for key in before.keys() - {"params"})


def test_what_a_network_knows_takes_a_share_of_the_rates_of_the_heads_beside_it():
    with torch.device("meta"):
        network, head = GroundingNetwork(NANO), torch.nn.Linear(4, 4)
    given = [*groups_of(network), {"params": list(head.parameters()), "lr": RATE}]
    found = with_rates(given, network, times=2.0, trained=0.1)
    by_parameter = {id(one): group["lr"] for group in found for one in group["params"]}
    assert all(by_parameter[id(one)] == pytest.approx(2 * RATE) for one in head.parameters())
    for before in groups_of(network):
        assert all(by_parameter[id(one)] == pytest.approx(0.2 * before["lr"]) for one in before["params"])
    with pytest.raises(ValueError, match="above 0"):
        with_rates(given, network, trained=0.0)


def test_layers_of_public_parts_decay_and_all_else_has_the_rate_of_fresh_parameters(base):
    rates = Rates(fresh=0.5, public=0.1, decay=0.5)
    found = rates_of(base, with_rates(groups_of(base), base, ("trunk", "bert", "tower"), rates=rates))
    bert, trunk, tower = "text_encoder.bert.bert", "image_encoder.trunk", "prompt_encoder.clip.tower"
    for layer, expected in ((2, 0.05), (1, 0.025), (0, 0.0125)):
        assert found[f"{bert}.encoder.layer.{layer}.output.dense.weight"] == pytest.approx(expected)
        assert found[f"{bert}.encoder.layer.{layer}.output.dense.bias"] == pytest.approx(expected)
    embeddings = (f"{bert}.embeddings.position_embeddings.weight", "text_encoder.embedding.own.weight")
    assert [found[name] for name in embeddings] == pytest.approx([0.00625, 0.00625])
    last = len(base.image_encoder.trunk.blocks) - 1
    assert found[_first(found, f"{trunk}.blocks.{last}.")] == pytest.approx(0.05)
    assert found[f"{trunk}.pos_embed"] == pytest.approx(0.1 * 0.5 ** (last + 2))
    assert found[f"{tower}.ln_final.weight"] == pytest.approx(0.1)
    assert found[f"{tower}.token_embedding.weight"] == pytest.approx(0.1 * 0.5**13)
    fresh = ("word_head", "mask_decoder", "fusion", "text_encoder.narrow", "image_encoder.lateral16", "layout_bias")
    for name, factor in found.items():
        if name.startswith(fresh):
            assert factor == pytest.approx(0.5), name


def _first(found, prefix):
    return next(name for name in found if name.startswith(prefix))


def test_parts_without_public_weights_are_fresh(base):
    found = rates_of(base, with_rates(groups_of(base), base, ("bert",)))
    assert found[_first(found, "image_encoder.trunk.blocks.0.")] == pytest.approx(RATES["base"].fresh)
    assert found["text_encoder.bert.bert.encoder.layer.2.output.dense.weight"] == pytest.approx(0.05 * 0.75)


def test_all_rates_can_be_multiplied(base):
    once = rates_of(base, with_rates(groups_of(base), base, ("trunk",)))
    twice = rates_of(base, with_rates(groups_of(base), base, ("trunk",), times=2.0))
    assert twice == pytest.approx({name: 2 * factor for name, factor in once.items()})


def test_parameters_of_heads_are_fresh(base):
    head = torch.nn.Linear(3, 3)
    groups = with_rates([{"params": list(head.parameters()), "lr": RATE}], base, ("bert",))
    assert [group["lr"] for group in groups] == [pytest.approx(RATE * RATES["base"].fresh)]


def test_the_optimizers_take_the_split_groups(network):
    rates = Rates(fresh=1.0, public=0.1, decay=0.5)
    groups = with_rates(groups_of(network), network, ("trunk",), rates=rates)
    blocks = network.image_encoder.trunk.blocks
    first, last = blocks[0].attn.qkv.weight, blocks[-1].attn.qkv.weight
    for optimizer in (NaturalGradient.from_mode(groups, "blocks", lr=RATE), torch.optim.AdamW(groups, RATE)):
        network.image_encoder(torch.rand(1, 3, 64, 64)).coarse.sum().backward()
        before = first.detach().clone(), last.detach().clone()
        optimizer.step()
        moved = [float((now.detach() - was).abs().mean()) for now, was in zip((first, last), before, strict=True)]
        assert 0 < 4 * moved[0] < moved[1], "the lowest of seven layers moves far less than the top one"


def test_what_cannot_be_is_refused(base, network):
    with pytest.raises(ValueError, match="no part 'head'"):
        with_rates([], base, ("head",))
    with pytest.raises(ValueError, match="'test' has no part 'bert'"):
        with_rates([], network, ("bert",))
    with pytest.raises(ValueError, match="above 0"):
        with_rates([], network, times=0)
    with pytest.raises(ValueError, match="at most 1"):
        Rates(decay=1.1)
