"""NaturalGradient as a torch.optim.Optimizer: closures, settings, reset, and settings that do not fit the state."""

import copy
import math
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict

from model.optim import MODES, Adam, History, NaturalGradient, Orthogonal, Seeded, Svd, Tucker
from tests.support.optimizer_problems import SEEDED, copied, give, matrix


def least_squares(
    mode: str, dtype: torch.dtype = torch.float32, lr: float = 0.05, **settings: Any
) -> tuple[float, float]:
    """Loss before and after 60 steps on an ill-conditioned problem in a matrix and a bias."""
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(64, 16, generator=generator) * torch.logspace(0, -1, 16)
    wanted = inputs @ torch.randn(16, 12, generator=generator) + 1
    weight, bias = nn.Parameter(torch.zeros(16, 12, dtype=dtype)), nn.Parameter(torch.zeros(12, dtype=dtype))
    optimizer = NaturalGradient.from_mode([weight, bias], mode, lr=lr, **settings)

    def closure() -> Any:  # torch declares float, and takes tensors
        optimizer.zero_grad()
        loss = (inputs.to(dtype) @ weight + bias - wanted.to(dtype)).square().mean()
        loss.backward()
        return loss

    first: Any = optimizer.step(closure)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 60)
    for _ in range(60):
        optimizer.step(closure)
        schedule.step()
    return float(first.detach()), float(closure().detach())


@pytest.mark.all_modes
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_learns_with_a_closure_and_a_schedule(mode: str, dtype: torch.dtype) -> None:
    # Only F^{-1} g with an absolute lambda has its own scale, and Tucker on both sides keeps a sixteenth of the
    # directions.
    settings: dict[str, Any] = {"lr": 2.0, "subspace": Tucker(refresh=5, fraction=0.5)} if mode == "source" else {}
    before, after = least_squares(mode, dtype, **settings)
    assert after < 0.5 * before


def test_the_closure_is_called_once_with_gradients_and_its_loss_returned() -> None:
    parameter = matrix()
    calls: list[bool] = []

    def closure() -> Any:  # torch declares float, and takes tensors
        calls.append(torch.is_grad_enabled())
        loss = parameter.square().sum()
        loss.backward()
        return loss

    expected = float(parameter.detach().square().sum())
    loss: Any = NaturalGradient([parameter]).step(closure)
    assert float(loss.detach()) == pytest.approx(expected)
    assert calls == [True]


def test_complex_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="real parameters only"):
        NaturalGradient([nn.Parameter(torch.zeros(3, 3, dtype=torch.complex64))])


def test_a_group_that_is_refused_leaves_the_optimizer_as_it_was() -> None:
    optimizer = NaturalGradient([matrix()])
    with pytest.raises(ValueError, match="no kind"):
        optimizer.add_param_group({"params": [matrix()], "subspace": {"kind": "nothing"}})
    with pytest.raises(ValueError, match="no second moment"):
        optimizer.add_param_group({"params": [matrix()], "preconditioner": Orthogonal(), "moments": Adam()})
    with pytest.raises(ValueError, match="do not fit"):
        optimizer.add_param_group({"params": [matrix()], "subspace": Tucker(modes=(3,)), "preconditioner": None})
    assert len(optimizer.param_groups) == 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lr": -1.0}, "Invalid learning rate"),
        ({"lr": math.nan}, "Invalid learning rate"),
        ({"lr": torch.tensor([1.0, 2.0])}, "1-element"),
        ({"weight_decay": -0.1}, "Invalid weight_decay value"),
        ({"betas": (1.0, 0.9)}, "Invalid betas"),
        ({"betas": (0.9, -0.1)}, "Invalid betas"),
        ({"betas": (0.9,)}, "two rates"),
        ({"betas": 0.9}, "two rates"),
        ({"eps": -1e-8}, "Invalid epsilon value"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        NaturalGradient([matrix()], **settings)


def test_an_unknown_mode_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ValueError, match=f"There is no mode 'best'; choose {', '.join(MODES)}"):
        NaturalGradient.from_mode([matrix()], "best")


@pytest.mark.parametrize("mode", MODES)
def test_a_tensor_learning_rate_is_a_number_and_stays_the_callers(mode: str) -> None:
    ends = []
    for lr in (0.25, torch.tensor(0.25), torch.tensor([0.25])):
        parameter, vector = matrix(), nn.Parameter(torch.ones(3))
        optimizer = NaturalGradient.from_mode([parameter, vector], mode, lr=lr)
        for step in range(3):
            for each in (parameter, vector):
                give(each, step)
            optimizer.step()
        assert optimizer.param_groups[0]["lr"] is lr
        assert float(lr) == 0.25
        ends.append(torch.cat([parameter.detach().flatten(), vector.detach()]))
    assert torch.equal(ends[0], ends[1])
    assert torch.equal(ends[0], ends[2])


@pytest.mark.parametrize("mode", MODES)
def test_reset_starts_over(mode: str) -> None:
    ends = []
    for again in (False, True):
        parameters = [matrix(), matrix(5)]
        optimizer = NaturalGradient.from_mode(parameters, mode)
        if again:
            for step in range(3):
                for parameter in parameters:
                    give(parameter, 50 + step)
                optimizer.step()
            optimizer.reset()
            with torch.no_grad():
                for parameter in parameters:
                    parameter.copy_(matrix(*parameter.shape))
        for parameter in parameters:
            give(parameter, 0)
        optimizer.step()
        ends.append(copied(optimizer, parameters))
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"preconditioner": History(window=3)}, {"preconditioner": History(window=3, dtype="bfloat16")}),
        ({"preconditioner": History(window=3)}, {"preconditioner": History(window=4)}),
        ({}, {"subspace": Seeded(rank=2)}),
    ],
)
def test_a_state_that_no_longer_fits_is_refused_in_a_sentence(before: dict[str, Any], after: dict[str, Any]) -> None:
    parameter = matrix()
    optimizer = NaturalGradient([parameter], **SEEDED | {"subspace": Seeded(rank=4)} | before)
    give(parameter, 0)
    optimizer.step()
    optimizer.param_groups[0].update(after)
    with pytest.raises(RuntimeError, match=r"The state \w+ is .* where the settings ask for .*call reset"):
        optimizer.step()
    optimizer.reset()
    optimizer.step()


@pytest.mark.parametrize("shape", [(8, 12), (5,)])
@pytest.mark.parametrize("mode", MODES)
def test_the_state_of_another_network_is_refused_in_a_sentence(mode: str, shape: tuple[int, ...]) -> None:
    theirs, own = matrix(*shape), matrix(*(2 * n for n in shape))
    optimizer = NaturalGradient.from_mode([theirs], mode)
    give(theirs, 0)
    optimizer.step()
    other = NaturalGradient.from_mode([own], mode)
    other.load_state_dict(optimizer.state_dict())
    give(own, 0)
    before = own.detach().clone()
    with pytest.raises(RuntimeError, match="the state is another network's; call reset"):
        other.step()
    assert torch.equal(own, before)


@pytest.mark.parametrize("before", [None, Seeded(rank=4)])
def test_a_subspace_that_is_stored_cannot_begin_in_the_middle_of_a_run(before: Any) -> None:
    parameter = matrix()
    optimizer = NaturalGradient([parameter], **SEEDED | {"subspace": before})
    give(parameter, 0)
    optimizer.step()
    optimizer.param_groups[0]["subspace"] = Svd(rank=4)
    with pytest.raises(RuntimeError, match=r"no state factor_0.*call reset"):
        optimizer.step()
    optimizer.reset()
    optimizer.step()


def test_a_printed_optimizer_names_its_choices() -> None:
    printed = repr(NaturalGradient([matrix()], **SEEDED))
    for name, choice in SEEDED.items():
        assert f"{name}: {choice}" in printed


def test_seeded_bases_do_not_gather() -> None:
    parameter = matrix()
    optimizer = NaturalGradient([parameter], **SEEDED | {"subspace": Seeded(rank=4, refresh=2)})
    sizes: list[int] = []
    for step in range(9):
        give(parameter, step)
        optimizer.step()
        sizes.append(optimizer._bases.bytes())
    one = 8 * 4 * 4
    assert max(sizes) <= 2 * one
    assert sizes[1] == one


def test_a_groups_choice_may_be_set_in_plain_form_during_a_run() -> None:
    settings = {"kind": "history", "window": 3}
    one, other = matrix(), matrix()
    plain, record = (NaturalGradient.from_mode([p], "history", lr=0.1) for p in (one, other))
    plain.param_groups[0]["preconditioner"] = settings
    record.param_groups[0]["preconditioner"] = History(window=3)
    for parameter, optimizer in ((one, plain), (other, record)):
        give(parameter, 0)
        optimizer.step()
    assert torch.equal(one, other) and plain.param_groups[0]["preconditioner"] == History(window=3)
    plain.param_groups[0]["preconditioner"] = settings | {"window": 0}
    with pytest.raises(ValueError, match="window"):
        plain.step()


def test_a_choice_set_in_plain_form_is_in_the_state_dict_before_the_next_step() -> None:
    parameter = matrix()
    optimizer = NaturalGradient.from_mode([parameter], "seeded", lr=0.1)
    give(parameter, 0)
    optimizer.step()
    optimizer.param_groups[0]["subspace"] = {"kind": "seeded", "rank": 2}
    assert optimizer.state_dict()["param_groups"][0]["subspace"]["rank"] == 2


def test_a_state_dict_whose_settings_do_not_fit_changes_nothing() -> None:
    other = NaturalGradient.from_mode([matrix()], "seeded", lr=0.5)
    give(other.param_groups[0]["params"][0], 0)
    other.step()
    parameter, rate = matrix(), torch.tensor(0.1)
    optimizer = NaturalGradient.from_mode([parameter], "whole", lr=rate, guarded=False, capturable=True)
    give(parameter, 0)
    optimizer.step()
    before = copy.deepcopy(optimizer.state_dict())
    with pytest.raises(ValueError, match="capturable"):
        optimizer.load_state_dict(other.state_dict())
    after = optimizer.state_dict()
    assert optimizer.param_groups[0]["lr"] is rate and float(rate) == pytest.approx(0.1)
    assert after["param_groups"] == before["param_groups"]
    for key, value in before["state"][0].items():
        assert torch.equal(torch.as_tensor(after["state"][0][key]), torch.as_tensor(value)), key


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(32, 64), (64, 32)])
def test_gradients_of_zero_without_a_guard_leave_weights_finite(mode: str, shape: tuple[int, int]) -> None:
    parameter = matrix(*shape)
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=1e-3, guarded=False)
    parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    assert parameter.isfinite().all()
    give(parameter, 0)
    optimizer.step()
    parameter.grad = torch.zeros_like(parameter)
    for _ in range(450):  # the momentum falls below the smallest float32
        optimizer.step()
    assert parameter.isfinite().all()


@pytest.mark.parametrize("mode", MODES)
def test_a_new_optimizer_that_asks_for_its_states_leaves_the_weights_alone(mode: str) -> None:
    """torch.distributed.checkpoint takes a step of zero gradients at a rate of zero to make them."""
    network = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.Linear(32, 64))
    before = copy.deepcopy(network.state_dict())
    get_optimizer_state_dict(network, NaturalGradient.from_mode(network.parameters(), mode, lr=1e-3))
    for name, value in network.state_dict().items():
        assert torch.equal(value, before[name]), name
