"""State of an answer, and the edits that change it. Pure: no database, no clock.

The state after a revision depends only on the state before it and on the edits, so revisions can be replayed. The
browser applies the same rules (annotator/static). Pixels define the answer; words record the intention.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, FailFast, Field, FiniteFloat

from engine.annotation.painting import Painting
from engine.errors import Refused
from model.boxes import Box
from model.masks import check_patch, decode_patch, encode_patch

Point = tuple[FiniteFloat, FiniteFloat, bool]
Mask = NDArray[np.bool_]

MOST_MARKS = 20_000  # words or runs of one edit; far above a page's number


class Patch(BaseModel):
    """Mask as sent and stored: row-major run lengths inside a box, starting with zeros (model.masks)."""

    model_config = ConfigDict(extra="forbid")

    box: Box = (0, 0, 0, 0)
    counts: Annotated[list[int], FailFast()] = Field(default_factory=list, max_length=4_000_000)


class PageMark(BaseModel):
    """Mark on one page: the selected words, the pixels, and the prompts."""

    words: list[int] = Field(default_factory=list)
    mask: Patch = Field(default_factory=Patch)
    points: list[Point] = Field(default_factory=list)
    boxes: list[Box] = Field(default_factory=list)


class AnnotationState(BaseModel):
    """Answer of a document to a question; with `no_answer`, remaining masks do not count."""

    no_answer: bool = False
    pages: dict[str, PageMark] = Field(default_factory=dict)

    def marked_pages(self) -> list[str]:
        """Return the pages that carry pixels of the answer."""
        return [] if self.no_answer else [page for page, mark in self.pages.items() if mark.mask.counts]


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid")


class EditWords(_Edit):
    """Select and deselect words: fills their boxes, or clears them except where a selected word lies."""

    op: Literal["words"]
    page: str
    add: Annotated[list[int], FailFast()] = Field(default_factory=list, max_length=MOST_MARKS)
    remove: Annotated[list[int], FailFast()] = Field(default_factory=list, max_length=MOST_MARKS)


class EditPatch(_Edit):
    """Stroke of the brush (value 1) or of the eraser (value 0); selected words stay."""

    op: Literal["patch"]
    page: str
    value: Literal[0, 1]
    patch: Patch


class EditMask(_Edit):
    """Replace the mark of a page: by a proposal, a candidate, or an undo."""

    op: Literal["mask"]
    page: str
    words: Annotated[list[int], FailFast()] = Field(max_length=MOST_MARKS)
    mask: Patch


class EditPrompts(_Edit):
    """Points and boxes placed so far on a page."""

    op: Literal["prompts"]
    page: str
    points: list[Point] = Field(default_factory=list, max_length=200)
    boxes: list[Box] = Field(default_factory=list, max_length=200)


class EditClear(_Edit):
    """Clear the mark of a page."""

    op: Literal["clear"]
    page: str


class EditNoAnswer(_Edit):
    """Set or clear "not in the document"."""

    op: Literal["no_answer"]
    value: bool


Edit = Annotated[EditWords | EditPatch | EditMask | EditPrompts | EditClear | EditNoAnswer, Field(discriminator="op")]


@dataclass(frozen=True, slots=True)
class PageGeometry:
    """Size of a page (height, width) in pixels, and the boxes of its words by number."""

    size: tuple[int, int]
    boxes: Mapping[int, Box]


def apply(state: AnnotationState, edits: Iterable[Edit], pages: Mapping[str, PageGeometry]) -> AnnotationState:
    """Return the state after `edits`. Raises Refused for an unknown page or word, or an unfit mask."""
    return Change.of(state, edits, pages).apply()


@dataclass(slots=True)
class Change:
    """Change that edits make to a state; checked when created, painted only by `apply`."""

    no_answer: bool
    _pages: Mapping[str, PageGeometry]
    _marks: dict[str, PageMark]
    _masks: dict[str, Painting] = field(default_factory=dict)  # of pages whose pixels change
    _words: dict[str, dict[int, None]] = field(default_factory=dict)  # of pages whose words change, in order
    _boxes: dict[str, "_Boxes"] = field(default_factory=dict)
    # Strokes and words, including those that a later edit overrides:
    painted: int = 0  # pixels covered
    drawn: int = 0  # runs of strokes
    named: int = 0  # words added and removed

    @classmethod
    def of(cls, state: AnnotationState, edits: Iterable[Edit], pages: Mapping[str, PageGeometry]) -> "Change":
        """Build the change that edits make. Raises as `apply` does."""
        # Shallow copies suffice: the values of a mark are replaced below, never changed in place.
        change = cls(state.no_answer, pages, {page: mark.model_copy() for page, mark in state.pages.items()})
        for edit in edits:
            change._add(edit)
        return change

    @property
    def area(self) -> int:
        """Return the number of pixels painted: those of the masks and of the edits."""
        return sum(mask.whole + mask.area for mask in self._masks.values())

    @property
    def runs(self) -> int:
        """Return the number of runs read and written: those of all masks and of the strokes."""
        painted = sum(len(mask.counts) + mask.runs for mask in self._masks.values())
        return painted + sum(len(mark.mask.counts) for mark in self._marks.values())

    def apply(self) -> AnnotationState:
        """Paint the masks and return the state after the edits."""
        marks = {page: mark.model_copy() for page, mark in self._marks.items()}
        for page, words in self._words.items():
            marks[page].words = list(words)
        for page, mask in self._masks.items():
            # A mask without pixels becomes the empty mask, whatever its box.
            marks[page].mask = Patch.model_validate(mask.paint())
        return AnnotationState(no_answer=self.no_answer, pages=marks)

    def _add(self, edit: Edit) -> None:
        if isinstance(edit, EditNoAnswer):
            self.no_answer = edit.value
            return
        page, geometry = edit.page, self._pages.get(edit.page)
        if geometry is None:
            raise Refused("The edit names a page that is not in this document; reload the document.")
        if isinstance(edit, EditClear):
            for held in (self._marks, self._masks, self._words):
                held.pop(page, None)
            return
        mark = self._marks.setdefault(page, PageMark())
        if isinstance(edit, EditPrompts):
            mark.points, mark.boxes = edit.points, edit.boxes
            return
        if isinstance(edit, EditMask):
            _check_known(edit.words, geometry)
            self._masks[page] = _painting(edit.mask, geometry)
            self._words[page] = dict.fromkeys(edit.words)
            return
        if page not in self._masks:
            self._masks[page] = _painting(mark.mask, geometry)
        mask = self._masks[page]
        before = mask.area, mask.runs
        if isinstance(edit, EditPatch):
            _fits(edit.patch, geometry)
            if edit.patch.counts:
                mask.stroke(bool(edit.value), edit.patch.box, edit.patch.counts)
        else:
            self._select(edit, mask, geometry)
        self.painted += mask.area - before[0]
        self.drawn += mask.runs - before[1]

    def _select(self, edit: EditWords, mask: Painting, geometry: PageGeometry) -> None:
        _check_known(edit.add, geometry)
        words = self._words.setdefault(edit.page, dict.fromkeys(self._marks[edit.page].words))
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


def raster(patch: Patch, geometry: PageGeometry) -> Mask:
    """Return the mask of a patch, bool [height, width] of the page. Raises Refused when it does not fit."""
    try:
        return decode_patch(patch.model_dump(), geometry.size)
    except ValueError as error:
        raise Refused(str(error)) from None


def to_patch(mask: Mask) -> Patch:
    """Return a mask as a patch."""
    return Patch.model_validate(encode_patch(mask))


def dump_state(state: AnnotationState) -> dict[str, Any]:
    """Return a state as JSON for a revision."""
    return state.model_dump(mode="json")


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
