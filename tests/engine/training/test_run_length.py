"""How long a run is, and what a longer one is expected to bring."""

import pytest

from db.tables import Run
from engine.models import registry
from engine.training.retraining.learner import plan_of
from engine.training.retraining.run_length import (
    FEWEST_STEPS,
    MOST_STEPS,
    PASSES,
    Length,
    beside_folds,
    cycles_within,
    steps_for,
)
from engine.training.retraining.run_settings import RunSettings, fold_settings, refit_settings
from engine.training.retraining.views import run_view
from engine.workspace import Workspace
from tests.support.factories import make_project
from tests.support.judged_runs import add_run

SETTINGS = RunSettings(seed=0, minutes=5)


def test_steps_follow_the_number_of_pages_and_the_share_of_replay() -> None:
    assert steps_for(3, SETTINGS) == FEWEST_STEPS
    few, many = steps_for(60, SETTINGS), steps_for(600, SETTINGS)
    assert many == pytest.approx(10 * few, rel=0.01)
    assert Length(few, 60, SETTINGS).passes == pytest.approx(PASSES, rel=0.02)
    assert steps_for(600, SETTINGS.model_copy(update={"replay": 0.75})) == pytest.approx(2 * many, rel=0.01)
    assert steps_for(10**6, SETTINGS) == MOST_STEPS


def test_long_pages_are_read_as_often_as_short_ones() -> None:
    steps = steps_for(240.0, SETTINGS)
    assert steps == pytest.approx(4 * steps_for(60, SETTINGS), rel=0.01)
    assert Length(steps, 60, SETTINGS, read_as=240.0).passes == pytest.approx(PASSES, rel=0.02)
    assert "each of 60 corrected pages about 8 times" in Length(steps, 60, SETTINGS, read_as=240.0).sentence(0.02)


def test_cycles_double_while_they_fit() -> None:
    assert cycles_within(250, 200) == 200
    assert cycles_within(250, 499) == 250
    assert cycles_within(250, 500) == 500
    assert cycles_within(250, 1999) == 1000


def length(steps: int, pages: int, cycle: int | None = None, most: int | None = None) -> Length:
    return Length(steps, pages, SETTINGS.model_copy(update={"steps": most or steps, "cycle": cycle or steps}))


def test_a_run_cut_short_by_its_minutes_says_what_a_longer_one_is_expected_to_bring() -> None:
    short = length(steps_for(600, SETTINGS) // 2, 600)
    assert short.estimate_gain(0.02) == pytest.approx(0.02 * (1 / 0.65 - 1), rel=0.05)
    assert "about 4 times" in short.sentence(0.02) and "about +0.01" in short.sentence(0.02)
    assert "gained nothing from which" in short.sentence(-0.01)
    assert "cannot be estimated yet" in short.sentence(None)
    assert short.estimate_gain(-0.01) == 0.0


def test_a_run_that_read_its_pages_often_enough_is_not_expected_to_gain_by_length() -> None:
    enough = length(steps_for(60, SETTINGS), 60)
    assert "is not expected to bring more" in enough.sentence(0.02)
    assert enough.estimate_gain(0.02) == pytest.approx(0.0, abs=1e-3)
    assert length(1, 60).estimate_gain(0.01) > 0.1, "hardly begun"


def test_a_run_that_early_stopping_or_its_minutes_ended_says_so() -> None:
    assert "a longer run would not help" in length(100, 60, cycle=259, most=259).sentence(0.02)
    assert "a longer run may bring more" in length(518, 60, cycle=259, most=518).sentence(0.02)
    assert "is not expected to bring more" in length(259, 60, cycle=259, most=518).sentence(0.02)


@pytest.mark.parametrize("cycle", [258, 259])
def test_a_fold_ends_with_a_whole_cycle_and_a_run_that_gained_to_the_end_says_so(cycle: int) -> None:
    for cycles in (1, 2, 4):
        run = SETTINGS.model_copy(update={"steps": cycles * cycle, "cycle": cycle})
        fold = fold_settings(run)
        assert plan_of(fold).cycle_of(fold.steps - 1)[1] == fold.steps == cycles * (cycle // 2)
        refit = refit_settings(run, [fold.steps] * 3)
        said = Length(refit.steps, 60, run).sentence(0.02)
        assert ("It still gained when its minutes ended" in said) == (cycles > 1)


def test_a_run_that_the_clock_ended_is_not_said_to_have_become_worse() -> None:
    few = SETTINGS.model_copy(update={"steps": 400, "cycle": 400})
    said = Length(40, 60, few, late=True).sentence(0.02)
    assert "The clock ended it" in said and "worse" not in said


def test_a_judged_run_says_it_and_a_run_of_an_earlier_version_says_nothing(workspace: Workspace) -> None:
    registry.ensure_shipped(workspace)
    run = add_run(workspace, make_project(workspace).id, before=0.70, after=0.80)
    said = run_view(workspace, run.id).length
    assert "read each of 60 corrected pages about 3 times" in said and "259 steps" in said and "of mean IoU" in said
    with workspace.database.write() as session:
        session.get_one(Run, run.id).settings = {}
    assert run_view(workspace, run.id).length == ""


@pytest.mark.parametrize(
    ("affordable", "folds", "steps", "refit"),
    [(500, 3, 500, True), (200, 3, 200, True), (199, 3, 200, False), (109, 3, 182, False), (109, 0, 109, True)],
)
def test_few_minutes_leave_out_the_refit_so_that_folds_can_judge(
    affordable: int, folds: int, steps: int, refit: bool
) -> None:
    assert beside_folds(affordable, folds) == (steps, refit)
