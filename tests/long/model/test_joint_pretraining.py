import json
import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch

from engine.training.pretraining.curves import METRICS_FILE
from engine.training.pretraining.page_learning import PAGE_OBJECTIVES, learn_pages, page_objective
from engine.training.pretraining.pretraining_stage import at_rate
from model import checkpoint
from model.encoders.fusion import FusionLayer
from model.learning import Plan
from model.network import GroundingNetwork
from model.objectives.masked_language import Masking, mask_words
from model.objectives.objective import CHECKPOINT_FILE
from model.presets import NetworkConfig
from model.pretraining.joint import JointPretraining, Mix, SeenWords
from tests.support.drawn_pages import example, rotated

PLAN = Plan(steps=6, seed=3, warmup=1, checkpoint_every=3, metrics_every=1)


def pages(step):
    page = example(image=True)
    return [rotated(page, 3 * step + turn) for turn in range(2)]


def fresh(config):
    """With short wordpiece vectors: states that are quick to write."""
    torch.manual_seed(7)
    config = replace(config, text=replace(config.text, vector_width=8))
    network = GroundingNetwork(config)
    torch.nn.init.normal_(network.text_encoder.embedding.piece_vectors, std=0.05)
    return network


def test_each_step_does_one_of_the_three_and_all_come_up(config, tmp_path):
    lines: list[Mapping[str, float]] = []
    learn_pages(tmp_path, JointPretraining(fresh(config), pages), replace(PLAN, steps=15), on_metrics=lines.append)
    done = [{name.split("_")[0] for name in line} & {"images", "embeddings", "words"} for line in lines]
    assert all(len(one) == 1 for one in done) and set.union(*done) == {"images", "embeddings", "words"}
    assert any("embeddings_collapsed" in line or "embeddings_word_collapsed" in line for line in lines)
    assert [json.loads(line) for line in (tmp_path / METRICS_FILE).read_text().splitlines()] == lines


def test_pages_without_words_are_masked_images_where_words_were_drawn(config):
    blank = JointPretraining(fresh(config), lambda step: [replace(example(image=True), words=())], Mix(words=1.0))
    written = JointPretraining(fresh(config), pages, Mix(words=1.0))
    drawn = [{one.draw_objective(step, random.Random(step)) for step in range(20)} for one in (blank, written)]
    assert drawn == [{"images", "embeddings"}, {"images", "embeddings", "words"}]
    step = next(step for step in range(20) if written.draw_objective(step, random.Random(step)) == "words")
    loss, found = blank.loss(step, random.Random(step))
    assert torch.isfinite(loss) and all(name == "loss" or name.startswith("images_") for name in found)
    assert found["images_explained"] >= -1


def test_a_resumed_run_ends_bit_for_bit_where_an_uninterrupted_one_ends(config, tmp_path):
    whole = JointPretraining(fresh(config), pages)
    learn_pages(tmp_path / "whole", whole, PLAN)
    stops = iter([False, True])
    learn_pages(tmp_path / "parts", JointPretraining(fresh(config), pages), PLAN, cancelled=lambda: next(stops))
    again = JointPretraining(fresh(config), pages)
    outcome = learn_pages(tmp_path / "parts", again, PLAN, resume=True)
    assert outcome.version == checkpoint.load(tmp_path / "whole" / CHECKPOINT_FILE).version
    assert all(
        torch.equal(value, again.learned.state_dict()[name]) for name, value in whole.learned.state_dict().items()
    )


def test_shares_of_nothing_leave_a_part_out(config):
    objective = JointPretraining(fresh(config), pages, Mix(images=1.0, embeddings=0.0, words=0.0))
    for step in range(3):
        assert "images_explained" in objective.loss(step, random.Random(step))[1]


def test_a_masked_word_is_looked_for_in_the_image(config):
    """Another image changes the prediction; another word behind the mask does not."""
    objective = SeenWords(fresh(config), pages)
    for layer in objective.network.fusion.layers:  # what words take from the image starts at zero
        assert isinstance(layer, FusionLayer)
        torch.nn.init.normal_(layer.to_words.out.weight, std=0.1)
    page, other = example(image=True), example(image=True)
    masked = mask_words([page], random.Random(1), Masking(blank=1.0))
    other = replace(other, image=rotated(page, 180).image)
    with torch.no_grad():
        one, wanted = objective.predict(masked, [page])
        two, _ = objective.predict(masked, [other])
        without, _ = objective.predict(masked, [example()])
    assert one.shape == (len(masked.asked), config.text.pieces) and wanted.shape == (len(masked.asked),)
    assert not torch.allclose(one, two, atol=1e-4) and not torch.allclose(one, without, atol=1e-4)


def test_what_is_learned_is_a_network_like_any_other(config, tmp_path):
    learn_pages(tmp_path, JointPretraining(fresh(config), pages), replace(PLAN, steps=2))
    loaded = checkpoint.load(tmp_path / CHECKPOINT_FILE)
    network = GroundingNetwork(NetworkConfig.from_dict(loaded.config))
    network.load_state_dict(loaded.state)


def test_moving_averages_are_in_no_group(config):
    for kind in PAGE_OBJECTIVES.values():
        objective = kind(fresh(config), pages)
        (group,) = at_rate(1e-3)(objective)
        assert all(parameter.requires_grad for parameter in group["params"])
        averaged = sum("targets" in name for name, _ in objective.learned.named_parameters())
        assert len(group["params"]) == len(list(objective.learned.parameters())) - averaged


def test_an_unknown_way_to_learn_is_refused_by_name(config):
    with pytest.raises(ValueError, match="objective 'gan'; choose from mim, ijepa"):
        page_objective("gan", fresh(config), 0)
