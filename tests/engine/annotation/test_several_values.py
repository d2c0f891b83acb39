"""An answer may have several values, each with its marks and with what a person said of its text."""

import numpy as np
import pytest

from engine.annotation.change import apply
from engine.annotation.edits import (
    Edit,
    EditAddValue,
    EditClear,
    EditMask,
    EditPatch,
    EditReading,
    EditRemoveValue,
    EditText,
    EditWords,
)
from engine.annotation.state import (
    MOST_VALUES,
    AnnotationState,
    Correction,
    PageGeometry,
    PickedReading,
    raster,
    to_patch,
)
from engine.errors import Refused

SIZE = (40, 60)  # height, width
BOXES = {0: (2, 2, 12, 8), 1: (10, 2, 22, 8), 7: (30, 20, 44, 30)}  # 0 and 1 overlap by two columns
PAGES = {"p": PageGeometry(SIZE, BOXES), "q": PageGeometry(SIZE, BOXES)}


def words(add: list[int], place: int = 0, page: str = "p", remove: tuple[int, ...] = ()) -> EditWords:
    return EditWords(op="words", page=page, add=add, remove=list(remove), place=place)


def value(place: int) -> EditAddValue:
    return EditAddValue(op="add_value", place=place)


def become(*edits: Edit, state: AnnotationState | None = None) -> AnnotationState:
    return apply(state or AnnotationState(), edits, PAGES)


def pixels(state: AnnotationState, page: str = "p") -> np.ndarray:
    return raster(state.pages[page].mask, PAGES[page])


def test_the_answer_marks_what_its_values_mark_together() -> None:
    state = become(words([0]), value(1), words([1], 1), words([7], 1, "q"))
    assert [list(one.pages) for one in state.values] == [["p"], ["p", "q"]]
    assert state.pages["p"].words == [0, 1] and state.pages["q"].words == [7]
    expected = np.zeros(SIZE, bool)
    expected[2:8, 2:22] = True
    assert (pixels(state) == expected).all()


def test_what_is_erased_in_a_value_stays_where_another_value_marks_it() -> None:
    rubber = EditPatch(op="patch", page="p", value=0, patch=to_patch(np.ones(SIZE, bool)), place=0)
    state = become(words([0]), value(1), words([1], 1), rubber)
    expected = np.zeros(SIZE, bool)
    expected[2:8, 10:22] = True
    assert (pixels(state) == expected).all()


def test_values_keep_the_order_in_which_they_are_inserted() -> None:
    state = become(words([0]), value(1), words([1], 1), value(0), words([7], 0))
    assert [one.pages["p"].words for one in state.values] == [[7], [0], [1]]


def test_of_two_values_the_last_that_stays_is_the_answer_as_before() -> None:
    single = become(words([1]), EditText(op="text", text="Ann"))
    several = become(words([0]), value(1), words([1], 1), EditText(op="text", text="Ann", place=1))
    assert become(EditRemoveValue(op="remove_value", place=0), state=several) == single


def test_removing_the_only_value_leaves_an_empty_answer() -> None:
    assert become(words([0]), EditRemoveValue(op="remove_value")) == AnnotationState()


def test_a_value_without_marks_is_none() -> None:
    state = become(words([0]), value(1))
    assert [one.pages["p"].words for one in state.single_values()] == [[0]]


def test_a_state_without_new_parts_is_stored_as_it_always_was() -> None:
    assert set(become(words([0])).model_dump()) == {"no_answer", "pages"}


def test_an_edit_of_a_value_that_is_not_there_is_refused() -> None:
    for edit in (words([0], 1), value(2), EditRemoveValue(op="remove_value", place=1)):
        with pytest.raises(Refused, match="has no value"):
            become(edit)
    full = become(*(value(0) for _ in range(MOST_VALUES - 1)))
    with pytest.raises(Refused, match="at most"):
        become(value(0), state=full)


def test_a_correction_goes_with_the_words_of_which_it_was_said() -> None:
    reading = EditReading(op="reading", reading=PickedReading(value="2026-04-03"))
    state = become(words([0]), EditText(op="text", text="03/04/26"), reading)
    assert state.correction == Correction(text="03/04/26", reading=PickedReading(value="2026-04-03"))
    stroke = EditPatch(op="patch", page="p", value=1, patch=to_patch(np.ones(SIZE, bool)))
    assert become(stroke, state=state).correction == state.correction
    same = EditMask(op="mask", page="p", words=[0], mask=state.pages["p"].mask)
    assert become(same, state=state).correction == state.correction
    for other in (words([1]), words([], remove=(0,)), EditClear(op="clear", page="p")):
        assert become(other, state=state).correction is None


def test_another_text_drops_the_picked_reading() -> None:
    reading = EditReading(op="reading", reading=PickedReading(value="2026-04-03"))
    state = become(words([0]), reading, EditText(op="text", text="4 March"))
    assert state.correction == Correction(text="4 March")
    assert become(EditText(op="text", text=None), state=state).correction is None
