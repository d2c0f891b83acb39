"""The tests of torch's own suite for optimizers, by name, on its OptimizerInfo machinery: steps, schedules, errors.

The names are those of class TestOptimRenewed in pytorch's test/test_optim.py, which the wheel lacks. Their bodies are
written anew here and in test_conformance_state.py. The list is that of the end of 2025; ELSEWHERE gives the reason why
each other test does not apply.
"""

import ast
import functools
import unittest
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import Parameter
from torch.optim import Optimizer
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.testing._internal.common_cuda import TEST_MULTIGPU
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, optim_db, optims
from torch.testing._internal.common_utils import TestCase, parametrize
from torch.testing._internal.opinfo.core import DecorateInfo

from model.optim import stack
from tests.support.optimizer_record import RECORD, Record

ELSEWHERE = {
    "test_complex": "complex parameters are refused (test_errors)",
    "test_complex_2d": "complex parameters are refused (test_errors)",
    "test_rosenbrock_sparse": "sparse gradients are refused (test_errors)",
    "test_second_order_optims_return_consistent_types": "for optimizers that need a closure: LBFGS",
    "test_adamw_serialization": "of Adam's decoupled_weight_decay, which is always so here",
    "test_fused_matches_forloop": "there is no fused form",
    "test_fused_error_on_params_on_meta": "there is no fused form",
    "test_fused_large_tensor": "there is no fused form",
    "test_fused_does_not_step_if_foundinf": "there is no fused form; a GradScaler that skips: test_gradients.py",
    "test_fused_cpu_matches_cuda": "there is no fused form",
    "test_defaults_changed_to_foreach": "there is no other form to change from",
    "test_foreach_large_tensor": "needs 72 GB on a GPU, and skips a zero gradient without touching it",
    "test_peak_memory_foreach": "needs the figures of a GPU's allocator; bounded by STACKED_ELEMENTS",
}

NAMES = """
test_optim_infos_do_not_specify_global_cliquey_kwargs test_errors test_forloop_goes_right_direction
test_forloop_goes_right_direction_multigpu test_param_group_with_lrscheduler_goes_right_direction test_tensor_lr
test_rosenbrock_sparse test_complex test_complex_2d test_adamw_serialization test_foreach_matches_forloop
test_mixed_device_dtype test_set_default_dtype_works_with_foreach test_foreach_large_tensor test_peak_memory_foreach
test_fused_matches_forloop test_fused_error_on_params_on_meta test_fused_large_tensor
test_fused_does_not_step_if_foundinf test_cpu_load_state_dict test_param_groups_weight_decay test_param_groups_lr
test_step_is_noop_when_params_have_no_grad test_step_is_noop_for_zero_grads test_optimizer_can_be_printed
test_state_dict_deterministic test_can_load_older_state_dict test_can_load_from_to_named_state_dict
test_save_load_equality_with_weights_only test_load_nontensor_step test_state_dict_with_cuda_params
test_state_dict_pre_hook test_state_dict_post_hook test_state_dict_pre_post_hook
test_load_state_dict_pre_hook_and_prepend test_load_state_dict_post_hook test_load_state_dict_pre_post_hook
test_step_post_hook test_step_pre_hook test_step_all_hooks test_deepcopy_copies_all_public_attrs
test_second_order_optims_return_consistent_types test_fused_cpu_matches_cuda test_defaults_changed_to_foreach
test_non_empty_state
"""


def test_every_test_of_torchs_suite_is_here_or_says_why_it_is_not() -> None:
    here = Path(__file__)
    trees = [ast.parse(path.read_text()) for path in (here, here.with_name("test_conformance_state.py"))]
    written = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    names = set(NAMES.split())
    assert (written & names) | set(ELSEWHERE) == names
    # The wheel has no list of its tests, but names those that some optimizer of torch's own is let off.
    decorators = [decorator for record in optim_db for decorator in record.decorators]
    known = {d.test_name for d in decorators if isinstance(d, DecorateInfo) and d.cls_name == "TestOptimRenewed"}
    assert len(known) > 10
    assert known - {None} <= names
    assert not written & set(ELSEWHERE)


def tensors(device: str, dtype: torch.dtype, contiguous: bool = True) -> tuple[Parameter, Parameter, Tensor]:
    """A matrix, a bias and an input; as a slice of something larger where not contiguous."""

    def made(*shape: int) -> Tensor:
        if contiguous:
            return torch.randn(shape, device=device, dtype=dtype)
        return torch.randn(*shape, 2, device=device, dtype=dtype)[..., 0]

    weight, bias = Parameter(made(10, 5)), Parameter(made(10))
    assert weight.is_contiguous() == contiguous
    return weight, bias, made(5)


def loss_of(optimizer: Optimizer, weight: Tensor, bias: Tensor, given: Tensor) -> Tensor:
    """The closure of all these tests."""
    optimizer.zero_grad()
    loss = (weight.mv(given).to(bias.device) + bias).square().sum()
    loss.backward()
    return loss


def advance(schedulers: Iterable[Any], loss: Tensor) -> None:
    for scheduler in schedulers:
        scheduler.step(*[loss.detach()] if isinstance(scheduler, ReduceLROnPlateau) else [])


class TestOptimRenewed(TestCase):
    """One class for each kind of device that there is is made of this one below."""

    def goes_right(self, loss: Tensor, first: Tensor, kwargs: dict[str, object], desc: str) -> None:
        if kwargs.get("maximize"):
            self.assertGreater(loss.item(), first.item(), desc)
        else:
            self.assertLess(loss.item(), first.item(), desc)

    @optims([RECORD])
    def test_optim_infos_do_not_specify_global_cliquey_kwargs(
        self, device: str, dtype: torch.dtype, optim_info: Record
    ) -> None:
        flags = {"foreach", "fused", "differentiable"}
        for given in optim_info.optim_inputs_func(device=device):
            self.assertFalse(flags & set(given.kwargs), given.desc)

    @optims([RECORD])
    def test_errors(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for error in optim_info.optim_error_inputs_func(device=device, dtype=dtype):
            given = error.optimizer_error_input
            warning = issubclass(error.error_type, Warning)
            expected = self.assertWarnsRegex if warning else self.assertRaisesRegex
            if error.error_on == OptimizerErrorEnum.CONSTRUCTION_ERROR:
                with expected(error.error_type, error.error_regex, msg=given.desc):
                    optim_info.optim_cls(given.params, **given.kwargs)
            else:
                optimizer = optim_info.optim_cls(given.params, **given.kwargs)
                with expected(error.error_type, error.error_regex, msg=given.desc):
                    optimizer.step()

    @parametrize("contiguous", [True, False])
    @parametrize("with_lrsched", [True, False])
    @optims([RECORD], dtypes=[torch.float32])
    def test_forloop_goes_right_direction(
        self, device: str, dtype: torch.dtype, optim_info: Record, contiguous: bool, with_lrsched: bool
    ) -> None:
        for makers in optim_info.scheduler_inputs if with_lrsched else [[]]:
            for given in optim_info.optim_inputs_func(device=device):
                weight, bias, vector = tensors(device, dtype, contiguous)
                optimizer = optim_info.optim_cls([weight, bias], **given.kwargs)
                schedulers = [make(optimizer) for make in makers]
                closure = functools.partial(loss_of, optimizer, weight, bias, vector)
                first = closure()
                for _ in range(20):
                    advance(schedulers, optimizer.step(closure))
                self.goes_right(closure(), first, given.kwargs, given.desc)

    @onlyCUDA
    @unittest.skipIf(not TEST_MULTIGPU, "only one GPU detected")
    @optims([RECORD], dtypes=[torch.float32])
    def test_forloop_goes_right_direction_multigpu(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            weight, _, vector = tensors("cuda:0", dtype)
            bias = tensors("cuda:1", dtype)[1]
            optimizer = optim_info.optim_cls([weight, bias], **given.kwargs)
            closure = functools.partial(loss_of, optimizer, weight, bias, vector)
            first = closure()
            for _ in range(20):
                optimizer.step(closure)
            self.goes_right(closure(), first, given.kwargs, given.desc)

    @optims([RECORD], dtypes=[torch.float32])
    def test_param_group_with_lrscheduler_goes_right_direction(
        self, device: str, dtype: torch.dtype, optim_info: Record
    ) -> None:
        for makers in optim_info.scheduler_inputs:
            weight, bias, vector = tensors(device, dtype)
            optimizer = optim_info.optim_cls([{"params": [weight]}, {"params": [bias], "lr": 0.01}])
            schedulers = [make(optimizer) for make in makers]
            closure = functools.partial(loss_of, optimizer, weight, bias, vector)
            first = closure()
            for _ in range(20):
                advance(schedulers, optimizer.step(closure))
            self.assertLess(closure().item(), first.item())
            self.assertEqual(optimizer.param_groups[1]["lr"] / optimizer.param_groups[0]["lr"], 10.0)

    @parametrize("num_dim", [0, 1, 2])
    @optims([RECORD], dtypes=[torch.float32])
    def test_tensor_lr(self, device: str, dtype: torch.dtype, optim_info: Record, num_dim: int) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            weight, bias, vector = tensors(device, dtype)
            ends = []
            for lr in (1e-3, torch.tensor(1e-3, device=device).reshape([1] * num_dim)):
                pair = [Parameter(weight.detach().clone()), Parameter(bias.detach().clone())]
                optimizer = optim_info.optim_cls(pair, **given.kwargs | {"lr": lr})
                for _ in range(5):
                    optimizer.step(functools.partial(loss_of, optimizer, pair[0], pair[1], vector))
                ends.append(pair)
            self.assertNotEqual(ends[0], [weight, bias], msg=given.desc)
            self.assertEqual(ends[0], ends[1], msg=given.desc)

    @optims([RECORD], dtypes=[torch.float64])
    def test_foreach_matches_forloop(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            ends = [self.run_of_network(device, dtype, optim_info, given.kwargs, size) for size in (1, 1 << 18)]
            self.assertEqual(ends[0], ends[1], msg=given.desc)

    def run_of_network(
        self, device: str, dtype: torch.dtype, optim_info: Record, kwargs: dict[str, object], stacked: int
    ) -> list[dict[str, object]]:
        """Seven steps, one without gradients, a layer frozen in two; `stacked` elements of equal shapes in one product.

        Parameters and states at the end. The last parameter has no dimensions.
        """
        torch.manual_seed(1)
        # In float32 first: the weights that are drawn depend on the dtype.
        layers = [nn.Linear(5, 5, dtype=torch.float32) for _ in range(3)]
        network = nn.Sequential(layers[0], nn.Sigmoid(), layers[1], nn.Sigmoid(), layers[2]).to(device, dtype)
        scalar = torch.ones((), device=device, dtype=dtype, requires_grad=True)
        optimizer = optim_info.optim_cls([*network.parameters(), scalar], **kwargs)
        inputs = torch.linspace(-1, 1, 15, device=device, dtype=dtype).reshape(3, 5)
        with patch.object(stack, "STACKED_ELEMENTS", stacked):
            for step in range(7):
                optimizer.zero_grad()
                network[2].requires_grad_(step not in (3, 4))
                if step != 2:
                    (network(inputs).square().sum() * scalar).backward()
                optimizer.step()
        return [{"parameter": p.detach()} | optimizer.state[p] for p in [*network.parameters(), scalar]]

    @parametrize("impl", ["foreach"])
    @optims([RECORD])
    def test_mixed_device_dtype(self, device: str, dtype: torch.dtype, optim_info: Record, impl: str) -> None:
        devices = ["cuda:0", "cuda:1"] if TEST_MULTIGPU else [device]
        kinds = [(d, t) for t in (torch.float64, torch.float32, torch.float16, torch.bfloat16) for d in devices]
        for given in optim_info.optim_inputs_func(device=device):
            start, *gradients = torch.rand(5, 4, 6, dtype=torch.float64)

            def run(
                which: list[int], start: Tensor = start, gradients: list[Tensor] = gradients, kwargs: Any = given.kwargs
            ) -> list[Any]:
                parameters = [Parameter(start.to(d, t, copy=True)) for d, t in kinds]
                optimizer = optim_info.optim_cls(parameters, **kwargs)
                for gradient in gradients:
                    for i in which:
                        parameters[i].grad = gradient.to(parameters[i])
                    optimizer.step()
                return [{"parameter": parameters[i].detach()} | optimizer.state[parameters[i]] for i in which]

            together, alone = run(list(range(len(kinds)))), [run([i])[0] for i in range(len(kinds))]
            self.assertEqual(together, alone, rtol=0, atol=0, msg=given.desc)
            self.assertEqual(together[0]["step"], 4)

    @optims([RECORD], dtypes=[torch.float64])
    def test_set_default_dtype_works_with_foreach(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        before = torch.get_default_dtype()
        for given in optim_info.optim_inputs_func(device=device):
            expected = self.run_of_network(device, dtype, optim_info, given.kwargs, 1 << 18)
            for default in (torch.float64, torch.float16):
                try:
                    torch.set_default_dtype(default)
                    ends = self.run_of_network(device, dtype, optim_info, given.kwargs, 1 << 18)
                finally:
                    torch.set_default_dtype(before)
                self.assertEqual(ends, expected, msg=given.desc)

    @optims([RECORD], dtypes=[torch.float32])
    def test_param_groups_weight_decay(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            weight, bias, vector = tensors(device, dtype)
            groups = [{"params": [weight], **given.kwargs}, {"params": [bias], **given.kwargs | {"weight_decay": 0.0}}]
            optimizer = optim_info.optim_cls(groups)
            closure = functools.partial(loss_of, optimizer, weight, bias, vector)
            first = closure()
            for _ in range(20):
                optimizer.step(closure)
            self.goes_right(closure(), first, given.kwargs, given.desc)
            self.assertEqual(
                [g["weight_decay"] for g in optimizer.param_groups], [given.kwargs.get("weight_decay", 0.0), 0.0]
            )

    @optims([RECORD], dtypes=[torch.float32])
    def test_param_groups_lr(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            weight, bias, vector = tensors(device, dtype)
            still = Parameter(torch.randn(4, 3, device=device, dtype=dtype))
            before = still.detach().clone()
            groups = [{"params": [weight, bias], **{"lr": 1e-3} | given.kwargs}, {"params": [still]}]
            optimizer = optim_info.optim_cls(groups, lr=1e-28)
            closure = functools.partial(loss_of, optimizer, weight, bias, vector)
            first = closure()
            for _ in range(20):
                closure()
                still.grad = torch.rand_like(still)
                optimizer.step()
            self.goes_right(closure(), first, given.kwargs, given.desc)
            self.assertEqual(still, before, msg=given.desc)
            self.assertEqual(optimizer.state[still]["step"], 20)

    @optims([RECORD], dtypes=[torch.float32])
    def test_step_is_noop_when_params_have_no_grad(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            parameters = [torch.randn(2, 3, device=device, dtype=dtype) for _ in range(2)]
            before = [parameter.clone() for parameter in parameters]
            optimizer = optim_info.optim_cls(parameters, **given.kwargs)
            self.assertEqual(optimizer.step(lambda: torch.tensor([1.0])).item(), 1.0)
            self.assertEqual(parameters, before, rtol=0, atol=0, msg=given.desc)

    @optims([RECORD], dtypes=[torch.float32])
    def test_step_is_noop_for_zero_grads(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            if given.kwargs.get("weight_decay", 0):
                continue  # which decays a vector whatever its gradient
            parameters = [Parameter(torch.randn(shape, device=device, dtype=dtype)) for shape in ((5, 1), (5, 4), (5,))]
            before = [parameter.detach().clone() for parameter in parameters]
            optimizer = optim_info.optim_cls(parameters, **given.kwargs)
            for parameter in parameters:
                parameter.grad = torch.zeros_like(parameter)
            optimizer.step(lambda: torch.tensor([1.0]))
            self.assertEqual(parameters, before, rtol=0, atol=0, msg=given.desc)

    @optims([RECORD], dtypes=[torch.float32])
    def test_optimizer_can_be_printed(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            optimizer = optim_info.optim_cls([torch.zeros(2, 3, device=device, dtype=dtype)], **given.kwargs)
            for name in ("lr", "subspace", "preconditioner", "moments", "residual", "norm"):
                self.assertIn(f"{name}: {optimizer.param_groups[0][name]}", repr(optimizer))

    @optims([RECORD], dtypes=[torch.float32])
    def test_non_empty_state(self, device: str, dtype: torch.dtype, optim_info: Record) -> None:
        for given in optim_info.optim_inputs_func(device=device):
            network = nn.Linear(5, 5, device=device, dtype=dtype)
            optimizer = optim_info.optim_cls(network.parameters(), **given.kwargs)
            network(torch.rand(2, 5, device=device, dtype=dtype)).sum().backward()
            optimizer.step()
            self.assertEqual(len(optimizer.state), 2)
            for state in optimizer.state.values():
                self.assertEqual(state["step"], 1, given.desc)


instantiate_device_type_tests(TestOptimRenewed, globals(), only_for=("cpu", "cuda"))
