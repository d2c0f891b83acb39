"""Twenty float64 steps of DDP on gloo for every mode at the given world sizes; rank 0 saves the weights.

`ddp_script.py FOLDER WORLD ...`
"""

import os
import sys
from pathlib import Path

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from model.optim import MODES, NaturalGradient
from tests.support.optimizer_problems import short

BATCH = 8  # over all ranks


def work(rank: int, world: int, folder: Path) -> None:
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=f"file://{folder}/meet_{world}", rank=rank, world_size=world)
    ends = {}
    for mode in MODES:
        # Every rank starts from its own seed: DDP distributes the weights of the first rank, and the optimizer must not
        # read the generator.
        torch.manual_seed(rank)
        network = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3)).double()
        wrapped = DistributedDataParallel(network)
        optimizer = NaturalGradient.from_mode(wrapped.parameters(), mode, lr=0.01, **short(mode, 6, 4, 3))
        for step in range(20):
            generator = torch.Generator().manual_seed(step)
            inputs, wanted = (torch.randn(BATCH, n, dtype=torch.float64, generator=generator) for n in (12, 3))
            share = slice(rank * BATCH // world, (rank + 1) * BATCH // world)
            optimizer.zero_grad()
            (wrapped(inputs[share]) - wanted[share]).square().mean().backward()
            optimizer.step()
        ends[mode] = {name: value.clone() for name, value in network.state_dict().items()}
    # Rank by rank the weights must be the same to the bit, or the ranks would drift apart.
    gathered: list[object] = [None] * world
    distributed.all_gather_object(gathered, ends)
    if rank == 0:
        torch.save(gathered, folder / f"{world}.pt")
    distributed.destroy_process_group()


def run(world: int, folder: Path) -> int:
    """Fork one process a rank and wait; the largest exit code."""
    children = []
    for rank in range(world):  # forked before any thread pool exists: one import of torch instead of one a rank
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(rank, world, folder)
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


if __name__ == "__main__":
    where, worlds = Path(sys.argv[1]), [int(world) for world in sys.argv[2:]]
    sys.exit(max(run(world, where) for world in worlds))
