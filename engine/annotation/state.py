"""What an annotation says, and how edits change it. Pure: no database, no clock.

The state after a revision follows from the state before it and the edits alone, so a revision can be replayed. The browser
applies the same rules (annotator/static); pixels are the truth, words are what the person meant.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from engine.errors import Refused
from model.masks import decode_patch, encode_patch

Box = tuple[int, int, int, int]
Point = tuple[FiniteFloat, FiniteFloat, bool]
Mask = NDArray[np.bool_]

MOST_MARKS = 20_000  # words or runs of one edit: far more than a page holds, far less than harms the server


class Patch(BaseModel):
    """A mask as it travels and is stored: row-major run lengths inside a box, starting with zeros (model.masks)."""

    model_config = ConfigDict(extra="forbid")

    box: Box = (0, 0, 0, 0)
    counts: list[int] = Field(default_factory=list, max_length=4_000_000)


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
    add: list[int] = Field(default_factory=list, max_length=MOST_MARKS)
    remove: list[int] = Field(default_factory=list, max_length=MOST_MARKS)


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
    words: list[int] = Field(max_length=MOST_MARKS)
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
    marks = {page: mark.model_copy(deep=True) for page, mark in state.pages.items()}
    no_answer = state.no_answer
    for edit in edits:
        if isinstance(edit, EditNoAnswer):
            no_answer = edit.value
            continue
        geometry = pages.get(edit.page)
        if geometry is None:
            raise Refused("The edit names a page that is not in this document.")
        if isinstance(edit, EditClear):
            marks.pop(edit.page, None)
            continue
        mark = marks.setdefault(edit.page, PageMark())
        if isinstance(edit, EditWords):
            _select(mark, edit, geometry)
        elif isinstance(edit, EditPatch):
            mask, stroke = raster(mark.mask, geometry), raster(edit.patch, geometry)
            mark.mask = to_patch(mask | stroke if edit.value else mask & ~stroke)
        elif isinstance(edit, EditMask):
            _known(edit.words, geometry)
            # Through pixels and back: a mask without a pixel is the empty mask, whatever box it came with.
            mark.words, mark.mask = list(dict.fromkeys(edit.words)), to_patch(raster(edit.mask, geometry))
        else:
            mark.points, mark.boxes = edit.points, edit.boxes
    return AnnotationState(no_answer=no_answer, pages=marks)


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


def _select(mark: PageMark, edit: EditWords, geometry: PageGeometry) -> None:
    _known(edit.add, geometry)
    mask = raster(mark.mask, geometry)
    removed = set(edit.remove)
    mark.words = [number for number in mark.words if number not in removed]
    for number in removed & set(geometry.boxes):  # one that OCR mending has retired may be dropped, never added
        box = geometry.boxes[number]
        _fill(mask, box, False)
        for kept in mark.words:  # only where they overlap: what was erased elsewhere in a kept word stays erased
            if kept in geometry.boxes:
                _fill(mask, _overlap(box, geometry.boxes[kept]), True)
    for number in edit.add:
        if number not in mark.words:
            mark.words.append(number)
        _fill(mask, geometry.boxes[number], True)
    mark.mask = to_patch(mask)


def _fill(mask: Mask, box: Box, value: bool) -> None:
    x0, y0, x1, y1 = box
    mask[y0:y1, x0:x1] = value


def _overlap(one: Box, other: Box) -> Box:
    """Return the common part of two boxes; an empty slice where there is none."""
    x0, y0 = max(one[0], other[0]), max(one[1], other[1])
    return x0, y0, max(x0, min(one[2], other[2])), max(y0, min(one[3], other[3]))


def _known(numbers: Iterable[int], geometry: PageGeometry) -> None:
    unknown = [number for number in numbers if number not in geometry.boxes]
    if unknown:
        raise Refused(f"The page has no word {unknown[0]}.")
