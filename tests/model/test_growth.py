"""Where growth begins, and what it sees from there."""

from dataclasses import replace

import pytest
import torch

from model.batches import make_batch
from model.heads.growth import pick_seeds, relations
from model.objectives.segmentation import begun_inside, word_losses
from tests.support.drawn_pages import example, page_words, place


@pytest.fixture
def batch(vocabulary, config):
    return make_batch([example(), example()], vocabulary, config)  # six questions


def test_each_seed_is_in_a_segment_of_its_own(batch):
    pointing = torch.full((6, len(page_words())), -5.0)
    for strength, text in enumerate(["5.90", "Jones", "Mary"]):
        pointing[:, place(text)] = strength
    seeds = pick_seeds(pointing, batch.pages, 2)
    assert seeds.tolist() == [[place("Mary"), place("5.90")]] * 6  # Jones stands beside Mary


def test_a_page_with_fewer_segments_than_seeds_still_gives_as_many(vocabulary, config):
    page = replace(example(), words=page_words()[:1], questions=example().questions[2:])
    small = make_batch([page], vocabulary, config)
    assert pick_seeds(torch.zeros(1, 1), small.pages, 3).tolist() == [[0, 0, 0]]


def test_training_seeds_follow_the_pointing_inside_acceptable_answers(batch):
    torch.manual_seed(0)
    words = len(page_words())
    pointing, towards = torch.zeros(6, words), torch.zeros(6, words)
    pointing[:, place("5.90")] = 50.0  # outside
    pointing[:, place("Mary")] = 1.0986  # three times as often as Jones
    towards[:3, [place("Mary"), place("Jones")]] = 1
    drawn = torch.stack([pick_seeds(pointing, batch.pages, 1, towards)[:, 0] for _ in range(300)])
    assert set(drawn[:, :3].flatten().tolist()) == {place("Mary"), place("Jones")}
    assert (drawn[:, :3] == place("Mary")).float().mean() == pytest.approx(0.75, abs=0.06)
    assert (drawn[:, 3:] == place("5.90")).all()  # where no words are given, the network's own choice


def test_relations_say_who_is_the_seed_who_stands_beside_it_and_who_below(batch):
    seeds = torch.full((6,), place("Mary"))
    seen = relations(batch.pages, seeds)
    same, segment, line = seen[0, :, 0], seen[0, :, 1], seen[0, :, 2]
    assert same.nonzero().flatten().tolist() == [place("Mary")]
    assert segment.nonzero().flatten().tolist() == [place("Mary"), place("Jones")]
    assert line.nonzero().flatten().tolist() == [place(text) for text in ("Bill", "to:", "Mary", "Jones")]
    assert seen[0, place("5.90"), 6] > 0 > seen[0, place("Acme"), 6]
    assert torch.isfinite(seen).all()


def test_growth_from_outside_every_answer_teaches_growth_nothing(batch, network):
    answer = network(batch.pages, batch.questions, torch.nn.functional.one_hot(
        torch.full((6,), place("Acme")), len(page_words())
    ).float())  # fmt: skip
    assert word_losses(answer.words, batch.targets)["words"] == 0
    inside = begun_inside(batch.targets, 1.0)
    assert word_losses(network(batch.pages, batch.questions, inside.towards).words, inside)["words"] > 0


def test_in_training_a_second_answer_is_grown_from_another_segment(batch, network):
    inside = begun_inside(batch.targets, 1.0)
    seeds = network(batch.pages, batch.questions, inside.towards).words.seeds
    each = len(seeds) // len(batch.pages.valid)
    segment = batch.pages.place[..., 0].repeat_interleave(each, 0)
    assert seeds.shape[1] == 2
    assert (segment.gather(1, seeds[:, :1]) != segment.gather(1, seeds[:, 1:])).all()
    assert network(batch.pages, batch.questions).words.seeds.shape[1] == 1


def test_how_good_an_answer_is_is_learned_from_the_second_as_well(batch, network):
    inside = begun_inside(batch.targets, 1.0)
    answer = network(batch.pages, batch.questions, inside.towards).words
    answer.fit.retain_grad()
    word_losses(answer, inside)["word_iou"].backward()
    asked = batch.targets.by_words > 0
    assert (answer.fit.grad[asked] != 0).all() and (answer.fit.grad[~asked] == 0).all()


def test_the_fit_loss_is_smallest_at_the_mean_iou(batch, network):
    """Half of the answers right, half wrong: the best guess is one half; the L1 distance would accept any."""
    answer = network(batch.pages, batch.questions).words
    truth = batch.targets.words[:, 0].bool()
    right = replace(answer, taken=truth[:, None], fit=torch.zeros(len(truth), 1))
    wrong = replace(right, taken=torch.zeros_like(right.taken))

    def loss(guess):
        return sum(
            word_losses(replace(one, fit=torch.full_like(one.fit, guess).logit()), batch.targets)["word_iou"].item()
            for one in (right, wrong)
        )

    assert loss(0.5) < min(loss(0.3), loss(0.7)) < loss(0.99)


def test_a_click_and_a_box_say_where_growth_begins(network, vocabulary):
    from model.examples import Prompt

    x0, y0, x1, y1 = page_words()[place("5.90")].box
    click = Prompt("", points=(((x0 + x1) / 2, (y0 + y1) / 2, True),))
    around = Prompt("", box=(x0 - 3, y0 - 3, x1 + 3, y1 + 3))
    asked = replace(example(), questions=[replace(example().questions[0], prompt=one) for one in (click, around)])
    batch = make_batch([asked], vocabulary, network.config)
    assert network(batch.pages, batch.questions).words.seeds.tolist() == [[place("5.90")]] * 2
