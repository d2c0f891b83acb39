"""F^{-1} g of the history against a dense float64 solve: the dual form that the optimizer takes beside Woodbury as
published.

    python -m tests.benchmarks.optim.numerics [--plots FOLDER] [--draws 20]

Bars: at most 1e-10 in float64 for relative damping from 1e-4 up, at most 1e-5 in float32 at 1e-6. The dual columns go
the optimizer's own way (push_column, relative_damping, dual_weights, combine) through a window that has wrapped; the
last table takes F^{-1} g from the change that NaturalGradient.step makes to a parameter.
"""

from __future__ import annotations

import argparse
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from model.optim import NaturalGradient, Seeded, fisher
from model.optim.basis import SeededBases, basis_of
from model.optim.stack import Stack
from model.optim.subspace import geometry
from tests.benchmarks import plots
from tests.benchmarks.markdown import table, verdict

SIZES = {64: 20, 400: 20, 2304: 2}  # k -> draws; 2304 is a 96 x 96 layer of nano at rank 24, whose dense solve is dear
WINDOWS = (4, 10, 32)
DAMPINGS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
SHOWN = (1.0, 1e-4, 1e-6)
# What each gradient has of its own, beside a direction that all share. None: nothing is shared.
LIKENESS = {"independent": None, "shared direction": 0.3, "nearly collinear": 1e-2, "collinear to 1e-3": 1e-3}
BARS = {"float64": 1e-10, "float32": 1e-5}  # at relative dampings from 1e-4 up, and at 1e-6
STORED = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class Case:
    likeness: str
    size: int
    window: int
    stored: str
    damping: float


@dataclass(frozen=True)
class Errors:
    """Relative errors of one draw. unrounded: of the dual form against gradients before bfloat16 rounding."""

    dual: float
    woodbury: float
    unrounded: float


def gradients(likeness: str, size: int, count: int, seed: int) -> Tensor:
    """[count, size] in float64, of a length that gradients have."""
    generator = torch.Generator().manual_seed(seed)
    own = torch.randn(count, size, dtype=torch.float64, generator=generator)
    share = LIKENESS[likeness]
    if share is None:
        return own * 1e-2
    return (share * own + torch.randn(1, size, dtype=torch.float64, generator=generator)) * 1e-2


def relative_error(found: Tensor, truth: Tensor) -> float:
    return float((found.double() - truth).norm() / truth.norm())


def windows(case_gradients: Tensor, window: int, stored: str) -> tuple[Tensor, Tensor, int]:
    """History [1, s, k] and its Gram matrix as the optimizer has them after all gradients, and the slot of the last."""
    dtype = STORED[stored]
    computed = torch.float64 if dtype == torch.float64 else torch.float32
    history = torch.zeros(1, window, case_gradients.shape[1], dtype=dtype)
    gram = torch.zeros(1, window, window, dtype=torch.float64)
    slot = 0
    for step, gradient in enumerate(case_gradients):
        slot = step % window
        fisher.push_column(history, gram, fisher.stored_column(gradient[None].to(computed), history), slot)
    return history, gram, slot


def measure(likeness: str, size: int, window: int, stored: str, seed: int) -> Iterator[tuple[Case, Errors]]:
    """All dampings of one draw. The truth is that of the columns as they are stored."""
    drawn = gradients(likeness, size, window + window // 2, seed)
    history, gram, slot = windows(drawn, window, stored)
    computed = torch.float64 if stored == "float64" else torch.float32
    columns = history[0].mT.double()
    exact = columns.clone()
    for step, gradient in enumerate(drawn):
        exact[:, step % window] = gradient
    for relative in DAMPINGS if size < 1000 else SHOWN:
        damping = fisher.relative_damping(gram, window, relative)
        truth = fisher.dense_solve(columns, columns[:, slot], float(damping))
        weights, failed = fisher.dual_weights(gram, slot, damping)
        if bool(failed.any()):
            raise RuntimeError(f"No Cholesky factorisation at relative damping {relative}.")
        dual = fisher.combine(history, weights, computed)[0]
        published = fisher.woodbury_solve(columns.to(computed), columns[:, slot].to(computed), float(damping))
        unrounded = float("nan")
        if stored == "bfloat16":
            scale = relative * float(exact.square().sum()) / window
            unrounded = relative_error(dual, fisher.dense_solve(exact, exact[:, slot], scale))
        case = Case(likeness, size, window, stored, relative)
        yield case, Errors(relative_error(dual, truth), relative_error(published, truth), unrounded)


def through_step(
    likeness: str, shape: tuple[int, int], fraction: float, dtype: torch.dtype, relative: float, seed: int
) -> tuple[float, float]:
    """Relative errors of what one step of the source mode takes from a parameter, in a seeded basis U: against the
    dense solve of the columns that its state holds, and, in a basis of full rank, where U F^{-1} U^T g = F^{-1} g,
    against that of the gradients."""
    window = 10
    drawn = gradients(likeness, shape[0] * shape[1], window + window // 2, seed).to(dtype)
    columns = drawn[-window:].double().mT
    damping = relative * float(columns.square().sum()) / window
    parameter, subspace = nn.Parameter(torch.zeros(shape, dtype=dtype)), Seeded(fraction=fraction)
    optimizer = NaturalGradient.source([parameter], lr=1.0, damping=damping, window=window, subspace=subspace)
    for gradient in drawn:
        with torch.no_grad():
            parameter.zero_()
        parameter.grad = gradient.view(shape).clone()
        optimizer.step()
    taken = -parameter.detach().double()
    given = float("nan")
    if fraction == 1.0:
        given = relative_error(taken.flatten(), fisher.dense_solve(columns, columns[:, -1], damping))

    state, read = optimizer.state[parameter], geometry(shape, subspace)
    assert read is not None
    assert parameter.grad is not None
    again = Stack([parameter], [parameter.grad], [dict(state)])
    basis = basis_of(parameter.grad[None], again, read, subspace, 0, SeededBases()).factors[0].double()
    held = state["history"].double().mT
    truth = fisher.dense_solve(held, held[:, (len(drawn) - 1) % window], damping)
    return relative_error((basis.mT @ taken).flatten(), truth), given


def both(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.0e} ({max(values):.0e})"


def collected(draws: int) -> dict[Case, list[Errors]]:
    found: dict[Case, list[Errors]] = defaultdict(list)
    for likeness in LIKENESS:
        for size, most in SIZES.items():
            for window in WINDOWS:
                for stored in STORED:
                    for seed in range(min(draws, most)):
                        for case, errors in measure(likeness, size, window, stored, seed):
                            found[case].append(errors)
    return found


def pooled(found: dict[Case, list[Errors]], likeness: str, stored: str, damping: float) -> list[Errors]:
    """Draws of every k and s."""
    return [
        errors
        for case, drawn in found.items()
        if (case.likeness, case.stored, case.damping) == (likeness, stored, damping)
        for errors in drawn
    ]


def print_tables(found: dict[Case, list[Errors]]) -> None:
    print(f"Relative error of F^{{-1}} g, median (worst) over k = {', '.join(map(str, SIZES))} and s = ", end="")
    print(f"{', '.join(map(str, WINDOWS))}, several draws each; truth: dense float64 solve of the stored columns\n")
    rows = []
    for likeness in LIKENESS:
        for stored in STORED:
            row = [likeness, stored]
            for damping in SHOWN:
                drawn = pooled(found, likeness, stored, damping)
                row += [both([e.dual for e in drawn]), both([e.woodbury for e in drawn])]
            lost = [e.unrounded for e in drawn]
            rows.append([*row, both(lost) if stored == "bfloat16" else ""])
    pairs = [head for damping in SHOWN for head in (f"ours, {damping:.0e}", "published")]
    print(table(["gradients", "history", *pairs, "bf16 itself"], rows, left=2))
    print(
        "\nours, x: dual form at lambda = x tr(G^T G) / s; published: Woodbury, there. bf16 itself: ours at the last x against"
    )
    print("gradients before they were rounded, which no form can mend.")

    print("\nThe dual form by k and s, worst of all draws and gradients\n")

    def worst(size: int, window: int, stored: str, damping: float) -> str:
        cases = [Case(likeness, size, window, stored, damping) for likeness in LIKENESS]
        return f"{max(e.dual for case in cases for e in found[case]):.0e}"

    shown = (("float64", 1e-4), ("float32", 1e-6))
    rows = [[str(size)] + [worst(size, window, *each) for each in shown for window in WINDOWS] for size in SIZES]
    print(table(["k", *(f"{name}, {d:.0e}, s = {window}" for name, d in shown for window in WINDOWS)], rows))


def print_steps(draws: int) -> dict[str, float]:
    """The table of what NaturalGradient.step does. Returns the worst figure for each bar."""
    print(
        "\nF^{-1} g as NaturalGradient.step takes it from a parameter (source mode, seeded basis, s = 10), median (worst)\n"
    )
    rows, worst = [], {"float64": 0.0, "float32": 0.0}
    for likeness in LIKENESS:
        for name in worst:
            for shape, rank, fraction, most in (((20, 20), 20, 1.0, draws), ((96, 96), 24, 0.25, 2)):
                row = [likeness, name, f"{shape[0]} x {shape[1]}, r = {rank}"]
                for damping in SHOWN:
                    pairs = [
                        through_step(likeness, shape, fraction, STORED[name], damping, seed)
                        for seed in range(min(draws, most))
                    ]
                    held, given = ([pair[i] for pair in pairs] for i in (0, 1))
                    row.append(both(held))
                    if damping == 1e-6 if name == "float32" else damping >= 1e-4:
                        worst[name] = max(worst[name], *held)
                rows.append([*row, both(given) if fraction == 1.0 else ""])
    print(table(["gradients", "parameter", "shape", *(f"{d:.0e}" for d in SHOWN), "as given"], rows, left=3))
    print(
        "\nTruth: dense float64 solve of the columns in the optimizer's state. as given: at the last damping, of the gradients before"
    )
    print("they were projected, whose rounding to the parameter's dtype is in the figure too.")
    return worst


def worst_errors(found: dict[Case, list[Errors]]) -> dict[str, float]:
    """Of the dual form, by dtype, where a bar is set; "published" is Woodbury in float32 at the same damping."""
    single = [e for case, d in found.items() for e in d if case.stored == "float32" and case.damping == 1e-6]
    double = [e for case, d in found.items() for e in d if case.stored == "float64" and case.damping >= 1e-4]
    return {
        "float64": max(e.dual for e in double),
        "float32": max(e.dual for e in single),
        "published": max(e.woodbury for e in single),
    }


def print_bars(found: dict[Case, list[Errors]], steps: dict[str, float]) -> None:
    worst = worst_errors(found)
    rows = []
    for name, where in (("float64", ">= 1e-4"), ("float32", "1e-6")):
        error = max(worst[name], steps[name])
        rows.append(
            [f"{name}, relative damping {where}", f"{error:.1e}", f"{BARS[name]:.0e}", verdict(error, BARS[name])]
        )
    rows.append(["float32, relative damping 1e-6, as published", f"{worst['published']:.1e}", "", ""])
    print("\nWorst of all draws, through the functions and through NaturalGradient.step\n")
    print(table(["", "error", "bar", ""], rows))


def draw(found: dict[Case, list[Errors]], folder: Path) -> None:
    for likeness in LIKENESS:
        series: dict[str, plots.Points] = {}
        bands: dict[str, plots.Points] = {}
        for form in ("dual", "woodbury"):
            for stored in ("float64", "float32"):  # a bfloat16 window has float32's line
                by_damping = [[getattr(e, form) for e in pooled(found, likeness, stored, d)] for d in DAMPINGS]
                name = f"{form if form == 'dual' else 'Woodbury'}, {stored}"
                series[name] = (DAMPINGS, [statistics.median(values) for values in by_damping])
                bands[name] = ([min(values) for values in by_damping], [max(values) for values in by_damping])
        plots.curves(
            folder / f"numerics-{likeness.replace(' ', '-')}.png",
            series,
            title=f"$F^{{-1}}g$ against a dense float64 solve: gradients {likeness}\n(median; band from best to worst draw; line: bar for float32)",
            x="damping relative to tr(GᵀG)/s",
            y="relative error",
            log_x=True,
            log_y=True,
            bands=bands,
            line=1e-5,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20, help="random draws of each case; 3 at most for the largest k")
    plots.add_plots_argument(parser)
    given = parser.parse_args()
    found = collected(given.draws)
    print_tables(found)
    print_bars(found, print_steps(min(5, given.draws)))
    if given.plots:
        draw(found, given.plots)


if __name__ == "__main__":
    main()
