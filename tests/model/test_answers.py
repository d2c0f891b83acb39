from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from model.answers import choose_words, enlarge, pixel_choices
from model.examples import Prompt
from model.heads.mask_decoder import PixelAnswer
from model.heads.word_head import WordAnswer, take
from model.inputs import prepare_page
from model.layout import read_layout
from model.prompts import CLICKS, click_features
from tests.support.drawn_pages import page_words, place

LAYOUT = read_layout(page_words())


PLAIN = Prompt("x")


def grown(*seeds, prompt=PLAIN, fits=None):
    """A word answer: each seed with the words that grow from it, the first pointed to twice as much as the second."""
    count = len(page_words())
    logits = torch.full((1, len(seeds), count), -6.0)
    for row, words in enumerate(seeds):
        logits[0, row, [place(word) for word in words]] = 6.0
    at = torch.tensor([[place(words[0]) for words in seeds]])
    pointing = torch.full((1, count), -20.0)
    for row, seed in enumerate(at[0].tolist()):
        pointing[0, seed] = -0.6931 * row
    clicks = torch.from_numpy(click_features(LAYOUT, prompt))[None]
    taken = take(logits, at, clicks, torch.ones(1, count, dtype=torch.bool))
    fit = torch.full((1, len(seeds)), 0.8).logit() if fits is None else torch.tensor([fits]).logit()
    return WordAnswer(torch.zeros(1, count, 1), pointing, at, logits, taken, fit, torch.zeros(1), torch.zeros(1))


def chosen(*seeds, **prompt):
    return [
        [page_words()[at].text for at in one.words]
        for one in choose_words(grown(*seeds, prompt=Prompt("x", **prompt)), 0, shown=bool(prompt))
    ]


def middle(text):
    x0, y0, x1, y1 = page_words()[place(text)].box
    return (x0 + x1) / 2, (y0 + y1) / 2


def test_the_first_seed_answers_and_others_are_candidates():
    assert chosen(["Mary", "Jones"], ["5.90"], ["INV-2041"]) == [["Mary", "Jones"], ["5.90"], ["INV-2041"]]


def test_a_candidate_scores_as_much_less_as_its_seed_is_pointed_to_less():
    ious = [one.iou for one in choose_words(grown(["Mary"], ["5.90"], ["INV-2041"]), 0)]
    assert ious == pytest.approx([0.8, 0.4, 0.2], abs=1e-3)


def test_a_long_answer_wins_by_what_all_its_words_are_pointed_to():
    answer = grown(["5.90"], ["Mary", "Jones"])
    assert [len(one.words) for one in choose_words(answer, 0)] == [1, 2]
    answer.pointing[0, place("Jones")] = answer.pointing[0, place("Mary")]
    answer.pointing[0, place("5.90")] -= 0.5
    assert [len(one.words) for one in choose_words(answer, 0)] == [2, 1]


def test_a_better_fit_outranks_a_slightly_higher_pointing_probability():
    answer = grown(["Mary"], ["5.90"], fits=[0.3, 0.9])
    assert [one.words for one in choose_words(answer, 0)] == [[place("5.90")], [place("Mary")]]
    assert choose_words(answer, 0)[0].iou == pytest.approx(0.9, abs=1e-3)


def test_the_answer_that_begins_at_a_shown_place_comes_first():
    answer = grown(["Mary"], ["5.90"], fits=[0.3, 0.9])
    assert [one.words for one in choose_words(answer, 0, shown=True)] == [[place("Mary")], [place("5.90")]]


def test_seeds_that_grow_to_the_same_answer_are_one_candidate():
    assert chosen(["Mary", "Jones"], ["Jones", "Mary"]) == [["Mary", "Jones"]]


def test_a_seed_answers_even_where_nothing_grows():
    answer = grown(["5.90"])
    lonely = take(torch.full_like(answer.logits, -6.0), answer.seeds, torch.zeros(1, len(page_words()), CLICKS),
                  torch.ones(1, len(page_words()), dtype=torch.bool))  # fmt: skip
    assert lonely[0, 0].nonzero().flatten().tolist() == [place("5.90")]


def test_clicks_outrank_the_network():
    no = (*middle("Jones"), False)
    assert chosen(["Mary", "Jones"], points=(no,)) == [["Mary"]]
    assert chosen(["Mary", "Jones"], points=((*middle("5.90"), True), no)) == [["Mary", "5.90"]]


def test_a_box_keeps_to_what_lies_inside():
    x0, y0, x1, y1 = page_words()[place("Mary")].box
    assert chosen(["Mary", "Jones"], box=(x0 - 2, y0 - 2, x1 + 2, y1 + 2)) == [["Mary"]]


def test_nothing_is_chosen_where_every_word_is_barred():
    assert chosen(["Mary"], box=(0, 700, 10, 710)) == []


def test_after_clicks_the_map_of_the_highest_predicted_iou_is_chosen(vocabulary, config):
    """Before any, the single map if it is stable."""
    prepared = prepare_page([], (128, 128), Image.new("RGB", (128, 128), "white"), vocabulary, config)
    logits = torch.full((1, 4, 32, 32), -9.0)
    logits[0, 0, :8, :8] = 9.0
    logits[0, 2, 16:24, 16:24] = 9.0
    answer = pixels(logits, [0.5, 0.3, 0.8, 0.4], box_iou=0.1)

    def ious(*points):
        return [choice.iou for choice in pixel_choices(answer, 0, prepared, Prompt("", points=points))]

    assert ious() == pytest.approx([0.5, 0.8, 0.4, 0.3, 0.1])
    assert ious((80.0, 80.0, True)) == pytest.approx([0.8, 0.5, 0.4, 0.3, 0.1])


def pixels(logits, iou, box_iou, box=(0.0, 0.0, 4.0, 4.0), fits=True):
    place, edges = torch.zeros(1, *logits.shape[2:]), torch.zeros(1, 4, *logits.shape[2:])
    return PixelAnswer(
        logits, torch.tensor([iou]), torch.zeros(1), place, edges, torch.tensor([box]), torch.tensor([box_iou]),
        torch.tensor([fits]),
    )  # fmt: skip


def test_the_box_is_chosen_where_it_is_predicted_to_be_better(vocabulary, config):
    """Its edges lie between cells: 4 of the map's 32 cells are 16 of the page's 128 pixels."""
    prepared = prepare_page([], (128, 128), Image.new("RGB", (128, 128), "white"), vocabulary, config)
    logits = torch.full((1, 4, 32, 32), 9.0)
    better = pixels(logits, [0.5, 0.3, 0.8, 0.4], box_iou=0.6, box=(1.25, 2.0, 3.0, 4.5))
    first, second, *_ = pixel_choices(better, 0, prepared, Prompt(""))
    assert (first.iou, second.iou) == pytest.approx((0.6, 0.5))
    contradicted = pixels(logits, [0.5, 0.3, 0.8, 0.4], box_iou=0.6, fits=False)
    assert pixel_choices(contradicted, 0, prepared, Prompt(""))[0].iou == pytest.approx(0.5)
    mask = enlarge(first.shape, prepared, Prompt(""))
    assert mask[8:18, 5:12].all() and mask.sum() == 70
    assert enlarge(first.shape, prepared, Prompt("", box=(0, 0, 10, 10))).sum() == 2 * 5


@pytest.mark.parametrize("size", [(613, 797), (1275, 1650), (97, 1301), (1, 1), (333, 77)])
@pytest.mark.parametrize("long_side", [128, 512])
def test_a_mask_at_the_edges_of_the_map_ends_at_the_edges_of_the_page(size, long_side, vocabulary, config):
    """A cell is rarely a whole number of pixels, and the map ends where the padding does."""
    sized = replace(config, image=replace(config.image, long_side=long_side))
    prepared = prepare_page([], size, Image.new("RGB", size), vocabulary, sized)
    assert prepared.image is not None
    logits = np.full((prepared.image.shape[1] // 4, prepared.image.shape[2] // 4), 1.0, np.float32)
    mask = enlarge(logits, prepared, Prompt(""))
    assert mask.shape == (size[1], size[0]) and mask.all()
