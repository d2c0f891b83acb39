"""Every stage of pretraining, one after the other, as `glossator pretrain` runs them: a few steps, and it goes on after a stop."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import torch

from engine.commands.training.pretraining_pages import STOPPED
from engine.training.pretraining.run import CURVES_FILE, FIGURES_FILE, pretrain
from engine.training.pretraining.schedule import RECIPE, Schedule
from engine.training.pretraining.stages import STAGES
from model.inference import Predictor
from model.presets import NANO
from model.pretraining.token_vectors import teacher_folder
from tests.conftest import needed

SMALL = replace(NANO, width=32, heads=2, image=replace(NANO.image, long_side=128, embed_dim=16))


def teacher() -> Path:
    try:
        return teacher_folder()
    except ValueError as error:
        needed(str(error))
        raise


def test_all_stages_run_leave_figures_and_weights_and_go_on_to_the_same(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    schedule = Schedule(seed=1, steps=dict.fromkeys(STAGES, 2))
    whole = pretrain(tmp_path / "whole", SMALL, teacher(), schedule, held_out=8)
    figures = json.loads((tmp_path / "whole" / FIGURES_FILE).read_text("utf-8"))
    assert set(figures) == set(STAGES) == set(whole.figures)
    for stage, (before, after) in ((name, (kept["before"], kept["after"])) for name, kept in figures.items()):
        assert before and set(before) == set(after), stage
        assert all(math.isfinite(value) for value in after.values()), stage
    assert (tmp_path / "whole" / CURVES_FILE).stat().st_size > 10_000
    assert whole.weights is not None
    assert Predictor.load(whole.weights).version == whole.version

    seen: list[float] = []
    stopped = 2 * (len(STAGES) // 2)  # after the first step of a stage in the middle
    part = pretrain(
        tmp_path / "part",
        SMALL,
        teacher(),
        schedule,
        held_out=8,
        on_progress=seen.append,
        cancelled=lambda: len(seen) == stopped,
    )
    assert part.weights is None
    again = pretrain(tmp_path / "part", SMALL, teacher(), schedule, held_out=8, resume=True)
    assert again.version == whole.version


def test_the_recipe_of_the_shipped_weights_runs_in_pieces(tmp_path: Path) -> None:
    teacher()
    command = [
        sys.executable,
        "-m",
        "engine.cli",
        "pretrain",
        str(tmp_path),
        "--recipe",
        "--resume",
        "--at-most",
        "0.05",
    ]
    for _ in range(2):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == STOPPED and "Run the same command with --resume to continue." in done.stderr
    kept = json.loads((tmp_path / "plan.json").read_text("utf-8"))
    assert (kept["steps"], kept["seed"]) == (dict(RECIPE.steps), RECIPE.seed)
    first = next(iter(RECIPE.steps))
    assert torch.load(tmp_path / first / "state.pt", weights_only=True)["step"] >= 2  # each piece adds to it
