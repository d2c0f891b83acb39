"""State: plain values, small, in its own dtype, and a resumed run equal to the bit."""

import copy
import io
import json
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.optim import (
    MODES,
    Factor,
    History,
    NaturalGradient,
    RangeFinder,
    Seeded,
    Svd,
    Tucker,
    parameter_groups,
    state_bytes,
)


def network(dtype: torch.dtype = torch.float32) -> nn.Module:
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.Flatten(),
        nn.Linear(8 * 36, 16),
        nn.LayerNorm(16),
        nn.GELU(),
        nn.Linear(16, 16),
        nn.Linear(16, 4),
    )
    return net.to(dtype)


def train(net: nn.Module, optimizer: torch.optim.Optimizer, steps: range) -> None:
    dtype = next(net.parameters()).dtype
    for step in steps:
        generator = torch.Generator().manual_seed(step)
        images, wanted = torch.randn(4, 3, 8, 8, generator=generator), torch.randn(4, 4, generator=generator)
        optimizer.zero_grad()
        (net(images.to(dtype)) - wanted.to(dtype)).square().mean().backward()
        optimizer.step()


def through_a_file(state_dict: dict[str, Any]) -> dict[str, Any]:
    file = io.BytesIO()
    torch.save(state_dict, file)
    file.seek(0)
    loaded: dict[str, Any] = torch.load(file, weights_only=True)
    return loaded


def short(mode: str) -> dict[str, Any]:
    """A row of the table with a refresh every 5 steps and a window of 4, so that 8 steps end in the middle of both."""
    plain = NaturalGradient.from_mode([nn.Parameter(torch.zeros(2, 2))], mode).settings()
    plain["subspace"]["refresh"] = 5
    if plain["preconditioner"] and plain["preconditioner"]["kind"] == "history":
        plain["preconditioner"] |= {"window": 6, "damping": 10.0}
    return {key: plain[key] for key in ("subspace", "preconditioner", "moments", "residual", "norm")}


VARIANTS: list[dict[str, Any]] = [
    *[short(mode) for mode in MODES],
    short("default") | {"subspace": RangeFinder(refresh=5)},
    short("default") | {"subspace": Seeded(refresh=5, shared=False), "preconditioner": Factor(interval=3)},
    short("history") | {"subspace": Tucker(refresh=5), "preconditioner": History(window=6, dtype="bfloat16")},
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_resumed_run_is_equal_to_the_bit(variant: dict[str, Any], dtype: torch.dtype) -> None:
    whole = network(dtype)
    optimizer = NaturalGradient(whole.parameters(), lr=0.01, **variant)
    train(whole, optimizer, range(8))
    weights, saved = copy.deepcopy(whole.state_dict()), through_a_file(optimizer.state_dict())
    train(whole, optimizer, range(8, 17))

    resumed = network(dtype)
    resumed.load_state_dict(weights)
    # Built with other settings: what was saved wins, as it does in torch.
    again = NaturalGradient(resumed.parameters(), lr=1.0)
    again.load_state_dict(saved)
    train(resumed, again, range(8, 17))
    for a, b in zip(whole.parameters(), resumed.parameters(), strict=True):
        assert torch.equal(a, b)
    assert again.counts() == optimizer.counts()


def test_state_is_tensors_and_integers_only_and_groups_are_plain() -> None:
    for variant in VARIANTS:
        net = network()
        optimizer = NaturalGradient(net.parameters(), **variant)
        train(net, optimizer, range(2))
        saved = optimizer.state_dict()
        for state in saved["state"].values():
            assert {type(value) for value in state.values()} <= {Tensor, int}
        json.dumps(saved["param_groups"])


@pytest.mark.parametrize("mode", MODES)
def test_float32_state_stays_float32_under_bfloat16_parameters(mode: str) -> None:
    net = network(torch.bfloat16)
    optimizer = NaturalGradient.from_mode(net.parameters(), mode, lr=0.01)
    train(net, optimizer, range(3))
    other = NaturalGradient.from_mode(network(torch.bfloat16).parameters(), mode, lr=0.01)
    other.load_state_dict(optimizer.state_dict())
    compared = 0
    for mine, theirs in zip(optimizer.state.values(), other.state.values(), strict=True):
        for key, value in mine.items():
            if isinstance(value, Tensor):
                assert theirs[key].dtype == value.dtype
                assert value.dtype != torch.bfloat16 or key == "history"
                assert torch.equal(theirs[key], value)
                assert theirs[key] is not value
                compared += 1
    assert compared > 10


def test_loading_does_not_tie_two_optimizers_together() -> None:
    first, second = network(), network()
    one = NaturalGradient(first.parameters())
    train(first, one, range(2))
    two = NaturalGradient(second.parameters())
    two.load_state_dict(one.state_dict())
    before = two.state[next(second.parameters())]["momentum"].clone()
    train(first, one, range(2, 4))
    assert torch.equal(two.state[next(second.parameters())]["momentum"], before)


def test_hooks_of_the_user_run_around_loading() -> None:
    net = network()
    optimizer = NaturalGradient(net.parameters())
    train(net, optimizer, range(1))
    saved = optimizer.state_dict()
    seen: list[Any] = []
    other = NaturalGradient(network().parameters())

    def doubled(_: torch.optim.Optimizer, state_dict: dict[str, Any]) -> dict[str, Any]:
        state = {
            k: v | {"momentum": v["momentum"] * 2} if "momentum" in v else v for k, v in state_dict["state"].items()
        }
        return state_dict | {"state": state}

    other.register_load_state_dict_pre_hook(doubled)
    other.register_load_state_dict_post_hook(lambda o: seen.append(o.state_dict()["state"][0]["momentum"].clone()))
    other.load_state_dict(saved)
    assert torch.equal(seen[0], 2 * saved["state"][0]["momentum"])


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


def test_copies_go_on_alike() -> None:
    net = network()
    optimizer = NaturalGradient(net.parameters(), subspace=Seeded(refresh=3))
    train(net, optimizer, range(2))
    net2, optimizer2 = copy.deepcopy((net, optimizer))
    train(net, optimizer, range(2, 6))
    train(net2, optimizer2, range(2, 6))
    for a, b in zip(net.parameters(), net2.parameters(), strict=True):
        assert torch.equal(a, b)


def test_two_runs_from_one_seed_are_equal_and_from_two_are_not() -> None:
    ends = []
    for seed in (3, 3, 4):
        net = network()
        train(net, NaturalGradient(net.parameters(), seed=seed), range(3))
        ends.append(net[2].weight.detach().clone())
    assert torch.equal(ends[0], ends[1])
    assert not torch.allclose(ends[0], ends[2], rtol=1e-3)


def test_the_global_random_state_is_neither_read_nor_moved() -> None:
    net = network()
    optimizer = NaturalGradient(net.parameters(), subspace=RangeFinder())
    torch.manual_seed(11)
    before = torch.get_rng_state()
    train(net, optimizer, range(2))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_default_state_at_a_quarter_is_less_than_a_sixth_of_adamws() -> None:
    matrices = [
        nn.Parameter(torch.randn(64, 256)),
        nn.Parameter(torch.randn(128, 128)),
        nn.Parameter(torch.randn(256, 64)),
    ]
    optimizers = [NaturalGradient(matrices), torch.optim.AdamW(matrices)]
    for matrix in matrices:
        matrix.grad = torch.randn_like(matrix)
    for optimizer in optimizers:
        optimizer.step()
    assert state_bytes(optimizers[0]) / state_bytes(optimizers[1]) <= 0.16


@pytest.mark.parametrize("choice", [Svd(rank=4), Seeded(rank=4)])
def test_a_seeded_basis_takes_no_state(choice: Any) -> None:
    matrix = nn.Parameter(torch.randn(16, 32))
    matrix.grad = torch.randn_like(matrix)
    optimizer = NaturalGradient([matrix], subspace=choice, preconditioner=None, moments=None, residual=None)
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
        parameter.grad = torch.randn_like(parameter)
    optimizer.step()
    assert "exp_avg" in optimizer.state[net.table.weight]
    assert "fisher" in optimizer.state[net.layer.weight]
    with_tables = parameter_groups(net, embeddings=True)[0]["params"]
    assert {names[id(p)] for p in with_tables} == {
        "patch_embed.weight",
        "layer.weight",
        "table.weight",
        "position_embedding",
    }
