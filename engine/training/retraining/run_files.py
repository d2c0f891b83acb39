"""Figures by step in a file of a run's folder; the file survives a kill at any moment."""

import json
import os
from collections.abc import Mapping
from pathlib import Path


def read_figures(path: Path) -> dict[int, float]:
    """Return the figures by step; empty when the file does not exist."""
    try:
        return {int(step): float(value) for step, value in json.loads(path.read_text("utf-8")).items()}
    except FileNotFoundError:
        return {}


def write_figures(path: Path, figures: Mapping[int, float]) -> None:
    """Replace the file by these figures; creates its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(dict(figures)), "utf-8")
    temporary.replace(path)
