"""Learning which region is asked for, and the choice between a region and words."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from model.batches import make_batch
from model.examples import Prompt, Question
from model.inputs import some_questions
from model.learning import Plan, learn
from model.network import GroundingNetwork
from model.objectives.region_ranking import RegionRanking
from tests.support.drawn_pages import SIZE, example

BOX = (40, 500, 61, 521)  # of the ticked box on the drawn page


def ticked():
    mask = np.zeros((SIZE[1], SIZE[0]), bool)
    mask[BOX[1] : BOX[3], BOX[0] : BOX[2]] = True
    return Question("Is the box ticked?", (), (mask,))


def page():
    """The drawn page with its box asked for, beside questions for words."""
    drawn = example(image=True)
    return replace(drawn, questions=(*drawn.questions[:2], ticked(), Question("Where is the signature?")))


@pytest.fixture
def ranking(config) -> GroundingNetwork:
    torch.manual_seed(3)
    return GroundingNetwork(replace(config, ranker_width=16, region_ranker_width=16)).eval()


def test_only_the_region_ranker_learns_and_it_learns_which_region_is_asked_for(ranking):
    before = {name: tensor.clone() for name, tensor in ranking.state_dict().items()}
    objective = RegionRanking(ranking, lambda step: [page()], steps=2)
    first, _ = objective.loss(0, random.Random(0))
    learn(objective, torch.optim.Adam(objective.ranker.parameters(), 1e-2), Plan(steps=150, warmup=1))
    last, parts = objective.loss(0, random.Random(0))
    changed = {name for name, tensor in ranking.state_dict().items() if not torch.equal(tensor, before[name])}
    assert changed and all(name.startswith("region_ranker.") for name in changed)
    assert last < 0.5 * first
    assert parts["chosen_iou"] > 0.8


def test_lists_are_made_once_and_the_loss_of_a_step_is_repeatable(ranking):
    asked = []

    def source(step):
        asked.append(step)
        return [page()]

    objective = RegionRanking(ranking, source, steps=2)
    losses = []
    for _ in range(2):  # a step after the first two draws from all lists
        torch.manual_seed(5)
        losses.append(objective.loss(4, random.Random(5))[0].item())
    assert losses[0] == losses[1]
    assert sorted(asked) == list(range(8))


def test_a_network_without_a_region_ranker_says_so(network):
    with pytest.raises(ValueError, match="does not rank regions"):
        RegionRanking(network, lambda step: [page()], steps=1).loss(0, random.Random(0))


def test_pages_without_images_are_refused(ranking):
    with pytest.raises(ValueError, match="with their images"):
        RegionRanking(ranking, lambda step: [replace(page(), image=None)], steps=1).loss(0, random.Random(0))


def test_some_questions_of_a_page_are_answered_by_pixels_as_all_together(ranking, vocabulary):
    asked_for = replace(page(), questions=(*page().questions, replace(ticked(), prompt=Prompt("", ((50, 510, True),)))))
    batch = make_batch([asked_for], vocabulary, ranking.config)
    with torch.no_grad():
        state = ranking.encode(batch.pages)
        asked = ranking.ask_words(state, batch.questions)
        whole = ranking.ask_pixels(state, state.picture, asked, batch.questions)
        some = ranking.ask_pixels(state, state.picture, asked.rows([2, 4]), some_questions(batch.questions, [2, 4]))
    assert torch.allclose(some.logits, whole.logits[[2, 4]], atol=1e-4)
    assert torch.equal(some.box_fits, whole.box_fits[[2, 4]])
