import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file

from engine.training.pretraining.curves import METRICS_FILE
from engine.training.pretraining.pacing import pace_schedule
from engine.training.pretraining.run import FIGURES_FILE, pretrain
from engine.training.pretraining.schedule import Schedule, check_order
from model.examples import Word
from model.inference import Predictor
from model.presets import TextConfig
from model.pretraining.token_vectors import reduced_vectors

SCHEDULE = Schedule(seed=2, steps={"words": 2, "segment": 2})


@pytest.fixture(scope="session")
def teacher(tmp_path_factory):
    """A folder like the teacher's, with vectors of four axes that matter."""
    folder = tmp_path_factory.mktemp("teacher")
    torch.manual_seed(0)
    scale = torch.tensor([8.0, 4.0, 2.0, 1.0, *[0.01] * 8])
    save_file({"embeddings.word_embeddings.weight": torch.randn(30522, 12) * scale + 3}, folder / "model.safetensors")
    return folder


@pytest.fixture(scope="session")
def small(config):
    return replace(config, text=TextConfig(buckets=512, vector_width=8))


def test_vectors_are_centred_and_keep_their_main_axes(teacher):
    vectors = reduced_vectors(teacher, 4)
    assert vectors.shape == (30522, 4)
    assert vectors.mean(0).abs().max() < 0.02
    assert vectors.norm(dim=1).quantile(0.1) > 0.97  # hardly anything was lost
    spread = vectors.std(0)
    assert (spread[:-1] > spread[1:]).all()
    assert torch.equal(vectors, reduced_vectors(teacher, 4))


def test_pretraining_ends_with_weights_that_answer_and_resumes_to_the_same(small, teacher, tmp_path):
    whole = pretrain(tmp_path / "whole", small, teacher, SCHEDULE, held_out=2)
    predictor = Predictor.load(whole.weights)
    assert predictor.version == whole.version
    assert predictor.ask(predictor.encode(None, [Word("Total", (0, 0, 40, 10))], (50, 50)), "total").words == [0]
    lines = [json.loads(line) for line in (tmp_path / "whole" / METRICS_FILE).read_text().splitlines()]
    assert [line["stage"] for line in lines] == ["words", "segment"] and all(line["loss"] > 0 for line in lines)

    figures = json.loads((tmp_path / "whole" / FIGURES_FILE).read_text())
    assert set(figures) == {"words", "segment"}
    assert all(set(kept) == {"before", "after"} and "mean_iou" in kept["after"] for kept in figures.values())

    progress: list[float] = []
    first = pretrain(
        tmp_path / "parts",
        small,
        teacher,
        SCHEDULE,
        held_out=2,
        on_progress=progress.append,
        cancelled=lambda: len(progress) == 2,
    )
    assert first.weights is None
    again = pretrain(
        tmp_path / "parts", small, teacher, replace(SCHEDULE, steps={"words": 99}), held_out=2, resume=True
    )
    assert again.version == whole.version and again.schedule == SCHEDULE


def test_a_folder_with_a_run_is_not_overwritten(small, teacher, tmp_path):
    schedule = Schedule(seed=1, steps={"words": 1})
    assert pretrain(tmp_path, small, teacher, schedule, held_out=2).weights is not None
    with pytest.raises(ValueError, match="already holds a run"):
        pretrain(tmp_path, small, teacher, schedule, held_out=2)


def test_stages_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match=r"no stage 'dreams'.*segment"):
        Schedule(seed=0, steps={"words": 1, "dreams": 1})
    with pytest.raises(ValueError, match="at least one stage"):
        Schedule(seed=0, steps={})


def test_a_rate_that_teaches_nothing_and_a_teacher_that_comes_too_late_are_refused():
    for rate in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="must be above zero"):
            Schedule(seed=0, steps={"words": 1}, rate=rate)
    with pytest.raises(ValueError, match="distill learns from the stage contrast: put distill after it"):
        check_order({"bidirectional": 1, "distill": 1, "contrast": 1})
    check_order({"contrast": 1, "distill": 1, "mlm": 1})


def test_minutes_become_steps_in_the_shares_of_the_stages(small, teacher, tmp_path):
    schedule = Schedule(seed=0, steps={"words": 1, "segment": 1})
    found = pace_schedule(tmp_path, small, teacher, schedule, 0.5, checkpointing=True)
    assert set(found.steps) == {"words", "segment"} and all(count >= 1 for count in found.steps.values())


def test_a_first_stage_that_cannot_begin_leaves_the_folder_free(small, teacher, tmp_path):
    with pytest.raises(ValueError, match=r"gone"):
        pretrain(
            tmp_path, small, teacher, Schedule(seed=1, steps={"words": 1}, forms=str(tmp_path / "gone")), held_out=2
        )
    assert not (tmp_path / "plan.json").exists()
    assert pretrain(tmp_path, small, teacher, Schedule(seed=1, steps={"words": 1}), held_out=2).weights is not None


def test_a_resumed_run_has_the_public_weights_it_began_with(small, teacher, tmp_path):
    """The options that name them may be missing, and their files gone."""
    schedule = Schedule(seed=1, steps={"words": 2}, public={"trunk": "resnet"})

    def public(network):
        for parameter in network.image_encoder.trunk.parameters():
            parameter.data.fill_(0.01)

    whole = pretrain(tmp_path / "whole", small, teacher, schedule, held_out=2, begin=public)

    def killed(values):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # after the plan was written, before the first checkpoint
        pretrain(tmp_path / "part", small, teacher, schedule, held_out=2, begin=public, on_progress=killed)
    again = pretrain(tmp_path / "part", small, teacher, schedule, held_out=2, resume=True)
    assert again.version == whole.version


def test_weights_of_a_run_that_never_began_do_not_bind_the_next(small, teacher, tmp_path):
    def killed(network):
        (tmp_path / "start.safetensors").write_bytes(b"of the call before")
        raise ValueError("no such weights")

    schedule = Schedule(seed=1, steps={"words": 1})
    with pytest.raises(ValueError, match="no such weights"):
        pretrain(tmp_path, small, teacher, schedule, held_out=2, begin=killed)
    first = pretrain(tmp_path, small, teacher, schedule, held_out=2)
    assert first.version == pretrain(tmp_path, small, teacher, schedule, held_out=2, resume=True).version


def test_public_weights_that_cannot_be_had_leave_the_folder_free(small, teacher, tmp_path):
    def refuse(network):
        raise ValueError("no such weights")

    schedule = Schedule(seed=1, steps={"words": 1})
    with pytest.raises(ValueError, match="no such weights"):
        pretrain(tmp_path, small, teacher, schedule, held_out=2, begin=refuse)
    seen: list[object] = []
    assert pretrain(tmp_path, small, teacher, schedule, held_out=2, begin=seen.append).weights is not None
    assert len(seen) == 1


@pytest.mark.parametrize("second", ["mlm", "regions"])
def test_a_run_killed_between_stages_ends_like_an_uninterrupted_one(small, teacher, tmp_path, second):
    """A process that never ran the first stage draws equal heads for the second, and no gradient is left over."""
    schedule = Schedule(seed=3, steps={"words": 1, second: 2})

    def killed(stage, figures):
        raise KeyboardInterrupt

    whole = pretrain(tmp_path / "whole", small, teacher, schedule, held_out=2)
    with pytest.raises(KeyboardInterrupt):
        pretrain(tmp_path / "part", small, teacher, schedule, held_out=2, on_figures=killed)
    torch.manual_seed(12345)
    again = pretrain(tmp_path / "part", small, teacher, schedule, held_out=2, resume=True)
    assert again.version == whole.version


def test_a_run_is_not_resumed_with_another_network(small, teacher, tmp_path):
    schedule = Schedule(seed=1, steps={"words": 1})
    pretrain(tmp_path, small, teacher, schedule, held_out=2)
    with pytest.raises(ValueError, match="of another network"):
        pretrain(tmp_path, replace(small, word_layers=2), teacher, schedule, held_out=2, resume=True)


def test_a_run_begins_with_the_weights_that_were_given_and_remembers_them(small, teacher, tmp_path):
    first = pretrain(tmp_path / "first", small, teacher, Schedule(seed=1, steps={"words": 1}), held_out=2)
    schedule = Schedule(seed=1, steps={"words": 1}, start=str(first.weights))
    second = pretrain(tmp_path / "second", small, teacher, schedule, held_out=2)
    assert second.figures["words"]["mean_iou"][0] == pytest.approx(first.figures["words"]["mean_iou"][1], abs=0.02)
    assert json.loads((tmp_path / "second" / "plan.json").read_text())["start"] == str(first.weights)
    assert first.weights is not None
    first.weights.unlink()  # a run that was interrupted goes on when what it began with is gone
    again = pretrain(tmp_path / "second", small, teacher, schedule, held_out=2, resume=True)
    assert again.version == second.version
    schedule = replace(schedule, start=str(second.weights))
    with pytest.raises(ValueError, match="another network than the preset"):
        pretrain(tmp_path / "third", replace(small, word_layers=2), teacher, schedule, held_out=2)
    assert not (tmp_path / "third" / "plan.json").exists()
