"""The tests that pytorch_optimizer asks of every optimizer in its general suite, by name, for every mode.

The names are those of its tests/test_optimizers.py, test_gradients.py and test_general_optimizer_parameters.py
(kozistr, pytorch_optimizer). Their bodies are written anew, with assertions where the suite only expects no error. Its
tests of single optimizers, wrappers and variants (Adanorm, AdamD, cautious, stable AdamW) concern parts that are not
here.
"""

import io
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from model.optim import MODES, Adam, NaturalGradient

every_mode = pytest.mark.parametrize("mode", MODES)


def settings(mode: str) -> dict[str, Any]:
    """A rate of AdamW's order where the update has a length of its own, of the gradient's otherwise."""
    row = MODES[mode]
    own_length = row.norm is not None or isinstance(row.moments, Adam)
    return {"mode": mode, "lr": 0.03 if own_length else 0.1, "weight_decay": 1e-3}


def environment() -> tuple[Tensor, Tensor, nn.Module]:
    """Points of a plane, on which side of a parabola they lie, and a network that is to tell."""
    torch.manual_seed(42)
    points = torch.randn(256, 2)
    sides = (points[:, :1] > points[:, 1:].square() - 1).float()
    return (
        points,
        sides,
        nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(), nn.Linear(16, 16), nn.LeakyReLU(), nn.Linear(16, 1)),
    )


def train(
    network: nn.Module, optimizer: NaturalGradient, points: Tensor, sides: Tensor, steps: int = 60
) -> list[float]:
    """Losses of all steps. A network in bfloat16 runs under autocast, as the suite has it."""
    narrow = next(network.parameters()).dtype == torch.bfloat16
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16) if narrow else nullcontext():
            loss = nn.functional.binary_cross_entropy_with_logits(network(points), sides)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@every_mode
def test_f32_optimizers(mode: str) -> None:
    points, sides, network = environment()
    losses = train(network, NaturalGradient.from_mode(network.parameters(), **settings(mode)), points, sides)
    assert losses[0] > 1.5 * losses[-1]


@every_mode
def test_bf16_optimizers(mode: str) -> None:
    points, sides, network = environment()
    network.bfloat16()
    losses = train(network, NaturalGradient.from_mode(network.parameters(), **settings(mode)), points, sides)
    assert losses[0] > 1.5 * losses[-1]
    assert {parameter.dtype for parameter in network.parameters()} == {torch.bfloat16}


@every_mode
def test_tensor_lr(mode: str) -> None:
    losses = []
    for kind in (float, torch.tensor):
        points, sides, network = environment()
        row = settings(mode)
        optimizer = NaturalGradient.from_mode(network.parameters(), **row | {"lr": kind(row["lr"])})
        losses.append(train(network, optimizer, points, sides, 10))
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@every_mode
def test_closure(mode: str) -> None:
    points, sides, network = environment()
    before = [parameter.detach().clone() for parameter in network.parameters()]
    optimizer = NaturalGradient.from_mode(network.parameters(), **settings(mode))
    assert optimizer.step(closure=lambda: 1.0) == 1.0  # no gradient yet: nothing moves
    for parameter, value in zip(network.parameters(), before, strict=True):
        assert torch.equal(parameter, value)

    def closure() -> Any:  # torch declares float, and takes tensors
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(network(points), sides)
        loss.backward()
        return loss

    losses: list[Any] = [optimizer.step(closure) for _ in range(60)]
    assert losses[0].item() > 1.5 * losses[-1].item()


@every_mode
def test_no_gradients(mode: str) -> None:
    first, second, third, fourth = (
        nn.Parameter(torch.ones(3, 4), requires_grad=grad) for grad in (True, False, True, False)
    )
    groups = [{"params": [first, second]}, {"params": [third]}, {"params": [fourth]}]
    optimizer = NaturalGradient.from_mode(groups, **settings(mode))
    (first + third).square().sum().backward()
    optimizer.step(lambda: 0.1)
    for parameter in (second, fourth):
        assert torch.equal(parameter, torch.ones(3, 4))
    for parameter in (first, third):
        assert (parameter < 1).all()
    assert set(optimizer.state) == {first, third}
    ends = [parameter.detach().clone() for parameter in (first, third)]
    optimizer.zero_grad(set_to_none=True)
    optimizer.step()
    assert torch.equal(first, ends[0])
    assert torch.equal(third, ends[1])


@every_mode
def test_init_group(mode: str) -> None:
    """There is no init_group to call: a group may be empty, and the first step creates all state."""
    points, sides, network = environment()
    groups: list[dict[str, Any]] = [{"params": []}, {"params": list(network.parameters())}]
    optimizer = NaturalGradient.from_mode(groups, **settings(mode) | {"betas": (0.0, 0.0)})
    assert not optimizer.state
    train(network, optimizer, points, sides, 1)
    assert set(optimizer.state) == set(network.parameters())
    kept = {parameter: set(state) for parameter, state in optimizer.state.items()}
    train(network, optimizer, points, sides, 3)
    assert {parameter: set(state) for parameter, state in optimizer.state.items()} == kept


@every_mode
def test_sparse_not_supported(mode: str) -> None:
    parameter = nn.Parameter(torch.randn(3, 4))
    parameter.grad = torch.randn(3, 4).to_sparse()
    before = parameter.detach().clone()
    with pytest.raises(RuntimeError, match="sparse"):
        NaturalGradient.from_mode([parameter], mode).step(lambda: 0.1)
    assert torch.equal(parameter, before)


@every_mode
def test_complex_not_supported(mode: str) -> None:
    with pytest.raises(ValueError, match="real parameters only"):
        NaturalGradient.from_mode([nn.Parameter(torch.randn(3, 4, dtype=torch.complex64))], mode)


@every_mode
def test_reset(mode: str) -> None:
    losses = []
    for used in (False, True):
        points, sides, network = environment()
        optimizer = NaturalGradient.from_mode(network.parameters(), **settings(mode))
        if used:
            train(network, optimizer, points, sides, 3)
            optimizer.reset()
            assert not optimizer.state
            network.load_state_dict(environment()[2].state_dict())
        losses.append(train(network, optimizer, points, sides, 5))
    assert losses[0] == losses[1]
    assert losses[0][0] != losses[0][-1]


@every_mode
def test_checkpoint_resume(mode: str) -> None:
    points, sides, network = environment()
    optimizer = NaturalGradient.from_mode(network.parameters(), **settings(mode))
    train(network, optimizer, points, sides, 2)
    file = io.BytesIO()
    torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=True)
    restored = environment()[2]
    restored.load_state_dict(loaded["network"])
    other = NaturalGradient.from_mode(restored.parameters(), **settings(mode))
    other.load_state_dict(loaded["optimizer"])
    assert train(restored, other, points, sides, 3) == train(network, optimizer, points, sides, 3)
    torch.testing.assert_close(restored.state_dict(), network.state_dict(), rtol=0.0, atol=0.0)


@every_mode
def test_learning_rate(mode: str) -> None:
    with pytest.raises(ValueError, match=r"learning rate: -0\.01"):
        NaturalGradient.from_mode([nn.Parameter(torch.ones(1))], mode, lr=-1e-2)


@every_mode
def test_epsilon(mode: str) -> None:
    with pytest.raises(ValueError, match="epsilon value: -1e-06"):
        NaturalGradient.from_mode([nn.Parameter(torch.ones(1))], mode, eps=-1e-6)


@every_mode
def test_weight_decay(mode: str) -> None:
    with pytest.raises(ValueError, match=r"weight_decay value: -0\.001"):
        NaturalGradient.from_mode([nn.Parameter(torch.ones(1))], mode, weight_decay=-1e-3)


@every_mode
@pytest.mark.parametrize("betas", [(-0.1, 0.1), (0.1, -0.1), (0.1, 0.1, 0.1)])
def test_betas(mode: str, betas: Any) -> None:
    with pytest.raises(ValueError, match="Invalid betas"):
        NaturalGradient.from_mode([nn.Parameter(torch.ones(1))], mode, betas=betas)
