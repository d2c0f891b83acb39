"""Factorisations that fail: the step is that of the plain gradient, it is counted, and the neighbours do not notice."""

import math
from typing import Any

import pytest
import tensorly.decomposition
import torch
from torch import nn
from torch.linalg import LinAlgError  # type: ignore[attr-defined]  # torch's stubs lack it

from model.optim import History, Momentum, NaturalGradient, RangeFinder, Seeded, Svd, Tucker
from tests.support.optimizer_problems import SEEDED, give, gradient_for, matrix

PLAIN: dict[str, Any] = {"residual": None, "norm": None}
BARE: dict[str, Any] = PLAIN | {"moments": None}


def spoil(optimizer: NaturalGradient, parameter: nn.Parameter) -> None:
    """A Gram matrix beyond repair by jitter, as from a broken device; the row that the next step renews stays valid."""
    optimizer.state[parameter]["gram"][2, 2] = math.nan


@pytest.mark.parametrize("relative", [True, False])
def test_a_failed_cholesky_gives_the_plain_gradient_and_is_counted(relative: bool) -> None:
    parameter = matrix()
    # All of the space, so that the low-rank gradient is the whole one, and lambda = 1 where it is absolute.
    optimizer = NaturalGradient(
        [parameter], lr=0.5, subspace=Seeded(rank=8), preconditioner=History(window=3, relative=relative), **BARE
    )
    give(parameter, 0)
    optimizer.step()
    spoil(optimizer, parameter)
    before = parameter.detach().clone()
    give(parameter, 1)
    optimizer.step()
    assert optimizer.counts() == {"skipped": 0, "fallbacks": 1}
    assert torch.allclose(parameter, before - 0.5 * gradient_for(parameter, 1), atol=1e-5)


def test_a_window_that_lost_its_bad_slot_is_whole_again() -> None:
    parameter = matrix()
    optimizer = NaturalGradient([parameter], subspace=Seeded(rank=8), preconditioner=History(window=3), **BARE)
    give(parameter, 0)
    optimizer.step()
    spoil(optimizer, parameter)
    for step in range(1, 6):
        give(parameter, step)
        optimizer.step()
    assert optimizer.counts()["fallbacks"] == 1  # slot 2 is the third step's own, and was renewed by it
    assert torch.isfinite(optimizer.state[parameter]["gram"]).all()


def test_a_failed_cholesky_of_one_parameter_spares_the_rest_of_its_stack() -> None:
    ends = []
    for spoilt in (False, True):
        first, second = matrix(), matrix(seed=1)
        optimizer = NaturalGradient([first, second], **SEEDED | {"preconditioner": History(window=3)})
        for step in range(3):
            if step == 1 and spoilt:
                spoil(optimizer, first)
            for parameter in (first, second):
                give(parameter, step)
            optimizer.step()
        assert (optimizer.state[first]["fallbacks"], optimizer.state[second]["fallbacks"]) == (int(spoilt), 0)
        ends.append((first.detach(), second.detach()))
    assert torch.equal(ends[0][1], ends[1][1])
    assert not torch.allclose(ends[0][0], ends[1][0], rtol=1e-5)
    assert torch.isfinite(ends[1][0]).all()


def test_a_failed_eigendecomposition_keeps_the_momentum_and_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object) -> None:
        raise LinAlgError("did not converge")

    ends = []
    for broken in (False, True):
        parameter = matrix()
        settings = SEEDED | {"subspace": Seeded(rank=8), "moments": Momentum(nesterov=False), **PLAIN}
        optimizer = NaturalGradient([parameter], lr=0.5, **settings)
        if broken:
            monkeypatch.setattr(torch.linalg, "eigh", fails)
        give(parameter, 0)
        optimizer.step()
        ends.append(matrix().detach() - parameter.detach())
    assert optimizer.counts() == {"skipped": 0, "fallbacks": 1}
    assert torch.allclose(ends[1], 0.5 * gradient_for(matrix(), 0), atol=1e-5)  # the momentum of a first step
    assert not torch.allclose(ends[0], ends[1], atol=1e-2)


def test_a_fisher_factor_that_is_not_finite_is_passed_over_and_counted() -> None:
    parameter = matrix()
    optimizer = NaturalGradient([parameter], lr=0.01, **SEEDED)
    for step in range(4):
        give(parameter, step)
        optimizer.step()
        optimizer.state[parameter]["fisher"][0, 0] = math.inf
    assert optimizer.counts()["fallbacks"] > 0
    assert torch.isfinite(parameter).all()
    assert not torch.equal(parameter, matrix())


@pytest.mark.parametrize(
    ("subspace", "place", "routine"),
    [
        (Svd(rank=4), torch.linalg, "svd"),
        (RangeFinder(rank=4), torch.linalg, "eigh"),
        (Tucker(rank=4), tensorly.decomposition, "partial_tucker"),
    ],
)
def test_a_decomposition_that_fails_at_a_refresh_does_not_end_the_run(
    subspace: Any, place: Any, routine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def fails(*_: object, **__: object) -> None:
        calls.append(routine)
        raise LinAlgError("did not converge")

    parameter = matrix()
    optimizer = NaturalGradient([parameter], lr=0.01, **SEEDED | {"subspace": subspace, "preconditioner": None})
    monkeypatch.setattr(place, routine, fails)
    for step in range(2):
        give(parameter, step)
        optimizer.step()
    assert calls
    factor = optimizer.state[parameter]["factor_0"]
    assert torch.allclose(factor.T @ factor, torch.eye(4), atol=1e-5)
    assert torch.isfinite(parameter).all()
    assert not torch.equal(parameter, matrix())
