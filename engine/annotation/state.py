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
from model.masks import decode_patch, encode_patch, rasterise

Box = tuple[int, int, int, int]
Point = tuple[FiniteFloat, FiniteFloat, bool]
Mask = NDArray[np.bool_]

AUTOMATIC = "automatic"  # the status of an answer that was accepted without a person, where datasets name one
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
    # Copies of the marks alone: below, what a mark holds is replaced, never changed in place.
    marks = {page: mark.model_copy() for page, mark in state.pages.items()}
    # Pixels of the pages that edits have touched, kept from edit to edit: a page has millions, and is encoded once.
    masks: dict[str, Mask] = {}
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
            masks.pop(edit.page, None)
            continue
        mark = marks.setdefault(edit.page, PageMark())
        if isinstance(edit, EditPrompts):
            mark.points, mark.boxes = edit.points, edit.boxes
            continue
        if isinstance(edit, EditMask):
            _known(edit.words, geometry)
            mark.words, masks[edit.page] = list(dict.fromkeys(edit.words)), raster(edit.mask, geometry)
            continue
        if edit.page not in masks:
            masks[edit.page] = raster(mark.mask, geometry)
        if isinstance(edit, EditWords):
            _select(mark, masks[edit.page], edit, geometry)
        else:
            _stroke(masks[edit.page], edit, geometry)
    for page, mask in masks.items():
        # A mask without a pixel becomes the empty mask, whatever box it came with.
        marks[page].mask = to_patch(mask)
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


def _select(mark: PageMark, mask: Mask, edit: EditWords, geometry: PageGeometry) -> None:
    _known(edit.add, geometry)
    removed = set(edit.remove)
    mark.words = [number for number in mark.words if number not in removed]
    emptied = [geometry.boxes[number] for number in removed if number in geometry.boxes]
    if emptied:
        gone = rasterise(emptied, geometry.size)
        mask &= ~gone
        for kept in mark.words:  # only where they overlap: what was erased elsewhere in a kept word stays erased
            if kept in geometry.boxes:
                inside = _slices(geometry.boxes[kept])
                mask[inside] |= gone[inside]
    mark.words = list(dict.fromkeys([*mark.words, *edit.add]))
    for number in edit.add:
        mask[_slices(geometry.boxes[number])] = True


def _stroke(mask: Mask, edit: EditPatch, geometry: PageGeometry) -> None:
    x0, y0, x1, y1 = edit.patch.box
    height, width = geometry.size
    if not (edit.patch.counts and 0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
        raster(edit.patch, geometry)  # it is empty, or says why it is refused
        return
    # Decoded inside its box alone: a stroke is small, a page is not.
    here = edit.patch.model_copy(update={"box": (0, 0, x1 - x0, y1 - y0)})
    touched = raster(here, PageGeometry((y1 - y0, x1 - x0), {}))
    if edit.value:
        mask[y0:y1, x0:x1] |= touched
    else:
        mask[y0:y1, x0:x1] &= ~touched


def _slices(box: Box) -> tuple[slice, slice]:
    return slice(box[1], box[3]), slice(box[0], box[2])


def _known(numbers: Iterable[int], geometry: PageGeometry) -> None:
    unknown = [number for number in numbers if number not in geometry.boxes]
    if unknown:
        raise Refused(f"The page has no word {unknown[0]}.")
