"""Twenty float64 steps of DDP on gloo at the given world sizes; rank 0 saves the weights. `ddp_script.py FOLDER WORLD ...`."""

import os
import sys
from pathlib import Path

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from model.optim import History, NaturalGradient, Seeded


def work(rank: int, world: int, mode: str, folder: Path) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meet_{mode}_{world}", rank=rank, world_size=world
    )
    torch.manual_seed(0)
    network = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3)).double()
    wrapped = DistributedDataParallel(network)
    # A bfloat16 history rounds, and what differs in the last digit of float64 may round apart.
    exact = {"preconditioner": History(window=4, dtype="float32")} if mode == "history" else {}
    optimizer = NaturalGradient.from_mode(wrapped.parameters(), mode, lr=0.01, subspace=Seeded(refresh=6), **exact)
    for step in range(20):
        generator = torch.Generator().manual_seed(step)
        inputs, wanted = (torch.randn(8, n, dtype=torch.float64, generator=generator) for n in (12, 3))
        share = slice(rank * 8 // world, (rank + 1) * 8 // world)
        optimizer.zero_grad()
        (wrapped(inputs[share]) - wanted[share]).square().mean().backward()
        optimizer.step()
    if rank == 0:
        torch.save(network.state_dict(), folder / f"{mode}_{world}.pt")
    distributed.destroy_process_group()


def run(world: int, mode: str, folder: Path) -> int:
    """Fork one process a rank and wait; the largest exit code."""
    children = []
    for rank in range(world):  # forked before any thread pool exists: one import of torch instead of one a rank
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(rank, world, mode, folder)
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


if __name__ == "__main__":
    where, worlds = Path(sys.argv[1]), [int(world) for world in sys.argv[2:]]
    sys.exit(max(run(world, mode, where) for mode in ("default", "history") for world in worlds))
