"""The tests of torch's own suite for optimizers, by name, on its OptimizerInfo machinery: state dicts, hooks, copies.

test_conformance.py says where the names come from and which tests of the suite do not apply.
"""

import functools
import tempfile
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import Parameter
from torch.optim import SGD, Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA
from torch.testing._internal.common_optimizers import OptimizerInput, optims
from torch.testing._internal.common_utils import TestCase, parametrize

from tests.support.optimizer_record import RECORD, Record


def pair(device: str, dtype: torch.dtype) -> list[Parameter]:
    return [Parameter(torch.randn(shape, device=device, dtype=dtype)) for shape in ((4, 6), (4,))]


def named(parameters: list[Parameter], names: bool) -> Any:
    return [(f"name{i}", parameter) for i, parameter in enumerate(parameters)] if names else parameters


def without_names(state_dict: dict[str, Any]) -> dict[str, Any]:
    copied = deepcopy(state_dict)
    for group in copied["param_groups"]:
        group.pop("param_names", None)
    return copied


def closure_of(optimizer: Optimizer, parameters: list[Parameter], given: Tensor) -> Any:
    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = (parameters[0].mv(given) + parameters[1]).square().sum()
        loss.backward()
        return loss

    return closure


def convolution(device: str, dtype: torch.dtype) -> tuple[nn.Module, Any]:
    """A small network with a convolution and a norm, and what runs it backwards."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Conv2d(4, 2, 1, stride=2), nn.BatchNorm2d(2)).to(device=device, dtype=dtype)
    images = torch.rand(1, 4, 16, 16, device=device, dtype=dtype)

    def backward() -> None:
        network.zero_grad()
        network(images).square().mul(torch.arange(8.0, device=device)).sum().backward()

    return network, backward


class TestOptimRenewedState(TestCase):
    """One class for each kind of device that there is is made of this one below."""

    def primed(
        self, device: str, dtype: torch.dtype, optim_info: Record
    ) -> Iterator[tuple[OptimizerInput, Optimizer, list[Parameter]]]:
        """Optimizers of all inputs after three steps, their parameters with a gradient."""
        for given in optim_info.optim_inputs_func(device=device):
            parameters = pair(device, dtype)
            optimizer = optim_info.optim_cls(parameters, **given.kwargs)
            for parameter in parameters:
                parameter.grad = torch.rand_like(parameter)
            for _ in range(3):
                optimizer.step()
            yield given, optimizer, parameters

    @parametrize("is_named_optim0", [True, False])
    @parametrize("is_named_optim1", [True, False])
    @optims([RECORD], dtypes=[torch.float32])
    def test_state_dict_deterministic(
        self, device: str, dtype: torch.dtype, optim_info: Record, is_named_optim0: bool, is_named_optim1: bool
    ) -> None:
        vector = torch.randn(6, device=device, dtype=dtype)
        for given in optim_info.optim_inputs_func(device=device):
            first = pair(device, dtype)
            optimizer = optim_info.optim_cls(named(first, is_named_optim0), **given.kwargs)
            closure = closure_of(optimizer, first, vector)
            for _ in range(10):
                optimizer.step(closure)

            second = [Parameter(parameter.detach().clone()) for parameter in first]
            other = optim_info.optim_cls(named(second, is_named_optim1), **given.kwargs)
            other.load_state_dict(deepcopy(optimizer.state_dict()))
            closure2 = closure_of(other, second, vector)
            for _ in range(10):
                optimizer.step(closure)
                other.step(closure2)
                self.assertEqual(first, second, rtol=0, atol=0, msg=given.desc)
            self.assertEqual(
                without_names(optimizer.state_dict()), without_names(other.state_dict()), rtol=0, atol=0, msg=given.desc
            )
            other.param_groups.extend(other.param_groups)
            repeated = without_names(other.state_dict())["param_groups"]
            self.assertEqual(repeated[-1], without_names(optimizer.state_dict())["param_groups"][-1])

    @optims([RECORD], dtypes=[torch.float32])
    def test_can_load_older_state_dict(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            network, backward = convolution(device, dtype)
            optimizer = optim_info.optim_cls(network.parameters(), **given.kwargs)
            for _ in range(3):
                backward()
                optimizer.step()
            whole = optimizer.state_dict()
            older = deepcopy(whole)
            for group in older["param_groups"]:
                for flag in optim_info.not_og_supported_flags:
                    self.assertIn(flag, group)
                    del group[flag]
            optimizer.load_state_dict(older)
            self.assertEqual(optimizer.state_dict()["param_groups"], whole["param_groups"], msg=given.desc)
            backward()
            optimizer.step()
            self.assertEqual({state["step"] for state in optimizer.state.values()}, {4}, given.desc)

    @parametrize("is_named_optim0", [True, False])
    @parametrize("is_named_optim1", [True, False])
    @optims([RECORD], dtypes=[torch.float32])
    def test_can_load_from_to_named_state_dict(
        self, device: str, dtype: torch.dtype, optim_info: Record, is_named_optim0: bool, is_named_optim1: bool
    ) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            network, backward = convolution(device, dtype)
            optimizers = [
                optim_info.optim_cls(network.named_parameters() if names else network.parameters(), **given.kwargs)
                for names in (is_named_optim0, is_named_optim1)
            ]
            for _ in range(3):
                backward()
                optimizers[0].step()
            optimizers[1].load_state_dict(deepcopy(optimizers[0].state_dict()))
            backward()
            optimizers[1].step()
            self.assertEqual({state["step"] for state in optimizers[1].state.values()}, {4}, given.desc)
            names = optimizers[1].state_dict()["param_groups"][0].get("param_names")
            expected = ["0.weight", "0.bias", "1.weight", "1.bias"] if is_named_optim0 or is_named_optim1 else None
            self.assertEqual(names, expected)

    @parametrize("is_named_optim", [True, False])
    @optims([RECORD], dtypes=[torch.float32])
    def test_save_load_equality_with_weights_only(
        self, device: str, dtype: torch.dtype, optim_info: Record, is_named_optim: bool
    ) -> None:
        vector = torch.randn(6, device=device, dtype=dtype)
        for given in optim_info.optim_inputs_func(device=device):
            parameters = pair(device, dtype)
            optimizer = optim_info.optim_cls(named(parameters, is_named_optim), **given.kwargs)
            for _ in range(3):
                optimizer.step(closure_of(optimizer, parameters, vector))
            saved = optimizer.state_dict()
            for weights_only in (False, True):
                with tempfile.TemporaryFile() as file:
                    torch.save(saved, file)
                    file.seek(0)
                    loaded = torch.load(file, weights_only=weights_only)
                self.assertEqual(loaded, saved, rtol=0, atol=0, msg=given.desc)

    @optims([RECORD], dtypes=[torch.float32])
    def test_load_nontensor_step(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given, optimizer, parameters in self.primed(device, dtype, optim_info):
            for made in (int, float, torch.tensor):  # ours is an integer; torch's own is a tensor of floats
                saved = deepcopy(optimizer.state_dict())
                for state in saved["state"].values():
                    state["step"] = made(state["step"])
                optimizer.load_state_dict(saved)
                optimizer.step()
            steps = [optimizer.state[parameter]["step"] for parameter in parameters]
            self.assertEqual([(type(step), step) for step in steps], [(int, 6)] * 2, given.desc)

    @onlyCUDA
    @optims([RECORD], dtypes=[torch.float32])
    def test_state_dict_with_cuda_params(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given, optimizer, parameters in self.primed("cpu", dtype, optim_info):
            there = [Parameter(parameter.detach().to(device)) for parameter in parameters]
            other = optim_info.optim_cls(there, **given.kwargs)
            saved = optimizer.state_dict()
            before = deepcopy(saved)
            other.load_state_dict(saved)
            self.assertEqual(saved, before, rtol=0, atol=0, msg=given.desc)
            for _ in range(5):
                for one, two in zip(parameters, there, strict=True):
                    one.grad = torch.randn_like(one)
                    two.grad = one.grad.to(device)
                optimizer.step()
                other.step()
                self.assertEqual([p.cpu() for p in there], parameters, rtol=1e-4, atol=1e-5, msg=given.desc)

    @onlyCUDA
    @optims([RECORD], dtypes=[torch.float32])
    def test_cpu_load_state_dict(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given, optimizer, parameters in self.primed("cpu", dtype, optim_info):
            there = [Parameter(parameter.detach().to(device)) for parameter in parameters]
            other = optim_info.optim_cls(there, **given.kwargs)
            other.load_state_dict(deepcopy(optimizer.state_dict()))
            for parameter in there:
                parameter.grad = torch.rand_like(parameter)
                tensors = [value for value in other.state[parameter].values() if isinstance(value, Tensor)]
                self.assertEqual({value.device for value in tensors}, {parameter.device}, given.desc)
            other.step()

    def hooked(self, device: str, dtype: torch.dtype, optim_info: Record) -> Iterator[Optimizer]:
        for given in optim_info.optim_inputs_func(device=device):
            yield optim_info.optim_cls(
                [torch.rand(2, 3, device=device, dtype=dtype, requires_grad=True)], **given.kwargs
            )

    @optims([RECORD], dtypes=[torch.float32])
    def test_state_dict_pre_hook(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for optimizer in self.hooked(device, dtype, optim_info):
            optimizer.register_state_dict_pre_hook(_note)
            self.assertEqual(optimizer.state_dict()["state"]["note"], 1)

    @optims([RECORD], dtypes=[torch.float32])
    def test_state_dict_post_hook(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for optimizer in self.hooked(device, dtype, optim_info):
            optimizer.register_state_dict_post_hook(_move_note)
            self.assertIs(optimizer.state_dict()["noted"], False)

    @optims([RECORD], dtypes=[torch.float32])
    def test_state_dict_pre_post_hook(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for optimizer in self.hooked(device, dtype, optim_info):
            optimizer.register_state_dict_pre_hook(_note)
            optimizer.register_state_dict_post_hook(_move_note)
            saved = optimizer.state_dict()
            self.assertNotIn("note", saved["state"])
            self.assertIs(saved["noted"], True)

    @optims([RECORD], dtypes=[torch.float32])
    def test_load_state_dict_pre_hook_and_prepend(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for optimizer in self.hooked(device, dtype, optim_info):
            saved = optimizer.state_dict()
            optimizer.register_load_state_dict_pre_hook(functools.partial(_rate_in_place, 0.002))
            optimizer.load_state_dict(saved)
            self.assertEqual(optimizer.param_groups[0]["lr"], 0.002)
            optimizer.register_load_state_dict_pre_hook(functools.partial(_rate_in_copy, 0.003), prepend=True)
            optimizer.load_state_dict(saved)
            self.assertEqual(optimizer.param_groups[0]["lr"], 0.002)  # the one that came first has the last word

    @optims([RECORD], dtypes=[torch.float32])
    def test_load_state_dict_post_hook(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for optimizer in self.hooked(device, dtype, optim_info):
            seen: list[float] = []
            optimizer.register_load_state_dict_post_hook(functools.partial(_note_rate, seen))
            saved = optimizer.state_dict()
            optimizer.param_groups[0]["lr"] = 7.0
            optimizer.load_state_dict(saved)
            self.assertEqual(seen, [saved["param_groups"][0]["lr"]])

    @optims([RECORD], dtypes=[torch.float32])
    def test_load_state_dict_pre_post_hook(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for optimizer in self.hooked(device, dtype, optim_info):
            seen: list[float] = []
            optimizer.register_load_state_dict_pre_hook(functools.partial(_rate_in_copy, 0.003))
            optimizer.register_load_state_dict_post_hook(functools.partial(_note_rate, seen))
            optimizer.load_state_dict(optimizer.state_dict())
            self.assertEqual(seen, [0.003])

    @optims([RECORD], dtypes=[torch.float32])
    def test_step_post_hook(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        self.step_hook(device, dtype, optim_info, "register_step_post_hook", [1, 2])

    @optims([RECORD], dtypes=[torch.float32])
    def test_step_pre_hook(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        self.step_hook(device, dtype, optim_info, "register_step_pre_hook", [0, 1])

    def step_hook(
        self, device: str, dtype: torch.dtype, optim_info: Record, register: str, expected: list[int]
    ) -> None:
        """A hook sees the count of steps before or after each step, and nothing once it is removed."""
        for optimizer in self.hooked(device, dtype, optim_info):
            (parameter,) = optimizer.param_groups[0]["params"]
            parameter.grad = torch.rand_like(parameter)
            seen: list[int] = []
            handle = getattr(optimizer, register)(
                lambda o, *_, p=parameter, seen=seen: seen.append(o.state[p].get("step", 0))
            )
            optimizer.step()
            optimizer.step()
            handle.remove()
            optimizer.step()
            self.assertEqual(seen, expected)

    @optims([RECORD], dtypes=[torch.float32])
    def test_step_all_hooks(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for optimizer in self.hooked(device, dtype, optim_info):
            other = SGD(optimizer.param_groups[0]["params"], lr=1e-3)
            calls: list[str] = []

            def noted(name: str, calls: list[str] = calls) -> Any:
                return lambda *_: calls.append(name)

            handles = [
                register_optimizer_step_pre_hook(noted("all before")),
                register_optimizer_step_post_hook(noted("all after")),
            ]
            for each in (optimizer, other):
                handles.append(each.register_step_pre_hook(noted("before")))
                handles.append(each.register_step_post_hook(noted("after")))
            round_ = ["all before", "before", "after", "all after"]
            for count, each in enumerate((optimizer, other, optimizer), start=1):
                each.step()
                self.assertEqual(calls, round_ * count)
            for handle in handles:
                handle.remove()
            optimizer.step()
            other.step()
            self.assertEqual(calls, round_ * 3)

    @optims([RECORD], dtypes=[torch.float32])
    def test_deepcopy_copies_all_public_attrs(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given, optimizer, _ in self.primed(device, dtype, optim_info):
            attributes = [
                {key for key in vars(each) if not key.startswith("_")} for each in (optimizer, deepcopy(optimizer))
            ]
            self.assertEqual(attributes[0], attributes[1], given.desc)
            self.assertEqual(deepcopy(optimizer).state_dict(), optimizer.state_dict(), rtol=0, atol=0, msg=given.desc)


def _note_rate(seen: list[float], optimizer: Optimizer) -> None:
    seen.append(optimizer.param_groups[0]["lr"])


def _note(optimizer: Optimizer) -> None:
    cast(Any, optimizer.state)["note"] = 1


def _move_note(optimizer: Optimizer, state_dict: dict[str, Any]) -> dict[str, Any]:
    return state_dict | {"noted": state_dict["state"].pop("note", None) is not None}


def _rate_in_place(lr: float, _: Optimizer, state_dict: dict[str, Any]) -> None:
    state_dict["param_groups"][0]["lr"] = lr


def _rate_in_copy(lr: float, _: Optimizer, state_dict: dict[str, Any]) -> dict[str, Any]:
    copied = deepcopy(state_dict)
    copied["param_groups"][0]["lr"] = lr
    return copied


instantiate_device_type_tests(TestOptimRenewedState, globals(), only_for=("cpu", "cuda"))
