"""Tucker factors where one mode asks for more directions than the others leave: every matrix that is not square."""

import numpy as np
import pytest
import torch

from model.optim import Tucker, subspace

LONG = [(40, 12), (12, 40), (60, 9, 1, 1), (3, 40, 12), (200, 6)]


def fitted(gradient: torch.Tensor) -> tuple[list[torch.Tensor], subspace.Geometry]:
    choice = Tucker(fraction=0.5)
    shape = subspace.geometry(gradient.shape, choice)
    assert shape is not None
    return subspace.fit_factors(gradient, shape, choice, 7), shape


def decaying(size: tuple[int, ...]) -> torch.Tensor:
    """A gradient with leading directions: entries fall along every mode, in rotated coordinates."""
    generator = torch.Generator().manual_seed(1)
    tensor = torch.randn(size, generator=generator, dtype=torch.float64)
    for mode, n in enumerate(size):
        rotation = torch.linalg.qr(torch.randn(n, n, generator=generator, dtype=torch.float64))[0]
        scaled = tensor.movedim(mode, -1) * 0.6 ** torch.arange(n)
        tensor = (scaled @ rotation).movedim(-1, mode)
    return tensor


@pytest.mark.parametrize("size", LONG)
def test_a_long_tensor_has_a_fitted_basis_and_not_a_random_one(size: tuple[int, ...]) -> None:
    gradient = decaying(size)
    factors, shape = fitted(gradient)
    low = subspace.project(gradient[None], [factor[None] for factor in factors], shape.modes)
    assert low.shape[1:] == shape.low
    assert float(low.square().sum() / gradient.square().sum()) > 0.9
    for factor in factors:
        assert torch.allclose(factor.mT @ factor, torch.eye(factor.shape[1], dtype=factor.dtype), atol=1e-10)


def test_the_directions_that_are_left_go_to_what_the_gradient_still_has() -> None:
    gradient = torch.randn(40, 12, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    (rows, _), _ = fitted(gradient)
    assert rows.shape == (40, 20)  # 6 of them fitted together with the columns, 6 more hold the rest of the gradient
    assert float((rows.mT @ gradient).square().sum() / gradient.square().sum()) == pytest.approx(1.0, abs=1e-9)


def test_the_factors_of_a_long_tensor_are_drawn_from_the_seed_alone() -> None:
    gradient = decaying((200, 6)).float()
    first, _ = fitted(gradient)
    np.random.seed(3)  # of the generator that tensorly completes factors with
    torch.manual_seed(3)
    again, _ = fitted(gradient)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
