"""The plan that a run of pretraining keeps in its folder."""

import json
from dataclasses import replace

import pytest

from engine.training.pretraining.schedule import Schedule, plan_of, read_schedule, write_plan
from engine.training.pretraining.stages import STAGES
from model.presets import NANO


def test_a_run_of_an_earlier_version_keeps_the_full_rates_of_its_initial_weights(tmp_path):
    write_plan(tmp_path, Schedule(seed=1, steps={"mlm": 5}, start="weights.safetensors"), NANO)
    assert read_schedule(tmp_path).start_rate == 0.1
    plan = tmp_path / "plan.json"
    kept = json.loads(plan.read_text())
    del kept["start_rate"]
    plan.write_text(json.dumps(kept))
    assert read_schedule(tmp_path).start_rate == 1.0


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


def test_a_run_goes_on_with_other_folders_only_where_its_own_are_gone(tmp_path):
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
    run = Schedule(seed=1, steps={"practice": 5}, forms=str(tmp_path / "old"), decoder="smollm2")
    write_plan(tmp_path, run, NANO)
    asked = replace(run, forms=str(tmp_path / "new"))
    with pytest.raises(ValueError, match=r"was begun with --forms .*old, and goes on so. Leave --forms out"):
        plan_of(tmp_path, asked, NANO, resume=True, chosen_fields=["forms"])
    (tmp_path / "old").rmdir()
    assert plan_of(tmp_path, asked, NANO, resume=True, chosen_fields=["forms"]) == asked
    with pytest.raises(ValueError, match="with --decoder smollm2, and goes on so"):
        plan_of(tmp_path, replace(run, decoder="other"), NANO, resume=True, chosen_fields=["decoder"])


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("steps", {"mlm": 6, "practice": 2}, "with --stages mlm=5,practice=2,"),
        ("steps", {"mlm": 1, "practice": 3}, "with --stages mlm=5,practice=2,"),
        ("stages", {"practice": 1, "mlm": 1}, "with --stages mlm=5,practice=2,"),
        ("pages", 8, "with --batch 4,"),
        ("rate", 2.0, "with --rate 1.0,"),
        ("start_rate", 0.5, "with --start-rate 0.1,"),
        ("labelled", "elsewhere", "without --labelled,"),
    ],
)
def test_what_a_run_did_not_begin_with_is_refused_where_it_goes_on(tmp_path, name, value, said):
    run = Schedule(seed=1, steps={"mlm": 5, "practice": 2})
    write_plan(tmp_path, run, NANO)
    with pytest.raises(ValueError, match=said):
        field = "steps" if name == "stages" else name
        plan_of(tmp_path, replace(run, **{field: value}), NANO, resume=True, chosen_fields=[name])
    assert plan_of(tmp_path, run, NANO, resume=True, chosen_fields=[name]) == run
    assert (
        plan_of(tmp_path, replace(run, steps={"mlm": 1, "practice": 1}), NANO, resume=True, chosen_fields=["stages"])
        == run
    )


def test_a_run_goes_on_with_the_minutes_and_public_weights_that_it_began_with(tmp_path):
    weights = tmp_path / "trunk.safetensors"
    weights.touch()
    run = Schedule(seed=1, steps={"mlm": 5}, minutes=10, public={"trunk": str(weights), "bert": "bert-tiny"})
    write_plan(tmp_path, run, NANO)
    for name, other, said in (
        ("minutes", replace(run, minutes=20), "with --minutes 10,"),
        ("bert", replace(run, public={"bert": "bert-small"}), "with --bert bert-tiny,"),
        ("tower", replace(run, public={"tower": "ViT-S-16"}), "without --tower,"),
        ("trunk", replace(run, public={"trunk": "hiera"}), "with --trunk .*trunk.safetensors,"),
    ):
        with pytest.raises(ValueError, match=said):
            plan_of(tmp_path, other, NANO, resume=True, chosen_fields=[name])
        assert plan_of(tmp_path, run, NANO, resume=True, chosen_fields=[name]) == run
    weights.unlink()  # the run kept what it began with
    assert plan_of(tmp_path, replace(run, public={"trunk": "hiera"}), NANO, resume=True, chosen_fields=["trunk"]) == run


def test_a_run_of_an_earlier_version_does_not_say_where_its_public_weights_came_from(tmp_path):
    write_plan(tmp_path, Schedule(seed=1, steps={"mlm": 5}), NANO)
    plan = tmp_path / "plan.json"
    kept = json.loads(plan.read_text())
    del kept["minutes"]
    plan.write_text(json.dumps(kept | {"public": ["trunk"]}))
    asked = Schedule(seed=1, steps={"mlm": 5}, public={"trunk": "hiera"}, minutes=30)
    assert list(plan_of(tmp_path, asked, NANO, resume=True, chosen_fields=["trunk", "minutes"]).public) == ["trunk"]
    with pytest.raises(ValueError, match="without --bert"):
        plan_of(tmp_path, replace(asked, public={"bert": "bert-tiny"}), NANO, resume=True, chosen_fields=["bert"])


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
