"""Words of an OCR line get the height of their level."""

import pytest

from engine.documents.found import FoundLine, FoundWord
from engine.documents.levels import levelled


def line(*boxes, heading=0):
    return FoundLine(tuple(FoundWord("x", box, 0.9) for box in boxes), heading)


def test_low_and_high_words_of_a_level_become_alike_with_a_little_air():
    words = levelled(line((10, 14, 30, 20), (35, 10, 60, 20), (65, 14, 90, 24), (95, 10, 120, 24))).words
    heights = [word.box[3] - word.box[1] for word in words]
    assert max(heights) - min(heights) < 3
    assert all(word.box[0] < x0 and word.box[2] > x1 for word, (x0, x1) in zip(words, [(10, 30), (35, 60), (65, 90), (95, 120)], strict=True))  # fmt: skip
    assert all(word.box[1] <= 14 and word.box[3] >= 20 for word in words)


def test_a_rising_line_keeps_rising():
    """Only neighbours at the same height are asked: a line that was fed askew is no box of its whole rise."""
    words = levelled(line(*((60 * at, 20 - 8 * at, 60 * at + 40, 32 - 8 * at) for at in range(6)))).words
    assert all(word.box[3] - word.box[1] < 30 for word in words)
    tops = [word.box[1] for word in words]
    assert tops == sorted(tops, reverse=True)


def test_one_word_gets_air_and_a_sideways_line_nothing():
    (word,) = levelled(line((10.0, 10.0, 50.0, 20.0))).words
    assert word.box == pytest.approx((9, 9, 51, 21))
    sideways = line((10, 10, 20, 60), heading=90)
    assert levelled(sideways) is sideways
    assert levelled(line()).words == ()
