import numpy as np

from model.anchors import ANCHORS, find_anchors
from model.examples import Word
from model.layout import read_layout
from model.vocabulary import words_of
from tests.support.drawn_pages import page_words, place

LIKELIEST = 21  # column of the likeliest value of the best run: 8 + 10 + 3


def anchors(question):
    return find_anchors(read_layout(page_words()), words_of(question, 40))


def test_words_on_one_line_make_segments_that_end_at_a_colon_and_at_a_gap():
    layout = read_layout(page_words())
    assert layout.line[place("Invoice")] == layout.line[place("INV-2041")] != layout.line[place("Date:")]
    assert layout.segment[place("Invoice")] == layout.segment[place("number:")] != layout.segment[place("INV-2041")]
    assert layout.segment[place("Subtotal")] != layout.segment[place("118.00")]
    assert layout.segment[place("Mary")] == layout.segment[place("Jones")]
    assert sorted(layout.order.tolist()) == list(range(len(page_words())))


def test_layout_does_not_depend_on_scale():
    small = read_layout(page_words())
    large = read_layout([Word(w.text, (3 * w.box[0], 3 * w.box[1], 3 * w.box[2], 3 * w.box[3])) for w in page_words()])
    assert np.allclose(small.boxes, large.boxes) and large.height == 3 * small.height
    assert np.array_equal(small.segment, large.segment)


def test_the_best_run_is_the_key_that_the_question_names():
    found = anchors("What is the invoice number?")
    layout = read_layout(page_words())
    inside = np.flatnonzero(found.features[:, 8]).tolist()
    assert inside == [place("Invoice"), place("number:")]
    assert np.allclose(found.runs[0, :2], layout.boxes[place("Invoice"), :2])
    assert found.runs[0, 4] > 0.8  # the small words of the question are missing


def test_the_likeliest_value_stands_right_of_the_key():
    for question, values in (("invoice number", ["INV-2041"]), ("bill to", ["Mary", "Jones"]), ("tax", ["5.90"])):
        chosen = np.flatnonzero(anchors(question).features[:, LIKELIEST]).tolist()
        assert chosen == [place(value) for value in values], question


def test_a_misread_key_is_found_still():
    found = anchors("invoice nunber")
    assert np.flatnonzero(found.features[:, 8]).tolist() == [place("Invoice"), place("number:")]


def test_a_question_that_names_nothing_on_the_page_covers_nothing():
    assert anchors("zebra crossing").runs[:, 4].max() == 0


def test_a_page_without_words_has_no_anchors():
    found = find_anchors(read_layout([]), ["total"])
    assert found.features.shape == (0, ANCHORS) and not found.runs.any()
