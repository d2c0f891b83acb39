"""Edits change a state, and nothing else does."""

import numpy as np
import pytest

from engine.annotation.change import apply
from engine.annotation.edits import EditClear, EditMask, EditNoAnswer, EditPatch, EditPrompts, EditWords
from engine.annotation.state import AnnotationState, PageGeometry, Patch, raster, to_patch
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
        x0, y0 = int(rng.integers(0, 50)), int(rng.integers(0, 30))
        x1, y1 = x0 + int(rng.integers(1, 10)), y0 + int(rng.integers(1, 10))
        stroke = rectangle(x0, y0, x1, y1) & (rng.random(SIZE) < 0.7)
        value = int(rng.integers(0, 2))
        state = apply(state, [EditPatch(op="patch", page="p", value=value, patch=to_patch(stroke))], PAGES)
        truth = truth | stroke if value else truth & ~stroke
        assert (pixels(state) == truth).all()


def test_deselecting_many_words_equals_emptying_one_box_after_the_other() -> None:
    """The slow definition: each box is emptied, and what words that stay share with it is filled again."""
    rng = np.random.default_rng(11)
    for _ in range(40):
        corners = rng.integers(0, (50, 30), (12, 2))
        sizes = rng.integers(1, (25, 12), (12, 2))
        boxes = {
            at: (int(x), int(y), int(min(60, x + w)), int(min(40, y + h)))
            for at, ((x, y), (w, h)) in enumerate(zip(corners, sizes, strict=True))
        }
        pages = {"p": PageGeometry(SIZE, boxes)}
        marked, removed = (rng.permutation(12)[: rng.integers(1, 10)].tolist() for _ in range(2))
        rubbed = EditPatch(op="patch", page="p", value=0, patch=to_patch(rng.random(SIZE) < 0.2))
        before = apply(AnnotationState(), [words(marked), rubbed], pages)
        after = apply(before, [words(remove=removed)], pages)
        truth = raster(before.pages["p"].mask, pages["p"])
        kept = [number for number in marked if number not in removed]
        for x0, y0, x1, y1 in (boxes[number] for number in removed):
            truth[y0:y1, x0:x1] = False
            for a0, b0, a1, b1 in (boxes[number] for number in kept):
                left, top = max(x0, a0), max(y0, b0)
                truth[top : max(top, min(y1, b1)), left : max(left, min(x1, a1))] = True
        assert after.pages["p"].words == kept
        assert (raster(after.pages["p"].mask, pages["p"]) == truth).all()


def test_edits_in_one_save_equal_the_same_edits_one_by_one() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        edits = []
        for kind in rng.integers(0, 6, 12):
            stroke = to_patch(rectangle(4, 4, 30, 30) & (rng.random(SIZE) < 0.5))
            choice = rng.permutation([0, 1, 7]).tolist()
            edits.append(
                [
                    words(choice[:2], choice[2:]),
                    words(remove=choice[:1]),
                    EditPatch(op="patch", page="p", value=int(rng.integers(0, 2)), patch=stroke),
                    EditMask(op="mask", page="p", words=choice[:1], mask=stroke),
                    EditPrompts(op="prompts", page="p", points=[(1.0, 2.0, True)]),
                    EditClear(op="clear", page="p"),
                ][kind]
            )
        one_by_one = AnnotationState()
        for edit in edits:
            one_by_one = apply(one_by_one, [edit], PAGES)
        assert apply(AnnotationState(), edits, PAGES) == one_by_one
