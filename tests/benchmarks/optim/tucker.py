"""The subspaces against tensorly's projection and converged HOOI, on gradients of the shipped network.

    python -m tests.benchmarks.optim.tucker [--plots FOLDER] [--batches 4] [--fractions 0.25 0.0625]

Two questions. Is our Tucker projection tensorly's, with the same factors? And how much of a gradient's energy,
|g_low|^2 / |g|^2, does each
basis hold, made as the optimizer makes it, against the best that its ranks allow: higher-order orthogonal iteration to
convergence, the best of a start from the SVD and two random ones (for one projected side that is a truncated SVD). Bar:
Tucker within 5 % of it. The network has matrices and 4-D convolutions; 3-D tensors are made of it as they would be
stored fused: queries, keys and values of an attention, and one matrix of the three layers of the word head.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tensorly
import torch
from tensorly.decomposition import partial_tucker
from tensorly.tenalg import multi_mode_dot
from torch import Tensor

from model.optim import RangeFinder, Seeded, Svd, Tucker
from model.optim.basis import SeededBases, basis_of
from model.optim.choices import Subspace
from model.optim.stack import Stack
from model.optim.subspace import Geometry, as_view, derive_seed, geometry, lift, project, seeded_basis
from tests.benchmarks import plots
from tests.benchmarks.markdown import table
from tests.benchmarks.optim.gradients import gradients_of, shipped_network

BASES = {"seeded": Seeded, "range_finder": RangeFinder, "svd": Svd, "tucker": Tucker}
DRAWN = (0.5, 0.25, 0.125, 0.0625, 0.03125)
CLOSE = 0.95  # of what HOOI holds
KINDS = ("matrix", "3-D", "convolution")


@dataclass(frozen=True)
class Held:
    """What one basis holds of one gradient. energy, best: shares of |g|^2. later: of the gradients of the other
    batches, on average.
    random: the optimizer gave up the decomposition and took a seeded basis."""

    name: str
    kind: str
    shape: tuple[int, ...]
    basis: str
    energy: float
    best: float
    later: float
    random: bool


def tensors(gradients: Mapping[str, Tensor]) -> Iterator[tuple[str, str, Tensor]]:
    """(kind, name, tensor) of one batch."""
    for name, gradient in gradients.items():
        yield ("matrix" if gradient.dim() == 2 else "convolution"), name, gradient
        if gradient.dim() == 2 and ("qkv" in name or "in_proj" in name):
            yield "3-D", f"{name} as 3 x m x n", gradient.unflatten(0, (3, -1))
    for name in gradients:
        layers = [name.replace("word_head.layers.0.", f"word_head.layers.{i}.") for i in range(3)]
        if len(set(layers)) == 3 and all(layer in gradients for layer in layers):
            yield "3-D", f"{name}, 3 layers", torch.stack([gradients[layer] for layer in layers])


def factors_of(gradient: Tensor, read: Geometry, choice: Subspace, index: int) -> list[Tensor]:
    """The basis that the optimizer would make of this gradient at its first step."""
    stack = Stack([gradient], [gradient], [{"step": 0, "index": index}])
    basis = basis_of(as_view(gradient, read)[None], stack, read, choice, 0, SeededBases())
    return [factor[0] for factor in basis.factors]


def is_random(factors: Sequence[Tensor], gradient: Tensor, index: int) -> bool:
    """Whether these are the factors that stand in where a decomposition fails."""
    seed = derive_seed(derive_seed(0, index, 0), 0)
    return torch.equal(factors[0], seeded_basis(factors[0].shape[0], factors[0].shape[1], seed, gradient))


def energy(view: Tensor, factors: Sequence[Tensor], modes: Sequence[int]) -> float:
    low = project(view.double()[None], [factor.double()[None] for factor in factors], modes)
    return float(low.square().sum() / view.double().square().sum())


def best_energy(view: Tensor, read: Geometry) -> float:
    """Energy of converged HOOI at the ranks of `read`. A rank above the number of directions that the others leave buys
    nothing."""
    wide = view.double()
    if len(read.modes) == 1:
        values = torch.linalg.svdvals(wide.movedim(read.modes[0], 0).flatten(1)).square()
        return float(values[: read.ranks[0]].sum() / values.sum())
    sizes, ranks = list(read.low), list(read.ranks)
    for i, mode in enumerate(read.modes):
        others = torch.Size(size for m, size in enumerate(sizes) if m != mode).numel()
        ranks[i] = sizes[mode] = min(ranks[i], others)
    starts: list[tuple[str, int]] = [("svd", 0)] if wide.dim() == 2 else [("svd", 0), ("random", 1), ("random", 2)]
    found = []
    with tensorly.backend_context("pytorch", local_threadsafe=True):
        for start, state in starts:
            (core, _), _ = partial_tucker(
                wide, rank=ranks, modes=list(read.modes), init=start, n_iter_max=1000, tol=1e-12, random_state=state
            )
            found.append(float(core.square().sum() / wide.square().sum()))
    return max(found)


def measure(batches: Sequence[Mapping[str, Tensor]], fraction: float) -> list[Held]:
    read_batches = [{name: (kind, tensor) for kind, name, tensor in tensors(batch)} for batch in batches]
    found = []
    for number, batch in enumerate(read_batches):
        for index, (name, (kind, gradient)) in enumerate(batch.items()):
            best: dict[Geometry, float] = {}
            later = [other[name][1] for n, other in enumerate(read_batches) if n != number and name in other]
            for basis, make in BASES.items():
                choice = make(fraction=fraction)
                read = geometry(gradient.shape, choice)
                if read is None:
                    continue
                view = as_view(gradient, read)
                factors = factors_of(gradient, read, choice, index)
                if read not in best:
                    best[read] = best_energy(view, read)
                others = [energy(as_view(each, read), factors, read.modes) for each in later]
                found.append(
                    Held(
                        name,
                        kind,
                        tuple(gradient.shape),
                        basis,
                        energy(view, factors, read.modes),
                        best[read],
                        statistics.mean(others) if others else float("nan"),
                        basis != "seeded" and is_random(factors, gradient, index),
                    )
                )
    return found


def print_identity(batch: Mapping[str, Tensor], fraction: float) -> None:
    """Our projection and the way back against tensorly's, with the same factors."""
    rows = []
    for kind in KINDS:
        there, back, equal, count = 0.0, 0.0, 0, 0
        for index, (_, _, gradient) in enumerate(each for each in tensors(batch) if each[0] == kind):
            choice = Tucker(fraction=fraction)
            read = geometry(gradient.shape, choice)
            if read is None:
                continue
            factors = factors_of(gradient, read, choice, index)
            ours = project(gradient[None], [factor[None] for factor in factors], read.modes)[0]
            lifted = lift(ours[None], [factor[None] for factor in factors], read.modes)[0]
            with tensorly.backend_context("pytorch", local_threadsafe=True):
                theirs = multi_mode_dot(gradient, factors, modes=list(read.modes), transpose=True)
                returned = multi_mode_dot(theirs, factors, modes=list(read.modes))
            there = max(there, float((ours - theirs).norm() / theirs.norm()))
            back = max(back, float((lifted - returned).norm() / returned.norm()))
            equal += bool(torch.equal(ours, theirs) and torch.equal(lifted, returned))
            count += 1
        rows.append([kind, str(count), f"{equal}", f"{there:.0e}", f"{back:.0e}"])
    print(
        "Projection and way back against tensorly's multi_mode_dot with the same factors, float32, worst relative difference\n"
    )
    print(table(["tensors", "count", "equal to the bit", "projection", "way back"], rows))


def later_energy(held: Sequence[Held]) -> float:
    """Median over what had a gradient in other batches too."""
    return statistics.median(each.later for each in held if math.isfinite(each.later))


def print_energies(found: Sequence[Held], fraction: float) -> float:
    """The table by kind and basis. Returns the worst share of HOOI's energy that a Tucker basis holds."""
    print(f"\nEnergy held at a rank of {fraction:g} of each projected dimension\n")
    rows = []
    for kind in KINDS:
        for basis in BASES:
            held = [each for each in found if (each.kind, each.basis) == (kind, basis)]
            shares = [each.energy / each.best for each in held]
            rows.append(
                [
                    kind,
                    basis,
                    str(len(held)),
                    f"{statistics.median(each.best for each in held):.3f}",
                    f"{statistics.median(each.energy for each in held):.3f}",
                    f"{statistics.median(shares):.3f}",
                    f"{min(shares):.3f}",
                    f"{statistics.mean(share >= CLOSE for share in shares):.0%}",
                    str(sum(each.random for each in held)),
                    f"{later_energy(held):.3f}",
                ]
            )
    heads = [
        "tensors",
        "basis",
        "count",
        "HOOI",
        "held",
        "of HOOI",
        "worst",
        "within 5 %",
        "random instead",
        "later batches",
    ]
    print(table(heads, rows, left=2))
    print(
        "\nHOOI, held, of HOOI, later batches: medians. later batches: the same basis on gradients of other pages, which is what it meets"
    )
    print("until the next refresh. random instead: decompositions given up for a seeded basis.")
    return min(each.energy / each.best for each in found if each.basis == "tucker")


def print_random(found: Sequence[Held]) -> None:
    shapes: defaultdict[tuple[int, ...], set[str]] = defaultdict(set)
    for each in found:
        if each.random:
            shapes[each.shape].add(each.basis)
    if shapes:
        print("\nShapes with a random basis instead of a fitted one: ", end="")
        print(
            "; ".join(
                f"{' x '.join(map(str, shape))} ({', '.join(sorted(names))})" for shape, names in sorted(shapes.items())
            )
        )


def draw(by_fraction: Mapping[float, Sequence[Held]], folder: Path) -> None:
    series: dict[str, plots.Points] = {}
    for basis, name in (("svd", "svd or range finder"), ("tucker", "tucker"), ("seeded", "seeded")):
        held = [[each for each in found if each.basis == basis] for found in by_fraction.values()]
        now, later = [statistics.median(e.energy for e in part) for part in held], [later_energy(part) for part in held]
        if basis != "seeded":  # it knows no gradient, so the two are one line
            series[f"{name}, that gradient"] = (list(by_fraction), now)
        series[f"{name}, later batches"] = (list(by_fraction), later)
    plots.curves(
        folder / "tucker-energy.png",
        series,
        title="Energy of the network's gradients in a subspace, median over all tensors",
        x="rank as a share of each projected dimension",
        y="share of |g|², 0..1",
        log_x=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--fractions", type=float, nargs="+", default=[0.25, 0.0625], help="ranks of the tables")
    plots.add_plots_argument(parser)
    given = parser.parse_args()
    batches = gradients_of(shipped_network(), given.batches)
    print_identity(batches[0], given.fractions[0])
    for fraction in given.fractions:
        found = measure(batches, fraction)
        worst = print_energies(found, fraction)
        print_random(found)
        print(
            f"\nTucker, worst share of HOOI's energy: {worst:.3f}, bar {CLOSE}: {'met' if worst >= CLOSE else 'MISSED'}"
        )
    if given.plots:
        draw({fraction: measure(batches[:2], fraction) for fraction in DRAWN}, given.plots)


if __name__ == "__main__":
    main()
