import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from model import simulation
from model.batches import acceptable_masks, make_batch
from model.examples import Question
from model.masks import words_under
from model.simulation import upsample_mask, with_prompts
from tests.support.drawn_pages import SIZE, example, place
from tests.support.small_network import DEEP


@pytest.fixture(scope="session")
def config():
    return DEEP


@pytest.fixture
def prompted(network, vocabulary):
    """Many draws of prompts for the test page: (question, what it was before)."""
    page = example()
    batch = make_batch([page], vocabulary, network.config)
    with torch.no_grad():  # so that the untrained network answers with half of the words
        network.word_head.growth.score[-1].bias -= network(batch.pages, batch.questions).words.logits.median()
    pairs = []
    for seed in range(40):
        drawn = with_prompts(network, batch, vocabulary, random.Random(seed), 1.0)
        pairs += list(zip(drawn.examples[0].questions, page.questions, strict=True))
    return pairs


def under(point):
    x, y, _ = point
    return [i for i, w in enumerate(example().words) if w.box[0] <= x < w.box[2] and w.box[1] <= y < w.box[3]]


def test_clicks_say_the_truth(prompted):
    seen = set()
    for question, _ in prompted:
        wanted = set(question.answers[0]) if question.answers else set()
        for point in question.effective_prompt.points:
            (word,) = under(point)
            assert (word in wanted) == point[2]
            seen.add(point[2])
    assert seen == {True, False}


def test_a_box_holds_the_answer_that_is_meant(prompted):
    boxes = [(question, question.effective_prompt.box) for question, _ in prompted if question.effective_prompt.box]
    assert boxes
    for question, box in boxes:
        ys, xs = np.nonzero(acceptable_masks(example(), question)[0])
        assert box[0] <= xs.min() and box[1] <= ys.min() and box[2] > xs.max() and box[3] > ys.max()


def test_a_prompted_question_means_one_of_its_acceptable_answers(prompted):
    for question, before in prompted:
        assert len(question.answers) <= 1
        assert set(question.answers) <= set(before.answers)


def test_earlier_masks_are_unions_of_words(prompted):
    masks = [question.effective_prompt.mask for question, _ in prompted if question.effective_prompt.mask is not None]
    assert masks and all(words_under(mask, [w.box for w in example().words]) for mask in masks)


def test_some_prompts_speak_for_themselves_without_a_question(prompted):
    silent = [
        question.effective_prompt
        for question, before in prompted
        if question.effective_prompt.text == "" != before.text
    ]
    assert silent and all(prompt.box or any(point[2] for point in prompt.points) for prompt in silent)


def test_a_page_without_the_answer_gets_negative_clicks_alone(prompted):
    clicks = [p for question, before in prompted if not before.answered for p in question.effective_prompt.points]
    assert clicks and not any(point[2] for point in clicks)


def test_clicks_on_regions_fall_into_them(network, vocabulary):
    mask = np.zeros(SIZE[::-1], bool)
    mask[100:300, 20:400] = True  # words stand in it, too
    page = replace(example(image=True), questions=[Question("ticked?", masks=(mask,))])
    batch = make_batch([page], vocabulary, network.config)
    for seed in range(12):
        drawn = with_prompts(network, batch, vocabulary, random.Random(seed), 1.0)
        for x, y, positive in drawn.examples[0].questions[0].effective_prompt.points:
            assert mask[int(y), int(x)] == positive


def test_regions_are_corrected_where_the_network_erred(network, vocabulary, monkeypatch):
    """The first click lies in the region, later ones in what was missed (yes) or is too much (no)."""
    monkeypatch.setattr(simulation, "_ROUNDS", (1,))
    mask = np.zeros(SIZE[::-1], bool)
    mask[400:, :] = True
    page = replace(example(image=True), words=(), questions=[Question("ticked?", masks=(mask,))])
    batch = make_batch([page], vocabulary, network.config)
    with torch.no_grad():  # a last layer that marks some of the page, as that of a trained network does
        network.mask_decoder.to_weights[0][-1].bias.normal_(generator=torch.Generator().manual_seed(1))
        found = network(batch.pages, batch.questions).pixels.logits[0, 0].numpy() > 0
    assert 0 < found.mean() < 1
    wrong = upsample_mask(found, mask.shape) != mask
    later, earlier = set(), 0
    for seed in range(30):
        drawn = (
            with_prompts(network, batch, vocabulary, random.Random(seed), 1.0).examples[0].questions[0].effective_prompt
        )
        for number, (x, y, positive) in enumerate(drawn.points):
            assert mask[int(y), int(x)] == positive
            if number:
                assert wrong[int(y), int(x)]
                later.add(positive)
        earlier += drawn.mask is not None and bool((drawn.mask == upsample_mask(found, mask.shape)).all())
    assert later == {True, False}
    assert earlier


def test_a_later_round_corrects_the_answer_to_the_clicks_so_far(network, vocabulary, monkeypatch):
    monkeypatch.setattr(simulation, "_ROUNDS", (3,))
    mask = np.zeros(SIZE[::-1], bool)
    mask[400:, :] = True
    page = replace(example(image=True), words=(), questions=[Question("ticked?", masks=(mask,))])
    batch = make_batch([page], vocabulary, network.config)
    with torch.no_grad():
        network.mask_decoder.to_weights[0][-1].bias.normal_(generator=torch.Generator().manual_seed(1))
    several = 0
    for seed in range(12):
        question = with_prompts(network, batch, vocabulary, random.Random(seed), 1.0).examples[0].questions[0]
        *before, last = question.effective_prompt.points
        assert mask[int(last[1]), int(last[0])] == last[2]
        if question.effective_prompt.mask is not None or len(before) < 2:
            continue  # the answer before is not to be had again from what is left here
        earlier = replace(question, prompt=replace(question.effective_prompt, points=tuple(before)))
        asked = make_batch([replace(page, questions=[earlier])], vocabulary, network.config)
        with torch.no_grad():
            found = upsample_mask(network(asked.pages, asked.questions).pixels.logits[0, 0].numpy() > 0, mask.shape)
        assert found[int(last[1]), int(last[0])] != mask[int(last[1]), int(last[0])]
        several += 1
    assert several


def test_a_mask_of_cells_is_enlarged_to_the_page():
    cells = np.zeros((4, 2), bool)
    cells[1, 0] = True
    large = upsample_mask(cells, (8, 4))
    assert large.shape == (8, 4) and large[2:4, :2].all() and large.sum() == 4


def test_without_a_share_nothing_is_prompted(network, vocabulary):
    batch = make_batch([example()], vocabulary, network.config)
    drawn = with_prompts(network, batch, vocabulary, random.Random(0), 0.0)
    assert [q.prompt for q in drawn.examples[0].questions] == [None] * 3
    assert place("123.90") in drawn.examples[0].questions[0].answers[1]
