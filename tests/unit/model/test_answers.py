from dataclasses import replace

import numpy as np
import pytest
import torch
from pages import page_words, place
from PIL import Image

from model.answers import choose_words, enlarge, pixel_choices, smooth
from model.examples import Prompt
from model.inputs import prepare_page
from model.layout import read_layout
from model.mask_decoder import PixelAnswer

LAYOUT = read_layout(page_words())


def scores(**words):
    values = np.full(len(page_words()), -5.0, np.float32)
    for text, value in words.items():
        values[place(text)] = value
    return values


def texts(indices):
    return [page_words()[index].text for index in indices]


def test_scores_are_averaged_with_neighbours_of_the_same_segment_alone():
    given = scores(Mary=4.0, Jones=-2.0)
    smoothed = smooth(given, LAYOUT)
    assert smoothed[place("Mary")] == pytest.approx(0.7 * 4 + 0.3 * -2)
    assert smoothed[place("Jones")] == pytest.approx(0.7 * -2 + 0.3 * 4)
    assert smoothed[place("to:")] == pytest.approx(-5.0)  # beside Mary, but another segment
    assert smoothed[place("INV-2041")] == given[place("INV-2041")]


def test_a_word_in_the_middle_hears_both_sides():
    given = scores(Acme=3.0, Trading=0.0, Ltd=-1.0)
    smoothed = smooth(given, LAYOUT)
    assert smoothed[place("Trading")] == pytest.approx(0.7 * 0 + 0.3 * (3 - 1) / 2)
    assert smoothed[place("Ltd")] == pytest.approx(0.7 * -1 + 0.3 * 0)


def test_words_above_zero_answer_and_others_are_candidates_best_first():
    given = scores(Mary=4.0, Jones=4.0)
    given[place("INV-2041")], given[place("03/04/2024")], given[place("5.90")] = -1.0, -2.0, -3.0
    chosen, others = choose_words(given, LAYOUT, Prompt("x"))
    assert texts(chosen) == ["Mary", "Jones"]
    assert [texts(group) for group in others] == [["INV-2041"], ["03/04/2024"], ["5.90"]]


def test_the_best_word_answers_where_none_is_above_zero():
    given = scores()
    given[place("5.90")] = -1.0
    chosen, _ = choose_words(given, LAYOUT, Prompt("x"))
    assert texts(chosen) == ["5.90"]


def test_clicks_outrank_scores():
    given = scores(Mary=9.0, Jones=9.0)
    x0, y0, x1, y1 = page_words()[place("Jones")].box
    at = ((x0 + x1) / 2, (y0 + y1) / 2)
    chosen, others = choose_words(given, LAYOUT, Prompt("x", points=((*at, False),)))
    assert texts(chosen) == ["Mary"] and all("Jones" not in texts(group) for group in others)
    x0, y0, x1, y1 = page_words()[place("5.90")].box
    chosen, _ = choose_words(given, LAYOUT, Prompt("x", points=((x0 + 1, y0 + 1, True), (*at, False))))
    assert texts(chosen) == ["Mary", "5.90"]


def test_nothing_is_chosen_where_every_word_is_barred():
    given = scores(Mary=9.0)
    assert choose_words(given, LAYOUT, Prompt("x", box=(0, 700, 10, 710))) == ([], [])
    assert choose_words(np.zeros(0, np.float32), read_layout([]), Prompt("x")) == ([], [])


def test_after_clicks_the_map_of_the_highest_predicted_iou_is_chosen(vocabulary, config):
    """Before any, the single map if it is stable."""
    prepared = prepare_page([], (128, 128), Image.new("RGB", (128, 128), "white"), vocabulary, config)
    logits = torch.full((1, 4, 32, 32), -9.0)
    logits[0, 0, :8, :8] = 9.0
    logits[0, 2, 16:24, 16:24] = 9.0
    answer = PixelAnswer(logits, torch.tensor([[0.5, 0.3, 0.8, 0.4]]), torch.zeros(1))

    def ious(*points):
        return [choice.iou for choice in pixel_choices(answer, 0, prepared, Prompt("", points=points))]

    assert ious() == pytest.approx([0.5, 0.8, 0.4, 0.3])
    assert ious((80.0, 80.0, True)) == pytest.approx([0.8, 0.5, 0.4, 0.3])


@pytest.mark.parametrize("size", [(613, 797), (1275, 1650), (97, 1301), (1, 1), (333, 77)])
@pytest.mark.parametrize("long_side", [128, 512])
def test_a_mask_at_the_edges_of_the_map_ends_at_the_edges_of_the_page(size, long_side, vocabulary, config):
    """A cell is rarely a whole number of pixels, and the map ends where the padding does."""
    sized = replace(config, image=replace(config.image, long_side=long_side))
    prepared = prepare_page([], size, Image.new("RGB", size), vocabulary, sized)
    logits = np.full((prepared.image.shape[1] // 4, prepared.image.shape[2] // 4), 1.0, np.float32)
    mask = enlarge(logits, prepared, Prompt(""))
    assert mask.shape == (size[1], size[0]) and mask.all()
