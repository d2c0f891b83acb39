"""NaturalGradient in two processes on gloo, by DDP and FSDP2, and in one; saves where they end.

`ranks_script.py MODES FOLDER`; MODES are names with commas.
"""

import os
import socket
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel import DistributedDataParallel

from model.optim import NaturalGradient, parameter_groups

STEPS, BATCH, RANKS = 5, 8, 2


def network() -> nn.Sequential:
    """A few layers; 9 and 7 rows are not cut equally by two processes."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(12, 9), nn.LayerNorm(9), nn.GELU(), nn.Linear(9, 20), nn.Linear(20, 7))


def optimizer_of(of: nn.Module, mode: str) -> NaturalGradient:
    return NaturalGradient.from_mode(parameter_groups(of, weight_decay=0.1), mode, lr=0.05, seed=3)


def loss_of(of: nn.Module, step: int, part: slice) -> Tensor:
    generator = torch.Generator().manual_seed(step)
    given, wanted = torch.randn(BATCH, 12, generator=generator), torch.randn(BATCH, 7, generator=generator)
    if step == 3:
        given[0] = torch.nan  # a step that all processes skip
    return (of(given[part]) - wanted[part]).square().mean()


def learned(of: nn.Module, mode: str, part: slice) -> NaturalGradient:
    optimizer = optimizer_of(of, mode)
    for step in range(STEPS):
        optimizer.zero_grad()
        loss_of(of, step, part).backward()
        optimizer.step()
    return optimizer


def values(of: nn.Module) -> dict[str, Tensor]:
    """All of each parameter."""
    state: dict[str, Any] = of.state_dict()
    return {
        name.removeprefix("module."): value.full_tensor() if hasattr(value, "full_tensor") else value
        for name, value in state.items()
    }


def one_of(rank: int, modes: list[str], folder: Path, port: int) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    mesh = init_device_mesh("cpu", (RANKS,))
    each = BATCH // RANKS
    for mode in modes:
        for how in ("ddp", "fsdp"):
            layers = network()
            of: nn.Module = layers
            if how == "ddp":
                of = DistributedDataParallel(layers)
            else:
                for layer in layers:
                    if isinstance(layer, nn.Linear):
                        fully_shard(layer, mesh=mesh)
                fully_shard(layers, mesh=mesh)
            optimizer = learned(of, mode, slice(rank * each, (rank + 1) * each))
            torch.save({"weights": values(of), "counts": optimizer.counts()}, folder / f"{mode}-{how}-{rank}.pt")
    dist.destroy_process_group()


def main() -> None:
    modes, folder = sys.argv[1].split(","), Path(sys.argv[2])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawn(one_of, (modes, folder, port), nprocs=RANKS)
    for mode in modes:
        alone = network()
        optimizer = learned(alone, mode, slice(None))
        torch.save({"weights": values(alone), "counts": optimizer.counts()}, folder / f"{mode}-alone.pt")


if __name__ == "__main__":
    main()
