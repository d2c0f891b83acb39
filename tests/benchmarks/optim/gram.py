"""Streaming Gram matrix of the history against one recomputed, at every one of 1,000 steps of NaturalGradient.

    python -m tests.benchmarks.optim.gram [--plots FOLDER] [--steps 1000] [--refresh 50]

Gradients share a direction that drifts and differ in length by a factor of 100, the window goes round and round, and
every refresh turns history and Gram matrix into a new basis. Recomputed in float64 from the columns that the state
holds. Bar: 1e-6 relative for a float32 history; the bfloat16 figure is printed, and beside both the error against
columns that were kept, and turned, in float64.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import torch
from torch import Tensor, nn

from model.optim import MODES, History, NaturalGradient, RangeFinder, Seeded, Tucker
from model.optim.basis import SeededBases, basis_of
from model.optim.choices import HistoryDtype, Subspace
from model.optim.counting import State
from model.optim.stack import Stack
from model.optim.subspace import Geometry, as_view, changes, geometry, mode_product, project
from tests.benchmarks import plots
from tests.benchmarks.markdown import table, verdict

BAR = 1e-6
SHAPES = {"96 x 288": (96, 288), "24 x 12 x 3 x 3": (24, 12, 3, 3)}
DTYPES: tuple[HistoryDtype, HistoryDtype] = ("float32", "bfloat16")
Fitted = Seeded | RangeFinder | Tucker
SUBSPACES: dict[str, Callable[..., Fitted]] = {
    "seeded": partial(Seeded, fraction=0.25),
    "range_finder": partial(RangeFinder, fraction=0.25),
    "tucker": partial(Tucker, fraction=0.25),
}


@dataclass(frozen=True)
class Course:
    """Relative errors of each step. streaming: against the stored columns; kept: against columns that were never
    rounded; narrow: of recomputing it in float32, for scale. wraps, turns: how often the window went round, and the
    basis changed."""

    streaming: list[float]
    kept: list[float]
    narrow: list[float]
    wraps: int
    turns: int


def relative_error(found: Tensor, truth: Tensor) -> float:
    return float((found.double() - truth).norm() / truth.norm())


def factors_of(parameter: Tensor, state: State, read: Geometry, subspace: Subspace) -> list[Tensor]:
    """The basis of the step that was just taken, in float64: asked of the optimizer's own function, one step back."""
    assert parameter.grad is not None
    stack = Stack([parameter], [parameter.grad], [state | {"step": state["step"] - 1}])
    basis = basis_of(as_view(parameter.grad, read)[None], stack, read, subspace, 0, SeededBases())
    return [factor.double().clone() for factor in basis.factors]


def course(
    subspace: Fitted, shape: tuple[int, ...], window: int, dtype: HistoryDtype, steps: int, seed: int = 0
) -> Course:
    generator = torch.Generator().manual_seed(seed)
    parameter = nn.Parameter(torch.randn(shape, generator=generator))
    history = History(window=window, dtype=dtype, damping=1e-2)
    optimizer = NaturalGradient.from_mode(
        [parameter], MODES["history"], lr=1e-3, subspace=subspace, preconditioner=history
    )
    shared = torch.randn(shape, generator=generator)
    read = geometry(shape, subspace)
    assert read is not None
    window_kept = torch.zeros(1, window, math.prod(read.low), dtype=torch.float64)
    before: list[Tensor] = []
    streaming, kept, narrow = [], [], []
    for step in range(steps):
        shared = 0.99 * shared + 0.1 * torch.randn(shape, generator=generator)
        length = 10.0 ** (2 * torch.rand((), generator=generator) - 4)
        parameter.grad = length * (shared + 0.3 * torch.randn(shape, generator=generator))
        optimizer.step()
        state = optimizer.state[parameter]
        factors = factors_of(parameter, state, read, subspace)
        if step > 0 and step % subspace.refresh == 0:
            columns = window_kept.view(1, window, *read.low)
            for matrix, mode in zip(changes(factors, before), read.modes, strict=True):
                columns = mode_product(columns, matrix, mode + 1)
            window_kept = columns.reshape(window_kept.shape)
        before = factors
        low = project(as_view(parameter.grad.double(), read)[None], factors, read.modes)
        window_kept[:, step % window] = low.flatten(1)
        kept.append(relative_error(state["gram"], window_kept[0] @ window_kept[0].mT))
        columns = state["history"].double()
        truth = columns @ columns.mT
        streaming.append(relative_error(state["gram"], truth))
        narrow.append(relative_error(state["history"].float() @ state["history"].float().mT, truth))
    counts = optimizer.counts()
    if any(counts.values()):
        raise RuntimeError(f"Steps were skipped or fell back: {counts}.")
    return Course(streaming, kept, narrow, steps // window, (steps - 1) // subspace.refresh)


def so_far(errors: list[float]) -> list[float]:
    """The worst until each step; no less than 1e-17, which a logarithmic axis can still show."""
    return list(accumulate(errors, max, initial=1e-17))[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--refresh", type=int, default=50)
    plots.add_plots_argument(parser)
    given = parser.parse_args()
    rows, series, worst = [], {}, 0.0
    steps = range(1, given.steps + 1)
    for shape_name, shape in SHAPES.items():
        for name, make in SUBSPACES.items():
            for window in (4, 10):
                single, half = (
                    course(make(refresh=given.refresh), shape, window, dtype, given.steps) for dtype in DTYPES
                )
                row = [shape_name, name, str(window), str(single.wraps), str(single.turns)]
                row += [f"{value:.0e}" for value in (max(single.streaming), single.streaming[-1], max(single.narrow))]
                rows.append([*row, *(f"{max(errors):.0e}" for errors in (single.kept, half.streaming, half.kept))])
                worst = max(worst, *single.streaming)
                if (shape_name, name, window) == ("96 x 288", "seeded", 10):
                    series = {
                        "streaming, float32 history": (steps, so_far(single.streaming)),
                        "with the rounding of a float32 history": (steps, so_far(single.kept)),
                        "with the rounding of a bfloat16 history": (steps, so_far(half.kept)),
                    }
    print(
        f"Streaming Gram matrix against recomputed: {given.steps} steps of NaturalGradient, a new basis every {given.refresh}"
    )
    print("(relative, Frobenius; worst: of all steps)\n")
    heads = [
        "parameter",
        "subspace",
        "s",
        "wraps",
        "bases",
        "float32: worst",
        "last",
        "summed in float32",
        "with rounding",
    ]
    print(table([*heads, "bfloat16: worst", "with rounding"], rows, left=2))
    print(
        "\nsummed in float32: for scale, the worst of recomputing it in float32 from the stored columns. with rounding: worst"
    )
    print("against columns kept, and turned, in float64 throughout.")
    print(f"Worst with a float32 history {worst:.1e}, bar {BAR:.0e}: {verdict(worst, BAR)}")
    if given.plots:
        plots.curves(
            given.plots / "gram.png",
            series,
            title=f"Gram matrix of the history: 96 x 288 at rank 24, s = 10, a new basis every {given.refresh} steps",
            x="step",
            y="relative error, worst so far",
            log_y=True,
            line=BAR,
        )


if __name__ == "__main__":
    main()
