"""NaturalGradient in two processes on gloo, by DDP and FSDP2, and in one; saves where they end.

With FSDP2 a second run is stopped, kept by torch.distributed.checkpoint, and goes on from there: in two processes, and
in one.

`ranks_script.py MODES FOLDER`; MODES are names with semicolons.
"""

import os
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.checkpoint.state_dict_loader import load as load_checkpoint
from torch.distributed.checkpoint.state_dict_saver import save as save_checkpoint
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.multiprocessing.spawn import spawn
from torch.nn.parallel import DistributedDataParallel

from model.optim import MODES, Momentum, NaturalGradient, parameter_groups

STEPS, STOPPED, BATCH, RANKS = 5, 3, 8, 2


def network() -> nn.Sequential:
    """A few layers; 9 and 7 rows are not cut equally by two processes."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(12, 9), nn.LayerNorm(9), nn.GELU(), nn.Linear(9, 20), nn.Linear(20, 7))


def optimizer_of(of: nn.Module, mode: str) -> NaturalGradient:
    """Of a mode; with ", float32" after its name the momentum is kept so, and not in eight bits."""
    row = MODES[mode.removesuffix(", float32")]
    if mode.endswith(", float32") and isinstance(row.moments, Momentum):
        row = replace(row, moments=replace(row.moments, dtype="float32"))
    return NaturalGradient.from_mode(parameter_groups(of, weight_decay=0.1), row, lr=0.05, seed=3)


def loss_of(of: nn.Module, step: int, part: slice) -> Tensor:
    generator = torch.Generator().manual_seed(step)
    given, wanted = torch.randn(BATCH, 12, generator=generator), torch.randn(BATCH, 7, generator=generator)
    if step == 3:
        given[0] = torch.nan  # a step that all processes skip
    return (of(given[part]) - wanted[part]).square().mean()


def learned(
    of: nn.Module, mode: str, part: slice, steps: range = range(STEPS), by: NaturalGradient | None = None
) -> NaturalGradient:
    optimizer = by or optimizer_of(of, mode)
    for step in steps:
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


def save(of: nn.Module, optimizer: NaturalGradient, file: Path) -> None:
    torch.save({"weights": values(of), "counts": optimizer.counts()}, file)


def cut(mesh: DeviceMesh) -> nn.Sequential:
    """The network in pieces."""
    layers = network()
    for layer in layers:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(layers, mesh=mesh)
    return layers


def kept(of: nn.Module, optimizer: NaturalGradient) -> dict[str, Any]:
    weights, states = get_state_dict(of, optimizer)
    return {"weights": weights, "states": states}


def gone_on(of: nn.Module, mode: str, part: slice, folder: Path) -> NaturalGradient:
    """Load what torch.distributed.checkpoint kept after STOPPED steps, and take the rest."""
    optimizer = optimizer_of(of, mode)
    state = kept(of, optimizer)
    load_checkpoint(state, checkpoint_id=folder)
    set_state_dict(of, optimizer, model_state_dict=state["weights"], optim_state_dict=state["states"])
    return learned(of, mode, part, range(STOPPED, STEPS), optimizer)


def rounded(mesh: DeviceMesh) -> Tensor:
    """A bfloat16 vector of ones, cut into pieces, after a step that moves each by a fraction of its precision."""
    of = nn.LayerNorm(256, dtype=torch.bfloat16)
    fully_shard(of, mesh=mesh)
    of.weight.grad = torch.ones_like(of.weight)
    NaturalGradient(parameter_groups(of), lr=2e-3, seed=3).step()
    return values(of)["weight"]


def one_of(rank: int, modes: list[str], folder: Path, port: int) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=RANKS)
    mesh = init_device_mesh("cpu", (RANKS,))
    each = BATCH // RANKS
    part = slice(rank * each, (rank + 1) * each)
    for mode in modes:
        for how in ("ddp", "fsdp"):
            of: nn.Module = DistributedDataParallel(network()) if how == "ddp" else cut(mesh)
            optimizer = learned(of, mode, part)
            save(of, optimizer, folder / f"{mode}-{how}-{rank}.pt")
        of = cut(mesh)
        optimizer = learned(of, mode, part, range(STOPPED))
        save_checkpoint(kept(of, optimizer), checkpoint_id=folder / mode)
        of = cut(mesh)
        save(of, gone_on(of, mode, part, folder / mode), folder / f"{mode}-resumed-{rank}.pt")
    torch.save(rounded(mesh), folder / f"rounded-{rank}.pt")
    dist.barrier()
    os._exit(0)  # all is saved, and threads of gloo that outlive the interpreter abort the process now and then


def main() -> None:
    modes, folder = sys.argv[1].split(";"), Path(sys.argv[2])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spawn(one_of, (modes, folder, port), nprocs=RANKS)
    for mode in modes:
        alone = network()
        optimizer = learned(alone, mode, slice(None))
        save(alone, optimizer, folder / f"{mode}-alone.pt")
        alone = network()
        save(alone, gone_on(alone, mode, slice(None), folder / mode), folder / f"{mode}-resumed-alone.pt")


if __name__ == "__main__":
    main()
