"""Words of a page that was read again: which stand, which stay because people made them, which are gone."""

from typing import Any

import pytest

from engine.annotation.word_list import MOST_WORDS, ListedWord, living
from engine.documents.reading.page import ReadWord
from engine.errors import Refused
from engine.read_again.merged_words import MergedWords, by_hand_of, merge
from model.boxes import Box

SIZE = (1000, 1000)


def at(column: int, line: int = 0) -> Box:
    return (100 * column, 100 * line, 100 * column + 80, 100 * line + 40)


def listed(*texts: str) -> list[ListedWord]:
    return [ListedWord(number, 0, text, at(number)) for number, text in enumerate(texts)]


def read(*texts: str) -> list[ReadWord]:
    return [ReadWord(text, at(column), 0, 0.9) for column, text in enumerate(texts)]


def live(merged: MergedWords) -> list[tuple[int, str]]:
    return [(word.number, word.text) for word in merged.words if not word.retired]


def test_a_word_that_still_stands_keeps_its_number() -> None:
    merged = merge(listed("Total", "l2.50"), (), read("Total", "12.50"), SIZE)
    assert live(merged) == [(0, "Total"), (2, "12.50")]
    assert (merged.retired, merged.added) == ([1], {2: 0.9})


def test_an_answer_that_named_a_word_which_is_gone_finds_its_successor() -> None:
    merged = merge(listed("Total", "l2.50"), (), read("Total", "12.50"), SIZE)
    assert [word.text for word in living([1], merged.words)] == ["12.50"]


def test_the_same_word_at_another_place_is_another_word() -> None:
    there = [ReadWord("Total", at(0, 5), 0, 0.9)]
    merged = merge(listed("Total"), (), there, SIZE)
    assert (live(merged), merged.retired) == ([(1, "Total")], [0])


def test_words_by_hand_stay_at_their_place_and_ocr_adds_none_there() -> None:
    merged = merge(listed("Date", "fixed", "Sum"), {1}, read("Date", "fIxed", "Sum"), SIZE)
    assert live(merged) == [(0, "Date"), (1, "fixed"), (2, "Sum")]
    assert not merged.retired and not merged.added


def test_a_word_by_hand_that_ocr_does_not_see_stays() -> None:
    words = [*listed("Date"), ListedWord(1, 1, "signature", at(3, 4))]
    assert live(merge(words, {1}, read("Date"), SIZE)) == [(0, "Date"), (1, "signature")]


def test_a_word_that_somebody_removed_does_not_come_back() -> None:
    words = [*listed("Date"), ListedWord(1, 0, "smudge", at(1), retired=True)]
    assert live(merge(words, {1}, read("Date", "smudge"), SIZE)) == [(0, "Date")]


def test_reading_twice_changes_nothing() -> None:
    once = merge(listed("a", "b"), (), read("a", "c"), SIZE)
    twice = merge(once.words, (), read("a", "c"), SIZE)
    assert live(twice) == live(once) and not twice.retired and not twice.added


def test_retired_words_stay_where_they_were() -> None:
    merged = merge(listed("a", "x", "b"), (), read("a", "y", "b"), SIZE)
    assert [(word.number, word.retired) for word in merged.words] == [(0, False), (1, True), (3, False), (2, False)]


def test_a_page_with_too_many_words_keeps_them() -> None:
    many = [ListedWord(number, 0, "x", at(9, 9), retired=True) for number in range(MOST_WORDS)]
    with pytest.raises(Refused, match="keeps its words"):
        merge(many, (), read("new"), SIZE)


def test_numbers_of_words_by_hand_follow_from_the_corrections() -> None:
    corrections: list[list[dict[str, Any]]] = [
        [{"op": "add", "text": "x", "box": [0, 0, 1, 1]}, {"op": "text", "number": 2, "text": "fixed"}],  # 5 is new
        [{"op": "read_again", "added": 3}],  # 6, 7, 8
        [{"op": "split", "number": 7, "parts": [{}, {}]}, {"op": "remove", "number": 0}],  # 9, 10
        [{"op": "merge", "numbers": [3, 4]}, {"op": "restore", "numbers": [1], "instead": []}],  # 11
    ]
    assert by_hand_of(12, corrections) == {0, 2, 5, 9, 10, 11}
