"""Figures by step in a file of a run's folder; the file survives a kill at any moment."""

import json
from collections.abc import Mapping
from pathlib import Path

from engine.training.json_files import write_json


def read_figures(path: Path) -> dict[int, float]:
    """Return the figures by step; empty when the file does not exist."""
    try:
        return {int(step): float(value) for step, value in json.loads(path.read_text("utf-8")).items()}
    except FileNotFoundError:
        return {}


def write_figures(path: Path, figures: Mapping[int, float]) -> None:
    """Replace the file by these figures; creates its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, dict(figures))
