"""Figures of runs and versions as plots and cells."""

import pandas as pd

from engine.training.registry import VersionSummary
from engine.training.views import RunView

# What a version was judged on, by the gate's name and the people's.
HOLDOUTS = {
    "recent": "Recent holdout",
    "frozen": "Frozen holdout",
    "taught": "Pages learned from",
    "generated": "Generated pages",
}


def loss(run: RunView | None) -> pd.DataFrame:
    """Return a run's training loss by step; empty where nothing has run."""
    points = [(point["step"], point["loss"]) for point in (run.metrics if run else []) if "loss" in point]
    return pd.DataFrame(points, columns=["step", "loss"])


def share(version: VersionSummary, holdout: str) -> str:
    """Return one holdout's share of answers right as a cell, with the number of questions behind it."""
    figures = version.figures.get(holdout)
    if not figures or figures.get("acc_50") is None:
        return "-"
    return f"{figures['acc_50']:.1%} of {figures.get('questions', '?')}"
