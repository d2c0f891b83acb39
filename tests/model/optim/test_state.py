"""State: plain values, small, in its own dtype, and its own after a copy."""

import copy
import json
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.optim import (
    MODES,
    Factor,
    NaturalGradient,
    RangeFinder,
    Seeded,
    Svd,
    Tucker,
    parameter_groups,
    state_bytes,
)
from tests.support.optimizer_problems import SEEDED, copied, give, matrix, network, row, train


@pytest.mark.parametrize("mode", MODES)
def test_state_is_tensors_and_integers_only_and_groups_are_plain(mode: str) -> None:
    layers = network()
    optimizer = NaturalGradient.from_mode(layers.parameters(), mode)
    train(layers, optimizer, range(3))
    saved = optimizer.state_dict()
    assert len(saved["state"]) == len(list(layers.parameters()))
    for state in saved["state"].values():
        assert {type(value) for value in state.values()} == {Tensor, int}
    groups = [group | {"betas": list(group["betas"])} for group in saved["param_groups"]]
    assert json.loads(json.dumps(groups)) == groups


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("mode", MODES)
def test_float32_state_stays_float32_under_narrower_parameters(mode: str, dtype: torch.dtype) -> None:
    layers = network(dtype)
    optimizer = NaturalGradient.from_mode(layers.parameters(), mode, lr=0.01)
    train(layers, optimizer, range(3))
    other = NaturalGradient.from_mode(network(dtype).parameters(), mode, lr=0.01)
    other.load_state_dict(optimizer.state_dict())
    chosen = json.dumps(row(mode))  # the narrow dtypes that this mode asks for
    compared = 0
    for mine, theirs in zip(optimizer.state.values(), other.state.values(), strict=True):
        for key, value in mine.items():
            if isinstance(value, Tensor):
                wide = value.dtype in (torch.float32, torch.float64)
                assert wide or str(value.dtype).removeprefix("torch.") in chosen, key
                assert theirs[key].dtype == value.dtype
                assert torch.equal(theirs[key], value)
                compared += 1
    assert compared > 10


@pytest.mark.parametrize("mode", MODES)
def test_loading_does_not_tie_two_optimizers_together(mode: str) -> None:
    first, second = network(), network()
    one, two = (NaturalGradient.from_mode(layers.parameters(), mode) for layers in (first, second))
    train(first, one, range(2))
    two.load_state_dict(one.state_dict())
    before = copied(two, list(second.parameters()))
    train(first, one, range(2, 5))
    assert all(torch.equal(a, b) for a, b in zip(copied(two, list(second.parameters())), before, strict=True))


def test_state_goes_to_the_device_of_its_parameter() -> None:
    here = matrix()
    optimizer = NaturalGradient([here], **SEEDED)
    give(here, 0)
    optimizer.step()
    there = nn.Parameter(torch.empty(8, 12, device="meta"))  # stands for any other device
    other = NaturalGradient([there], **SEEDED)
    other.load_state_dict(optimizer.state_dict())
    assert {value.device.type for value in other.state[there].values() if isinstance(value, Tensor)} == {"meta"}
    assert {value.device.type for value in optimizer.state[here].values() if isinstance(value, Tensor)} == {"cpu"}


def test_hooks_of_the_user_run_around_loading() -> None:
    layers = network()
    optimizer = NaturalGradient(layers.parameters(), **SEEDED)
    train(layers, optimizer, range(1))
    saved = optimizer.state_dict()
    seen: list[Any] = []
    other = NaturalGradient(network().parameters(), **SEEDED)

    def doubled(_: torch.optim.Optimizer, state_dict: dict[str, Any]) -> dict[str, Any]:
        state = {
            k: v | {"momentum": v["momentum"] * 2} if "momentum" in v else v for k, v in state_dict["state"].items()
        }
        return state_dict | {"state": state}

    other.register_load_state_dict_pre_hook(doubled)
    other.register_load_state_dict_post_hook(lambda o: seen.append(o.state_dict()["state"][0]["momentum"].clone()))
    other.load_state_dict(saved)
    assert torch.equal(seen[0], 2 * saved["state"][0]["momentum"])


def test_a_state_dict_of_other_groups_or_parameters_changes_nothing() -> None:
    weight, bias = matrix(), matrix(8)
    saved = NaturalGradient([weight, bias]).state_dict()
    apart, alone = (
        NaturalGradient([{"params": [weight]}, {"params": [bias]}], lr=0.5),
        NaturalGradient([weight], lr=0.5),
    )
    with pytest.raises(ValueError, match="different number of parameter groups"):
        apart.load_state_dict(saved)
    with pytest.raises(ValueError, match="doesn't match the size"):
        alone.load_state_dict(saved)
    assert [optimizer.param_groups[0]["lr"] for optimizer in (apart, alone)] == [0.5, 0.5]
    other = NaturalGradient([matrix(), matrix(8)])
    other.load_state_dict(saved)
    for optimizer in (apart, alone, other):  # loading by hooks of its own leaves none behind
        assert not optimizer._optimizer_load_state_dict_pre_hooks
        assert not optimizer._optimizer_load_state_dict_post_hooks


@pytest.mark.parametrize("theirs", MODES)
def test_a_state_saved_under_other_settings_brings_its_settings_with_it(theirs: str) -> None:
    for own in MODES:
        ends = []
        for mode in (theirs, own):
            parameter = matrix()
            optimizer = NaturalGradient.from_mode([parameter], theirs, lr=0.02, betas=(0.5, 0.6))
            for step in range(3):
                give(parameter, step)
                optimizer.step()
            other = NaturalGradient.from_mode([parameter], mode, lr=1.0, seed=8)
            other.load_state_dict(optimizer.state_dict())
            for step in range(3, 6):
                give(parameter, step)
                other.step()
            assert other.param_groups == optimizer.param_groups
            ends.append(parameter.detach())
        assert torch.equal(*ends)


def test_a_state_of_torchs_adamw_gives_way_to_our_own() -> None:
    parameter = matrix()
    theirs = torch.optim.AdamW([parameter], lr=0.25)
    give(parameter, 0)
    theirs.step()
    own = NaturalGradient([parameter], **SEEDED)
    own.load_state_dict(theirs.state_dict())
    assert own.param_groups[0]["lr"] == 0.25
    assert own.param_groups[0]["preconditioner"] == Factor()
    own.step()
    assert "fisher" in own.state[parameter]


def test_settings_survive_json_and_build_the_same_optimizer() -> None:
    made = NaturalGradient.from_mode(
        [nn.Parameter(torch.zeros(4, 4))], "source", lr=torch.tensor(0.25), betas=(0.5, 0.75), seed=7, weight_decay=0.1
    )
    plain = json.loads(json.dumps(made.settings()))
    again = NaturalGradient.from_settings([nn.Parameter(torch.zeros(4, 4))], plain)
    assert again.settings() == made.settings() == plain
    assert again.param_groups[0]["subspace"] == Tucker()


def test_settings_are_the_constructors_keywords() -> None:
    keywords = set(NaturalGradient.__init__.__annotations__) - {"return", "params"}
    assert set(NaturalGradient([nn.Parameter(torch.zeros(2))]).settings()) == keywords


@pytest.mark.parametrize("way", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
@pytest.mark.parametrize("mode", MODES)
def test_copies_and_pickles_go_on_alike_and_apart(mode: str, way: Any) -> None:
    layers = network()
    optimizer = NaturalGradient.from_mode(layers.parameters(), mode)
    train(layers, optimizer, range(3))
    layers2, optimizer2 = way((layers, optimizer))
    assert optimizer2.settings() == optimizer.settings()
    before = copied(optimizer2, list(layers2.parameters()))
    train(layers, optimizer, range(3, 6))
    assert all(torch.equal(a, b) for a, b in zip(copied(optimizer2, list(layers2.parameters())), before, strict=True))
    train(layers2, optimizer2, range(3, 6))
    ends = [copied(o, list(n.parameters())) for o, n in ((optimizer, layers), (optimizer2, layers2))]
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))


def test_two_runs_from_one_seed_are_equal_and_from_two_are_not() -> None:
    ends = []
    for seed in (3, 3, 4):
        layers = network()
        train(layers, NaturalGradient(layers.parameters(), seed=seed, **SEEDED), range(4))
        ends.append(layers.get_parameter("2.weight").detach().clone())
    assert torch.equal(ends[0], ends[1])
    assert not torch.allclose(ends[0], ends[2], rtol=1e-3)


@pytest.mark.parametrize("subspace", [Seeded(), RangeFinder(), Svd(), Tucker()])
def test_the_global_random_state_is_neither_read_nor_moved(subspace: Any) -> None:
    ends = []
    for seed in (11, 12):
        layers = network()
        optimizer = NaturalGradient(layers.parameters(), **SEEDED | {"subspace": subspace})
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        train(layers, optimizer, range(4))
        assert torch.equal(torch.get_rng_state(), before)
        ends.append(layers.get_parameter("2.weight").detach())
    assert torch.equal(*ends)


def test_a_seeded_quarter_subspace_has_under_a_sixth_of_adamws_state() -> None:
    matrices = [matrix(64, 256), matrix(128, 128), matrix(256, 64)]
    optimizers = [NaturalGradient(matrices, **SEEDED), torch.optim.AdamW(matrices)]
    for step, optimizer in enumerate(optimizers):
        for parameter in matrices:
            give(parameter, step)
        optimizer.step()
    assert state_bytes(optimizers[0]) / state_bytes(optimizers[1]) <= 0.16


@pytest.mark.parametrize("choice", [Svd(rank=4), Seeded(rank=4)])
def test_a_seeded_basis_takes_no_state(choice: Any) -> None:
    parameter = matrix(16, 32)
    give(parameter, 0)
    optimizer = NaturalGradient([parameter], subspace=choice, preconditioner=None, moments=None, residual=None)
    optimizer.step()
    assert state_bytes(optimizer) == (16 * 4 * 4 if isinstance(choice, Svd) else 0)


def test_parameter_groups_keep_embeddings_norms_and_vectors_for_adamw() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(10, 8)
            self.position_embedding = nn.Parameter(torch.zeros(5, 8))
            self.patch_embed = nn.Conv2d(3, 8, 4)
            self.norm = nn.LayerNorm((5, 8))
            self.layer = nn.Linear(8, 8)
            self.head = nn.Linear(8, 10, bias=False)
            self.head.weight = self.table.weight
            self.frozen = nn.Linear(8, 8).requires_grad_(False)

    net = Net()
    names = {id(p): n for n, p in net.named_parameters()}
    matrices, rest = parameter_groups(net, weight_decay=0.1)
    assert {names[id(p)] for p in matrices["params"]} == {"patch_embed.weight", "layer.weight"}
    assert {names[id(p)] for p in rest["params"]} == {
        "table.weight", "position_embedding", "patch_embed.bias", "norm.weight", "norm.bias", "layer.bias",
    }  # fmt: skip
    assert (matrices["weight_decay"], rest["weight_decay"]) == (0.1, 0.0)
    optimizer = NaturalGradient([matrices, rest])
    for parameter in (p for group in optimizer.param_groups for p in group["params"]):
        give(parameter, 0)
    optimizer.step()
    assert "exp_avg" in optimizer.state[net.table.weight]
    assert "exp_avg" not in optimizer.state[net.layer.weight]
    with_tables = parameter_groups(net, embeddings=True)[0]["params"]
    assert {names[id(p)] for p in with_tables} == {
        "patch_embed.weight",
        "layer.weight",
        "table.weight",
        "position_embedding",
    }
