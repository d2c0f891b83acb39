"""Edits change a state, and nothing else does."""

import numpy as np
import pytest

from engine.annotation.state import (
    AnnotationState,
    EditClear,
    EditMask,
    EditNoAnswer,
    EditPatch,
    EditPrompts,
    EditWords,
    PageGeometry,
    Patch,
    apply,
    raster,
    to_patch,
)
from engine.errors import Refused

SIZE = (40, 60)  # height, width
BOXES = {0: (2, 2, 12, 8), 1: (10, 2, 22, 8), 7: (30, 20, 44, 30)}  # 0 and 1 overlap by two columns
PAGES = {"p": PageGeometry(SIZE, BOXES)}


def pixels(state: AnnotationState, page: str = "p") -> np.ndarray:
    return raster(state.pages[page].mask, PAGES[page])


def rectangle(x0: int, y0: int, x1: int, y1: int) -> np.ndarray:
    mask = np.zeros(SIZE, dtype=bool)
    mask[y0:y1, x0:x1] = True
    return mask


def words(add: list[int] = [], remove: list[int] = []) -> EditWords:  # noqa: B006
    return EditWords(op="words", page="p", add=add, remove=remove)


def test_adding_a_word_fills_its_box() -> None:
    state = apply(AnnotationState(), [words([7])], PAGES)
    assert state.pages["p"].words == [7]
    assert (pixels(state) == rectangle(30, 20, 44, 30)).all()


def test_removing_a_word_keeps_the_pixels_of_a_word_that_overlaps_it() -> None:
    state = apply(AnnotationState(), [words([0, 1]), words(remove=[1])], PAGES)
    assert state.pages["p"].words == [0]
    assert (pixels(state) == rectangle(2, 2, 12, 8)).all()


def test_removing_a_word_brings_back_nothing_that_was_erased_in_another() -> None:
    rubbed = EditPatch(op="patch", page="p", value=0, patch=to_patch(rectangle(32, 22, 34, 24)))
    state = apply(AnnotationState(), [words([0, 7]), rubbed, words(remove=[0])], PAGES)
    assert (pixels(state) == (rectangle(30, 20, 44, 30) & ~rectangle(32, 22, 34, 24))).all()


def test_adding_a_word_twice_selects_it_once() -> None:
    state = apply(AnnotationState(), [words([0]), words([0])], PAGES)
    assert state.pages["p"].words == [0]


def test_brush_and_eraser_change_pixels_and_leave_the_words() -> None:
    stroke = to_patch(rectangle(0, 30, 9, 36))
    rubbed = to_patch(rectangle(32, 22, 34, 24))
    state = apply(
        AnnotationState(),
        [
            words([7]),
            EditPatch(op="patch", page="p", value=1, patch=stroke),
            EditPatch(op="patch", page="p", value=0, patch=rubbed),
        ],
        PAGES,
    )
    expected = (rectangle(30, 20, 44, 30) | rectangle(0, 30, 9, 36)) & ~rectangle(32, 22, 34, 24)
    assert (pixels(state) == expected).all()
    assert state.pages["p"].words == [7]


def test_a_mask_replaces_what_was_there() -> None:
    new = to_patch(rectangle(5, 5, 6, 6))
    state = apply(AnnotationState(), [words([7]), EditMask(op="mask", page="p", words=[0], mask=new)], PAGES)
    assert state.pages["p"].words == [0]
    assert (pixels(state) == rectangle(5, 5, 6, 6)).all()


def test_a_mask_without_a_pixel_is_no_mark() -> None:
    nothing = Patch(box=(5, 5, 9, 9), counts=[16])
    state = apply(AnnotationState(), [EditMask(op="mask", page="p", words=[], mask=nothing)], PAGES)
    assert state.marked_pages() == []


def test_clear_takes_the_page_out_and_no_answer_keeps_it() -> None:
    state = apply(AnnotationState(), [words([7]), EditNoAnswer(op="no_answer", value=True)], PAGES)
    assert state.pages["p"].words == [7]
    assert state.marked_pages() == []
    state = apply(state, [EditNoAnswer(op="no_answer", value=False)], PAGES)
    assert state.marked_pages() == ["p"]
    assert apply(state, [EditClear(op="clear", page="p")], PAGES).pages == {}


def test_prompts_are_kept_beside_the_mask() -> None:
    edit = EditPrompts(op="prompts", page="p", points=[(3.5, 4.0, True)], boxes=[(0, 0, 9, 9)])
    state = apply(AnnotationState(), [words([0]), edit], PAGES)
    assert state.pages["p"].points == [(3.5, 4.0, True)]
    assert state.pages["p"].words == [0]


def test_the_state_before_is_left_as_it_was() -> None:
    before = apply(AnnotationState(), [words([0])], PAGES)
    copy = before.model_dump()
    apply(before, [words([7], [0]), EditClear(op="clear", page="p")], PAGES)
    assert before.model_dump() == copy


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (EditWords(op="words", page="q", add=[0]), "not in this document"),
        (EditWords(op="words", page="p", add=[3]), "no word 3"),
        (EditMask(op="mask", page="p", words=[5], mask=Patch()), "no word 5"),
        (EditPatch(op="patch", page="p", value=1, patch=Patch(box=(0, 0, 99, 2), counts=[0, 198])), "inside the page"),
        (EditPatch(op="patch", page="p", value=1, patch=Patch(box=(0, 0, 2, 2), counts=[0, 3])), "sum to 3"),
        (EditPatch(op="patch", page="p", value=1, patch=Patch(box=(0, 0, 2, 2), counts=[-1, 5])), "negative"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_with_a_sentence(edit, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        apply(AnnotationState(), [edit], PAGES)


def test_random_strokes_equal_the_same_strokes_on_an_array() -> None:
    rng = np.random.default_rng(5)
    state, truth = AnnotationState(), np.zeros(SIZE, dtype=bool)
    for _ in range(60):
        x0, y0 = rng.integers(0, 50), rng.integers(0, 30)
        stroke = rectangle(x0, y0, x0 + rng.integers(1, 10), y0 + rng.integers(1, 10)) & (rng.random(SIZE) < 0.7)
        value = int(rng.integers(0, 2))
        state = apply(state, [EditPatch(op="patch", page="p", value=value, patch=to_patch(stroke))], PAGES)
        truth = truth | stroke if value else truth & ~stroke
        assert (pixels(state) == truth).all()
