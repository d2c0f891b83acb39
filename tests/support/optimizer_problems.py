"""Parameters, gradients and a small network that the tests of the optimizer share."""

from typing import Any

import torch
from torch import Tensor, nn

from model.optim import MODES, Factor, Momentum, NaturalGradient, Norm, Residual, Seeded, choices

# A basis made again from its seed, a Fisher factor, a momentum and a residual: every part that keeps something.
SEEDED: dict[str, Any] = {
    "subspace": Seeded(),
    "preconditioner": Factor(),
    "moments": Momentum(),
    "residual": Residual(),
    "norm": Norm(),
}


def matrix(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> nn.Parameter:
    """The same values for the same seed; 8 x 12 where no shape is given."""
    return nn.Parameter(torch.randn(shape or (8, 12), generator=torch.Generator().manual_seed(seed)).to(dtype))


def gradient_for(parameter: Tensor, seed: int) -> Tensor:
    return torch.randn(parameter.shape, generator=torch.Generator().manual_seed(100 + seed)).to(parameter.dtype)


def give(parameter: Tensor, seed: int) -> None:
    parameter.grad = gradient_for(parameter, seed)


def row(mode: str) -> dict[str, Any]:
    """The columns of a mode in their plain form."""
    return {name: choices.to_plain(getattr(MODES[mode], name)) for name in choices.CHOICES}


def short(mode: str, refresh: int, window: int, interval: int) -> dict[str, Any]:
    """A mode whose every period is as short as asked, so that few steps pass through all of them."""
    columns = row(mode)
    periods = {"refresh": refresh, "window": window, "interval": interval}
    for column in columns.values():
        if column is not None:
            column.update({name: steps for name, steps in periods.items() if name in column})
    return columns


def network(dtype: torch.dtype = torch.float32) -> nn.Sequential:
    """A convolution, matrices of which two have one shape, a norm and biases; the same weights every time."""
    torch.manual_seed(0)
    layers = nn.Sequential(
        nn.Conv2d(3, 8, 3),
        nn.Flatten(),
        nn.Linear(8 * 36, 16),
        nn.LayerNorm(16),
        nn.GELU(),
        nn.Linear(16, 16),
        nn.GELU(),
        nn.Linear(16, 16),
        nn.Linear(16, 4),
    )
    return layers.to(dtype)


def train(layers: nn.Module, optimizer: torch.optim.Optimizer, steps: range, schedule: Any = None) -> None:
    """Take steps on inputs that depend on the step's number alone.

    At step 2 the first convolution has no finite gradient, so that its count of steps is one behind the others'.
    """
    first = next(layers.parameters())
    for step in steps:
        generator = torch.Generator().manual_seed(step)
        images, wanted = torch.randn(4, 3, 8, 8, generator=generator), torch.randn(4, 4, generator=generator)
        optimizer.zero_grad()
        (layers(images.to(first.dtype)) - wanted.to(first.dtype)).square().mean().backward()
        if step == 2:
            first.grad[0] = torch.nan  # type: ignore[index]
        optimizer.step()
        if schedule is not None:
            schedule.step()


def copied(optimizer: NaturalGradient, parameters: list[nn.Parameter]) -> list[Tensor]:
    """Values of the parameters and of everything in their states, one after the other."""
    values = [parameter.detach() for parameter in parameters]
    for parameter in parameters:
        values += [torch.as_tensor(optimizer.state[parameter][key]) for key in sorted(optimizer.state[parameter])]
    return [value.clone() for value in values]
