"""NaturalGradient as a torch.optim.Optimizer: what a user of torch expects, and gradients that are not what they should be."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.optim import MODES, Factor, History, Momentum, NaturalGradient, Orthogonal, Residual, Seeded, Svd, Tucker
from model.optim.choices import Adam


def matrix(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Parameter:
    return nn.Parameter(torch.randn(shape or (8, 12), generator=torch.Generator().manual_seed(seed)).to(dtype))


def give(parameter: Tensor, seed: int) -> None:
    gradient = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(100 + seed))
    parameter.grad = gradient.to(parameter.dtype)


def least_squares(
    mode: str, dtype: torch.dtype = torch.float32, lr: float = 0.05, **settings: Any
) -> tuple[float, float]:
    """Loss before and after 60 steps on an ill-conditioned problem in a matrix and a bias."""
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(64, 16, generator=generator) * torch.logspace(0, -1, 16)
    wanted = inputs @ torch.randn(16, 12, generator=generator) + 1
    weight, bias = nn.Parameter(torch.zeros(16, 12, dtype=dtype)), nn.Parameter(torch.zeros(12, dtype=dtype))
    optimizer = NaturalGradient.from_mode([weight, bias], mode, lr=lr, **settings)

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = (inputs.to(dtype) @ weight + bias - wanted.to(dtype)).square().mean()
        loss.backward()
        return loss

    first = optimizer.step(closure)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 60)
    for _ in range(60):
        optimizer.step(closure)
        schedule.step()
    return float(first.detach()), float(closure().detach())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("mode", MODES)
def test_every_mode_learns_with_a_closure_and_a_schedule(mode: str, dtype: torch.dtype) -> None:
    # Only F^{-1} g with an absolute lambda has a scale of its own, and Tucker on both sides leaves a sixteenth of the directions.
    settings: dict[str, Any] = {"lr": 2.0, "subspace": Tucker(refresh=5, fraction=0.5)} if mode == "source" else {}
    before, after = least_squares(mode, dtype, **settings)
    assert after < 0.5 * before


def test_the_closure_is_called_once_with_gradients_on_and_its_loss_returned() -> None:
    parameter, calls = matrix(), []

    def closure() -> Tensor:
        calls.append(torch.is_grad_enabled())
        loss = parameter.square().sum()
        loss.backward()
        return loss

    expected = float(parameter.detach().square().sum())
    assert float(NaturalGradient([parameter]).step(closure).detach()) == pytest.approx(expected)
    assert calls == [True]


def test_parameters_without_a_gradient_stay_and_get_no_state() -> None:
    still, moving = matrix(), matrix(seed=1)
    before = still.detach().clone()
    optimizer = NaturalGradient([still, moving])
    give(moving, 0)
    optimizer.step()
    assert torch.equal(still, before)
    assert still not in optimizer.state
    NaturalGradient([matrix()]).step()


def test_a_frozen_neighbour_does_not_change_a_parameters_subspace() -> None:
    ends = []
    for give_both in (True, False):
        first, second = matrix(), matrix(seed=1)
        optimizer = NaturalGradient([first, second], subspace=Seeded(shared=False))
        for step in range(3):
            give(second, step)
            if give_both:
                give(first, step + 50)
            optimizer.step()
        ends.append(second.detach())
    assert torch.allclose(ends[0], ends[1], rtol=1e-5)


def test_unshared_seeds_give_parameters_of_one_shape_different_subspaces() -> None:
    moves = {}
    for shared in (True, False):
        pair = [matrix(), matrix()]
        optimizer = NaturalGradient(pair, lr=1.0, subspace=Seeded(rank=2, shared=shared), residual=None)
        for parameter in pair:
            give(parameter, 0)
        optimizer.step()
        moves[shared] = [matrix().detach() - p.detach() for p in pair]
    assert torch.equal(*moves[True])
    assert not torch.allclose(*moves[False], atol=1e-2)


def test_sparse_gradients_are_refused_before_anything_moves() -> None:
    table, other = nn.Embedding(5, 4, sparse=True), matrix()
    before = other.detach().clone()
    give(other, 0)
    table(torch.tensor([1, 2])).sum().backward()
    optimizer = NaturalGradient([other, table.weight])
    with pytest.raises(RuntimeError, match="does not support sparse gradients"):
        optimizer.step()
    assert torch.equal(other, before)


def test_complex_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="real parameters only"):
        NaturalGradient([nn.Parameter(torch.zeros(3, 3, dtype=torch.complex64))])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("mode", ["default", "history", "source"])
def test_a_gradient_that_is_not_finite_enters_nothing_and_is_counted(mode: str, value: float) -> None:
    clean, dirty = (least := [matrix(), nn.Parameter(torch.ones(5))]), [matrix(), nn.Parameter(torch.ones(5))]
    assert least is clean
    optimizers = [NaturalGradient.from_mode(parameters, mode, lr=0.01) for parameters in (clean, dirty)]
    for step in range(4):
        if step == 2:  # one step more for the second optimizer, of bad gradients
            for parameter in dirty:
                give(parameter, 77)
                assert parameter.grad is not None
                parameter.grad.view(-1)[3] = value
            optimizers[1].step()
        for optimizer, parameters in zip(optimizers, (clean, dirty), strict=True):
            for parameter in parameters:
                give(parameter, step)
            optimizer.step()
    for a, b in zip(clean, dirty, strict=True):
        assert torch.equal(a, b)
    assert optimizers[0].counts() == {"skipped": 0, "fallbacks": 0}
    assert optimizers[1].counts() == {"skipped": 2, "fallbacks": 0}


@pytest.mark.parametrize("mode", MODES)
def test_a_zero_gradient_of_a_matrix_enters_nothing_and_is_counted(mode: str) -> None:
    parameter = matrix()
    optimizer = NaturalGradient.from_mode([parameter], mode, weight_decay=0.1)
    parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    assert torch.equal(parameter, matrix())
    give(parameter, 0)
    optimizer.step()
    assert torch.isfinite(parameter).all()
    assert optimizer.state[parameter]["step"] == 1
    assert optimizer.counts()["skipped"] == 1


def test_a_zero_gradient_of_a_vector_is_a_gradient_to_adamw() -> None:
    own, theirs = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))
    pair = NaturalGradient([own], lr=0.1), torch.optim.AdamW([theirs], lr=0.1, betas=(0.9, 0.99), weight_decay=0.0)
    for value in (1.0, 0.0, 2.0):
        for parameter, optimizer in zip((own, theirs), pair, strict=True):
            parameter.grad = torch.full((4,), value)
            optimizer.step()
    assert torch.allclose(own, theirs)


@pytest.mark.parametrize("scale", [1e-42, 1e-30, 1e-22, 1e20, 1e30, 3e38])
@pytest.mark.parametrize("mode", MODES)
def test_a_gradient_whose_squares_leave_float32_enters_nothing_and_is_counted(mode: str, scale: float) -> None:
    clean, odd = matrix(), matrix()
    optimizers = [NaturalGradient.from_mode([parameter], mode, lr=0.01) for parameter in (clean, odd)]
    for step in range(4):
        if step == 2:
            odd.grad = matrix(seed=5).detach().clamp(-1, 1) * scale
            assert torch.isfinite(odd.grad).all()
            assert odd.grad.abs().max() > 0
            optimizers[1].step()
        for optimizer, parameter in zip(optimizers, (clean, odd), strict=True):
            give(parameter, step)
            optimizer.step()
    assert torch.equal(clean, odd)
    assert optimizers[1].counts() == {"skipped": 1, "fallbacks": 0}


# The norms of these gradients lie just inside what is taken: 7e-16 and 2e19.
@pytest.mark.parametrize("scale", [1e-16, 1e18])
@pytest.mark.parametrize("mode", MODES)
def test_gradients_at_the_edge_of_the_range_take_steps_of_the_usual_length(mode: str, scale: float) -> None:
    parameter = matrix()
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01)
    for step in range(5):
        give(parameter, step)
        parameter.grad *= scale  # type: ignore[operator]
        optimizer.step()
    assert optimizer.counts()["skipped"] == 0
    assert float((parameter - matrix()).detach().abs().max()) < 0.1
    for value in optimizer.state[parameter].values():
        assert not isinstance(value, Tensor) or torch.isfinite(value).all()


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_a_vector_takes_small_gradients_as_adamw_does_and_skips_huge_ones(scale: float) -> None:
    vector = nn.Parameter(torch.ones(5))
    optimizer = NaturalGradient([vector])
    vector.grad = torch.full((5,), scale)
    optimizer.step()
    assert optimizer.counts()["skipped"] == int(scale > 1)
    assert optimizer.state[vector]["step"] == int(scale < 1)


def test_a_float16_gradient_is_measured_beyond_its_own_range() -> None:
    parameter = matrix(dtype=torch.float16)
    optimizer = NaturalGradient([parameter])
    parameter.grad = torch.full_like(parameter, 6e4)  # its norm, 6e5, is infinite in float16
    optimizer.step()
    assert optimizer.counts()["skipped"] == 0
    assert not torch.equal(parameter, matrix(dtype=torch.float16))


def test_a_factorisation_that_fails_falls_back_and_is_counted() -> None:
    parameter = matrix()
    optimizer = NaturalGradient(
        [parameter],
        subspace=Seeded(rank=4),
        preconditioner=History(window=3),
        moments=None,
        residual=None,
        norm=None,
        lr=1.0,
    )
    give(parameter, 0)
    optimizer.step()
    optimizer.state[parameter]["gram"][1:, 1:] = math.nan  # what a broken device leaves behind
    optimizer.state[parameter]["gram"][2, 2] = math.nan
    before = parameter.detach().clone()
    give(parameter, 1)
    optimizer.step()
    assert optimizer.counts() == {"skipped": 0, "fallbacks": 1}
    assert torch.isfinite(parameter).all()
    assert not torch.equal(parameter, before)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 9), (2, 2), (3, 500), (500, 3), (4, 5, 6), (6, 4, 3, 3), (2, 3, 2, 2, 2), (8, 1, 3, 3)]
)
def test_parameters_of_any_shape_step(mode: str, shape: tuple[int, ...]) -> None:
    parameter = matrix(*shape)
    before = parameter.detach().clone()
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01)
    for step in range(3):
        give(parameter, step)
        optimizer.step()
    assert torch.isfinite(parameter).all()
    assert not torch.equal(parameter, before)


def test_an_empty_parameter_is_left_in_peace() -> None:
    empty, other = nn.Parameter(torch.zeros(0, 4)), matrix()
    optimizer = NaturalGradient([empty, other])
    for parameter in (empty, other):
        give(parameter, 0)
    optimizer.step()
    assert empty.shape == (0, 4)


@pytest.mark.parametrize("choice", [Seeded(rank=1000), Svd(rank=1000), Tucker(rank=1000)])
def test_a_rank_above_the_dimension_is_the_dimension(choice: Any) -> None:
    exact = type(choice)(rank=12) if isinstance(choice, Tucker) else type(choice)(rank=8)
    ends = []
    for each in (choice, exact):
        parameter = matrix()
        optimizer = NaturalGradient([parameter], subspace=each, residual=Residual())
        give(parameter, 0)
        optimizer.step()
        ends.append(parameter.detach())
    assert torch.equal(*ends)


def test_parameters_can_join_in_the_middle_of_a_run() -> None:
    first, late = matrix(), matrix(seed=1)
    optimizer = NaturalGradient([first])
    give(first, 0)
    optimizer.step()
    optimizer.add_param_group({"params": [late], "lr": 0.5, "preconditioner": {"kind": "orthogonal"}})
    for parameter in (first, late):
        give(parameter, 1)
    optimizer.step()
    assert optimizer.param_groups[1]["preconditioner"] == Orthogonal()
    assert (optimizer.state[first]["step"], optimizer.state[late]["step"]) == (2, 1)
    assert optimizer.state[late]["index"] == 1


def test_a_group_that_is_refused_leaves_the_optimizer_as_it_was() -> None:
    optimizer = NaturalGradient([matrix()])
    with pytest.raises(ValueError, match="no kind"):
        optimizer.add_param_group({"params": [matrix()], "subspace": {"kind": "nothing"}})
    with pytest.raises(ValueError, match="no second moment"):
        optimizer.add_param_group({"params": [matrix()], "preconditioner": Orthogonal(), "moments": Adam()})
    with pytest.raises(ValueError, match="do not fit"):
        optimizer.add_param_group({"params": [matrix()], "subspace": Tucker(modes=(3,))})
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
        ({"eps": -1e-8}, "Invalid epsilon value"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        NaturalGradient([matrix()], **settings)


def test_an_unknown_mode_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ValueError, match="There is no mode 'best'; choose default, source"):
        NaturalGradient.from_mode([matrix()], "best")


def test_a_tensor_learning_rate_is_a_number() -> None:
    ends = []
    for lr in (0.25, torch.tensor(0.25), torch.tensor([0.25])):
        parameter, vector = matrix(), nn.Parameter(torch.ones(3))
        optimizer = NaturalGradient([parameter, vector], lr=lr)
        for each in (parameter, vector):
            give(each, 0)
        optimizer.step()
        ends.append(torch.cat([parameter.detach().flatten(), vector.detach()]))
    assert torch.equal(ends[0], ends[1])
    assert torch.equal(ends[0], ends[2])


def test_gradients_are_never_written_to() -> None:
    for mode in MODES:
        for maximize in (False, True):
            parameter = matrix()
            optimizer = NaturalGradient.from_mode([parameter], mode, maximize=maximize)
            give(parameter, 0)
            assert parameter.grad is not None
            before = parameter.grad.clone()
            optimizer.step()
            assert torch.equal(parameter.grad, before)


def test_reset_starts_over() -> None:
    ends = []
    for again in (False, True):
        parameter = matrix()
        optimizer = NaturalGradient([parameter])
        if again:
            for step in range(3):
                give(parameter, 50 + step)
                optimizer.step()
            optimizer.reset()
            with torch.no_grad():
                parameter.copy_(matrix())
        give(parameter, 0)
        optimizer.step()
        ends.append(parameter.detach())
    assert torch.equal(*ends)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"preconditioner": History(window=3)}, {"preconditioner": History(window=3, dtype="bfloat16")}),
        ({"preconditioner": History(window=3)}, {"preconditioner": History(window=4)}),
        ({"preconditioner": Factor(), "subspace": Seeded(rank=4)}, {"subspace": Seeded(rank=2)}),
    ],
)
def test_a_state_that_no_longer_fits_is_refused_in_a_sentence(before: dict[str, Any], after: dict[str, Any]) -> None:
    parameter = matrix()
    optimizer = NaturalGradient([parameter], moments=Momentum(), **{"subspace": Seeded(rank=4)} | before)
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
    stored = any(key.startswith("factor_") for key in optimizer.state[theirs])  # a basis that torch finds not to fit
    with pytest.raises(RuntimeError, match="Expected size" if stored else "the state is another network's; call reset"):
        other.step()
    assert torch.equal(own, before)


@pytest.mark.parametrize("before", [None, Seeded(rank=4)])
def test_a_subspace_that_is_stored_cannot_begin_in_the_middle_of_a_run(before: Any) -> None:
    parameter = matrix()
    optimizer = NaturalGradient([parameter], subspace=before)
    give(parameter, 0)
    optimizer.step()
    optimizer.param_groups[0]["subspace"] = Svd(rank=4)
    with pytest.raises(RuntimeError, match=r"no state factor_0.*call reset"):
        optimizer.step()
    optimizer.reset()
    optimizer.step()


def test_a_printed_optimizer_names_its_choices() -> None:
    assert "preconditioner: Factor(beta=0.95" in repr(NaturalGradient([matrix()]))


def test_seeded_bases_do_not_gather() -> None:
    parameter = matrix()
    optimizer = NaturalGradient([parameter], subspace=Seeded(rank=4, refresh=2))
    sizes: list[int] = []
    for step in range(9):
        give(parameter, step)
        optimizer.step()
        sizes.append(optimizer._bases().bytes())
    one = 8 * 4 * 4
    assert max(sizes) <= 2 * one
    assert sizes[1] == one
