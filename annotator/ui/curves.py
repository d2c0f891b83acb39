"""Figures of runs and versions as plots and cells."""

import pandas as pd

from engine.models.registry import VersionView
from engine.training.retraining.views import RunView

# Titles of the question sets on which a version is judged, by the gate's names.
HOLDOUTS = {
    "own": "Held-out documents",
    "recent": "Recent holdout",
    "frozen": "Frozen holdout",
    "taught": "Training pages",
    "generated": "Generated pages",
}


LEARNED, WATCHED = "training", "early stopping"


def loss(run: RunView | None) -> pd.DataFrame:
    """Return the losses of a run by step.

    Args:
        run: the run, or None.

    Returns:
        Columns step, loss and set: the training documents, and those held out for early stopping.
    """
    points = [
        (point["step"], point[name], said)
        for name, said in (("loss", LEARNED), ("watched", WATCHED))
        for point in (run.metrics if run else [])
        if name in point
    ]
    return pd.DataFrame(points, columns=["step", "loss", "set"])


def share(version: VersionView, holdout: str) -> str:
    """Return the share of right answers (IoU above 0.5) on one holdout as a cell.

    Args:
        version: model version with its figures.
        holdout: name of the holdout, a key of HOLDOUTS.

    Returns:
        The share with the number of questions, or "-" when the version was not judged on it.
    """
    figures = version.figures.get(holdout)
    if not figures or figures.get("acc_50") is None:
        return "-"
    return f"{figures['acc_50']:.1%} of {figures.get('questions', '?')}"
