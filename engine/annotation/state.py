"""What an annotation says, and how edits change it. Pure: no database, no clock.

The state after a revision follows from the state before it and the edits alone, so a revision can be replayed. The browser
applies the same rules (annotator/static); pixels are the truth, words are what the person meant.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, FailFast, Field, FiniteFloat

from engine.annotation.painting import Painting
from engine.errors import Refused
from model.masks import check_patch, decode_patch, encode_patch

Box = tuple[int, int, int, int]
Point = tuple[FiniteFloat, FiniteFloat, bool]
Mask = NDArray[np.bool_]

MOST_MARKS = 20_000  # words or runs of one edit: far more than a page holds, far less than harms the server


class Patch(BaseModel):
    """A mask as it travels and is stored: row-major run lengths inside a box, starting with zeros (model.masks)."""

    model_config = ConfigDict(extra="forbid")

    box: Box = (0, 0, 0, 0)
    counts: Annotated[list[int], FailFast()] = Field(default_factory=list, max_length=4_000_000)


class PageMark(BaseModel):
    """What is marked on one page: the selected words, the pixels, and the prompts placed so far."""

    words: list[int] = Field(default_factory=list)
    mask: Patch = Field(default_factory=Patch)
    points: list[Point] = Field(default_factory=list)
    boxes: list[Box] = Field(default_factory=list)


class AnnotationState(BaseModel):
    """The whole answer of a document to a question. With `no_answer`, masks that are left do not count."""

    no_answer: bool = False
    pages: dict[str, PageMark] = Field(default_factory=dict)

    def marked_pages(self) -> list[str]:
        """Return the pages that carry pixels of the answer."""
        return [] if self.no_answer else [page for page, mark in self.pages.items() if mark.mask.counts]


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid")


class EditWords(_Edit):
    """Select and deselect words: their boxes are filled, or emptied as far as no selected word lies there."""

    op: Literal["words"]
    page: str
    add: Annotated[list[int], FailFast()] = Field(default_factory=list, max_length=MOST_MARKS)
    remove: Annotated[list[int], FailFast()] = Field(default_factory=list, max_length=MOST_MARKS)


class EditPatch(_Edit):
    """A stroke of the brush (value 1) or of the eraser (value 0). The words stay as they are."""

    op: Literal["patch"]
    page: str
    value: Literal[0, 1]
    patch: Patch


class EditMask(_Edit):
    """Replace what is marked on a page: a proposal, a candidate, an undo."""

    op: Literal["mask"]
    page: str
    words: Annotated[list[int], FailFast()] = Field(max_length=MOST_MARKS)
    mask: Patch


class EditPrompts(_Edit):
    """The points and boxes placed so far on a page."""

    op: Literal["prompts"]
    page: str
    points: list[Point] = Field(default_factory=list, max_length=200)
    boxes: list[Box] = Field(default_factory=list, max_length=200)


class EditClear(_Edit):
    """Mark nothing on a page."""

    op: Literal["clear"]
    page: str


class EditNoAnswer(_Edit):
    """Say that the document does not answer, or take that back."""

    op: Literal["no_answer"]
    value: bool


Edit = Annotated[EditWords | EditPatch | EditMask | EditPrompts | EditClear | EditNoAnswer, Field(discriminator="op")]


@dataclass(frozen=True, slots=True)
class PageGeometry:
    """What an edit needs of a page: its size (height, width) and the boxes of its words by number."""

    size: tuple[int, int]
    boxes: Mapping[int, Box]


def apply(state: AnnotationState, edits: Iterable[Edit], pages: Mapping[str, PageGeometry]) -> AnnotationState:
    """Return the state after `edits`. Refused with a sentence for an unknown page or word, or a mask that does not fit."""
    return Change.of(state, edits, pages).done()


@dataclass(slots=True)
class Change:
    """What edits make of a state. Checked when it is made; the pixels are painted by `done` alone, and may be many."""

    no_answer: bool
    _pages: Mapping[str, PageGeometry]
    _marks: dict[str, PageMark]
    _masks: dict[str, Painting] = field(default_factory=dict)  # of the pages whose pixels are touched
    _words: dict[str, dict[int, None]] = field(default_factory=dict)  # of the pages whose words are, in their order
    _boxes: dict[str, "_Boxes"] = field(default_factory=dict)
    # Of strokes and words, those that a later edit makes void among them:
    painted: int = 0  # pixels that they go over
    drawn: int = 0  # runs of strokes
    named: int = 0  # words that are added and removed

    @classmethod
    def of(cls, state: AnnotationState, edits: Iterable[Edit], pages: Mapping[str, PageGeometry]) -> "Change":
        """Return the change that edits make. Refused as by `apply`."""
        # Copies of the marks alone: below, what a mark holds is replaced, never changed in place.
        change = cls(state.no_answer, pages, {page: mark.model_copy() for page, mark in state.pages.items()})
        for edit in edits:
            change._add(edit)
        return change

    @property
    def area(self) -> int:
        """Return how many pixels are gone over to paint this: those of the masks, and of what is painted on them."""
        return sum(mask.whole + mask.area for mask in self._masks.values())

    @property
    def runs(self) -> int:
        """Return how many runs are read and written: those of all masks of the answer, and of the strokes."""
        painted = sum(len(mask.counts) + mask.runs for mask in self._masks.values())
        return painted + sum(len(mark.mask.counts) for mark in self._marks.values())

    def done(self) -> AnnotationState:
        """Return the state after the edits."""
        marks = {page: mark.model_copy() for page, mark in self._marks.items()}
        for page, words in self._words.items():
            marks[page].words = list(words)
        for page, mask in self._masks.items():
            # A mask without a pixel becomes the empty mask, whatever box it came with.
            marks[page].mask = Patch.model_validate(mask.done())
        return AnnotationState(no_answer=self.no_answer, pages=marks)

    def _add(self, edit: Edit) -> None:
        if isinstance(edit, EditNoAnswer):
            self.no_answer = edit.value
            return
        page, geometry = edit.page, self._pages.get(edit.page)
        if geometry is None:
            raise Refused("The edit names a page that is not in this document.")
        if isinstance(edit, EditClear):
            for held in (self._marks, self._masks, self._words):
                held.pop(page, None)
            return
        mark = self._marks.setdefault(page, PageMark())
        if isinstance(edit, EditPrompts):
            mark.points, mark.boxes = edit.points, edit.boxes
            return
        if isinstance(edit, EditMask):
            _known(edit.words, geometry)
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
        _known(edit.add, geometry)
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
    """The boxes of a page's words as an array, to look up those that meet others without going through all in Python."""

    numbers: NDArray[np.int64]  # [N]
    corners: NDArray[np.int64]  # [N, 4]

    @classmethod
    def of(cls, geometry: PageGeometry) -> "_Boxes":
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
    """Return the mask of a patch, bool [height, width] of the page. Refused when it does not fit the page."""
    try:
        return decode_patch(patch.model_dump(), geometry.size)
    except ValueError as error:
        raise Refused(str(error)) from None


def to_patch(mask: Mask) -> Patch:
    """Return a mask as a patch."""
    return Patch.model_validate(encode_patch(mask))


def stored(state: AnnotationState) -> dict[str, Any]:
    """Return a state as the JSON that a revision keeps."""
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
    """The part of a box that lies on the page."""
    height, width = geometry.size
    return max(0, box[0]), max(0, box[1]), min(width, box[2]), min(height, box[3])


def _known(numbers: Iterable[int], geometry: PageGeometry) -> None:
    unknown = [number for number in numbers if number not in geometry.boxes]
    if unknown:
        raise Refused(f"The page has no word {unknown[0]}.")
