"""Plot of simulations: gain on unseen pages, loss on another dataset, and corrections left for people."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
)  # Okabe and Ito palette: distinguishable with colour blindness


def draw(simulations: Mapping[str, Mapping[str, Any]], picture: Path) -> bool:
    """Draw simulations (name -> output of `simulate --json`) into a PNG; False without matplotlib."""
    if find_spec("matplotlib") is None:
        return False
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    unseen, elsewhere, work = figure.subplots(1, 3)
    for (name, simulation), colour in zip(simulations.items(), _COLOURS * len(simulations), strict=False):
        rounds: Sequence[Mapping[str, Any]] = simulation["rounds"]
        _line(unseen, rounds, "acc_50", "acc_50_interval", name, colour)
        for finished_round in rounds:
            if finished_round["challenger"] is not None and not finished_round["promoted"]:
                unseen.plot(
                    finished_round["pages"], finished_round["challenger"]["acc_50"], "x", color=colour, markersize=7
                )
        watched = [
            {"pages": finished_round["pages"], **finished_round["watched"]}
            for finished_round in rounds
            if finished_round["watched"] is not None
        ]
        if watched:
            _line(elsewhere, watched, "acc_50", "acc_50_interval", f"{name}: {simulation['watched']}", colour)
        corrected = [finished_round for finished_round in rounds if finished_round["corrections_a_page"] is not None]
        work.plot(
            [finished_round["pages"] for finished_round in corrected],
            [finished_round["corrections_a_page"] for finished_round in corrected],
            marker="o",
            color=colour,
            label=name,
        )
    unseen.set(title="Unseen pages of the dataset (cross: not promoted)", xlabel="corrected pages", ylabel="acc@.5")
    elsewhere.set(title="Another dataset, not trained on", xlabel="corrected pages", ylabel="acc@.5")
    work.set(title="Corrections a page", xlabel="corrected pages")
    work.margins(y=0.15)
    work.set_ylim(bottom=0)
    for axes in (unseen, elsewhere, work):
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8, frameon=False)
        else:
            axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center", color="#777777")
    figure.savefig(picture, dpi=110)
    return True


def _line(axes: Any, rounds: Sequence[Mapping[str, Any]], name: str, interval: str, label: str, colour: str) -> None:
    pages = [finished_round["pages"] for finished_round in rounds]
    axes.plot(pages, [finished_round[name] for finished_round in rounds], marker="o", color=colour, label=label)
    low, high = zip(*(finished_round[interval] for finished_round in rounds), strict=True)
    axes.fill_between(pages, low, high, color=colour, alpha=0.12, linewidth=0)
