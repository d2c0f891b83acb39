"""The work for a GPU, as a processor does it with a small network: every piece ends, stops and goes on."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.training.gpu.plan import PLAN, Costs, Proof, Training
from engine.training.gpu.prepare import prepare
from engine.training.gpu.run_plan import Doing, read_figures, run_plan
from engine.training.gpu.step_costs import KINDS
from model.checkpoint_parts import join_parts
from model.inference import Predictor
from model.presets import NANO, PRESETS

SMALL = replace(NANO, name="small", width=32, heads=2, image=replace(NANO.image, long_side=128, embed_dim=16))


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("gpu") / "pages"
    prepare(folder, long_side=128, most_pages=48)
    return folder


@pytest.fixture
def doing(pages: Path, tmp_path: Path, monkeypatch) -> Doing:
    monkeypatch.setitem(PRESETS, "small", SMALL)
    torch.set_num_threads(1)
    return Doing(pages=pages, out=tmp_path / "out", device=torch.device("cpu"), until=float("inf"), at_once=(1,))


def test_every_stage_steps_stops_and_goes_on(doing: Doing) -> None:
    (proof,) = (piece for piece in PLAN if isinstance(piece, Proof))
    assert run_plan([replace(proof, preset="small")], doing) == []
    rows = read_figures(doing.out)["pieces"][proof.name]["rows"]
    assert [row["stage"] for row in rows] == [name for group in proof.stages for name in group]
    assert {(row["steps"], row["resumed_at"]) for row in rows} == {(4, 2), (4, None)}
    assert all(row["fits"] and row["memory_mb"] > 0 for row in rows)


def test_the_table_of_costs_has_every_kind_with_and_without_checkpointing(doing: Doing) -> None:
    piece = Costs(name="costs", preset="small")
    assert run_plan([piece], doing) == ["costs"], "the table of the plan has other sizes"
    assert run_plan([piece], replace(doing, steps=1)) == [], "a dry run has those it was given"
    rows = read_figures(doing.out)["pieces"]["costs"]["rows"]
    assert {(row["kind"], row["checkpointing"]) for row in rows} == {
        (kind, on) for kind in KINDS for on in (True, False)
    }
    assert all(row["seconds"] > 0 and row["bytes"] > 0 for row in rows)


def test_a_training_that_ran_out_of_minutes_leaves_weights_and_goes_on(doing: Doing) -> None:
    piece = Training(name="small", preset="small", steps={"words": 3, "regions": 2, "growth": 2}, pages=2)
    parts = doing.out / "weights" / "small"
    begun = replace(doing, until=float("-inf"))
    assert run_plan([piece], begun) == ["small"] and not parts.exists()  # nothing is begun without time
    said: list[str] = []
    short = replace(doing, until=time.monotonic() + 0.5, say=said.append)  # over while the network is made
    assert run_plan([piece], short) == ["small"]
    assert said == ["small: begun", "small: to be continued"]
    assert Predictor.load(join_parts(next(iter(parts.glob("*.unfinished*.json"))))).version
    assert run_plan([piece], doing) == []
    assert Predictor.load(join_parts(parts / "small.safetensors.parts.json")).version
    stages = read_figures(doing.out)["pieces"]["small"]["stages"]
    assert {name: found["steps"] for name, found in stages.items()} == dict(piece.steps)
