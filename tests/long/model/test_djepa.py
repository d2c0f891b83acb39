import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch

from model import checkpoint
from model.inputs import batch_pages, prepare_page
from model.learning import Plan, learn
from model.network import GroundingNetwork
from model.objectives.djepa import (
    ImageJepa,
    JepaSettings,
    JointJepa,
    cell_centres,
    ink_weights,
    momentum_at,
    sample_words,
    words_in,
)
from model.objectives.mask_sampling import draw_blocks
from model.objectives.masked_inputs import spread_mask
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.predictor import (
    COLLAPSED,
    MovingAverage,
    Predictor,
    embedding_error,
    plain_norm,
    spread_penalty,
    target_spread,
)
from tests.support.drawn_pages import SIZE, example, rotated

PLAN = Plan(steps=4, seed=3, warmup=1, checkpoint_every=2, metrics_every=1)


def pages(step):
    page = example(image=True)
    return [rotated(page, 3 * step + turn) for turn in range(2)]


def fresh(config, kind, **settings):
    torch.manual_seed(7)
    network = GroundingNetwork(config)
    torch.nn.init.normal_(network.text_encoder.embedding.piece_vectors, std=0.05)
    objective = kind(network, pages, JepaSettings(**settings))
    return objective, torch.optim.AdamW([p for p in objective.learned.parameters() if p.requires_grad], 1e-3)


def test_targets_follow_by_the_average_and_stop_at_the_end():
    module = torch.nn.Linear(2, 2)
    average = MovingAverage(one=module)
    follower = average["one"]
    assert isinstance(follower, torch.nn.Linear)
    before = follower.weight.clone()
    with torch.no_grad():
        module.weight += 1
    average.follow(momentum_at(0.996, 0.0), one=module)
    assert torch.allclose(follower.weight, before + 0.004)
    average.follow(momentum_at(0.996, 1.0), one=module)
    assert torch.allclose(follower.weight, before + 0.004)
    assert momentum_at(0.996, 0.5) == pytest.approx(0.998)


def test_targets_are_never_trained(config):
    objective, optimizer = fresh(config, ImageJepa)
    before = {name: value.clone() for name, value in objective._targets.state_dict().items()}
    loss, _ = objective.loss(0, random.Random(0))
    loss.backward()
    assert all(p.grad is None and not p.requires_grad for p in objective._targets.parameters())
    optimizer.step()
    assert all(torch.equal(value, before[name]) for name, value in objective._targets.state_dict().items())
    objective.after_step(0.0)
    assert not all(torch.equal(value, before[name]) for name, value in objective._targets.state_dict().items())


def test_what_is_hidden_is_not_seen_and_is_the_target(config):
    """Pixels outside the context change the target of a step, and nothing that the encoder makes of the context."""
    objective, _ = fresh(config, ImageJepa)
    made = []
    objective._predictor.register_forward_pre_hook(lambda module, given: made.append(given[0][0][0].detach().clone()))
    seen, losses = objective.read_step(0), []
    for image in (seen.image, torch.rand_like(seen.image)):
        rng = random.Random(4)
        hidden = spread_mask(draw_blocks(seen.cells(16), random.Random(4)).hidden, *seen.image.shape[-2:])[:, None]
        mixed = replace(seen, image=torch.where(hidden, image, seen.image))
        objective.read = lambda step, mixed=mixed: mixed
        losses.append(objective.loss(0, rng)[0].item())
    assert torch.equal(*made)
    assert losses[0] != losses[1]


def test_a_prediction_follows_its_place_and_what_is_there():
    torch.manual_seed(0)
    predictor = Predictor(32, 16, 2, 2)
    seen = [(torch.randn(1, 5, 32), torch.rand(1, 5, 2), torch.ones(1, 5, dtype=torch.bool))]
    places = torch.rand(1, 3, 2)
    padded = [
        (
            torch.cat([seen[0][0], torch.randn(1, 2, 32)], 1),
            torch.cat([seen[0][1], torch.rand(1, 2, 2)], 1),
            torch.arange(7)[None] < 5,
        )
    ]
    there, padded_there, elsewhere = (
        predictor(given, at).match for given, at in ((seen, places), (padded, places), (seen, places.flip(-1)))
    )
    assert torch.allclose(there, padded_there, atol=1e-5)
    assert not torch.allclose(there, elsewhere, atol=1e-3)


def test_an_untrained_predictor_looks_nearby():
    torch.manual_seed(0)
    predictor = Predictor(32, 16, 1, 1)
    tokens, there = torch.randn(1, 2, 32), torch.ones(1, 2, dtype=torch.bool)
    at, wanted = torch.tensor([[[0.1, 0.1], [0.9, 0.9]]]), torch.tensor([[[0.12, 0.1]]])
    made = predictor([(tokens, at, there)], wanted)
    for row, moves in ((0, True), (1, False)):
        changed = tokens.clone()
        changed[:, row] += 1.0 + torch.randn(32)
        other = predictor([(changed, at, there)], wanted).match
        assert torch.allclose(other, made.match, atol=1e-6) is not moves


def test_without_contrast_a_prediction_is_one_vector():
    predictor = Predictor(32, 16, 1, 2, contrast=False)
    made = predictor([(torch.randn(1, 2, 32), torch.rand(1, 2, 2), torch.ones(1, 2).bool())], torch.rand(1, 1, 2))
    assert made.match is made.embedding and "match.weight" not in predictor.state_dict()


def test_the_alarm_rings_when_all_targets_are_equal():
    there = torch.ones(2, 50, dtype=torch.bool)
    healthy = target_spread(plain_norm(torch.randn(2, 50, 32)), there)
    equal = target_spread(plain_norm(torch.randn(32) + 0.01 * torch.randn(2, 50, 32)), there)
    assert healthy["target_std"] == pytest.approx(1.0, abs=0.1) and healthy["collapsed"] == 0
    assert equal["target_std"] < COLLAPSED and equal["collapsed"] == 1


def test_the_rank_counts_the_directions_in_which_targets_differ():
    torch.manual_seed(0)
    there = torch.ones(1, 4000, dtype=torch.bool)
    few = torch.randn(1, 4000, 3) @ torch.linalg.qr(torch.randn(32, 3))[0].T
    assert target_spread(torch.randn(1, 4000, 32), there)["target_rank"] == pytest.approx(32, abs=0.5)
    assert target_spread(few, there)["target_rank"] == pytest.approx(3, abs=0.1)
    with torch.autocast("cpu", torch.bfloat16):  # --mixed
        assert target_spread(few, there)["target_rank"] == pytest.approx(3, abs=0.1)
    assert target_spread(few * torch.inf, there)["target_rank"].isnan()  # no error: the loss ends the run


def test_embeddings_that_are_alike_or_follow_each_other_are_penalised():
    torch.manual_seed(0)
    apart = torch.randn(400, 8)
    alike = 10 * torch.randn(8) + 1e-2 * apart
    following = apart[:, :1] * torch.tensor([1.0, -1.0]).repeat(4)
    assert spread_penalty(apart) < 0.1 < spread_penalty(following)
    assert spread_penalty(alike) == pytest.approx(1, abs=0.02)  # the whole of the missing deviation
    alike.requires_grad_()
    spread_penalty(alike).backward()
    assert alike.grad is not None
    assert spread_penalty(alike - 1e-4 * alike.grad.sign()) < spread_penalty(alike)


def test_paper_counts_less_than_print(config):
    objective, _ = fresh(config, ImageJepa)
    weights = ink_weights(objective.read_step(0), 0.1)
    assert weights.unique().tolist() == pytest.approx([0.1, 1.0])
    error, weight = torch.zeros(1, 4, 2), torch.tensor([[1.0, 1.0, 0.1, 0.1]])
    error[0, 0] = 2.0  # smooth L1 of 1.5 in one of four tokens
    assert float(embedding_error(error, torch.zeros_like(error), weight)) == pytest.approx(1.5 / 2.2)


def test_a_network_whose_encoder_sees_nothing_rings_the_alarm(config):
    objective, _ = fresh(config, ImageJepa)
    with torch.no_grad():
        for lateral in (objective._targets["image"].lateral16, objective._targets["image"].lateral32):
            lateral.weight.zero_()
    assert objective.loss(0, random.Random(0))[1]["collapsed"] == 1


@pytest.mark.parametrize("kind", [ImageJepa, JointJepa])
def test_a_resumed_run_ends_bit_for_bit_where_an_uninterrupted_one_ends(config, kind, tmp_path):
    whole, optimizer = fresh(config, kind)
    learn(whole, optimizer, PLAN)
    first, optimizer = fresh(config, kind)
    done: list[float] = []
    learn(first, optimizer, PLAN, folder=tmp_path, on_progress=done.append, cancelled=lambda: len(done) == 1)
    again, optimizer = fresh(config, kind)
    learn(again, optimizer, PLAN, folder=tmp_path, resume=True)
    assert all(
        torch.equal(value, again.learned.state_dict()[name]) for name, value in whole.learned.state_dict().items()
    )
    assert "predictor" not in " ".join(checkpoint.load(tmp_path / CHECKPOINT_FILE).state)


def test_a_joint_run_predicts_regions_and_words(config):
    objective, optimizer = fresh(config, JointJepa)
    lines: list[Mapping[str, float]] = []
    learn(objective, optimizer, replace(PLAN, steps=12), on_metrics=lines.append)
    assert any("regions" in line for line in lines) and any("words" in line for line in lines)
    assert all("target_std" in line or "word_target_std" in line for line in lines)


def test_words_are_predicted_from_the_image_alone(config):
    """Another word elsewhere on the page does not change what is predicted, another image does."""
    objective, _ = fresh(config, JointJepa, word_steps=1.0)
    told = []
    objective._predictor.register_forward_hook(lambda module, given, out: told.append(out.match.detach().clone()))
    page = example(image=True)
    changed = [replace(word, text="elsewhere") for word in page.words]
    with torch.no_grad():
        for one in (page, replace(page, words=tuple(changed)), rotated(page, 180)):
            objective._source = lambda step, one=one: [one]
            objective.loss(0, random.Random(1))
    assert torch.equal(told[0], told[1])
    assert not torch.allclose(told[0], told[2], atol=1e-4)


def test_words_help_to_predict_regions_unless_they_are_hidden(config):
    """Other words in hidden regions: the prediction follows them where they are seen, and cannot where they are not."""
    told: dict[float, list[torch.Tensor]] = {}
    for share in (0.0, 1.0):
        objective, _ = fresh(config, JointJepa, word_steps=0.0, hidden_words=share)
        objective._predictor.register_forward_hook(
            lambda module, given, out, share=share: told.setdefault(share, []).append(out.match.detach().clone())
        )
        seen, rng = objective.read_step(0), random.Random(2)
        rng.random()  # which of the two directions
        inside = words_in(seen.batch, draw_blocks(seen.cells(16), rng).hidden)
        assert inside.any(1).all() and not inside.all(1).any()
        for words in (lambda page, row: page.words, elsewhere):
            changed = [replace(page, words=words(page, row)) for page, row in zip(pages(0), inside, strict=True)]
            objective._source = lambda step, changed=changed: changed
            with torch.no_grad():
                objective.loss(0, random.Random(2))
    assert not torch.allclose(told[0.0][0], told[0.0][1], atol=1e-5)
    assert torch.equal(*told[1.0])


def elsewhere(page, inside):
    """The words with another text where they are inside; colons stay, since segments end there."""
    return tuple(
        replace(word, text="elsewhere" + ":" * word.text.endswith(":")) if within else word
        for word, within in zip(page.words, inside.tolist(), strict=True)
    )


def test_the_words_in_hidden_cells_are_found(config, vocabulary):
    batch = batch_pages([prepare_page(example().words, SIZE, None, vocabulary, config)])
    hidden = torch.zeros(1, 8, 6, dtype=torch.bool)
    hidden[0, 0] = True  # the first 100 of 800 pixels: one line of words at 70
    found = words_in(batch, hidden)[0].tolist()
    assert [word.text for word, there in zip(example().words, found, strict=True) if there] == [
        "Acme",
        "Trading",
        "Ltd",
    ]


def test_some_words_of_each_page_are_drawn():
    valid = torch.tensor([[True] * 9, [True] * 3 + [False] * 6])
    numbers, there = sample_words(valid, 5, random.Random(0))
    assert there.sum(1).tolist() == [5, 3] and numbers[1, :3].tolist() == [0, 1, 2]
    assert len(set(numbers[0].tolist())) == 5


def test_cells_have_their_centres():
    assert torch.allclose(cell_centres((2, 1), torch.device("cpu")), torch.tensor([[0.25, 0.25], [0.25, 0.75]]))
