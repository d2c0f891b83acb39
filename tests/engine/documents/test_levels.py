"""Words of an OCR line get the height of their level."""

import pytest

from engine.documents.ocr.levels import level_words
from engine.documents.reading.order import reading_order
from engine.documents.reading.source_words import FoundLine, FoundWord


def read(*boxes):
    return [FoundWord("x", box, 0.9) for box in boxes]


def heights(words):
    return [word.box[3] - word.box[1] for word in words]


def test_low_and_high_words_of_a_level_become_alike_with_a_little_air():
    before = read((10, 14, 30, 20), (35, 10, 60, 20), (65, 14, 90, 24), (95, 10, 120, 24))
    words = level_words(before)
    assert max(heights(words)) - min(heights(words)) < 5 < max(heights(before)) - min(heights(before))
    for word, old in zip(words, before, strict=True):
        assert word.box[0] < old.box[0] and word.box[2] > old.box[2]
        assert word.box[1] < old.box[1] and word.box[3] > old.box[3]


def test_a_rising_line_keeps_rising():
    """Only neighbours at the same height are asked: a line that was fed askew is no box of its whole rise."""
    words = level_words(read(*((60 * at, 20 - 8 * at, 60 * at + 40, 32 - 8 * at) for at in range(6))))
    assert max(heights(words)) < 24
    tops = [word.box[1] for word in words]
    assert tops == sorted(tops, reverse=True)


@pytest.mark.parametrize("others", [1, 2, 5])
def test_a_rule_beside_words_does_not_lift_them(others):
    words = level_words(read((0, 0, 4, 60), *((20 + 40 * at, 24, 50 + 40 * at, 36) for at in range(others))))
    assert heights(words)[1:] == pytest.approx([13.2] * others)
    assert heights(words)[0] < 66


def test_one_word_gets_air_and_a_text_layer_stays():
    (word,) = level_words(read((10.0, 10.0, 50.0, 20.0)))
    assert word.box == pytest.approx((9.5, 9.5, 50.5, 20.5))
    layer = [FoundWord("x", (10.0, 10.0, 50.0, 20.0))]
    assert level_words(layer) == layer
    assert level_words([]) == []


def test_a_sideways_line_gets_no_more_than_air():
    stacked = read(*((10, 100 * at, 22, 100 * at + 80) for at in range(3)))
    assert heights(level_words(stacked)) == pytest.approx([88] * 3)


def test_numbers_side_by_side_are_not_joined_by_the_air():
    """Which is why heights are levelled when the order stands."""
    texts = ("12,", "345", "5", "/", "7")
    line = FoundLine(tuple(FoundWord(text, (57 * at, 10, 57 * at + 50, 30), 0.9) for at, text in enumerate(texts)))
    assert [[word.text for word in level_words(row)] for row in reading_order([line])] == [list(texts)]
