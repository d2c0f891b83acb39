"""F^{-1} g of gradients that are nearly one direction, where the sum over the window cancels."""

import pytest
import torch

from model.optim import History, NaturalGradient, Seeded, fisher
from model.optim.choices import HistoryDtype

WINDOW = 10


def gradients(apart: float) -> torch.Tensor:
    """[WINDOW, 20, 20] in float32 that differ by `apart` of their length."""
    generator = torch.Generator().manual_seed(0)
    own, shared = torch.randn(WINDOW, 20, 20, generator=generator), torch.randn(20, 20, generator=generator)
    return (shared + apart * own) * 1e-2


@pytest.mark.parametrize("apart", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_step_is_exact_to_float32_for_nearly_collinear_columns(apart: float, dtype: HistoryDtype) -> None:
    drawn = gradients(apart)
    damping = 1e-6 * float(drawn.double().square().sum()) / WINDOW
    parameter = torch.nn.Parameter(torch.zeros(20, 20))
    history = History(window=WINDOW, damping=damping, relative=False, dtype=dtype)
    optimizer = NaturalGradient.from_mode(
        [parameter], "source", lr=1.0, subspace=Seeded(fraction=1.0), preconditioner=history
    )
    for gradient in drawn:
        parameter.data.zero_()
        parameter.grad = gradient.clone()
        optimizer.step()
    columns = optimizer.state[parameter]["history"].double().mT
    truth = fisher.dense_solve(columns, columns[:, -1], damping)
    # The basis turns, it does not stretch: lengths can be compared without it.
    assert float(parameter.detach().double().norm()) == pytest.approx(float(truth.norm()), rel=1e-6)


@pytest.mark.parametrize("apart", [1e-1, 1e-2, 1e-3])
def test_the_dual_form_is_exact_in_float32_for_nearly_collinear_columns(apart: float) -> None:
    columns = gradients(apart).flatten(1).mT.contiguous()
    damping = 1e-6 * float(columns.double().square().sum()) / WINDOW
    truth = fisher.dense_solve(columns.double(), columns[:, -1].double(), damping)
    found = fisher.dual_solve(columns, WINDOW - 1, damping)
    assert float((found.double() - truth).norm() / truth.norm()) < 1e-6
