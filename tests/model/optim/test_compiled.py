"""Steps counted on the device: the same steps, compiled once."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounter

from model.optim import NaturalGradient, parameter_groups

modes = pytest.mark.parametrize("mode", ["whole", "blocks"])


def _network(dtype: torch.dtype = torch.float32) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(12, 96), nn.LayerNorm(96), nn.Linear(96, 70), nn.Linear(70, 70)).to(dtype)


def _optimizer(network: nn.Module, mode: str, **settings: Any) -> NaturalGradient:
    given = {"lr": 1e-2, "guarded": False, **settings}
    return NaturalGradient.from_mode(parameter_groups(network, weight_decay=0.1), mode, **given)


def _give(network: nn.Module, step: int) -> None:
    generator = torch.Generator().manual_seed(step)
    for parameter in network.parameters():
        parameter.grad = torch.randn(parameter.shape, generator=generator).to(parameter.dtype)


def _difference(one: nn.Module, other: nn.Module) -> float:
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return max(float((a - b).detach().abs().max()) for a, b in pairs)


@modes
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_counting_on_the_device_gives_the_same_steps(mode: str, dtype: torch.dtype) -> None:
    there, here = _network(dtype), _network(dtype)
    both = ((there, _optimizer(there, mode, lr=torch.tensor(1e-2), capturable=True)), (here, _optimizer(here, mode)))
    for step in range(12):
        for network, optimizer in both:
            _give(network, step)
            optimizer.step()
    assert _difference(there, _network(dtype)) > 0.01
    assert _difference(there, here) < 1e-6
    assert both[0][1].counts() == both[1][1].counts()


@modes
def test_a_rate_of_one_element_may_have_a_dimension(mode: str) -> None:
    ends = []
    for rate in (torch.tensor(1e-2), torch.tensor([1e-2])):
        parameters = [*_network(torch.float32).parameters()]
        optimizer = NaturalGradient.from_mode(
            parameters, mode, lr=rate, weight_decay=0.1, guarded=False, capturable=True
        )
        for parameter in parameters:
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
        ends.append([one.detach().clone() for one in parameters])
    assert all(torch.equal(one, other) for one, other in zip(*ends, strict=True))


@pytest.mark.parametrize(
    ("mode", "dtype"),
    [("whole", torch.bfloat16), pytest.param("blocks", torch.float32, marks=pytest.mark.long_case)],
)
def test_a_step_compiles_as_one_graph_and_not_again(mode: str, dtype: torch.dtype) -> None:
    torch._dynamo.reset()
    there, here = _network(dtype), _network(dtype)
    compiled = _optimizer(there, mode, lr=torch.tensor(1e-2), capturable=True)
    plain = _optimizer(here, mode, lr=torch.tensor(1e-2), capturable=True)
    counter = CompileCounter()
    take_step = torch.compile(compiled.step, backend=counter, fullgraph=True)
    # After that, because a schedule wraps the step in a function that torch.compile does not read.
    schedules = [torch.optim.lr_scheduler.ExponentialLR(one, 0.9) for one in (compiled, plain)]
    frames = []
    for step in range(5):
        for network in (there, here):
            _give(network, step)
        take_step()
        plain.step()
        for schedule in schedules:
            schedule.step()
        frames.append(counter.frame_count)
    assert frames[0] == 1
    assert frames[1:] == [2] * 4  # the first step makes the state, so the second is another program: the last one
    assert _difference(there, here) < 1e-6


@modes
@pytest.mark.skipif(not torch.cuda.is_available(), reason="a CUDA graph wants a GPU")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_replayed_cuda_graph_steps_as_the_optimizer_does(mode: str, dtype: torch.dtype) -> None:
    there, here = _network(dtype).cuda(), _network(dtype).cuda()
    rate = torch.tensor(1e-2, device="cuda")
    captured, plain = (_optimizer(one, mode, lr=rate, capturable=True) for one in (there, here))
    for network in (there, here):
        for parameter in network.parameters():
            parameter.grad = torch.zeros_like(parameter)  # a graph reads gradients from where they were

    def give(step: int) -> None:
        for network in (there, here):
            generator = torch.Generator().manual_seed(step)
            for parameter in network.parameters():
                assert parameter.grad is not None
                parameter.grad.copy_(torch.randn(parameter.shape, generator=generator))

    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for step in range(3):
            give(step)
            captured.step()
            plain.step()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured.step()
    for step in range(3, 9):
        rate.fill_(1e-2 * 0.9**step)
        give(step)
        graph.replay()
        plain.step()
    torch.cuda.synchronize()
    assert _difference(there, _network(dtype).cuda()) > 0.01
    assert _difference(there, here) == 0
    assert captured.counts() == plain.counts()


@modes
@pytest.mark.parametrize("first", [False, True])
def test_a_run_goes_on_where_its_steps_are_counted_elsewhere(mode: str, first: bool) -> None:
    network, never_stopped = _network(), _network()
    optimizer, whole = _optimizer(network, mode, capturable=first), _optimizer(never_stopped, mode)
    for step in range(10):
        if step == 5:
            saved = optimizer.state_dict()
            optimizer = _optimizer(network, mode, capturable=not first)
            optimizer.load_state_dict(saved)
            assert _counted(optimizer) == [not first] * len(optimizer.state)
        for one, of in ((network, optimizer), (never_stopped, whole)):
            _give(one, step)
            of.step()
    assert _difference(network, never_stopped) < 1e-6


def _counted(optimizer: NaturalGradient) -> list[bool]:
    return [isinstance(state["step"], Tensor) for state in optimizer.state.values()]


@modes
def test_a_resumed_run_is_equal_to_the_bit(mode: str) -> None:
    network, never_stopped = _network(torch.bfloat16), _network(torch.bfloat16)
    optimizer, whole = (_optimizer(one, mode, capturable=True) for one in (network, never_stopped))
    for step in range(8):
        if step == 4:
            saved = optimizer.state_dict()
            optimizer = _optimizer(network, mode, capturable=True)
            optimizer.load_state_dict(saved)
            assert all(_counted(optimizer))
        for one, of in ((network, optimizer), (never_stopped, whole)):
            _give(one, step)
            of.step()
    assert _difference(network, never_stopped) == 0


@modes
def test_the_way_of_stepping_and_a_rate_on_the_device_stay_when_a_state_is_loaded(mode: str) -> None:
    network = _network()
    guarded = _optimizer(network, mode, lr=3e-3, guarded=True)
    _give(network, 0)
    guarded.step()
    saved = guarded.state_dict()
    for group in saved["param_groups"]:
        del group["capturable"]  # as before there was such a setting
    rate = torch.tensor(1e-2)
    optimizer = _optimizer(network, mode, lr=rate, capturable=True)
    optimizer.load_state_dict(saved)
    for group in optimizer.param_groups:
        assert (group["guarded"], group["capturable"]) == (False, True)
        assert group["lr"] is rate and float(rate) == pytest.approx(3e-3)
    assert "capturable" not in saved["param_groups"][0], "the caller's own is unchanged"
    _give(network, 1)
    optimizer.step()
    assert all(_counted(optimizer))


def test_groups_that_share_a_tensor_as_rate_get_each_its_own_where_the_rates_differ() -> None:
    network = _network()
    saved = _optimizer(network, "whole").state_dict()
    for group, rate in zip(saved["param_groups"], (0.5, 0.25), strict=True):
        group["lr"] = rate
    optimizer = _optimizer(network, "whole", lr=torch.tensor(1e-2), capturable=True)
    optimizer.load_state_dict(saved)
    assert [float(group["lr"]) for group in optimizer.param_groups] == [0.5, 0.25]


def test_modes_that_read_numbers_in_a_step_are_refused() -> None:
    parameter = nn.Parameter(torch.zeros(4, 4))
    with pytest.raises(ValueError, match="capturable=True needs guarded=False"):
        NaturalGradient([parameter], capturable=True)
    for mode in ("seeded", "source", "history", "orthogonal", "galore"):
        with pytest.raises(ValueError, match="whole or blocks"):
            NaturalGradient.from_mode([parameter], mode, capturable=True, guarded=False)
    NaturalGradient([{"params": [parameter], "subspace": None}], capturable=True, guarded=False)
