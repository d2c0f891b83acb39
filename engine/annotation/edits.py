"""Edits of an answer, as people send them. `place` is the value that they change; most answers have one, at 0."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field

from engine.annotation.state import LONGEST_TEXT, MOST_CELLS, Cell, Patch, PickedReading, Point, Storable
from model.boxes import Box

MOST_MARKS = 20_000  # words or runs of one edit; far above a page's number
MOST_EDITS = 5 * MOST_CELLS  # of one save: each cell of a table is added, placed, marked, corrected and read
Place = Annotated[int, Field(ge=0, lt=MOST_CELLS, description="Place of the value among the answer's, from 0.")]


class _Edit(BaseModel):
    model_config = ConfigDict(extra="forbid")

    place: Place = 0


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


class EditText(_Edit):
    """Correct the printed text of a value, or take the correction back (null); a picked reading goes with it."""

    op: Literal["text"]
    text: Storable | None = Field(max_length=LONGEST_TEXT)


class EditReading(_Edit):
    """Pick a reading of a value's text, or take the pick back (null)."""

    op: Literal["reading"]
    reading: PickedReading | None


class EditAddValue(_Edit):
    """Insert a value without marks at a place; the values from there on move up."""

    op: Literal["add_value"]
    cell: Cell | None = Field(None, description="Its place in a table.")


class EditCell(_Edit):
    """Put a value into a cell of a table, or take it out of the table (null)."""

    op: Literal["cell"]
    cell: Cell | None


class EditRemoveValue(_Edit):
    """Remove a value with its marks; the values behind it move down."""

    op: Literal["remove_value"]


class EditNoAnswer(BaseModel):
    """Set or clear "not in the document"."""

    model_config = ConfigDict(extra="forbid")

    op: Literal["no_answer"]
    value: bool


PageEdit = EditWords | EditPatch | EditMask | EditPrompts | EditClear
Edit = Annotated[
    PageEdit | EditText | EditReading | EditAddValue | EditCell | EditRemoveValue | EditNoAnswer,
    Field(discriminator="op"),
]
Edits = Annotated[list[Edit], FailFast(), Field(max_length=MOST_EDITS)]
