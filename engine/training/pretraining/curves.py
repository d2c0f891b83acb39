"""Plot of pretraining metrics: one panel a stage, one line a loss component."""

import json
from collections import defaultdict
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from model.throughput import THROUGHPUT

METRICS_FILE = "metrics.jsonl"
_NOT_PLOTTED = {"step", "seconds", "processor_seconds", "rate", "stage", *THROUGHPUT}


def draw_curves(metrics: Path, picture: Path) -> bool:
    """Draw the rows of `metrics` (one JSON object a line) into the PNG `picture`.

    Returns False without matplotlib or without rows.
    """
    if find_spec("matplotlib") is None or not metrics.is_file():
        return False
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    stages: defaultdict[str, defaultdict[str, dict[float, float]]] = defaultdict(lambda: defaultdict(dict))
    for line in metrics.read_text("utf-8").splitlines():
        with suppress(json.JSONDecodeError):  # a line left incomplete by a killed run
            values = json.loads(line)
            for name in values.keys() - _NOT_PLOTTED:
                stages[values["stage"]][name][values["step"]] = values[
                    name
                ]  # the last value, when a resumed run repeats steps
    if not stages:
        return False
    figure = Figure(figsize=(8, 3.2 * len(stages)), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (stage, parts) in zip(figure.subplots(len(stages), squeeze=False)[:, 0], stages.items(), strict=True):
        for name, points in parts.items():
            axes.plot(*zip(*sorted(points.items()), strict=True), label=name, linewidth=2.2 if name == "loss" else 1.2)
        axes.set(title=stage, xlabel="step")
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)
    temporary = picture.with_suffix(".tmp.png")
    figure.savefig(temporary, dpi=110)
    temporary.replace(picture)
    return True
