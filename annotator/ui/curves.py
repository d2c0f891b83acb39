"""Figures of runs and versions: their names, how they are written, and the loss of a run as a plot."""

from collections.abc import Sequence

from annotator.ui import plots
from annotator.ui.table import table
from engine.training.retraining.views import RunView

# Titles of the question sets on which a version is judged, by the gate's names. The own held-out documents are those of
# the recent and of the frozen holdout together.
HOLDOUTS = {
    "own": "Held-out documents",
    "generated": "Generated pages",
    "taught": "Training answers",
    "recent": "Recent holdout",
    "frozen": "Frozen holdout",
}
FIGURE = "Mean IoU"  # the one figure of models on the tab Training, 0..1, of questions that have an answer


def iou(value: float) -> str:
    """Return a mean IoU as text."""
    return f"{value:.3f}"


def loss(run: RunView | None) -> str:
    """Return the losses of a run by step as a plot (HTML).

    Args:
        run: the newest run, or None.
    """
    title = "Loss of the newest run"
    points = run.metrics if run else []
    series = [
        ("on training answers", [(int(point["step"]), float(point["loss"])) for point in points if "loss" in point]),
        (
            "on answers kept back for early stopping",
            [(int(point["step"]), float(point["watched"])) for point in points if "watched" in point],
        ),
    ]
    series = [(name, several) for name, several in series if several]
    if not series:
        return plots.nothing(title, "By training step.", "No step has been measured yet.")
    last = max(step for _, several in series for step, _ in several)
    newest = ", ".join(f"{several[-1][1]:.2f} {name}" for name, several in series)
    sentences = [f"After {last} steps: {newest}.", *((run.length, run.unlabelled) if run else ())]
    return _plot(title, " ".join(sentence for sentence in sentences if sentence), series, last)


def _plot(title: str, sentence: str, series: Sequence[tuple[str, list[tuple[int, float]]]], last: int) -> str:
    top, ticks = plots.scale(max(value for _, several in series for _, value in several))
    drawn = plots.up(ticks, top)
    width = plots.WIDTH - plots.LEFT - plots.RIGHT

    def x(step: int) -> float:
        return plots.LEFT + width * step / max(last, 1)

    for tick in plots.scale(last, whole=True)[1]:
        if tick <= last:
            drawn += f'<text x="{x(round(tick)):.1f}" y="{plots.HEIGHT - 12}" text-anchor="middle">{tick:g}</text>'
    for place, (_, several) in enumerate(series):
        path = "L".join(f"{x(step):.1f} {plots.y_of(value, top):.1f}" for step, value in several)
        drawn += f'<path class="line s{place}" d="M{path}"/>'
    legend = [(f"s{place}", name) for place, (name, _) in enumerate(series)]
    values = [dict(several) for _, several in series]
    steps = sorted({step for several in values for step in several})
    rows = [[step, *(f"{losses[step]:.3f}" if step in losses else "" for losses in values)] for step in steps]
    heads = ["Step", *(f"Loss {name}" for name, _ in series)]
    return plots.figure(title, sentence, drawn, legend, table(heads, rows))
