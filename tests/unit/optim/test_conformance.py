"""Tests of torch's own suite (test/test_optim.py, class TestOptimRenewed) and of pytorch_optimizer's general suite, by name.

torch's suite is not in the wheel, and the machinery it runs on (OptimizerInfo) needs expecttest; what these tests ask is written
out here. What torch asks only of optimizers with foreach, fused, capturable, complex or sparse support does not apply.
"""

import copy
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LinearLR, ReduceLROnPlateau, StepLR

from model.optim import MODES, NaturalGradient, Tucker

INPUTS: list[dict[str, Any]] = [
    {},
    {"lr": 0.01},
    {"lr": torch.tensor(0.001)},
    {"weight_decay": 0.2},
    {"betas": (0.8, 0.9)},
    {"maximize": True},
    {"maximize": True, "weight_decay": 0.1},
    *[{field: getattr(MODES[mode], field) for field in MODES[mode].__slots__} for mode in MODES if mode != "default"],
]


def problem(dtype: torch.dtype = torch.float64) -> tuple[nn.Parameter, nn.Parameter, Tensor]:
    generator = torch.Generator().manual_seed(0)
    weight, bias, inputs = (torch.randn(shape, dtype=dtype, generator=generator) for shape in ((10, 5), (10,), (5,)))
    return nn.Parameter(weight), nn.Parameter(bias), inputs


def steps(optimizer: torch.optim.Optimizer, weight: Tensor, bias: Tensor, inputs: Tensor, count: int) -> float:
    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = (weight.mv(inputs) + bias).pow(2).sum()
        loss.backward()
        return loss

    for _ in range(count):
        optimizer.step(closure)
    return float(closure().detach())


@pytest.mark.parametrize("settings", INPUTS)
@pytest.mark.parametrize(
    "schedule",
    [
        None,
        lambda o: StepLR(o, gamma=0.9, step_size=10),
        lambda o: LinearLR(o, 0.4, total_iters=4),
        lambda o: ReduceLROnPlateau(o),
    ],
)
def test_forloop_goes_right_direction(settings: dict[str, Any], schedule: Any) -> None:
    weight, bias, inputs = problem()
    optimizer = NaturalGradient([weight, bias], **settings)
    scheduler = schedule(optimizer) if schedule else None
    before = steps(optimizer, weight, bias, inputs, 0)
    for _ in range(20):
        loss = steps(optimizer, weight, bias, inputs, 1)
        if isinstance(scheduler, ReduceLROnPlateau):
            scheduler.step(loss)
        elif scheduler is not None:
            scheduler.step()
    after = steps(optimizer, weight, bias, inputs, 0)
    assert (after > before) if settings.get("maximize") else (after < before)


def test_param_group_with_lrscheduler_goes_right_direction() -> None:
    weight, bias, inputs = problem()
    optimizer = NaturalGradient([{"params": [weight]}, {"params": [bias], "lr": 0.01}])
    schedulers = [StepLR(optimizer, gamma=0.9, step_size=10), ReduceLROnPlateau(optimizer)]
    before = steps(optimizer, weight, bias, inputs, 0)
    for _ in range(20):
        loss = steps(optimizer, weight, bias, inputs, 1)
        schedulers[0].step()
        schedulers[1].step(loss)
    assert steps(optimizer, weight, bias, inputs, 0) < before


def test_param_groups_weight_decay() -> None:
    start, ends = problem()[0].detach().clone(), []
    for decay in (0.0, 0.5):
        weight, bias, inputs = problem()
        optimizer = NaturalGradient([{"params": [weight], "weight_decay": decay}, {"params": [bias]}], lr=0.1)
        steps(optimizer, weight, bias, inputs, 1)
        ends.append(weight.detach().clone())
    assert torch.allclose(ends[0] - ends[1], 0.05 * start, rtol=1e-6, atol=1e-6)


def test_param_groups_lr() -> None:
    weight, bias, inputs = problem()
    before = weight.detach().clone(), bias.detach().clone()
    optimizer = NaturalGradient([{"params": [weight], "lr": 0.0}, {"params": [bias]}], lr=0.01)
    steps(optimizer, weight, bias, inputs, 2)
    assert torch.equal(weight, before[0])
    assert not torch.equal(bias, before[1])


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda p, q: p, TypeError, "iterable of Tensors or dicts"),
        (
            lambda p, q: [{"params": p}, {"params": p}],
            ValueError,
            "some parameters appear in more than one parameter group",
        ),
        (lambda p, q: [("weight", p), q], ValueError, "all optimizer params should be with/without names"),
        (lambda p, q: [], ValueError, "empty parameter list"),
    ],
)
def test_errors(make: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        NaturalGradient(make(nn.Parameter(torch.ones(1, 1)), nn.Parameter(torch.ones(1, 1))))


def test_a_duplicate_in_one_group_warns() -> None:
    parameter = nn.Parameter(torch.ones(1, 1))
    with pytest.warns(UserWarning, match="a parameter group with duplicate parameters"):
        NaturalGradient([parameter, parameter])


@pytest.mark.parametrize("settings", INPUTS)
def test_state_dict_deterministic(settings: dict[str, Any]) -> None:
    weight, bias, inputs = problem(torch.float32)
    optimizer = NaturalGradient([weight, bias], **settings)
    steps(optimizer, weight, bias, inputs, 3)
    weight2, bias2 = nn.Parameter(weight.detach().clone()), nn.Parameter(bias.detach().clone())
    optimizer2 = NaturalGradient([weight2, bias2], **settings)
    optimizer2.load_state_dict(optimizer.state_dict())
    for _ in range(5):
        steps(optimizer, weight, bias, inputs, 1)
        steps(optimizer2, weight2, bias2, inputs, 1)
        assert torch.equal(weight, weight2)
        assert torch.equal(bias, bias2)


def test_can_load_older_state_dict() -> None:
    weight, bias, inputs = problem()
    optimizer = NaturalGradient([weight, bias])
    steps(optimizer, weight, bias, inputs, 2)
    old = copy.deepcopy(optimizer.state_dict())
    for group in old["param_groups"]:
        del group["maximize"], group["norm"], group["eps"]
    optimizer.load_state_dict(old)
    steps(optimizer, weight, bias, inputs, 2)
    assert optimizer.param_groups[0]["norm"] == MODES["default"].norm


def test_load_nontensor_step_and_tensor_step() -> None:
    weight, bias, inputs = problem()
    optimizer = NaturalGradient([weight, bias])
    steps(optimizer, weight, bias, inputs, 2)
    saved = copy.deepcopy(optimizer.state_dict())
    for state in saved["state"].values():
        state["step"] = torch.tensor(float(state["step"]))
    optimizer.load_state_dict(saved)
    steps(optimizer, weight, bias, inputs, 2)
    assert optimizer.state[weight]["step"] == 4


def test_state_dict_with_another_number_of_groups_or_parameters_is_refused() -> None:
    weight, bias, _ = problem()
    saved = NaturalGradient([weight, bias]).state_dict()
    with pytest.raises(ValueError, match="different number of parameter groups"):
        NaturalGradient([{"params": [weight]}, {"params": [bias]}]).load_state_dict(saved)
    with pytest.raises(ValueError, match="doesn't match the size"):
        NaturalGradient([weight]).load_state_dict(saved)


def test_named_parameters_keep_their_names() -> None:
    weight, bias, inputs = problem()
    optimizer = NaturalGradient([("weight", weight), ("bias", bias)])
    steps(optimizer, weight, bias, inputs, 1)
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


@pytest.mark.parametrize("settings", INPUTS)
def test_step_is_noop_when_params_have_no_grad(settings: dict[str, Any]) -> None:
    parameter = nn.Parameter(torch.randn(2, 3))
    before = parameter.detach().clone()
    NaturalGradient([parameter], **settings).step()
    assert torch.equal(parameter, before)


@pytest.mark.parametrize("settings", INPUTS)
def test_step_is_noop_for_zero_grads(settings: dict[str, Any]) -> None:
    weight, bias, _ = problem()
    before = weight.detach().clone(), bias.detach().clone()
    optimizer = NaturalGradient([weight, bias], **settings | {"weight_decay": 0.0})
    for parameter in (weight, bias):
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    assert torch.equal(weight, before[0])
    assert torch.equal(bias, before[1])


def test_step_hooks_run_in_order() -> None:
    weight, bias, inputs = problem()
    optimizer, calls = NaturalGradient([weight, bias]), []
    optimizer.register_step_pre_hook(lambda *_: calls.append("before"))
    optimizer.register_step_post_hook(lambda *_: calls.append("after"))
    steps(optimizer, weight, bias, inputs, 2)
    assert calls == ["before", "after"] * 2


def test_state_dict_hooks_run() -> None:
    weight, bias, _ = problem()
    optimizer, calls = NaturalGradient([weight, bias]), []
    optimizer.register_state_dict_pre_hook(lambda _: calls.append("before"))
    optimizer.register_state_dict_post_hook(lambda _, saved: saved | {"note": 1})
    assert optimizer.state_dict()["note"] == 1
    assert calls == ["before"]


def test_deepcopy_copies_all_public_attrs_and_pickle_comes_back() -> None:
    def public(optimizer: torch.optim.Optimizer) -> set[str]:
        return {key for key in optimizer.__dict__ if not key.startswith("_")}

    weight, bias, inputs = problem()
    optimizer = NaturalGradient([weight, bias], subspace=Tucker())
    steps(optimizer, weight, bias, inputs, 2)
    again = pickle.loads(pickle.dumps(optimizer))
    assert public(copy.deepcopy(optimizer)) == public(optimizer) == public(again)
    assert again.settings() == optimizer.settings()
    again.zero_grad()
    for parameter in again.param_groups[0]["params"]:
        parameter.grad = torch.ones_like(parameter)
    again.step()


def test_mixed_dtypes_step_in_one_optimizer() -> None:
    parameters = [
        nn.Parameter(torch.ones(6, 4, dtype=d)) for d in (torch.float64, torch.float32, torch.bfloat16, torch.float16)
    ]
    optimizer = NaturalGradient(parameters, lr=0.5)
    for parameter in parameters:
        parameter.grad = torch.arange(1.0, 25.0).view(6, 4).sin().to(parameter.dtype)
    optimizer.step()
    for parameter in parameters[1:]:
        assert torch.allclose(parameter.double(), parameters[0], atol=0.05)
        assert optimizer.state[parameter]["momentum"].dtype == torch.float32
    assert optimizer.state[parameters[0]]["momentum"].dtype == torch.float64


def test_non_contiguous_and_channels_last_parameters_step_like_contiguous_ones() -> None:
    generator = torch.Generator().manual_seed(0)
    value, gradient = torch.randn(2, 8, 6, 3, 3, generator=generator)
    ends = []
    for layout in (torch.contiguous_format, torch.channels_last):
        parameter = nn.Parameter(value.clone().contiguous(memory_format=layout))
        parameter.grad = gradient.clone().contiguous(memory_format=layout)
        NaturalGradient([parameter], lr=0.1).step()
        ends.append(parameter.detach())
    assert torch.allclose(*ends, rtol=1e-5, atol=1e-7)


def test_an_inference_copy_under_another_default_dtype_still_steps() -> None:
    weight, bias, inputs = problem(torch.float32)
    torch.set_default_dtype(torch.float64)
    try:
        optimizer = NaturalGradient([weight, bias])
        steps(optimizer, weight, bias, inputs, 2)
    finally:
        torch.set_default_dtype(torch.float32)
    assert optimizer.state[weight]["momentum"].dtype == torch.float32
