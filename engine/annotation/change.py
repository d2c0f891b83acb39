"""Change that edits make to the state of an answer: checked at once, painted later. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engine.annotation.edits import (
    Edit,
    EditAddValue,
    EditCell,
    EditClear,
    EditMask,
    EditNoAnswer,
    EditPatch,
    EditPrompts,
    EditReading,
    EditRemoveValue,
    EditText,
    EditWords,
    PageEdit,
)
from engine.annotation.painting import Painting
from engine.annotation.state import (
    MOST_CELLS,
    MOST_VALUES,
    AnnotationState,
    AnswerValue,
    Cell,
    Correction,
    PageGeometry,
    PageMark,
    Patch,
)
from engine.errors import Refused
from model.boxes import Box
from model.masks import check_patch


def apply(state: AnnotationState, edits: Iterable[Edit], pages: Mapping[str, PageGeometry]) -> AnnotationState:
    """Return the state after `edits`. Raises Refused for an unknown page, word or value, or an unfit mask."""
    return Change.of(state, edits, pages).apply()


@dataclass(slots=True)
class Change:
    """Change that edits make to a state; checked when created, painted only by `apply`."""

    no_answer: bool
    _pages: Mapping[str, PageGeometry]
    _values: "list[_Value]"
    _boxes: dict[str, "_Boxes"] = field(default_factory=dict)
    # Strokes and words, including those that a later edit overrides:
    painted: int = 0  # pixels covered
    drawn: int = 0  # runs of strokes
    named: int = 0  # words added and removed

    @classmethod
    def of(cls, state: AnnotationState, edits: Iterable[Edit], pages: Mapping[str, PageGeometry]) -> "Change":
        """Build the change that edits make. Raises as `apply` does."""
        values = state.values or [AnswerValue(pages=state.pages, correction=state.correction, cell=state.cell)]
        change = cls(state.no_answer, pages, [_Value.of(value) for value in values])
        for edit in edits:
            change._add(edit)
        return change

    @property
    def area(self) -> int:
        """Return the number of pixels painted: those of the masks and of the edits."""
        return sum(mask.whole + mask.area for value in self._values for mask in value.masks.values())

    @property
    def runs(self) -> int:
        """Return the number of runs read and written: those of all masks and of the strokes."""
        painted = sum(len(mask.counts) + mask.runs for value in self._values for mask in value.masks.values())
        return painted + sum(len(mark.mask.counts) for value in self._values for mark in value.marks.values())

    def apply(self) -> AnnotationState:
        """Paint the masks and return the state after the edits."""
        return state_of([value.paint() for value in self._values], no_answer=self.no_answer)

    def _add(self, edit: Edit) -> None:
        if isinstance(edit, EditNoAnswer):
            self.no_answer = edit.value
        elif isinstance(edit, EditAddValue):
            if edit.place > len(self._values):
                raise _no_value(edit.place)
            most = MOST_VALUES if edit.cell is None else MOST_CELLS
            if len(self._values) >= most:
                raise Refused(f"An answer has at most {most:,} values; ask another question for more.")
            self._values.insert(edit.place, _Value({}, cell=edit.cell))
        elif edit.place >= len(self._values):
            raise _no_value(edit.place)
        elif isinstance(edit, EditRemoveValue):
            del self._values[edit.place]
            if not self._values:
                self._values.append(_Value({}))
        elif isinstance(edit, EditCell):
            self._values[edit.place].cell = edit.cell
        elif isinstance(edit, EditText):
            self._values[edit.place].correction = Correction(text=edit.text)
        elif isinstance(edit, EditReading):
            before = self._values[edit.place].correction or Correction()
            self._values[edit.place].correction = before.model_copy(update={"reading": edit.reading})
        else:
            self._mark(self._values[edit.place], edit)

    def _mark(self, value: "_Value", edit: PageEdit) -> None:
        page, geometry = edit.page, self._pages.get(edit.page)
        if geometry is None:
            raise Refused("The edit names a page that is not in this document; reload the document.")
        if isinstance(edit, EditPrompts):
            mark = value.marks.setdefault(page, PageMark())
            mark.points, mark.boxes = edit.points, edit.boxes
            return
        before = value.words_on(page)
        if isinstance(edit, EditClear):
            for held in (value.marks, value.masks, value.words):
                held.pop(page, None)
        else:
            mark = value.marks.setdefault(page, PageMark())
            if isinstance(edit, EditMask):
                _check_known(edit.words, geometry)
                value.masks[page] = _painting(edit.mask, geometry)
                value.words[page] = dict.fromkeys(edit.words)
            else:
                if page not in value.masks:
                    value.masks[page] = _painting(mark.mask, geometry)
                self._draw(value, edit, value.masks[page], geometry)
        if value.correction and value.words_on(page) != before:
            value.correction = None  # it was said of other words

    def _draw(self, value: "_Value", edit: EditPatch | EditWords, mask: Painting, geometry: PageGeometry) -> None:
        before = mask.area, mask.runs
        if isinstance(edit, EditPatch):
            _fits(edit.patch, geometry)
            if edit.patch.counts:
                mask.stroke(bool(edit.value), edit.patch.box, edit.patch.counts)
        else:
            self._select(value, edit, mask, geometry)
        self.painted += mask.area - before[0]
        self.drawn += mask.runs - before[1]

    def _select(self, value: "_Value", edit: EditWords, mask: Painting, geometry: PageGeometry) -> None:
        _check_known(edit.add, geometry)
        words = value.words.setdefault(edit.page, dict.fromkeys(value.marks[edit.page].words))
        removed = set(edit.remove)
        for number in removed:
            words.pop(number, None)
        emptied = [_inside(geometry.boxes[number], geometry) for number in removed if number in geometry.boxes]
        kept: list[Box] = []
        if emptied and words:
            boxes = self._boxes.setdefault(edit.page, _Boxes.of(geometry))
            kept = [_inside(geometry.boxes[number], geometry) for number in boxes.meeting(emptied) if number in words]
        words.update(dict.fromkeys(edit.add))
        mask.words(emptied, kept, [_inside(geometry.boxes[number], geometry) for number in edit.add])
        self.named += len(edit.add) + len(edit.remove)


def state_of(values: Sequence[AnswerValue], *, no_answer: bool | None = None) -> AnnotationState:
    """Return the state of an answer with these values.

    Args:
        values: Values in order.
        no_answer: Whether the document does not answer; None: where there are no values.
    """
    nothing = not values if no_answer is None else no_answer
    if len(values) <= 1:
        only = values[0] if values else AnswerValue()
        return AnnotationState(no_answer=nothing, pages=only.pages, correction=only.correction, cell=only.cell)
    return AnnotationState(no_answer=nothing, pages=unite(values), values=list(values))


def unite(values: Sequence[AnswerValue]) -> dict[str, PageMark]:
    """Return the marks of all values together, by page: their words in order, and their pixels."""
    by_page: dict[str, list[PageMark]] = {}
    for value in values:
        for page, mark in value.pages.items():
            by_page.setdefault(page, []).append(mark)
    united = {}
    for page, marks in by_page.items():
        masks = [mark.mask for mark in marks if mark.mask.counts]
        patch = masks[0] if len(masks) == 1 else Patch()
        if len(masks) > 1:
            painting = Painting(masks[0].box, masks[0].counts)
            for mask in masks[1:]:
                painting.stroke(True, mask.box, mask.counts)
            patch = Patch.model_validate(painting.paint())
        united[page] = PageMark(words=list(dict.fromkeys(word for mark in marks for word in mark.words)), mask=patch)
    return united


@dataclass(slots=True)
class _Value:
    """Marks of one value: those before, and what is painted and selected on them, page by page."""

    marks: dict[str, PageMark]
    correction: Correction | None = None
    cell: Cell | None = None
    masks: dict[str, Painting] = field(default_factory=dict)  # of pages whose pixels change
    words: dict[str, dict[int, None]] = field(default_factory=dict)  # of pages whose words change, in order

    @classmethod
    def of(cls, value: AnswerValue) -> "_Value":
        """Begin with the marks of a value."""
        # Shallow copies suffice: the values of a mark are replaced, never changed in place.
        marks = {page: mark.model_copy() for page, mark in value.pages.items()}
        return cls(marks, value.correction, value.cell)

    def words_on(self, page: str) -> set[int]:
        """Return the numbers of the words that are selected on a page."""
        if page in self.words:
            return set(self.words[page])
        return set(self.marks[page].words) if page in self.marks else set()

    def paint(self) -> AnswerValue:
        """Return the value with its masks painted."""
        marks = {page: mark.model_copy() for page, mark in self.marks.items()}
        for page, words in self.words.items():
            marks[page].words = list(words)
        for page, mask in self.masks.items():
            # A mask without pixels becomes the empty mask, whatever its box.
            marks[page].mask = Patch.model_validate(mask.paint())
        return AnswerValue(pages=marks, correction=self.correction or None, cell=self.cell)


@dataclass(frozen=True, slots=True)
class _Boxes:
    """Boxes of a page's words as an array, for fast lookup of overlaps."""

    numbers: NDArray[np.int64]  # [N]
    corners: NDArray[np.int64]  # [N, 4]

    @classmethod
    def of(cls, geometry: PageGeometry) -> "_Boxes":
        """Build the arrays from a page's geometry."""
        corners = np.array(list(geometry.boxes.values()), dtype=np.int64).reshape(-1, 4)
        return cls(np.array(list(geometry.boxes), dtype=np.int64), corners)

    def meeting(self, boxes: Sequence[Box]) -> list[int]:
        """Return the numbers of the words that share pixels with any of the boxes."""
        met = np.zeros(len(self.numbers), dtype=bool)
        x0, y0, x1, y1 = self.corners.T
        for left, top, right, bottom in boxes:
            met |= (x0 < right) & (x1 > left) & (y0 < bottom) & (y1 > top)
        return [int(number) for number in self.numbers[met]]


def _no_value(place: int) -> Refused:
    return Refused(f"The answer has no value {place + 1}; reload it.")


def _painting(patch: Patch, geometry: PageGeometry) -> Painting:
    _fits(patch, geometry)
    return Painting(patch.box, patch.counts)


def _fits(patch: Patch, geometry: PageGeometry) -> None:
    try:
        check_patch(patch.box, patch.counts, geometry.size)
    except ValueError as error:
        raise Refused(str(error)) from None


def _inside(box: Box, geometry: PageGeometry) -> Box:
    """Return the part of a box that lies on the page."""
    height, width = geometry.size
    return max(0, box[0]), max(0, box[1]), min(width, box[2]), min(height, box[3])


def _check_known(numbers: Iterable[int], geometry: PageGeometry) -> None:
    unknown = [number for number in numbers if number not in geometry.boxes]
    if unknown:
        raise Refused(f"The page has no word {unknown[0]}; reload the page.")
