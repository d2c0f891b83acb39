"""Words of a recognised line: cut at spaces and gaps of the ink, tight on what is theirs."""

import numpy as np
import pytest

from engine.documents.ocr.line_words import Letter, LineWord, line_words

HEIGHT, WIDE, STEP, TOP, FOOT = 40, 12, 16, 10, 30  # pixels: letters are blocks of 12 by 20, 16 apart


def picture(text: str, *, gap: int = 12) -> tuple[list[Letter], np.ndarray]:
    """A line of blocks; "|" leaves a gap that the recogniser has lost, a space one that it has seen."""
    letters, left, places = [], 20, []
    for sign in text:
        if sign in " |":
            if sign == " ":
                letters.append(Letter(" ", None, 0.9))
            left += gap
            continue
        places.append(left)
        letters.append(Letter(sign, left + WIDE / 2, 0.9))
        left += STEP
    grey = np.full((HEIGHT, left + 20), 255, np.uint8)
    for place in places:
        grey[TOP:FOOT, place : place + WIDE] = 0
    return letters, grey


def texts(words: list[LineWord]) -> list[str]:
    return [word.text for word in words]


def test_words_end_at_spaces_and_where_a_space_was_lost() -> None:
    assert texts(line_words(*picture("AB CD|EF"))) == ["AB", "CD", "EF"]
    assert texts(line_words(*picture("AB|CD", gap=1))) == ["ABCD"]


@pytest.mark.parametrize("invert", [False, True])
def test_boxes_are_tight_on_ink_dark_or_light(invert: bool) -> None:
    letters, grey = picture("AB CD")
    first, second = line_words(letters, 255 - grey if invert else grey)
    assert first.box == (20, TOP, 20 + STEP + WIDE, FOOT)
    assert second.box == (64, TOP, 64 + STEP + WIDE, FOOT)


def test_rules_underlines_and_other_lines_are_not_part_of_a_word() -> None:
    letters, grey = picture("AB CD")
    grey[37:39, 8:] = 0  # an underline
    grey[33:35, 40:52] = 0  # a piece of a dotted one
    grey[0:4, 30:70] = 0  # feet of the line above
    grey[:, 3:5] = 0  # a rule of a table
    for word in line_words(letters, grey):
        assert word.box[1] == TOP and word.box[3] == FOOT and word.box[0] >= 20


def test_a_value_is_parted_from_the_key_before_its_colon_but_a_time_is_whole() -> None:
    assert texts(line_words(*picture("Name:Smith"))) == ["Name:", "Smith"]
    assert texts(line_words(*picture("10:30"))) == ["10:30"]
    assert texts(line_words(*picture("a:b"))) == ["a:b"]
