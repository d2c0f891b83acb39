"""State of an answer: the marks of its values, and what people said of their text. Pure: no database, no clock.

The state after a revision depends only on the state before it and on the edits (engine.annotation.edits), so revisions
can be replayed. The browser applies the same rules (annotator/static). Pixels define the answer; words record the
intention.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, FiniteFloat, field_validator

from engine.errors import Refused
from engine.fields.normalisation import Value
from engine.text import storable
from model.boxes import Box
from model.masks import decode_patch, encode_patch

Storable = Annotated[str, AfterValidator(storable)]
Point = tuple[FiniteFloat, FiniteFloat, bool]
Mask = NDArray[np.bool_]

LONGEST_TEXT = 2000  # characters of a corrected text
MOST_VALUES = 200  # of one answer
MOST_CELLS = 4000  # of a table
MOST_ROWS = 1000


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


class PickedReading(BaseModel):
    """Reading of an ambiguous text that a person picked (engine.fields.normalisation)."""

    model_config = ConfigDict(extra="forbid")

    value: Value
    convention: dict[Annotated[Storable, Field(max_length=100)], Annotated[Storable, Field(max_length=200)]] = Field(
        default_factory=dict, max_length=10
    )

    @field_validator("value")
    @classmethod
    def _can_be_stored(cls, value: Value) -> Value:
        if len(str(value)) > LONGEST_TEXT:
            raise ValueError(f"the value of a reading has at most {LONGEST_TEXT:,} characters")
        if isinstance(value, dict):
            return {storable(name): None if part is None else storable(part) for name, part in value.items()}
        return storable(value) if isinstance(value, str) else value


class Correction(BaseModel):
    """What a person said of a value's text; the words of the page stay as they are.

    It goes with the words: once other words are marked, it is dropped.
    """

    model_config = ConfigDict(extra="forbid")

    text: Storable | None = Field(None, max_length=LONGEST_TEXT, description="Printed text as a person corrected it.")
    reading: PickedReading | None = Field(None, description="Reading that a person picked.")

    def __bool__(self) -> bool:
        """Return whether anything was said."""
        return self.text is not None or self.reading is not None


def _is_empty(part: object) -> bool:
    """Return whether a part is left out of the JSON: most answers have none, and older ones keep their form."""
    return not part


class Cell(BaseModel):
    """Place of a value in a table: its row from 0, and the name of its column."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    row: int = Field(ge=0, lt=MOST_ROWS)
    column: Annotated[Storable, Field(min_length=1, max_length=60)]


class AnswerValue(BaseModel):
    """One of several values of an answer, with its own marks; of a table, with its cell."""

    pages: dict[str, PageMark] = Field(default_factory=dict)
    correction: Correction | None = Field(None, exclude_if=_is_empty)
    cell: Cell | None = Field(None, exclude_if=_is_empty)


class AnnotationState(BaseModel):
    """Answer of a document to a question; with `no_answer`, remaining masks do not count.

    An answer of several values holds them in `values`, in order, at least two; `pages` are the marks of all of them.
    """

    no_answer: bool = False
    pages: dict[str, PageMark] = Field(default_factory=dict)
    correction: Correction | None = Field(None, exclude_if=_is_empty, description="Of an answer with a single value.")
    cell: Cell | None = Field(None, exclude_if=_is_empty, description="Of a table with a single cell.")
    values: list[AnswerValue] = Field(
        default_factory=list, exclude_if=_is_empty, description="Of an answer with several values."
    )

    def marked_pages(self) -> list[str]:
        """Return the pages that carry pixels of the answer."""
        return [] if self.no_answer else [page for page, mark in self.pages.items() if mark.mask.counts]

    def marks(self) -> Iterator[tuple[str, PageMark]]:
        """Yield every mark with its page: those of the answer, then those of its values."""
        yield from self.pages.items()
        for value in self.values:
            yield from value.pages.items()

    def single_values(self) -> "list[AnnotationState]":
        """Return the values in order, each as an answer of its own; those that mark nothing are left out.

        Empty where the document does not answer.
        """
        if not self.values:
            return [self] if self.marked_pages() else []
        parts = [
            AnnotationState(no_answer=self.no_answer, pages=value.pages, correction=value.correction, cell=value.cell)
            for value in self.values
        ]
        return [part for part in parts if part.marked_pages()]


@dataclass(frozen=True, slots=True)
class PageGeometry:
    """Size of a page (height, width) in pixels, and the boxes of its words by number."""

    size: tuple[int, int]
    boxes: Mapping[int, Box]


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
