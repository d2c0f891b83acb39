"""Keys that a page prints more than once: their places, the names of the places, and the values offered."""

from dataclasses import replace

import numpy as np
import pytest

from model.examples import Word
from model.inference import Answer, Predictor
from model.layout import read_layout
from model.place_names import LONGEST, name_places
from model.repeated_keys import column_below, key_places, words_near
from model.vocabulary import words_of

SIZE = (640, 800)
ADDRESSES = (
    "ORDER FORM",
    "BILLING ADDRESS",
    "Name: @200 Mary @250 Jones",
    "Date: @200 03/04/2024",
    "SHIPPING ADDRESS",
    "Name: @200 Peter @260 Miller",
    "Date: @200 07/04/2024",
    "Carrier: @200 Northern @290 Freight",
)
TABLE = (
    "@220 Men @420 Women",
    "@200 Old @290 New @400 Old @490 New",
    "Strength @200 4.1 @290 4.5 @400 4.7 @490 5.2",
    "Smoothness @200 3.1 @290 3.5 @400 3.7 @490 3.2",
    "Taste @200 2.1 @290 2.5 @400 2.7 @490 2.2",
)


def words(lines: tuple[str, ...], apart: int = 40) -> list[Word]:
    """Words 16 pixels high on lines 40 apart; @200 sets the next one 200 pixels from the left."""
    found = []
    for row, line in enumerate(lines):
        x = 40
        for text in line.split():
            if text.startswith("@"):
                x = int(text[1:])
                continue
            found.append(Word(text, (x, 60 + apart * row, x + 9 * len(text), 76 + apart * row)))
            x += 9 * len(text) + 5
    return found


def places(lines: tuple[str, ...], question: str):
    layout = read_layout(words(lines))
    return layout, key_places(layout, words_of(question, 40))


def names(lines: tuple[str, ...], question: str) -> list[str]:
    layout, found = places(lines, question)
    return name_places(layout, found, SIZE)


@pytest.fixture(scope="module")
def shipped() -> Predictor:
    return Predictor.load()


def ask(predictor: Predictor, lines: tuple[str, ...], question: str) -> Answer:
    return predictor.ask(predictor.encode(None, words(lines), SIZE), question)


def values(answer: Answer) -> dict[str, str]:
    """Text of what is offered with a place, by the place."""
    return {one.place: one.text for one in reversed([answer, *answer.candidates]) if one.place}


@pytest.mark.parametrize("question", ["What is the date?", "DATE", "Which date: is given?"])
def test_each_place_of_a_key_is_found(question):
    layout, found = places(ADDRESSES, question)
    assert [layout.texts[place.words[0]] for place in found] == ["Date:", "Date:"]
    assert found[0].line < found[1].line


def test_a_key_may_be_cut_otherwise_than_the_question():
    assert len(places(("Item @200 No.(s) @300 4", "Item @200 No. (s): @300 5"), "What is the Item No(s)?")[1]) == 2


def test_a_key_may_be_broken_over_two_lines():
    lines = ("Number of @240 Number of", "Stores @240 Stores", "12 @240 15")
    found = key_places(read_layout(words(lines, apart=24)), words_of("What is the number of stores?", 40))
    assert [len(place.words) for place in found] == [3, 3]


def test_signs_may_be_a_key():
    assert len(places(("(-) @100 (+) @200 (-) @300 (+)", "1 @100 2 @200 3 @300 4"), "What is the (+)?")[1]) == 2


def test_a_word_of_a_sentence_is_no_key_beside_real_ones():
    lines = (*ADDRESSES, "We will tell you the date of arrival.")
    assert len(places(lines, "What is the date?")[1]) == 2


def test_a_page_without_the_key_has_no_place():
    assert places(ADDRESSES, "What is the insurance?")[1] == []
    assert key_places(read_layout([]), ["date"]) == []


def test_headings_tell_places_apart():
    assert names(ADDRESSES, "What is the date?") == ["BILLING ADDRESS", "SHIPPING ADDRESS"]


def test_columns_are_called_by_their_headings():
    assert names(TABLE, "What is the New?") == ["Men", "Women"]


def test_rows_are_called_by_their_beginnings():
    lines = ("Dealers: @200 POOR x @300 GOOD", "Customers: @200 POOR @300 GOOD x")
    assert names(lines, "Is it GOOD?") == ["Dealers", "Customers"]


def test_places_without_headings_are_called_by_where_they_are():
    lines = ("Date: @100 1/2/24", *["."] * 16, "Date: @100 2/2/24")
    assert names(lines, "What is the date?") == ["upper left", "lower left"]
    assert names(("Date: @100 1/2/24", "Date: @100 2/2/24"), "What is the date?") == ["first of 2", "second of 2"]


def test_names_are_short_and_all_different():
    long = "ADDRESS OF RECEIVING DEPARTMENT FOR RETURNED MERCHANDISE"
    found = names((long, "Date: 1", "Date: 2", "A SECOND ADDRESS", "Date: 3"), "What is the date?")
    assert len(set(found)) == 3 and all(len(name) <= LONGEST for name in found)
    assert found[2] == "A SECOND ADDRESS" and found[0].endswith(", first of 2")


def test_values_stand_right_of_a_key_or_below():
    layout, found = places(ADDRESSES, "What is the date?")
    near = np.flatnonzero(words_near(layout, found[0])).tolist()
    assert "03/04/2024" in [layout.texts[index] for index in near]
    assert "07/04/2024" not in [layout.texts[index] for index in near]


def test_the_column_below_a_heading_ends_with_its_table():
    layout, found = places((*TABLE, "All of the figures were measured by the makers in the summer"), "What is the New?")
    keys = np.zeros(len(layout.texts), bool)
    columns = [[layout.texts[index] for index in column_below(layout, place, keys)] for place in found]
    assert columns == [["4.5", "3.5", "2.5"], ["5.2", "3.2", "2.2"]]


def test_the_same_key_twice_offers_both_values_with_their_headings(shipped):
    answer = ask(shipped, ADDRESSES, "What is the date?")
    assert answer.repeated == 2
    assert values(answer) == {"BILLING ADDRESS": "03/04/2024", "SHIPPING ADDRESS": "07/04/2024"}


def test_a_repeated_heading_offers_both_columns(shipped):
    answer = ask(shipped, TABLE, "What is the New?")
    assert answer.repeated == 2
    assert {"4.5 3.5 2.5", "5.2 3.2 2.2"} <= {one.text for one in [answer, *answer.candidates]}


def test_candidates_stand_in_the_order_of_the_page(shipped):
    lines = tuple(
        line for number in range(12) for line in (f"SITE {'ABCDEFGHIJKL'[number]}", f"Date: @200 {number + 1}/4/24")
    )
    answer = ask(shipped, lines, "What is the date?")
    placed = [one.place for one in answer.candidates if one.place]
    assert answer.repeated == 12 and len(answer.candidates) == 8
    assert placed == sorted(placed) and len(set(placed)) >= 6


def test_a_key_that_stands_once_changes_nothing(shipped):
    answer = ask(shipped, ADDRESSES, "Who is the carrier?")
    assert answer.repeated == 0 and answer.place == "" and len(answer.candidates) <= 3
    assert all(one.place == "" for one in answer.candidates)


def test_the_first_answer_is_the_same_as_without_alternatives(shipped, monkeypatch):
    answer = ask(shipped, ADDRESSES, "What is the date?")
    monkeypatch.setattr("model.inference.with_alternatives", lambda answer, *_: answer)
    alone = ask(shipped, ADDRESSES, "What is the date?")
    assert (answer.words, answer.score, answer.answered) == (alone.words, alone.score, alone.answered)


def test_a_shown_place_asks_for_no_others(shipped):
    page = shipped.encode(None, words(ADDRESSES), SIZE)
    answer = shipped.ask(page, "What is the date?", points=[(210, 188, True)])
    assert answer.repeated == 0 and replace(answer, candidates=[]).place == ""
