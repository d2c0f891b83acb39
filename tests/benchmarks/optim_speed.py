"""Step time and state of the modes beside foreach AdamW and Muon, refreshes included.

    python tests/benchmarks/optim_speed.py [--shapes 256x256,1024x1024] [--steps 20] [--threads 2] [--device cpu]

Times are amortised over `--refresh` steps: (refresh - 1) ordinary steps and one with a new basis, each measured apart, the least of several.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import nn

from model.optim import MODES, NaturalGradient, state_bytes

Make = Callable[[list[nn.Parameter]], torch.optim.Optimizer]


def rows(refresh: int) -> dict[str, Make]:
    def mode(name: str) -> Make:
        row = MODES[name]
        return lambda params: NaturalGradient.from_mode(
            params, replace(row, subspace=replace(row.subspace, refresh=refresh)), lr=1e-4
        )

    return {
        "adamw": lambda params: torch.optim.AdamW(params, lr=1e-4, foreach=True),
        "muon": lambda params: torch.optim.Muon(params, lr=1e-4),
        **{name: mode(name) for name in MODES},
    }


def milliseconds(step: Callable[[], object], device: torch.device, count: int) -> float:
    """Least wall-clock time of a call: what it takes when nothing else runs."""
    found = []
    for _ in range(count):
        start = time.perf_counter()
        step()
        if device.type == "cuda":
            torch.cuda.synchronize()
        found.append(1e3 * (time.perf_counter() - start))
    return min(found)


def measure(
    make: Make, shapes: list[tuple[int, int]], steps: int, refresh: int, device: torch.device
) -> tuple[float, float, int]:
    """Ordinary and refresh step in milliseconds, state in bytes."""
    generator = torch.Generator().manual_seed(0)
    parameters = [nn.Parameter(torch.randn(shape, generator=generator).to(device)) for shape in shapes]
    optimizer = make(parameters)
    for parameter in parameters:
        parameter.grad = torch.randn(parameter.shape, generator=generator).to(device)
    for _ in range(3):
        optimizer.step()
    ordinary = milliseconds(optimizer.step, device, steps)
    if not isinstance(optimizer, NaturalGradient):
        return ordinary, ordinary, state_bytes(optimizer)

    def refreshed() -> None:
        for state in optimizer.state.values():
            state["step"] += refresh - state["step"] % refresh
        optimizer.step()

    return ordinary, milliseconds(refreshed, device, 3), state_bytes(optimizer)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shapes", default="256x256,1024x1024", help="one table each; 8*64x64 is eight of a shape")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--refresh", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="", help="names of rows, separated by commas")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    device = torch.device(given.device)
    table = rows(given.refresh)
    for text in given.shapes.split(","):
        count, _, size = text.rpartition("*")
        m, n = (int(part) for part in size.split("x"))
        print(f"\n{text}")
        print(
            f"{'':12} {'step ms':>9} {'refresh ms':>11} {'amortised':>10} {'of adamw':>9} {'state':>8} {'of adamw':>9}"
        )
        base = None
        for name in given.only.split(",") if given.only else table:
            ordinary, refreshed, size_bytes = measure(
                table[name], [(m, n)] * int(count or 1), given.steps, given.refresh, device
            )
            whole = ordinary + (refreshed - ordinary) / given.refresh
            base = base or (whole, size_bytes)
            print(
                f"{name:12} {ordinary:9.2f} {refreshed:11.2f} {whole:10.2f} {whole / base[0]:9.2f} "
                f"{size_bytes / 2**20:6.2f} M {size_bytes / base[1]:9.3f}"
            )


if __name__ == "__main__":
    main()
