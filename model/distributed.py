"""Join several processes into one run, as torchrun starts them; without torchrun, all of it is inert.

The processes are ranks: each computes on other samples, and all take the same optimizer step. Gradients are averaged by
an all-reduce of flat buckets after backward, which is the arithmetic of DistributedDataParallel (Li et al. 2020,
https://arxiv.org/abs/2006.15704, section 3.2) without its wrapper: objectives call parts of the network directly, and
each step may leave other parameters without a gradient.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn

from model.devices import device_named

T = TypeVar("T")

_BUCKET = 25 * 2**20  # bytes of one all-reduce; as in DistributedDataParallel
_PATIENCE = timedelta(hours=2)  # the first rank may evaluate that long while the others wait


class RankLost(RuntimeError):
    """Another process of the run ended or no longer answers."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """This process's place among those of a run.

    Every method must be called by all ranks, in the same order. With one process each returns its argument at once.

    Attributes:
        rank: number of this process, from 0.
        count: number of processes.
    """

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this process reports, decides and writes files for all."""
        return self.rank == 0

    def on_first(self, compute: Callable[[], T]) -> T:
        """Compute on the first rank alone and return its result on every rank.

        Raises:
            RankLost: another process ended.
            Exception: what `compute` raised, on every rank.
        """
        if self.count == 1:
            return compute()
        answer: list[Any] = [None, None]
        if self.first:
            try:
                answer[0] = compute()
            except Exception as error:
                answer[1] = error
        with _explain_errors():
            distributed.broadcast_object_list(answer, src=0)
        if answer[1] is not None:
            raise answer[1]
        result: T = answer[0]
        return result

    def in_turn(self, compute: Callable[[], T]) -> T:
        """Compute on the first rank and then on the others, which find the files that it made.

        Raises:
            RankLost: another process ended.
            Exception: what `compute` raised on the first rank, on every rank.
        """
        made: list[T] = []

        def first() -> None:
            """Keep the first rank's own result, which need not travel."""
            made.append(compute())

        self.on_first(first)
        return made[0] if made else compute()

    def gather(self, value: T) -> list[T]:
        """Return the values of all ranks in their order. Raises RankLost."""
        if self.count == 1:
            return [value]
        values: list[Any] = [None] * self.count
        with _explain_errors():
            distributed.all_gather_object(values, value)
        return values

    def share_weights(self, module: nn.Module) -> None:
        """Overwrite the parameters and buffers of a module by those of the first rank. Raises RankLost."""
        if self.count == 1:
            return
        with _explain_errors(), torch.no_grad():
            for tensor in [*module.parameters(), *module.buffers()]:
                whole = tensor.detach().contiguous()
                distributed.broadcast(whole, src=0)
                if whole.data_ptr() != tensor.data_ptr():
                    tensor.copy_(whole)

    def average_statistics(self, module: nn.Module) -> None:
        """Replace the running statistics of batch norms by their mean over the ranks, which read other samples.

        Raises:
            RankLost: another process ended.
        """
        if self.count == 1:
            return
        norms = [submodule for submodule in module.modules() if isinstance(submodule, nn.modules.batchnorm._NormBase)]
        with _explain_errors(), torch.no_grad():
            for buffer in (buffer for norm in norms for buffer in (norm.running_mean, norm.running_var)):
                if buffer is not None:
                    distributed.all_reduce(buffer)
                    buffer /= self.count

    def sum_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Sum the gradients of all ranks.

        A parameter without a gradient on some ranks counts as zero there; one without on every rank stays without, so
        that the optimizer leaves it alone as it would in one process.

        Args:
            parameters: the same on every rank, in the same order.

        Raises:
            RankLost: another process ended.
        """
        if self.count == 1 or not parameters:
            return
        with _explain_errors(), torch.no_grad():
            touched = torch.tensor([parameter.grad is not None for parameter in parameters], dtype=torch.uint8)
            touched = touched.to(parameters[0].device)
            distributed.all_reduce(touched, distributed.ReduceOp.MAX)
            summed = [
                parameter for parameter, has_gradient in zip(parameters, touched.tolist(), strict=True) if has_gradient
            ]
            for parameter in summed:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
            for bucket in _buckets([parameter.grad for parameter in summed if parameter.grad is not None]):
                flat = torch.cat([gradient.flatten() for gradient in bucket])
                distributed.all_reduce(flat)
                for gradient, part in zip(bucket, flat.split([parameter.numel() for parameter in bucket]), strict=True):
                    gradient.copy_(part.view_as(gradient))


ALONE = Ranks()


@contextmanager
def join_ranks(device: str = "cpu") -> Iterator[Ranks]:
    """Join the processes that torchrun started, by its variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT.

    Args:
        device: as in `model.devices.device_named`; a CPU exchanges gradients by gloo, a GPU by NCCL.

    Yields:
        The place of this process; `ALONE` without torchrun.

    Raises:
        DeviceMissing: there are other processes, and no such device.
        RankLost: the other processes cannot be met.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        yield ALONE
        return
    device = str(device_named(device))
    cuda = device.startswith("cuda")
    if cuda:
        torch.cuda.set_device(device_of_rank(device))
    with _explain_errors():
        distributed.init_process_group("cpu:gloo,cuda:nccl" if cuda else "gloo", timeout=_PATIENCE)
    try:
        yield Ranks(distributed.get_rank(), distributed.get_world_size())
    except BaseException:
        if not cuda and distributed.is_initialized():  # the others notice; NCCL would wait for them
            distributed.destroy_process_group()
        raise
    if distributed.is_initialized():
        distributed.destroy_process_group()


def leave() -> None:
    """Leave the other processes after a failure of this one, which they notice; afterwards `ranks_here` is `ALONE`.

    Raises:
        SystemExit: NCCL would wait for the others, so this process ends instead.
    """
    if not distributed.is_available() or not distributed.is_initialized():
        return
    if torch.cuda.is_available() and "nccl" in str(distributed.get_backend_config()):
        raise SystemExit("This process failed, and with it the run; the same command goes on from the last checkpoint.")
    distributed.destroy_process_group()


def ranks_here() -> Ranks:
    """Return this process's place among those that it joined; `ALONE` outside `join_ranks`."""
    if not distributed.is_available() or not distributed.is_initialized():
        return ALONE
    return Ranks(distributed.get_rank(), distributed.get_world_size())


def device_of_rank(device: str) -> str:
    """Return the device of this process: "cuda" becomes the GPU with the number of the rank on its machine."""
    return f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if device == "cuda" else device


@contextmanager
def _explain_errors() -> Iterator[None]:
    """Turn an error of communication into a sentence."""
    try:
        yield
    except RuntimeError as error:  # torch.distributed's errors are RuntimeErrors
        raise RankLost(
            "Another process of this run ended or no longer answers, so this one ends too; its own message says why. "
            "The same command goes on from the last checkpoint (pretrain: with --resume)."
        ) from error


def _buckets(gradients: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """Yield the gradients in lists of one type and device and at most about `_BUCKET` bytes."""
    bucket: list[Tensor] = []
    held = 0
    for gradient in gradients:
        size = gradient.numel() * gradient.element_size()
        alike = bucket and (bucket[0].dtype, bucket[0].device) == (gradient.dtype, gradient.device)
        if bucket and (not alike or held + size > _BUCKET):
            yield bucket
            bucket, held = [], 0
        bucket.append(gradient)
        held += size
    if bucket:
        yield bucket
