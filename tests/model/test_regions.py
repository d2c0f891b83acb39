"""Regions of a page that no word makes: found in its ink, described, and chosen."""

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw

from model.examples import Word
from model.inference import Predictor
from model.layout import read_layout
from model.regions.clicks import move_edges
from model.regions.features import LOOKS
from model.regions.ink import read_ink
from model.regions.page import find_regions
from model.regions.proposals import BOX, GRID, ROWS, overlaps
from model.regions.sums import BoxSums, SliceSums

SIZE = (800, 1000)
LABELS = {"Single": 200, "Married": 250, "Widowed": 300}


def paper(draw_on=lambda draw: None):
    """A white page with something drawn on it."""
    image = Image.new("RGB", SIZE, "white")
    draw_on(ImageDraw.Draw(image))
    return image


def form(draw, *, ticked=()):
    """Three boxes to tick with labels on their right."""
    for label, y in LABELS.items():
        draw.rectangle((100, y, 118, y + 18), outline="black", width=2)
        draw.text((130, y + 2), label, fill="black", font_size=18)
        if label in ticked:
            draw.line((96, y - 4, 124, y + 23), fill=(20, 30, 140), width=3)
            draw.line((124, y - 4, 96, y + 23), fill=(20, 30, 140), width=3)


def labels():
    return [Word(label, (130, y, 130 + 9 * len(label), y + 20)) for label, y in LABELS.items()]


def regions(image, words=()):
    layout = read_layout(words)
    return find_regions(read_ink(image, layout.height if words else None), layout, image.size)


def best(found, box, kind=None):
    """The best IoU of the regions, or of those of one kind, with a box."""
    boxes = found.proposed.boxes if kind is None else found.proposed.boxes[found.proposed.kinds == kind]
    return float(overlaps(np.array([box], np.float32), boxes).max()) if len(boxes) else 0.0


def test_an_empty_box_to_tick_is_found_with_its_frame():
    found = regions(paper(form), labels())
    for y in LABELS.values():
        assert best(found, (100, y, 119, y + 19), BOX) > 0.9


def test_a_box_that_a_tick_has_broken_is_found_by_the_boxes_of_its_column():
    found = regions(paper(lambda draw: form(draw, ticked=["Married"])), labels())
    assert best(found, (100, 250, 119, 269), BOX) > 0.8


def test_a_box_is_found_where_it_touches_the_lines_of_a_ruled_form():
    def ruled(draw):
        draw.line((20, 218, 780, 218), fill="black", width=2)
        draw.rectangle((100, 200, 118, 218), outline="black", width=2)

    assert best(regions(paper(ruled), labels()), (100, 200, 119, 219), BOX) > 0.7


def test_letters_amid_a_word_are_no_boxes():
    def written(draw):
        draw.text((100, 200), "ROOMBOOKING", fill="black", font_size=24)

    word = Word("ROOMBOOKING", (98, 198, 300, 228))
    boxes = regions(paper(written), [word]).proposed
    middles = (boxes.boxes[boxes.kinds == BOX][:, 0] + boxes.boxes[boxes.kinds == BOX][:, 2]) / 2
    assert not ((middles > 130) & (middles < 265)).any()


def test_a_ruled_table_is_one_region():
    def table(draw):
        for y in range(300, 501, 40):
            draw.line((100, y, 700, y), fill="black", width=2)
        for x in range(100, 701, 150):
            draw.line((x, 300, x, 500), fill="black", width=2)

    assert best(regions(paper(table)), (100, 300, 701, 501), GRID) > 0.9


def test_rows_of_several_cells_are_a_region_without_any_line():
    words = [
        Word(f"cell{row}{column}", (100 + 200 * column, 300 + 30 * row, 180 + 200 * column, 320 + 30 * row))
        for row in range(5)
        for column in range(3)
    ]
    assert best(regions(paper(), words), (100, 300, 580, 440), ROWS) > 0.95


def test_ink_that_nobody_could_read_is_a_region():
    def signed(draw):
        points = [(400 + 3 * at, 600 + 25 * np.sin(at / 2)) for at in range(60)]
        draw.line(points, fill=(10, 10, 90), width=3)

    assert best(regions(paper(signed), labels()), (400, 575, 580, 626)) > 0.7


@pytest.mark.parametrize("words", [[], [Word("alone", (10, 10, 60, 30))]])
def test_a_page_without_ink_has_no_regions_and_does_not_fail(words):
    found = regions(paper(), words)
    assert len(found.proposed.boxes) == 0
    assert found.looks.shape == (0, LOOKS)


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (5000, 4), (7, 900)])
def test_a_strip_too_thin_for_a_region_has_none(size):
    image = Image.new("RGB", size)
    assert len(find_regions(read_ink(image, None), read_layout([]), size).proposed.boxes) == 0


def test_a_page_full_of_dots_has_no_more_regions_than_can_be_described():
    dots = np.random.default_rng(1).random((SIZE[1], SIZE[0])) < 0.2
    found = regions(Image.fromarray(np.where(dots, 0, 255).astype(np.uint8)).convert("RGB"))
    assert len(found.proposed.boxes) <= 900
    assert np.isfinite(found.looks).all()


def test_sums_over_boxes_take_their_share_of_a_cell():
    values = np.random.default_rng(2).random((7, 9))
    boxes = np.array([[0, 0, 9, 7], [1, 2, 4, 5], [1.5, 2, 2, 3], [8, 6, 20, 20]], np.float32)
    expected = [values.sum(), values[2:5, 1:4].sum(), 0.5 * values[2, 1], values[6, 8]]
    assert BoxSums(values)(boxes) == pytest.approx(expected, rel=1e-5)
    assert SliceSums(values)(boxes[[0, 1, 3]]) == pytest.approx([expected[0], expected[1], expected[3]], rel=1e-5)


def test_a_click_beside_a_region_moves_its_edge_twice_as_far():
    box = np.array([[100, 100, 200, 140]], np.float32)
    assert move_edges(box, [(220, 120, True)], SIZE).tolist() == [[100, 100, 240, 140]]
    assert move_edges(box, [(150, 120, True)], SIZE).tolist() == box.tolist()


def test_a_negative_click_takes_the_strip_around_it():
    box = np.array([[100, 100, 200, 140]], np.float32)
    assert move_edges(box, [(190, 120, False)], SIZE).tolist() == [[100, 100, 180, 140]]
    assert move_edges(box, [(300, 120, False)], SIZE).tolist() == box.tolist()


def test_moved_edges_stay_on_the_page():
    assert move_edges(np.array([[700, 100, 780, 140]], np.float32), [(799, 120, True)], SIZE)[0, 2] == SIZE[0]


@pytest.fixture(scope="module")
def shipped():
    torch.set_num_threads(1)
    return Predictor.load()


def iou(mask, box):
    right = np.zeros_like(mask)
    right[box[1] : box[3], box[0] : box[2]] = True
    return (mask & right).sum() / max(1, (mask | right).sum())


@pytest.mark.parametrize("question", ['Is "Married" ticked?', "Where is the box for Widowed?", "Single checkbox"])
def test_a_question_about_a_box_marks_the_box_and_not_its_label(shipped, question):
    y = next(y for label, y in LABELS.items() if label in question)
    page = shipped.encode(paper(lambda draw: form(draw, ticked=["Married"])), labels())
    assert iou(shipped.ask(page, question).mask, (100, y, 119, y + 19)) > 0.6


def test_a_click_into_another_box_marks_that_box(shipped):
    page = shipped.encode(paper(form), labels())
    answer = shipped.ask(page, "Where is the box for Single?", points=[(109.0, 309.0, True)])
    assert iou(answer.mask, (100, 300, 119, 319)) > 0.6


def test_a_region_under_a_negative_click_is_not_the_answer(shipped):
    page = shipped.encode(paper(form), labels())
    answer = shipped.ask(page, "Where is the box for Single?", points=[(109.0, 209.0, False)])
    assert not answer.pixel_mask[209, 109]


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (3000, 4)])
def test_a_page_without_any_region_is_answered_with_nothing(shipped, size):
    page = shipped.encode(Image.new("RGB", size), [])
    answer = shipped.ask(page, "Where is the signature?", both_paths=True)
    assert answer.mask.shape == size[::-1]
    assert not answer.words
