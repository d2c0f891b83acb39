import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch

from model import checkpoint
from model.encoders.feature_memory import FeatureMemory
from model.learning import STATE_FILE, Plan, rate_at
from model.learning import learn as learn_objective
from model.network import GroundingNetwork
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.promptable import Asking, PromptableSegmentation
from model.prefetch import prefetch
from model.presets import NetworkConfig
from tests.support.drawn_pages import example

PLAN = Plan(steps=6, seed=5, warmup=2, checkpoint_every=2, metrics_every=2)
ASKING = Asking(prompted_steps=0.5)


def learn(network, optimizer, source, plan, asking=ASKING, **how):
    return learn_objective(PromptableSegmentation(network, source, asking), optimizer, plan, **how)


def source(step):
    """Two pages with three questions; which ones depends on the step alone."""
    rng = random.Random(step)
    page = example()
    return [replace(page, questions=[rng.choice(page.questions) for _ in range(3)]) for _ in range(2)]


def fresh(config):
    torch.manual_seed(7)
    network = GroundingNetwork(config)
    torch.nn.init.normal_(network.text_encoder.embedding.piece_vectors, std=0.05)
    return network, torch.optim.AdamW(network.parameters(), 1e-3)


def same(one, other):
    return all(torch.equal(tensor, other[name]) for name, tensor in one.items())


def test_the_same_seed_gives_the_same_weights(config, tmp_path):
    versions = set()
    for name in ("one", "two"):
        network, optimizer = fresh(config)
        versions.add(learn(network, optimizer, source, PLAN, folder=tmp_path / name).version)
    assert len(versions) == 1


def test_a_resumed_run_ends_bit_for_bit_where_an_uninterrupted_one_ends(config, tmp_path):
    whole, optimizer = fresh(config)
    learn(whole, optimizer, source, PLAN)
    first, optimizer = fresh(config)
    seen: list[float] = []
    outcome = learn(
        first, optimizer, source, PLAN, folder=tmp_path, on_progress=seen.append, cancelled=lambda: len(seen) == 2
    )
    assert outcome.cancelled and outcome.step == 3
    again, optimizer = fresh(config)
    outcome = learn(again, optimizer, source, PLAN, folder=tmp_path, resume=True)
    assert outcome.step == 6 and not outcome.cancelled
    assert same(again.state_dict(), whole.state_dict())


def test_accumulation_averages_the_gradients_of_the_next_samples(config):
    plan = replace(PLAN, steps=2, accumulate=2, clip=1e9)
    network, _ = fresh(config)
    asked: list[int] = []

    def noted(step):
        asked.append(step)
        return source(step)

    learn(network, torch.optim.SGD(network.parameters(), 0.01), noted, plan, Asking(prompted_steps=0.0))
    assert asked == [0, 1, 2, 3]

    slow, _ = fresh(config)
    objective = PromptableSegmentation(slow, source, Asking(prompted_steps=0.0))
    slow.train()
    for step in range(2):
        gradients = []
        for number in (2 * step, 2 * step + 1):
            rng = random.Random(f"{plan.seed}:{number}")
            torch.manual_seed(rng.getrandbits(62))
            slow.zero_grad()
            objective.loss(number, rng)[0].backward()
            gradients.append([torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in slow.parameters()])
        for parameter, one, other in zip(slow.parameters(), *gradients, strict=True):
            parameter.data -= 0.01 * rate_at(step, plan) * (one + other) / 2
    for name, tensor in network.state_dict().items():
        torch.testing.assert_close(tensor, slow.state_dict()[name], rtol=1e-5, atol=1e-6)


def test_a_run_resumed_with_another_accumulation_goes_on_with_the_next_samples(config, tmp_path):
    asked: list[int] = []

    def noted(step):
        asked.append(step)
        return source(step)

    network, optimizer = fresh(config)
    plan = replace(PLAN, accumulate=2)
    done: list[float] = []
    learn(network, optimizer, noted, plan, folder=tmp_path, on_progress=done.append, cancelled=lambda: len(done) == 1)
    network, optimizer = fresh(config)
    learn(network, optimizer, noted, replace(PLAN, accumulate=1, steps=4), folder=tmp_path, resume=True)
    assert asked == [0, 1, 2, 3, 4, 5]


def test_a_state_of_before_micro_steps_were_counted_resumes(config, tmp_path):
    network, optimizer = fresh(config)
    learn(network, optimizer, source, replace(PLAN, steps=3), folder=tmp_path)
    state = torch.load(tmp_path / STATE_FILE, weights_only=True)
    assert state.pop("samples") == 3
    torch.save(state, tmp_path / STATE_FILE)
    asked: list[int] = []

    def noted(step):
        asked.append(step)
        return source(step)

    network, optimizer = fresh(config)
    learn(network, optimizer, noted, replace(PLAN, steps=5), folder=tmp_path, resume=True)
    assert asked == [3, 4]


def test_a_finished_run_resumes_to_itself(config, tmp_path):
    network, optimizer = fresh(config)
    learn(network, optimizer, source, PLAN, folder=tmp_path)
    again, optimizer = fresh(config)
    learn(again, optimizer, lambda step: pytest.fail("no step is left"), PLAN, folder=tmp_path, resume=True)
    assert same(again.state_dict(), network.state_dict())


def test_a_run_is_not_resumed_with_another_seed(config, tmp_path):
    network, optimizer = fresh(config)
    learn(network, optimizer, source, PLAN, folder=tmp_path)
    with pytest.raises(ValueError, match="resume it with that seed"):
        learn(network, optimizer, source, replace(PLAN, seed=6), folder=tmp_path, resume=True)


def test_the_checkpoint_of_a_run_is_a_checkpoint(config, tmp_path):
    network, optimizer = fresh(config)
    outcome = learn(network, optimizer, source, PLAN, folder=tmp_path)
    loaded = checkpoint.load(tmp_path / CHECKPOINT_FILE)
    assert loaded.version == outcome.version and NetworkConfig.from_dict(loaded.config) == config
    assert same(loaded.state, network.state_dict())
    assert sorted(path.name for path in tmp_path.iterdir()) == [CHECKPOINT_FILE, STATE_FILE]


def test_metrics_and_progress_are_reported(config):
    network, optimizer = fresh(config)
    metrics: list[Mapping[str, float]] = []
    progress: list[float] = []
    learn(network, optimizer, source, PLAN, on_metrics=metrics.append, on_progress=progress.append)
    assert [line["step"] for line in metrics] == [2, 4, 6]
    assert {"loss", "words", "answered", "seconds", "processor_seconds", "rate", "step_seconds", "left_seconds"} <= set(
        metrics[0]
    )
    assert metrics[-1]["left_seconds"] == 0 and "examples_a_second" not in metrics[0]
    assert progress == [pytest.approx((n + 1) / 6) for n in range(6)]


def test_examples_a_second_are_those_taken_from_the_source(config):
    network, optimizer = fresh(config)
    metrics: list[Mapping[str, float]] = []
    with prefetch(source, 0) as counted:
        learn(network, optimizer, counted, PLAN, on_metrics=metrics.append, examples=lambda: counted.given)
    for line in metrics:  # two steps of two pages
        assert line["examples_a_second"] * line["step_seconds"] == pytest.approx(2)


def test_a_run_with_examples_made_ahead_ends_with_the_same_weights(config, tmp_path):
    versions = set()
    for workers in (0, 2):
        network, optimizer = fresh(config)
        with prefetch(source, workers) as ahead:
            versions.add(learn(network, optimizer, ahead, PLAN, folder=tmp_path / str(workers)).version)
    assert len(versions) == 1


def test_the_words_of_a_page_are_learned(config):
    network, optimizer = fresh(config)
    losses = []
    plan = replace(PLAN, steps=80, metrics_every=10)
    learn(
        network,
        optimizer,
        source,
        plan,
        Asking(prompted_steps=0.0),
        on_metrics=lambda line: losses.append(line["words"]),
    )
    assert losses[-1] < 0.5 * losses[0]


def test_pages_with_images_teach_the_pixel_path(config):
    network, optimizer = fresh(config)
    losses = []
    learn(
        network,
        optimizer,
        lambda step: [example(image=True)],
        replace(PLAN, steps=20, metrics_every=5),
        Asking(prompted_steps=0.2),
        on_metrics=lambda line: losses.append(line["mask_one"] + line["mask_best"]),
    )
    assert losses[-1] < losses[0]


def test_a_loss_that_is_not_finite_ends_the_run_and_keeps_what_was_saved(config, tmp_path):
    network, optimizer = fresh(config)

    def spoiled(step):
        if step == 3:
            network.word_head.point.weight.data.fill_(float("nan"))
        return source(step)

    with pytest.raises(FloatingPointError, match="lower the learning rate"):
        learn(network, optimizer, spoiled, PLAN, folder=tmp_path)
    assert torch.load(tmp_path / STATE_FILE, weights_only=True)["step"] == 2


def test_the_rate_warms_up_and_falls():
    plan = Plan(steps=1000, warmup=100, floor=0.01)
    assert rate_at(0, plan) == pytest.approx(0.01)
    assert rate_at(99, plan) == pytest.approx(1, abs=0.05)
    assert rate_at(500, plan) == pytest.approx(0.505, abs=0.01)
    assert rate_at(999, plan) == pytest.approx(0.01, abs=1e-4)


def test_each_cycle_warms_up_and_falls_and_is_as_long_as_all_before_it():
    plan = Plan(steps=400, cycle=100, warmup=10, floor=0.01)
    assert [plan.cycle_of(step) for step in (0, 99, 100, 199, 200, 399)] == [
        (0, 100), (0, 100), (100, 200), (100, 200), (200, 400), (200, 400),
    ]  # fmt: skip
    for begin, end in ((0, 100), (100, 200), (200, 400)):
        assert rate_at(begin, plan) == pytest.approx(0.1)
        assert rate_at((begin + end) // 2, plan) == pytest.approx(0.505, abs=0.02)
        assert rate_at(end - 1, plan) == pytest.approx(0.01, abs=1e-3)
    assert Plan(steps=250, cycle=100).cycle_of(249) == (200, 250), "a last cycle may be cut short"
    assert Plan(steps=250).cycle_of(249) == (0, 250)


def test_a_cycle_ends_with_a_checkpoint_at_which_a_run_may_end(config, tmp_path):
    network, optimizer = fresh(config)
    looked: list[int] = []

    def ends(step):
        looked.append(step)
        return step == 3

    plan = replace(PLAN, steps=12, cycle=3, checkpoint_every=100)
    outcome = learn(network, optimizer, source, plan, folder=tmp_path, at_checkpoint=ends)
    assert (outcome.step, outcome.settled, looked) == (3, True, [0, 3])
    again, optimizer = fresh(config)
    outcome = learn(again, optimizer, source, plan, folder=tmp_path, resume=True, at_checkpoint=ends)
    assert (outcome.step, outcome.settled, looked) == (3, True, [0, 3, 3]), "killed in that look, it looks again"
    goes_on, optimizer = fresh(config)
    outcome = learn(goes_on, optimizer, source, plan, folder=tmp_path, resume=True, at_checkpoint=lambda step: False)
    assert outcome.step == 12 and not outcome.settled


def test_a_run_without_steps_is_refused():
    with pytest.raises(ValueError, match="at least one step"):
        Plan(steps=0)
    with pytest.raises(ValueError, match="at least one step"):
        Plan(steps=5, cycle=0)
    with pytest.raises(ValueError, match="at least one micro-step"):
        Plan(steps=5, accumulate=0)


def test_a_checkpoint_callback_ends_a_run_and_is_called_again_on_resume(config, tmp_path):
    network, optimizer = fresh(config)
    heard = []

    def at_checkpoint(step):
        heard.append(step)
        return step == 4

    outcome = learn(network, optimizer, source, PLAN, folder=tmp_path, at_checkpoint=at_checkpoint)
    assert (outcome.step, outcome.settled, outcome.cancelled) == (4, True, False)
    assert heard == [0, 2, 4]
    again, optimizer = fresh(config)
    outcome = learn(again, optimizer, source, PLAN, folder=tmp_path, resume=True, at_checkpoint=at_checkpoint)
    assert (outcome.step, outcome.settled) == (4, True)
    assert same(again.state_dict(), network.state_dict())


def test_what_looks_at_a_checkpoint_does_not_change_the_run(config, tmp_path):
    plain, optimizer = fresh(config)
    learn(plain, optimizer, source, PLAN, folder=tmp_path / "plain")
    looked, optimizer = fresh(config)

    def look(step):
        torch.rand(step + 1)
        random.random()
        return False

    learn(looked, optimizer, source, PLAN, folder=tmp_path / "looked", at_checkpoint=look)
    assert same(plain.state_dict(), looked.state_dict())


def test_frozen_encoders_stay_as_they_are_and_read_an_image_once(config):
    network, _ = fresh(config)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    network.text_encoder.requires_grad_(False)
    network.image_encoder.freeze()
    optimizer = torch.optim.AdamW([one for one in network.parameters() if one.requires_grad], 1e-3)
    learn(network, optimizer, lambda step: [example(image=True)], PLAN)
    after = network.state_dict()
    changed = {name.split(".")[0] for name, tensor in after.items() if not torch.equal(tensor, before[name])}
    assert {"text_encoder", "image_encoder"}.isdisjoint(changed)
    assert {"fusion", "word_head", "mask_decoder"} <= changed
    assert network.image_encoder.memory.reads == 1


def test_remembered_features_are_those_that_were_read(config):
    network, _ = fresh(config)
    image = torch.rand(1, 3, 64, 64)
    with torch.no_grad():
        read = network.image_encoder(image)
    network.image_encoder.freeze()
    for _ in range(2):
        remembered = network.image_encoder(image)
        assert torch.equal(remembered.coarse, read.coarse) and torch.equal(remembered.skip4, read.skip4)
    assert network.image_encoder.memory.reads == 1


def test_the_longest_unused_features_are_forgotten_first(config):
    encoder = fresh(config)[0].image_encoder
    encoder.freeze()
    one, other, third = (torch.rand(1, 3, 64, 64) for _ in range(3))
    encoder(one)
    encoder.memory = FeatureMemory(most_bytes=int(2.5 * encoder.memory.bytes))
    for image in (one, other, one, third, one):
        encoder(image)
    assert encoder.memory.reads == 3
    encoder(other)
    assert encoder.memory.reads == 4
