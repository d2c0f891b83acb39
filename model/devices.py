"""Place computation: batches on devices, and the number of threads of this process."""

from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

import torch
from torch import Tensor

T = TypeVar("T")


def to_device(batch: T, device: torch.device) -> T:
    """Move the tensors of a record to a device.

    Args:
        batch: a tensor, or a dataclass of tensors and such dataclasses. Other fields stay as they are.
        device: target device; the copy does not block.

    Returns:
        A record of the same type.
    """
    if isinstance(batch, Tensor):
        return cast(T, batch.to(device, non_blocking=True))
    if is_dataclass(batch) and not isinstance(batch, type):
        return cast(
            T, replace(batch, **{field.name: to_device(getattr(batch, field.name), device) for field in fields(batch)})
        )
    return batch


def use_threads(count: int) -> None:
    """Use `count` threads for torch's arithmetic; 0 keeps torch's choice, one thread a core."""
    if count:
        torch.set_num_threads(count)
