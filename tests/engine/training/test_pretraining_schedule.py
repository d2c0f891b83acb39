"""The plan that a run of pretraining keeps in its folder."""

import json
from dataclasses import replace

import pytest

from engine.training.pretraining.schedule import Schedule, plan_of, remembered, write_plan
from engine.training.pretraining.stages import STAGES
from model.presets import NANO


def test_a_run_of_an_earlier_version_keeps_the_full_rates_of_its_initial_weights(tmp_path):
    write_plan(tmp_path, Schedule(seed=1, steps={"mlm": 5}, start="weights.safetensors"), NANO)
    assert remembered(tmp_path).start_rate == 0.1
    plan = tmp_path / "plan.json"
    kept = json.loads(plan.read_text())
    del kept["start_rate"]
    plan.write_text(json.dumps(kept))
    assert remembered(tmp_path).start_rate == 1.0


def test_a_run_goes_on_where_its_pages_lie_now(tmp_path):
    there, here = tmp_path / "there" / "corpus.json", tmp_path / "here" / "corpus.json"
    for listed in (there, here):
        listed.parent.mkdir()
        listed.touch()
    run = Schedule(seed=1, steps={"mlm": 5}, corpus=str(there))
    write_plan(tmp_path, run, NANO)
    given = Schedule(seed=2, steps={"mlm": 9}, corpus=str(here))
    assert plan_of(tmp_path, given, NANO, resume=True) == run
    there.unlink()
    assert plan_of(tmp_path, given, NANO, resume=True) == replace(run, corpus=str(here))
    assert plan_of(tmp_path, replace(given, corpus=None), NANO, resume=True) == run


def test_factors_of_rates_are_above_zero():
    with pytest.raises(ValueError, match="above zero, not 0"):
        Schedule(seed=1, steps={"mlm": 5}, rate=0.0)
    with pytest.raises(ValueError, match="above zero, not 0"):
        Schedule(seed=1, steps={"mlm": 5}, start_rate=0.0)


def test_stages_without_questions_are_told_from_those_that_ask():
    without = {name for name, stage in STAGES.items() if not stage.asks}
    assert without == {
        *("decoder", "bidirectional", "contrast", "distill", "mlm", "spans"),
        *("mim", "mae", "ijepa", "djepa", "tjepa", "joint"),
    }
