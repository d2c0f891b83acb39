"""What torch's OptimizerInfo machinery asks of an optimizer, written down for NaturalGradient over all its modes.

Its import is torch.testing._internal.common_utils, which freezes the flags of torch.backends for the whole run of the
tests and needs expecttest.
"""

from dataclasses import fields
from typing import Any, TypeAlias, cast

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LinearLR, ReduceLROnPlateau, StepLR
from torch.testing._internal.common_optimizers import (
    ErrorOptimizerInput,
    OptimizerErrorEnum,
    OptimizerInfo,
    OptimizerInput,
    get_error_inputs_for_all_optims,
)

from model.optim import MODES, Adam, NaturalGradient, Orthogonal, Tucker
from tests.support.cases_of_a_run import modes_of_this_run

Record: TypeAlias = (
    Any  # an OptimizerInfo; torch types its class of optimizers as an optimizer, and None as no parameters
)


def columns(mode: str) -> dict[str, Any]:
    """A row of the table of modes as keywords of the constructor."""
    return {field.name: getattr(MODES[mode], field.name) for field in fields(MODES[mode])}


def usual_settings() -> list[tuple[str, dict[str, Any]]]:
    """Fresh at every call: a scheduler writes into a tensor learning rate."""
    return [
        ("as it comes", {}),
        ("another rate", {"lr": 0.01}),
        ("a tensor as rate", {"lr": torch.tensor(0.001)}),
        ("weight decay", {"weight_decay": 0.2}),
        ("other betas", {"betas": (0.8, 0.9)}),
        ("upwards", {"maximize": True}),
        ("upwards with weight decay", {"maximize": True, "weight_decay": 0.1}),
    ]


def optimizer_inputs(device: str, dtype: torch.dtype | None = None) -> list[OptimizerInput]:
    """Every mode of this run with every one of the usual settings."""
    return [
        OptimizerInput(params=cast(Any, None), kwargs=columns(mode) | settings, desc=f"{mode}, {name}")
        for mode in modes_of_this_run()
        for name, settings in usual_settings()
    ]


def error_inputs(device: str, dtype: torch.dtype) -> list[ErrorOptimizerInput]:
    """What is refused: by every optimizer of torch, and by this one."""
    matrix = torch.rand(2, 3, device=device, dtype=dtype)
    sparse = nn.Parameter(torch.rand(2, 3, device=device, dtype=dtype))
    sparse.grad = torch.ones(2, 3, device=device, dtype=dtype).to_sparse()

    def refused(
        params: Any, settings: dict[str, Any], regex: str, error: type[Exception] = ValueError, **more: Any
    ) -> Any:
        given = OptimizerInput(params=params, kwargs=settings, desc=regex)
        return ErrorOptimizerInput(given, error_type=error, error_regex=regex, **more)

    return [
        *get_error_inputs_for_all_optims(device, dtype),
        refused(None, {"lr": -0.01}, "Invalid learning rate: -0.01"),
        refused(None, {"eps": -1e-8}, "Invalid epsilon value: -1e-08"),
        refused(None, {"weight_decay": -1}, "Invalid weight_decay value: -1"),
        refused(None, {"betas": (1.0, 0.0)}, r"Invalid betas: \(1.0, 0.0\)"),
        refused(None, {"betas": (0.9, 1.0)}, r"Invalid betas: \(0.9, 1.0\)"),
        refused(None, {"preconditioner": Orthogonal(), "moments": Adam()}, "takes no second moment"),
        refused(None, {"residual": Tucker()}, "residual must be one of Residual or None, not Tucker", TypeError),
        refused([matrix], {"subspace": Tucker(modes=(2,)), "preconditioner": None}, "do not fit a parameter of shape"),
        refused([torch.rand(2, 3, device=device, dtype=torch.complex64)], {}, "takes real parameters only"),
        refused(
            [sparse], {}, "does not support sparse gradients", RuntimeError, error_on=OptimizerErrorEnum.STEP_ERROR
        ),
    ]


def _step(optimizer: Optimizer) -> StepLR:
    return StepLR(optimizer, gamma=0.9, step_size=10)


RECORD = OptimizerInfo(
    cast(Any, NaturalGradient),
    optim_inputs_func=optimizer_inputs,
    optim_error_inputs_func=error_inputs,
    scheduler_inputs=(
        [_step],
        [lambda optimizer: LinearLR(optimizer, start_factor=0.4, total_iters=4)],
        [_step, ReduceLROnPlateau],
    ),
    # foreach is how it works, not an argument of the constructor; there is no differentiable and no fused one.
    supported_impls=(),
    # A state dict of an earlier version may lack any setting that came later.
    not_og_supported_flags=tuple({field.name for field in fields(MODES["whole"])} | {"maximize", "seed", "eps"}),
    supports_complex=False,
    supports_sparse=False,
)
