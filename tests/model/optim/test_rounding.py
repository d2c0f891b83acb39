"""Weights in bfloat16."""

import pytest
import torch

from model.optim import NaturalGradient
from model.optim.rounding import Draw, draw_of, noise, stochastic


@pytest.mark.parametrize("value", [1.001, -1.001, 3e-20, 1.0, -0.0, 255.9])
def test_a_value_is_rounded_to_one_of_its_neighbours_and_kept_in_the_mean(value: float) -> None:
    found = stochastic(torch.full((200_000,), value), Draw(key=3, step=3)).float()
    lower = torch.tensor(value).view(torch.int32) & -(1 << 16)
    neighbours = torch.stack([lower, lower + (1 << 16)]).view(torch.float32)
    assert torch.isin(found, neighbours).all()
    step = float((neighbours[1] - neighbours[0]).abs())
    assert float(found.double().mean()) == pytest.approx(float(torch.tensor(value)), abs=0.01 * step)


def test_what_is_not_finite_stays() -> None:
    given = torch.tensor([float("inf"), -float("inf"), float("nan")])
    assert torch.equal(stochastic(given, Draw(key=1, step=1)).float().nan_to_num(nan=7.0), given.nan_to_num(nan=7.0))


def test_random_numbers_are_uniform_and_other_ones_at_each_step_part_and_parameter() -> None:
    drawn = [
        noise(100_000, draw, torch.device("cpu")).double()
        for index in (0, 1)
        for part in (0, 1)
        for step in (1, 2, 3)
        if (draw := draw_of("stochastic", 7, {"index": index, "step": step}, part)) is not None
    ]
    assert len(drawn) == 12
    for one in drawn:
        assert float(one.min()) >= 0 and float(one.max()) < 1 << 16
        counts = torch.histc(one, 64, 0, 1 << 16)
        assert float(((counts - counts.mean()) ** 2 / counts.mean()).sum()) < 130  # chi-squared: 63 expected
        assert abs(float(torch.corrcoef(torch.stack([one[1:], one[:-1]]))[0, 1])) < 0.02
    between = torch.corrcoef(torch.stack(drawn)) - torch.eye(len(drawn))
    assert float(between.abs().max()) < 0.02


def test_a_step_counted_on_the_device_draws_the_same_numbers() -> None:
    given = noise(1000, Draw(5, 1234), torch.device("cpu"))
    assert torch.equal(given, noise(1000, Draw(5, torch.tensor(1234.0)), torch.device("cpu")))


@pytest.mark.parametrize("mode", ["blocks", "whole", "seeded", "vector"])
def test_small_steps_move_weights_as_far_as_in_float32(mode: str) -> None:
    shape = (512,) if mode == "vector" else (32, 64)
    moved = {}
    for dtype, rounding in ((torch.float32, "nearest"), (torch.bfloat16, "stochastic"), (torch.bfloat16, "nearest")):
        generator = torch.Generator().manual_seed(2)
        parameter = torch.nn.Parameter(torch.ones(shape, dtype=dtype))
        direction = torch.randn(shape, generator=generator)
        optimizer = NaturalGradient.from_mode(
            [parameter], "blocks" if mode == "vector" else mode, lr=1e-4, rounding=rounding
        )
        for _ in range(40):
            parameter.grad = direction.to(dtype)
            optimizer.step()
        moved[dtype, rounding] = (1 - parameter.detach().float()).flatten()
    true = moved[torch.float32, "nearest"]
    along = {key: float((one * true).sum() / true.square().sum()) for key, one in moved.items()}
    assert along[torch.bfloat16, "stochastic"] == pytest.approx(1, abs=0.35)
    assert abs(along[torch.bfloat16, "nearest"]) < 0.05


def test_weight_decay_reaches_bfloat16_weights() -> None:
    for shape in ((64, 64), (4096,)):
        parameter = torch.nn.Parameter(torch.ones(shape, dtype=torch.bfloat16))
        optimizer = NaturalGradient([parameter], lr=1e-3, weight_decay=0.1, eps=1e8)
        for _ in range(50):
            parameter.grad = torch.zeros(shape, dtype=torch.bfloat16)
            if len(shape) == 2:  # a zero gradient of a matrix is skipped
                parameter.grad[0, 0] = 1.0
            optimizer.step()
        assert float(parameter.detach().float().median()) <= 1.0
        assert float(parameter.detach().float().mean()) == pytest.approx((1 - 1e-4) ** 50, abs=1e-3)


def test_an_unknown_rounding_is_refused() -> None:
    with pytest.raises(ValueError, match="rounding must be one of stochastic, nearest"):
        NaturalGradient([torch.nn.Parameter(torch.zeros(2, 2))], rounding="up")  # type: ignore[arg-type]
