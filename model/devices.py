"""Place computation: batches on devices, and the number of threads of this process."""

from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

import torch
from torch import Tensor

from model.device_missing import DeviceMissing

T = TypeVar("T")

CPU = torch.device("cpu")


def device_named(name: str) -> torch.device:
    """Return a device of this machine.

    Args:
        name: "cpu", "cuda", "cuda:1", "mps"; "auto" is cuda where a GPU is there, else cpu.

    Raises:
        DeviceMissing: torch knows no such device, or it is not there.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise DeviceMissing(f"There is no device {name!r}; choose cpu, cuda, cuda:N, mps or auto.") from None
    if device.type == "cpu":
        is_available = True
    elif device.type == "cuda":
        is_available = torch.cuda.is_available() and (device.index or 0) < torch.cuda.device_count()
    elif device.type == "mps":
        is_available = torch.backends.mps.is_available()
    else:
        raise DeviceMissing(f"The network does not run on {name!r}; choose cpu, cuda, cuda:N, mps or auto.")
    if not is_available:
        raise DeviceMissing(f"The device {name!r} is not available on this machine; choose cpu or auto.")
    return device


def to_device(batch: T, device: torch.device) -> T:
    """Move the tensors of a record to a device.

    Args:
        batch: a tensor, or a dataclass of tensors and such dataclasses. Other fields stay as they are.
        device: target device; the copy does not block, except to the CPU, where it would be read before it is whole.

    Returns:
        A record of the same type.
    """
    if isinstance(batch, Tensor):
        return cast(T, batch.to(device, non_blocking=device.type != "cpu"))
    if is_dataclass(batch) and not isinstance(batch, type):
        return cast(
            T, replace(batch, **{field.name: to_device(getattr(batch, field.name), device) for field in fields(batch)})
        )
    return batch


def use_threads(count: int) -> None:
    """Use `count` threads for torch's arithmetic; 0 keeps torch's choice, one thread a core."""
    if count:
        torch.set_num_threads(count)
