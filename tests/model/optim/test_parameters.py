"""Parameters of every kind: shapes, layouts, dtypes; frozen, tied, added later."""

from typing import Any

import pytest
import torch
from torch import nn

from model.optim import MODES, NaturalGradient, Orthogonal, Seeded
from tests.support.optimizer_problems import SEEDED, copied, give, gradient_for, matrix, row

every_mode = pytest.mark.parametrize("mode", MODES)


@every_mode
@pytest.mark.parametrize(
    "shape",
    [(), (1,), (1, 1), (1, 9), (9, 1), (1, 1, 3, 3), (2, 2), (3, 500), (500, 3), (4, 5, 6), (6, 4, 3, 3),
     (2, 3, 2, 2, 2), (8, 1, 3, 3), (1, 8, 3, 3)],
)  # fmt: skip
def test_parameters_of_any_shape_step(mode: str, shape: tuple[int, ...]) -> None:
    start = torch.ones(shape)
    parameter = nn.Parameter(start.clone())
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01)
    for step in range(4):
        give(parameter, step)
        optimizer.step()
    assert parameter.shape == start.shape
    assert torch.isfinite(parameter).all()
    assert not torch.equal(parameter, start)
    assert optimizer.counts() == {"skipped": 0, "fallbacks": 0}


@every_mode
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (1, 1, 1, 1)])
def test_a_matrix_with_a_side_of_one_gets_adamw(mode: str, shape: tuple[int, ...]) -> None:
    own, theirs = matrix(*shape), matrix(*shape)
    pair = (
        NaturalGradient.from_mode([own], mode, lr=0.1, weight_decay=0.1),
        torch.optim.AdamW([theirs], lr=0.1, betas=(0.9, 0.99), weight_decay=0.1),
    )
    for step in range(4):
        for parameter, optimizer in zip((own, theirs), pair, strict=True):
            give(parameter, step)
            optimizer.step()
    assert torch.allclose(own, theirs, rtol=1e-6)


@every_mode
@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0), (3, 0, 2)])
def test_a_parameter_without_elements_is_left_in_peace(mode: str, shape: tuple[int, ...]) -> None:
    empty, other, alone = nn.Parameter(torch.zeros(shape)), matrix(), matrix()
    optimizers = [NaturalGradient.from_mode(each, mode) for each in ([other, empty], [alone])]
    for step in range(3):
        for parameter in (empty, other, alone):
            give(parameter, step)
        for optimizer in optimizers:
            optimizer.step()
    assert torch.equal(other, alone)
    again = NaturalGradient.from_mode([other, empty], mode)
    again.load_state_dict(optimizers[0].state_dict())
    again.step()
    assert empty.shape == torch.Size(shape)


@every_mode
def test_a_rank_above_the_dimension_is_the_dimension(mode: str) -> None:
    ends = []
    for rank in (9, 1000):
        parameter = matrix(9, 9)
        columns = row(mode)
        columns["subspace"]["rank"] = rank
        optimizer = NaturalGradient([parameter], lr=0.05, **columns)
        for step in range(3):
            give(parameter, step)
            optimizer.step()
        ends.append(copied(optimizer, [parameter]))
    assert all(torch.equal(a, b) for a, b in zip(*ends, strict=True))


@every_mode
@pytest.mark.parametrize("laid_out", ["strided", "transposed", "channels last"])
def test_a_parameter_keeps_its_layout_and_steps_like_a_contiguous_one(mode: str, laid_out: str) -> None:
    shape = (8, 6, 3, 3) if laid_out == "channels last" else (8, 12)
    start = matrix(*shape).detach()
    if laid_out == "strided":
        odd = torch.stack([start, start], dim=-1)[..., 0]
    elif laid_out == "transposed":
        odd = start.mT.contiguous().mT
    else:
        odd = start.contiguous(memory_format=torch.channels_last)
    ends = []
    for value in (start.clone(), odd):
        parameter = nn.Parameter(value)
        strides, address = parameter.stride(), parameter.data_ptr()
        optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01, weight_decay=0.1)
        for step in range(4):
            parameter.grad = gradient_for(parameter, step)
            optimizer.step()
        assert (parameter.stride(), parameter.data_ptr()) == (strides, address)
        ends.append(parameter.detach())
    assert not ends[1].is_contiguous()
    assert torch.allclose(ends[0], ends[1], rtol=1e-4, atol=1e-5)


@every_mode
def test_a_step_does_not_touch_what_lies_between_the_elements_of_a_view(mode: str) -> None:
    whole = torch.zeros(8, 12, 2)
    parameter = nn.Parameter(whole[..., 0])
    optimizer = NaturalGradient.from_mode([parameter], mode, lr=0.01)
    give(parameter, 0)
    optimizer.step()
    assert whole[..., 0].abs().max() > 0
    assert whole[..., 1].abs().max() == 0


@every_mode
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_parameters_follow_the_path_of_wide_ones_as_far_as_they_can(mode: str, dtype: torch.dtype) -> None:
    narrow, wide = matrix(dtype=dtype), nn.Parameter(matrix(dtype=dtype).detach().float())
    optimizers = [NaturalGradient.from_mode([parameter], mode, lr=0.01) for parameter in (narrow, wide)]
    for step in range(5):
        give(narrow, step)
        assert narrow.grad is not None
        wide.grad = narrow.grad.float()
        for optimizer in optimizers:
            optimizer.step()
    assert narrow.dtype == dtype
    # The states never saw the rounding of the parameter, so they are the same.
    for key, value in optimizers[1].state[wide].items():
        assert torch.equal(torch.as_tensor(optimizers[0].state[narrow][key]), torch.as_tensor(value)), key
    roundings = 5 * torch.finfo(dtype).eps * wide.detach().abs().max()
    assert (narrow.detach().float() - wide.detach()).abs().max() <= roundings


@every_mode
def test_a_frozen_parameter_stays_and_its_neighbours_path_is_the_same(mode: str) -> None:
    ends = []
    for frozen in (False, True):
        first, second = nn.Linear(6, 6, bias=False), nn.Linear(6, 6, bias=False)
        with torch.no_grad():
            first.weight.copy_(matrix(6, 6))
            second.weight.copy_(matrix(6, 6, seed=1))
        first.weight.requires_grad_(not frozen)
        optimizer = NaturalGradient.from_mode([first.weight, second.weight], mode, lr=0.01, weight_decay=0.1)
        # The gradient of the second layer does not depend on the first.
        (first(torch.zeros(1, 6)).sum() + (second.weight * matrix(6, 6, seed=2)).sum()).backward()
        optimizer.step()
        assert torch.equal(first.weight, matrix(6, 6))  # the gradient is zero or there is none
        assert (first.weight in optimizer.state) == (not frozen)
        ends.append(second.weight.detach())
    assert torch.equal(*ends)


@every_mode
def test_a_parameter_frozen_in_the_middle_of_a_run_waits_and_goes_on(mode: str) -> None:
    ends = []
    for frozen in (range(0), range(2, 5)):
        pair = [matrix(6, 6), matrix(6, 6, seed=1)]
        optimizer = NaturalGradient.from_mode(pair, mode, lr=0.01, weight_decay=0.1)
        for step in range(8):
            pair[0].requires_grad_(step not in frozen)
            optimizer.zero_grad()
            before = copied(optimizer, pair[:1]) if step > 0 else []
            for i, parameter in enumerate(pair):
                # Both have seen gradients 0 to 4 at the end, the first one three steps later.
                seen = step - (len(frozen) if i == 0 and step >= 5 else 0)
                if parameter.requires_grad and (seen < 5 or i == 1):
                    (parameter * gradient_for(parameter, seen)).sum().backward()
            optimizer.step()
            if step in frozen:
                assert all(torch.equal(a, b) for a, b in zip(copied(optimizer, pair[:1]), before, strict=True))
        ends.append([parameter.detach() for parameter in pair])
    for a, b in zip(*ends, strict=True):
        assert torch.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_neighbour_without_gradient_does_not_change_a_subspace() -> None:
    ends = []
    for give_both in (True, False):
        first, second = matrix(), matrix(seed=1)
        optimizer = NaturalGradient([first, second], **SEEDED | {"subspace": Seeded(shared=False)})
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
        optimizer = NaturalGradient(
            pair, lr=1.0, **SEEDED | {"subspace": Seeded(rank=2, shared=shared), "residual": None}
        )
        for parameter in pair:
            give(parameter, 0)
        optimizer.step()
        moves[shared] = [matrix().detach() - p.detach() for p in pair]
    assert torch.equal(*moves[True])
    assert not torch.allclose(moves[False][0], moves[False][1], atol=1e-2)


@every_mode
def test_tied_weights_have_one_state_and_take_one_step(mode: str) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(6, 6, bias=False), nn.Linear(6, 6, bias=False)
            self.first.weight = matrix(6, 6)
            self.second.weight = self.first.weight

    tied, alone = Tied(), matrix(6, 6)
    inputs = torch.randn(4, 6, generator=torch.Generator().manual_seed(3))
    optimizers = [NaturalGradient.from_mode(each, mode, lr=0.01) for each in (tied.parameters(), [alone])]
    for _ in range(4):
        for optimizer in optimizers:
            optimizer.zero_grad()
        tied.second(tied.first(inputs)).square().mean().backward()
        (inputs @ alone.T @ alone.T).square().mean().backward()
        for optimizer in optimizers:
            optimizer.step()
    assert [state["step"] for state in optimizers[0].state.values()] == [4]
    assert tied.second.weight is tied.first.weight
    assert torch.allclose(tied.first.weight, alone, rtol=1e-4, atol=1e-5)


@every_mode
def test_parameters_can_join_in_the_middle_of_a_run(mode: str) -> None:
    ends = []
    for joins in (True, False):
        first, late = matrix(), matrix(seed=1)
        optimizer = NaturalGradient.from_mode([first] if joins else [first, late], mode, lr=0.02)
        for step in range(5):
            if step == 2 and joins:
                optimizer.add_param_group({"params": [late]})
            give(first, step)
            if step >= 2:
                give(late, step)
            optimizer.step()
        assert (optimizer.state[first]["step"], optimizer.state[late]["step"]) == (5, 3)
        assert (optimizer.state[first]["index"], optimizer.state[late]["index"]) == (0, 1)
        ends.append(copied(optimizer, [first, late]))
    for a, b in zip(*ends, strict=True):
        assert torch.equal(a, b)


def test_a_group_that_joins_has_its_own_settings_plain_or_not() -> None:
    first, late = matrix(), matrix(seed=1)
    optimizer = NaturalGradient([first], lr=0.1, **SEEDED)
    plain: dict[str, Any] = {"kind": "orthogonal"}
    optimizer.add_param_group({"params": [late], "lr": 0.5, "preconditioner": plain})
    assert optimizer.param_groups[1]["preconditioner"] == Orthogonal()
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]
    for parameter in (first, late):
        give(parameter, 1)
    optimizer.step()
    assert "fisher" in optimizer.state[first]
    assert "fisher" not in optimizer.state[late]
