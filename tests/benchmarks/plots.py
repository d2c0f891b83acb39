"""Pictures of the benchmarks: curves with bands, and grouped bars, each written to a PNG in one move."""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

# Okabe and Ito 2008, told apart by colour-blind readers too; its yellow is left out, which is too pale for a thin line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_BACKED = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 0.6}  # figures stay legible over a line
STYLES = ("-", "--", ":", "-.")
INSIDE = 4  # a legend of more entries than this stands beside the axes

Points = tuple[Sequence[float], Sequence[float]]


def add_plots_argument(parser: argparse.ArgumentParser) -> None:
    """The option that every benchmark has: a folder for its pictures, none by default."""
    parser.add_argument(
        "--plots", type=Path, metavar="FOLDER", help="draw pictures into this folder, made when missing"
    )


def curves(
    path: Path,
    series: Mapping[str, Points],
    *,
    title: str,
    x: str,
    y: str,
    log_x: bool = False,
    log_y: bool = False,
    bands: Mapping[str, Points] | None = None,
    line: float | None = None,
    top: float | None = None,
) -> None:
    """Name -> (xs, ys) as lines. x, y: labels of the axes, with units. bands: name -> (low, high) around a line of that
    name, one value for each of its xs. line: a horizontal line, such as a bar to pass. top: where the
    y axis ends. Overwrites `path`."""
    figure, axes = _axes(title, log_x=log_x, log_y=log_y)
    for i, (name, (xs, ys)) in enumerate(series.items()):
        colour, style = COLOURS[i % len(COLOURS)], STYLES[i // len(COLOURS) % len(STYLES)]
        marker = "o" if len(xs) <= 20 else None
        axes.plot(xs, ys, style, color=colour, marker=marker, markersize=4, linewidth=1.6, label=name)
        if bands is not None and name in bands:
            axes.fill_between(xs, *bands[name], color=colour, alpha=0.18, linewidth=0)
    _line(axes, line)
    places = sorted({value for xs, _ in series.values() for value in xs})
    if log_x and len(places) <= 8 and places[-1] < 100 * places[0]:  # powers of ten alone would leave the axis bare
        axes.set_xticks(places, [f"{value:g}" for value in places])
        axes.minorticks_off()
    axes.set(xlabel=x, ylabel=y)
    if top is not None:
        axes.set_ylim(top=top)
    _legend(axes, len(series))
    save(figure, path)


def bars(
    path: Path,
    groups: Mapping[str, Mapping[str, float]],
    *,
    title: str,
    y: str,
    line: float | None = None,
    log_y: bool = False,
) -> None:
    """Group -> (name -> height) as bars side by side, each with its figure above it; one colour a name over all groups.
    What is not finite has no bar. line: a horizontal line, such as a bar to pass. Overwrites `path`."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    count = len(groups) * len(names)
    figure, axes = _axes(title, log_y=log_y, width=min(16.0, max(7.0, 2.0 + 0.42 * count)))
    thick = 0.84 / len(names)
    for i, name in enumerate(names):
        found = [(place, group.get(name, math.nan)) for place, group in enumerate(groups.values())]
        found = [(place, height) for place, height in found if math.isfinite(height)]
        drawn = axes.bar(
            [place + (i - (len(names) - 1) / 2) * thick for place, _ in found],
            [height for _, height in found],
            0.92 * thick,
            color=COLOURS[i % len(COLOURS)],
            hatch="//" if i >= len(COLOURS) else None,
            edgecolor="white",
            linewidth=0.5,
            label=name,
        )
        axes.bar_label(drawn, fmt="%.2g", fontsize=7, padding=2, rotation=90 if count > 12 else 0, bbox=_BACKED)
    _line(axes, line)
    axes.margins(y=0.14)
    axes.set(ylabel=y, xlim=(-0.6, len(groups) - 0.4))
    long = sum(map(len, groups)) > 70
    axes.set_xticks(
        range(len(groups)), list(groups), rotation=25 if long else 0, ha="right" if long else "center", fontsize=9
    )
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="x", visible=False)
    if len(names) > 1:
        _legend(axes, INSIDE + 1)  # over bars there is no room
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, making the folder. Written beside its place and moved there, so that no reader meets half
    of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".png")
    os.close(descriptor)
    try:
        FigureCanvasAgg(figure)
        figure.savefig(beside, dpi=150, format="png")
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            Path(beside).unlink()


def _axes(title: str, *, log_x: bool = False, log_y: bool = False, width: float = 7.5) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, fontsize=11)
    axes.set_xscale("log" if log_x else "linear")
    axes.set_yscale("log" if log_y else "linear")
    axes.grid(which="major", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _line(axes: Axes, height: float | None) -> None:
    if height is not None:
        axes.axhline(height, color="#444444", linestyle=(0, (4, 3)), linewidth=1.0)


def _legend(axes: Axes, count: int) -> None:
    if count <= INSIDE:
        axes.legend(fontsize=8, framealpha=0.85)
    else:
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5))
