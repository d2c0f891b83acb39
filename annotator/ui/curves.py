"""Figures of runs and versions as plots and cells."""

import pandas as pd

from engine.models.registry import VersionSummary
from engine.training.retraining.views import RunView

# What a version was judged on, by the gate's name and the people's.
HOLDOUTS = {
    "own": "Held-out documents",
    "recent": "Recent holdout",
    "frozen": "Frozen holdout",
    "taught": "Pages learned from",
    "generated": "Generated pages",
}


LEARNED, WATCHED = "pages learned from", "pages watched to stop"


def loss(run: RunView | None) -> pd.DataFrame:
    """Return a run's losses by step: of what it learns from, and of the training pages that are only looked at, to stop early."""
    points = [
        (point["step"], point[name], said)
        for name, said in (("loss", LEARNED), ("watched", WATCHED))
        for point in (run.metrics if run else [])
        if name in point
    ]
    return pd.DataFrame(points, columns=["step", "loss", "of"])


def share(version: VersionSummary, holdout: str) -> str:
    """Return one holdout's share of answers right as a cell, with the number of questions behind it."""
    figures = version.figures.get(holdout)
    if not figures or figures.get("acc_50") is None:
        return "-"
    return f"{figures['acc_50']:.1%} of {figures.get('questions', '?')}"
