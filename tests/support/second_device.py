"""A device that this machine does not have, simulated: tensors that claim to lie on it and refuse to meet CPU tensors.

As on a real GPU, an operation on tensors of both devices is an error, except copies, indexing by CPU indices and CPU
numbers (tensors without dimensions), and so is `numpy()`. The arithmetic is that of the CPU, so results must be equal.
It calls itself "meta", the one device that every build of torch accepts without its library. What it cannot show:
kernels of a real GPU, their precision, and asynchronous copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

M = TypeVar("M", bound=nn.Module)

DEVICE = torch.device("meta")
_MAY_MEET = {torch.ops.aten.copy_.default, torch.ops.aten._to_copy.default}
_BY_INDEX = {torch.ops.aten.index.Tensor, torch.ops.aten.index_put_.default, torch.ops.aten.index_put.default}


class There(Tensor):
    """Tensor on the simulated device; `inside` holds its values."""

    inside: Tensor

    @staticmethod
    def __new__(cls, inside: Tensor) -> There:
        with torch.inference_mode(False):  # torch cannot make views of such tensors in inference mode
            made = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
                cls,
                inside.size(),
                strides=inside.stride(),
                storage_offset=inside.storage_offset(),
                dtype=inside.dtype,
                device=DEVICE,
                requires_grad=inside.requires_grad,
            )
        made.inside = inside
        return made

    def __repr__(self) -> str:  # type: ignore[override]
        return f"There({self.inside!r})"

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(func, args, kwargs or {})


class _Factories(TorchDispatchMode):
    """Makes tensors there for factories with `device=DEVICE`."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


@contextmanager
def second_device() -> Iterator[None]:
    """Let torch make tensors on the simulated device."""
    real = torch.tensor

    def tensor(values: Any, *, device: Any = None, **how: Any) -> Tensor:
        """Make a tensor from values: torch would drop them for its own device "meta"."""
        there = device is not None and torch.device(device) == DEVICE
        return There(real(values, **how)) if there else real(values, device=device, **how)

    torch.tensor = tensor  # type: ignore[assignment]
    try:
        with _Factories():
            yield
    finally:
        torch.tensor = real


def moved(module: M) -> M:
    """Move a module's parameters and buffers to the simulated device, in place."""
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None:
                part._parameters[name] = nn.Parameter(There(parameter.data), requires_grad=parameter.requires_grad)
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = There(buffer)
    return module


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    tensors = [one for one in tree_flatten((args, kwargs))[0] if isinstance(one, Tensor)]
    there = [one for one in tensors if isinstance(one, There)]
    here = [one for one in tensors if not isinstance(one, There) and one.dim() > 0]
    target = kwargs.get("device")
    indexed = func in _BY_INDEX and isinstance(args[0], There)
    if there and here and func not in _MAY_MEET and not indexed:
        raise RuntimeError(f"{func}: expected all tensors to be on the same device, found {DEVICE} and cpu.")
    if target is not None and torch.device(target).type == DEVICE.type:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    args, kwargs = tree_map(lambda one: one.inside if isinstance(one, There) else one, (args, kwargs))
    found = func(*args, **kwargs)
    if func is torch.ops.aten.copy_.default or (func._schema.name.endswith("_") and tensors):
        return tensors[0]
    stays = bool(there) if target is None else torch.device(target).type == DEVICE.type
    return tree_map(lambda one: There(one) if isinstance(one, Tensor) else one, found) if stays else found
