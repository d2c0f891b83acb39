"""How much one save may hold, and that painting costs no more than the boxes that are touched."""

from typing import Any

import pytest

from engine.annotation import bounds
from engine.annotation.change import Change
from engine.annotation.edits import EditMask, EditPatch, EditWords
from engine.annotation.state import AnnotationState, PageGeometry, PageMark, Patch
from engine.errors import Refused

SIDE = 5000
BOXES = {number: (0, 10 * number, 40, 10 * number + 8) for number in range(400)}
PAGES = {"p": PageGeometry((SIDE, SIDE), BOXES)}
WHOLE = Patch(box=(0, 0, SIDE, SIDE), counts=[0, SIDE * SIDE])
SMALL = Patch(box=(100, 100, 200, 120), counts=[0, 2000])


def stroke(patch: Patch, value: int = 1) -> EditPatch:
    return EditPatch(op="patch", page="p", value=value, patch=patch)  # type: ignore[arg-type]


def checked(edits: list[Any], state: AnnotationState | None = None) -> Change:
    state = state or AnnotationState()
    change = Change.of(state, edits, PAGES)
    bounds.check_edits(state, edits, change, PAGES)
    return change


def test_a_stroke_on_a_large_page_costs_the_box_that_it_touches() -> None:
    marked = AnnotationState(pages={"p": PageMark(mask=Patch(box=(90, 90, 150, 110), counts=[0, 1200]))})
    change = checked([stroke(SMALL), stroke(SMALL, 0)], marked)
    assert change.area == (200 - 90) * (120 - 90) + 2 * 2000
    assert change.apply().pages["p"].mask.box == (90, 90, 150, 110)


def test_words_taken_out_cost_the_boxes_around_them() -> None:
    state = Change.of(AnnotationState(), [EditWords(op="words", page="p", add=[3, 4, 5])], PAGES).apply()
    change = checked([EditWords(op="words", page="p", remove=[4])], state)
    assert change.area < 5000
    assert change.apply().pages["p"].words == [3, 5]


def test_a_mask_that_a_later_edit_replaces_is_not_painted() -> None:
    loose = Patch(box=(100, 100, 200, 120), counts=[100, 1900])  # its first row is empty
    edits = [stroke(WHOLE)] * 8 + [EditMask(op="mask", page="p", words=[], mask=loose)]
    change = checked(edits)
    assert change.area == 2000
    assert change.apply().pages["p"].mask.box == (100, 101, 200, 120)


def test_a_mask_that_stays_as_it_came_is_not_painted() -> None:
    change = checked([EditMask(op="mask", page="p", words=[], mask=WHOLE)])
    assert change.area == 0
    assert change.apply().pages["p"].mask == WHOLE


def test_strokes_over_the_bound_are_refused_before_a_pixel_is_painted() -> None:
    assert checked([stroke(WHOLE)] * 8).painted == bounds.MOST_PAINTED
    with pytest.raises(Refused, match="cover 225,000,000 pixels; 200,000,000 are allowed"):
        checked([stroke(WHOLE)] * 9)


def test_strokes_that_a_later_edit_makes_void_count_too() -> None:
    with pytest.raises(Refused, match="Save them in parts"):
        checked([*[stroke(WHOLE)] * 9, EditMask(op="mask", page="p", words=[], mask=SMALL)])


def test_a_thousand_strokes_of_a_hand_are_one_save() -> None:
    strokes = [stroke(SMALL)] * 1000
    bounds.check_strokes(strokes)
    assert checked(strokes).painted == 2_000_000
    with pytest.raises(Refused, match="has 1,001 strokes; 1,000 are allowed"):
        bounds.check_strokes([*strokes, EditWords(op="words", page="p", add=[1])])


def test_one_edit_fits_however_large_the_pages_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_PAINTED", 1)
    checked([stroke(WHOLE)])
    checked([EditWords(op="words", page="p", add=list(BOXES), remove=[3])])


def test_words_that_are_named_over_and_over_are_refused() -> None:
    every = EditWords(op="words", page="p", add=list(BOXES))
    checked([every] * 100)
    with pytest.raises(Refused, match="name 40,400 words; 40,000 are allowed"):
        checked([every] * 101)


@pytest.mark.parametrize("kind", ["strokes", "mask"])
def test_too_many_runs_are_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_RUNS", 9)
    dots = Patch(box=(0, 0, 10, 1), counts=[1] * 10)
    edits = [stroke(SMALL)] * 5 if kind == "strokes" else [EditMask(op="mask", page="p", words=[], mask=dots)]
    with pytest.raises(Refused, match="10 runs; 9 are allowed"):
        checked(edits)


def test_a_mask_that_has_too_many_runs_already_may_be_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MOST_RUNS", 9)
    dots = Patch(box=(0, 0, 10, 1), counts=[1] * 10)
    before = AnnotationState(pages={"p": PageMark(mask=dots)})
    after = checked([EditMask(op="mask", page="p", words=[], mask=dots)], before).apply()
    bounds.check_masks(before, after)
    with pytest.raises(Refused, match="would have 10 runs"):
        bounds.check_masks(AnnotationState(), after)
