"""Batches on devices."""

from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

import torch
from torch import Tensor

T = TypeVar("T")


def to_device(batch: T, device: torch.device) -> T:
    """A record of tensors (and of such records) on ``device``; everything else in it stays what it is."""
    if isinstance(batch, Tensor):
        return cast(T, batch.to(device, non_blocking=True))
    if is_dataclass(batch) and not isinstance(batch, type):
        return cast(
            T, replace(batch, **{field.name: to_device(getattr(batch, field.name), device) for field in fields(batch)})
        )
    return batch


def use_threads(count: int) -> None:
    """Use `count` threads from now on; 0 leaves torch's choice, one a core."""
    if count:
        torch.set_num_threads(count)
