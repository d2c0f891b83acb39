"""Unusual gradients: missing, sparse, zero, not finite, huge, tiny, in another layout, accumulated, scaled."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.optim import MODES, NaturalGradient
from tests.support.optimizer_problems import SEEDED, copied, give, gradient_for, matrix

every_mode = pytest.mark.parametrize("mode", MODES)


def trajectories(mode: str, odd: Any, steps: int = 4, at: int = 2) -> tuple[list[list[Tensor]], list[dict[str, int]]]:
    """A matrix and a vector stepped with ordinary gradients, and again with a step of odd ones between them.

    odd: takes a parameter and gives it a gradient. Returns parameters and states of both at the end, and both counts.
    """
    ends, counts = [], []
    for with_odd in (False, True):
        parameters = [matrix(), nn.Parameter(torch.ones(5))]
        optimizer = NaturalGradient.from_mode(parameters, mode, lr=0.01, weight_decay=0.1)
        for step in range(steps):
            if step == at and with_odd:
                for parameter in parameters:
                    odd(parameter)
                optimizer.step()
            for parameter in parameters:
                give(parameter, step)
            optimizer.step()
        counts.append(optimizer.counts())
        for parameter in parameters:
            optimizer.state[parameter]["skipped"] = 0
        ends.append(copied(optimizer, parameters))
    return ends, counts


def same(ends: list[list[Tensor]]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(*ends, strict=True))


@every_mode
def test_parameters_without_a_gradient_stay_and_get_no_state(mode: str) -> None:
    still, moving = matrix(), matrix(seed=1)
    optimizer = NaturalGradient.from_mode([still, moving], mode, lr=0.1, weight_decay=0.1)
    give(moving, 0)
    optimizer.step()
    assert torch.equal(still, matrix())
    assert not torch.equal(moving, matrix(seed=1))
    assert set(optimizer.state) == {moving}


@every_mode
def test_a_gradient_that_is_missing_once_leaves_everything_as_it_was(mode: str) -> None:
    ends, counts = trajectories(mode, lambda parameter: setattr(parameter, "grad", None))
    assert same(ends)
    assert counts[1] == {"skipped": 0, "fallbacks": counts[0]["fallbacks"]}


@every_mode
def test_sparse_gradients_are_refused_before_anything_moves(mode: str) -> None:
    other, table = matrix(), matrix(seed=1)
    optimizer = NaturalGradient.from_mode([other, table], mode)
    give(other, 0)
    table.grad = gradient_for(table, 1).to_sparse()
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        optimizer.step()
    assert torch.equal(other, matrix())
    assert torch.equal(table, matrix(seed=1))


def test_the_gradient_of_a_sparse_embedding_is_refused_with_what_to_do() -> None:
    table = nn.Embedding(5, 4, sparse=True)
    table(torch.tensor([1, 2])).sum().backward()
    with pytest.raises(RuntimeError, match="make the embedding with sparse=False"):
        NaturalGradient(table.parameters()).step()


@every_mode
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_gradient_that_is_not_finite_enters_nothing_and_is_counted(mode: str, value: float) -> None:
    def one_entry(parameter: Tensor) -> None:
        give(parameter, 77)
        assert parameter.grad is not None
        parameter.grad.view(-1)[3] = value

    ends, counts = trajectories(mode, one_entry)
    assert same(ends)
    assert counts[1] == counts[0] | {"skipped": 2}


@every_mode
def test_a_gradient_not_finite_at_the_first_step_is_skipped(mode: str) -> None:
    ends, counts = trajectories(mode, lambda p: setattr(p, "grad", torch.full_like(p, math.nan)), at=0)
    assert same(ends)
    assert counts[1]["skipped"] == 2


@every_mode
def test_one_bad_gradient_does_not_hold_up_its_neighbours(mode: str) -> None:
    good, bad = matrix(), matrix(seed=1)
    alone = matrix()
    optimizers = [NaturalGradient.from_mode(each, mode, lr=0.01) for each in ([good, bad], [alone])]
    for step in range(3):
        for parameter in (good, alone):
            give(parameter, step)
        bad.grad = torch.full_like(bad, math.inf)
        for optimizer in optimizers:
            optimizer.step()
    assert torch.equal(good, alone)
    assert torch.equal(bad, matrix(seed=1))


@every_mode
def test_a_zero_gradient_of_a_matrix_enters_nothing_and_is_counted(mode: str) -> None:
    ends, counts = trajectories(mode, lambda p: setattr(p, "grad", torch.zeros_like(p) if p.dim() == 2 else None))
    assert same(ends)
    assert counts[1] == counts[0] | {"skipped": 1}


def test_a_zero_gradient_of_a_vector_is_a_gradient_to_adamw() -> None:
    own, theirs = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
    pair = NaturalGradient([own], lr=0.1), torch.optim.AdamW([theirs], lr=0.1, betas=(0.9, 0.99), weight_decay=0.0)
    for value in (1.0, 0.0, 2.0):
        for parameter, optimizer in zip((own, theirs), pair, strict=True):
            parameter.grad = torch.full((4,), value)
            optimizer.step()
    assert torch.allclose(own, theirs)


@pytest.mark.parametrize("scale", [1e-42, 1e-30, 1e-22, 1e20, 1e30, 3e38])
@every_mode
def test_a_gradient_whose_squares_leave_float32_is_skipped_and_counted(mode: str, scale: float) -> None:
    def scaled(parameter: Tensor) -> None:
        if parameter.dim() < 2:
            parameter.grad = None
            return
        parameter.grad = gradient_for(parameter, 5).clamp(-1, 1) * scale
        assert torch.isfinite(parameter.grad).all()
        assert parameter.grad.abs().max() > 0

    ends, counts = trajectories(mode, scaled)
    assert same(ends)
    assert counts[1] == counts[0] | {"skipped": 1}


# The norms of these gradients lie just inside what is taken: 7e-16 and 2e19.
@pytest.mark.parametrize("scale", [1e-16, 1e18])
@every_mode
def test_gradients_at_the_edge_of_the_range_take_steps_of_the_usual_length(mode: str, scale: float) -> None:
    parameter = matrix()
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01)
    for step in range(5):
        parameter.grad = gradient_for(parameter, step) * scale
        optimizer.step()
    assert optimizer.counts() == {"skipped": 0, "fallbacks": 0}
    assert float((parameter - matrix()).detach().abs().max()) < 0.5
    for value in optimizer.state[parameter].values():
        assert not isinstance(value, Tensor) or torch.isfinite(value).all()


@pytest.mark.parametrize("scale", [1e-14, 1e14])
@every_mode
def test_a_run_recovers_from_a_gradient_of_quite_another_scale(mode: str, scale: float) -> None:
    parameter = matrix()
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01)
    for step in range(60):
        parameter.grad = gradient_for(parameter, step) * (scale if step == 3 else 1.0)
        optimizer.step()
    assert optimizer.counts()["skipped"] == 0
    assert torch.isfinite(parameter).all()
    assert float((parameter - matrix()).detach().abs().max()) < 5.0
    for value in optimizer.state[parameter].values():
        assert not isinstance(value, Tensor) or torch.isfinite(value).all()


@every_mode
@pytest.mark.parametrize("shape", [(384, 12), (12, 384)])
@pytest.mark.parametrize("turned", [False, True])
def test_parts_of_a_gradient_may_be_of_very_different_scales(mode: str, shape: tuple[int, int], turned: bool) -> None:
    # As rows of units that are dead or nearly so: zero, lost when squared, denormal when squared, small, ordinary.
    scales = torch.tensor([0.0, 1e-30, 1e-22, 1e-21, 1e-12, 1.0]).repeat_interleave(64)
    scales = scales.flip(0) if turned else scales
    parameter = nn.Parameter(torch.zeros(shape))
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=1.0)
    before = parameter.detach().clone()
    for step in range(5):
        parameter.grad = gradient_for(parameter, step) * (scales[:, None] if shape[0] == 384 else scales)
        optimizer.step()
        assert float((parameter.detach() - before).abs().max()) < 100.0
        before = parameter.detach().clone()


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_a_vector_takes_small_gradients_as_adamw_does_and_skips_huge_ones(scale: float) -> None:
    vector = nn.Parameter(torch.ones(5))
    optimizer = NaturalGradient([vector])
    vector.grad = torch.full((5,), scale)
    optimizer.step()
    assert optimizer.counts()["skipped"] == int(scale > 1)
    assert optimizer.state[vector]["step"] == int(scale < 1)


@every_mode
def test_a_float16_gradient_is_measured_beyond_its_own_range(mode: str) -> None:
    parameter = matrix(dtype=torch.float16)
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=10.0)
    parameter.grad = gradient_for(parameter, 0).sign() * 6e4  # the norm, 6e5, is infinite in float16
    optimizer.step()
    assert optimizer.counts()["skipped"] == 0
    assert torch.isfinite(parameter).all()
    assert optimizer.state[parameter]["step"] == 1


@every_mode
@pytest.mark.parametrize("laid_out", ["strided", "transposed", "expanded", "channels last"])
def test_a_gradient_counts_by_its_values_and_not_by_its_layout(mode: str, laid_out: str) -> None:
    shape = (8, 6, 3, 3) if laid_out == "channels last" else (8, 12)
    ends = []
    for plain in (True, False):
        parameter = matrix(*shape)
        optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01)
        # An expanded gradient has rank one. A basis fitted to it holds rounding beyond its first direction, which the
        # next gradient would show.
        for step in range(1 if laid_out == "expanded" else 4):
            gradient = gradient_for(parameter, step)
            if laid_out == "strided":
                gradient = torch.stack([gradient, -gradient], dim=-1)[..., 0]
            elif laid_out == "transposed":
                gradient = gradient.T.contiguous().T
            elif laid_out == "expanded":
                gradient = gradient[:, :1].expand(8, 12)
            else:
                gradient = gradient.contiguous(memory_format=torch.channels_last)
            assert not gradient.is_contiguous()
            parameter.grad = gradient.contiguous() if plain else gradient
            optimizer.step()
        ends.append(parameter.detach())
    assert torch.allclose(ends[0], ends[1], rtol=1e-4, atol=1e-5)
    assert not torch.equal(ends[0], matrix(*shape))


@every_mode
@pytest.mark.parametrize("maximize", [False, True])
def test_gradients_are_never_written_to_and_go_on_accumulating(mode: str, maximize: bool) -> None:
    parameter, target = matrix(), matrix(seed=3).detach()
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01, maximize=maximize, weight_decay=0.1)
    total = torch.zeros_like(target)
    for _ in range(4):  # without zero_grad
        total += parameter.detach() - target
        (parameter - target).square().sum().div(2).backward()
        assert parameter.grad is not None
        assert torch.allclose(parameter.grad, total, rtol=1e-5, atol=1e-6)
        optimizer.step()


@every_mode
def test_two_halves_of_a_batch_make_the_step_of_the_whole(mode: str) -> None:
    inputs = torch.randn(8, 12, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    ends = []
    for parts in ([8], [4, 4]):
        parameter = matrix(dtype=torch.float64)
        optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            for part in inputs.split(parts):
                (parameter @ part.T).tanh().sum().div(8).backward()
            optimizer.step()
        ends.append(parameter.detach())
    assert torch.allclose(ends[0], ends[1], rtol=1e-9)


@every_mode
def test_a_step_skipped_by_a_gradscaler_leaves_no_trace(mode: str) -> None:
    target, ends = matrix(seed=3).detach(), []
    for scaled in (False, True):
        parameter = matrix()
        optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01)
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, enabled=scaled)
        for step in range(5):
            if step == 2 and not scaled:
                continue
            optimizer.zero_grad()
            # The third loss is finite and its gradient is not once it is scaled.
            loss = (parameter - target).square().sum() * (1e36 if step == 2 else 1.0)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        assert optimizer.counts()["skipped"] == 0
        if scaled:
            assert scaler.get_scale() == 2.0**9
        ends.append(copied(optimizer, [parameter]))
    assert same(ends)


def test_state_is_kept_apart_from_the_gradient() -> None:
    parameter = matrix()
    optimizer = NaturalGradient([parameter, vector := nn.Parameter(torch.ones(5))], **SEEDED)
    for each in (parameter, vector):
        give(each, 0)
    optimizer.step()
    before = copied(optimizer, [parameter, vector])
    for each in (parameter, vector):
        assert each.grad is not None
        each.grad.zero_()
    assert same([copied(optimizer, [parameter, vector]), before])


@every_mode
def test_without_the_guard_steps_are_the_same_and_a_bad_gradient_is_not_skipped(mode: str) -> None:
    ends = []
    for guarded in (True, False):
        parameter, vector = matrix(), torch.nn.Parameter(torch.ones(3))
        optimizer = NaturalGradient.from_mode([parameter, vector], mode, lr=0.01, guarded=guarded)
        for step in range(4):
            parameter.grad, vector.grad = gradient_for(parameter, step), torch.full((3,), step - 1.5)
            optimizer.step()
        ends.append((parameter.detach().clone(), vector.detach().clone()))
        parameter.grad = torch.full_like(parameter, torch.nan)
        optimizer.step()
        assert bool(torch.isfinite(parameter).all()) == guarded
        assert optimizer.counts()["skipped"] == int(guarded)
    assert torch.equal(ends[0][0], ends[1][0]) and torch.equal(ends[0][1], ends[1][1])
