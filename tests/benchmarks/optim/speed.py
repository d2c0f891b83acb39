"""Step time of the modes as a multiple of foreach AdamW's, beside Muon's, refreshes included.

    python -m tests.benchmarks.optim.speed [--cases 256x256,1024x1024,nano] [--rounds 5] [--threads 2] [--device cpu]
    [--plots FOLDER]

AdamW and the optimizer in question take turns, step by step, so that both meet the same noise; of every step the median
over the rounds counts. Before every step something else passes through the cache, as a forward and a backward pass
would (the table "cold"); the second table ("warm") repeats steps with nothing in between, which suits AdamW at sizes
whose state fits into the cache and no training does. A refresh of the basis is measured apart and spread over the steps
between two of them. The rows "whole, compiled" and "blocks, compiled" run when they are named (`--only`): torch.compile
takes about half a minute for each case.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from model.optim import MODES, NaturalGradient, RangeFinder, Seeded, Svd
from model.optim.choices import Partition
from model.optim.subspace import range_finder_basis, seeded_basis, svd_basis
from tests.benchmarks.markdown import table
from tests.benchmarks.optim.rows import Row, orthogonalise_in
from tests.benchmarks.optim.rows import rows as compared
from tests.benchmarks.optim.trial import Settings

Make = Callable[[list[nn.Parameter]], torch.optim.Optimizer]
Shape = tuple[int, ...]

STEPS = 10  # a round: a whole number of the intervals at which Fisher factors are decomposed
ROUND_SECONDS = 4.0  # long lists take fewer steps a round
SWEPT_BYTES = 96 << 20  # more than the caches hold


def rows() -> dict[str, Make]:
    """Name -> how the optimizer is made."""

    def made(row: Row) -> Make:
        return lambda params: row.make(params, Settings(1e-4, 0.9, 0.0))

    def mode(name: str) -> Make:
        return lambda params: NaturalGradient.from_mode(params, name, lr=1e-4)

    def compiled(name: str) -> Make:
        def make(params: list[nn.Parameter]) -> torch.optim.Optimizer:
            optimizer = NaturalGradient.from_mode(params, name, lr=torch.tensor(1e-4), guarded=False, capturable=True)
            vars(optimizer)["step"] = torch.compile(optimizer.step, fullgraph=True)
            return optimizer

        return make

    others = {name: made(row) for name, row in compared().items() if name != "adamw"}
    own = {name: mode(name) for name in MODES}
    return others | own | {f"{name}, compiled": compiled(name) for name in ("whole", "blocks")}


def matrices(case: str) -> list[Shape]:
    """Shapes of a case: "1024x1024", "8*64x64", or the weight matrices of the network "nano" or "base"."""
    if case in ("nano", "base"):
        from tests.benchmarks.optim.lists import matrix_shapes

        # Muon takes matrices alone: convolutions are read as [output channels, the rest] for all.
        return [(shape[0], math.prod(shape[1:])) for shape in matrix_shapes(case)]
    count, _, size = case.rpartition("*")
    return [tuple(int(side) for side in size.split("x"))] * int(count or 1)


def parameters(shapes: list[Shape], device: torch.device) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(0)
    made = [nn.Parameter(torch.randn(shape, generator=generator).to(device)) for shape in shapes]
    for parameter in made:
        parameter.grad = torch.randn(parameter.shape, generator=generator).to(device)
    return made


def sweep(device: torch.device) -> Callable[[], object]:
    """Something that passes through the whole cache."""
    buffer = torch.zeros(SWEPT_BYTES // 4, device=device)
    return lambda: buffer.add_(1.0)


def seconds(step: Callable[[], object], device: torch.device) -> float:
    """Wall-clock time of a call."""
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def refresh_seconds(optimizer: torch.optim.Optimizer, ordinary: float, device: torch.device) -> float:
    """What a step of this optimizer costs more because of its refreshes, spread over the steps between two of them."""
    subspace = optimizer.defaults.get("subspace")
    if not isinstance(optimizer, NaturalGradient) or subspace is None or isinstance(subspace, Partition):
        return 0.0
    found = []
    for _ in range(2):
        for state in optimizer.state.values():
            state["step"] += subspace.refresh - state["step"] % subspace.refresh
        found.append(seconds(optimizer.step, device))
    return max(0.0, min(found) - ordinary) / subspace.refresh


def compare(
    make: Make, shapes: list[Shape], rounds: int, device: torch.device, between: Callable[[], object] | None
) -> tuple[float, float]:
    """Milliseconds of a step of foreach AdamW, and the optimizer's multiple of that."""
    adamw = torch.optim.AdamW(parameters(shapes, device), lr=1e-4, foreach=True)
    other = make(parameters(shapes, device))
    for _ in range(3):  # a compiled step is compiled at the first two: state is made at the first
        adamw.step()
        once = seconds(other.step, device)
    count = STEPS if once * STEPS < ROUND_SECONDS else 2
    times: dict[torch.optim.Optimizer, list[list[float]]] = {adamw: [], other: []}
    for _ in range(rounds):
        for each in times.values():
            each.append([])
        # Warm: each its steps in a row. Cold: in turns, with something else before each.
        for optimizer in [adamw, other] * count if between else [adamw] * count + [other] * count:
            if between:
                between()
            times[optimizer][-1].append(seconds(optimizer.step, device))
    # The n-th step of every round does the same work, so its median leaves out what the machine did besides.
    base, step = (
        statistics.mean(statistics.median(same) for same in zip(*times[each], strict=True)) for each in (adamw, other)
    )
    return 1e3 * base, (step + refresh_seconds(other, step, device)) / base


def refresh_costs(rounds: int) -> list[list[str]]:
    """Milliseconds that each kind of basis takes for a 512 x 512 gradient at r = 128, and its share of an SVD's."""
    gradient = torch.randn(512, 512, generator=torch.Generator().manual_seed(0))
    kinds: dict[str, Callable[[], object]] = {
        Svd.kind: lambda: svd_basis(gradient, 128),
        RangeFinder.kind: lambda: range_finder_basis(gradient, 128, RangeFinder(), 0),
        Seeded.kind: lambda: seeded_basis(512, 128, 0, gradient),
    }
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds + 1):
        for kind, fit in kinds.items():
            times[kind].append(seconds(fit, gradient.device))
    middle = {kind: statistics.median(found[1:]) for kind, found in times.items()}
    return [
        [kind, f"{1e3 * middle[kind]:.1f}", f"{middle[kind] / middle[Svd.kind]:.2f}"] for kind in sorted(kinds, key=str)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="256x256,1024x1024,4096x1024,nano")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", default="", help="names of rows, separated by semicolons")
    parser.add_argument("--float32", action="store_true", help="Muon and its kin orthogonalise in float32")
    parser.add_argument("--plots", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.float32:
        orthogonalise_in(torch.float32)
    device = torch.device(given.device)
    made = rows()
    names = given.only.split(";") if given.only else ["muon", *(name for name in MODES if name in made)]
    cases = given.cases.split(",")
    ratios: dict[str, dict[str, float]] = {}
    for kind, between in (("cold", sweep(device)), ("warm", None)):
        ratios = {name: {} for name in names}
        base: dict[str, float] = {}
        for case in cases:
            shapes = matrices(case)
            for name in names:
                base[case], ratios[name][case] = compare(made[name], shapes, given.rounds, device, between)
        print(f"\nStep time as a multiple of foreach AdamW's, {kind}, {given.threads} threads, {device.type}")
        found = [["adamw, ms", *(f"{base[case]:.2f}" for case in cases)]]
        found += [[name, *(f"{ratios[name][case]:.1f}" for case in cases)] for name in names]
        print(table(["", *cases], found), flush=True)
        if given.plots:
            from tests.benchmarks.plots import bars  # a GPU machine may lack matplotlib

            bars(
                given.plots / f"optim_step_time_{kind}.png",
                ratios,
                title=f"Step time, {kind} caches",
                y="multiple of foreach AdamW",
                line=4.0,
                log_y=True,
            )
    print("\nA new basis for a 512 x 512 gradient, r = 128")
    print(table(["basis", "ms", "of an SVD"], refresh_costs(given.rounds)))


if __name__ == "__main__":
    main()
