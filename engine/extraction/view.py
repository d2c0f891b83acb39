"""What an extraction says: the values of a paper with their citations."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from engine.annotation.state import Cell
from engine.annotation.values import ReadingView
from engine.fields.normalisation import Value
from engine.fields.types import FieldType

Share = Annotated[float, Field(ge=0, le=1)]


def _is_absent(part: object) -> bool:
    """Return whether a part is left out of the JSON, as it is in the export of values: most fields are no tables."""
    return part is None


class Citation(BaseModel):
    """Place of a value on a page."""

    page: int = Field(ge=1, description="Number of the page.")
    width: int = Field(description="Pixels of the page as it was read.")
    height: int
    box: tuple[Share, Share, Share, Share] = Field(description="x0, y0, x1, y1 in shares of the page.")
    box_pixels: tuple[int, int, int, int]
    words: list[int] = Field(description="Numbers of the marked words of the page.")


class ValueConfidence(BaseModel):
    """How sure reading and model are."""

    reading: Share | None = Field(description="Lowest confidence of reading of the words; null: no OCR read them.")
    answer: Share | None = Field(description="Predicted IoU of the mark; null for a person's answer.")
    answered: Share | None = Field(description="Probability that the paper answers; null for a person's answer.")


class ExtractedValue(BaseModel):
    """A value of a field. The names and meanings are those of the export `values`."""

    value: Value | None = Field(description="Normalised value; null where the text is ambiguous, or cannot be read.")
    rule: str = Field(description="How the value was made of the printed text.")
    locale: str | None = Field(description="Locale that the value depends on.")
    readings: list[ReadingView] = Field(description="Possible values of an ambiguous text.")
    reason: str = Field(description="Why there is no value.")
    answered: bool = Field(description="Whether the paper answers.")
    printed: str = Field(description="Words of the mark, as they are printed.")
    text: str = Field(description="The printed text, or as a person corrected it.")
    pages: list[Citation]
    confidence: ValueConfidence
    validated_by: Literal["person", "rule", "nothing"] = Field(description="What stands for the value.")
    cell: Cell | None = Field(None, exclude_if=_is_absent, description="Its place in a table.")


class ExtractedField(BaseModel):
    """A field with its values."""

    type: FieldType
    question: str
    status: str = Field(
        description="proposal: the model's answer; automatic: accepted without a person; else the status of a "
        "person's answer."
    )
    values: list[ExtractedValue] = Field(description="Of a table: its cells, row by row.")
    rows: list[dict[str, Value | None]] | None = Field(
        None, exclude_if=_is_absent, description="Of a table: its rows as plain values, by the name of the column."
    )
    broken_rules: list[str] = Field(description="Rules that the values break, as sentences.")
    unsure: list[str] = Field(description="Why a person should look at it, as sentences; empty where nobody needs to.")


class ExtractedPaper(BaseModel):
    """The paper that the values are from."""

    id: str | None = Field(description="Document; null where nothing was stored.")
    name: str
    sha256: str
    pages: int


class Extraction(BaseModel):
    """Values of a paper, by the names of the fields."""

    format: Literal["glossator-extraction/1"] = "glossator-extraction/1"
    document: ExtractedPaper
    model_version: str = Field(description="Id of the model version that answered.")
    model: str = Field(description="Name of that version for people.")
    locale: str | None = Field(description="BCP 47 locale of the project.")
    fields: dict[str, ExtractedField]
    warnings: list[str] = Field(description="What reading the paper says, as sentences.")
    unsure: list[str] = Field(description="Names of the fields that a person should look at.")


class ExtractionBegun(BaseModel):
    """A paper whose pages are still being read."""

    document_id: str
    pages_read: int
    pages: int
    detail: str = "The pages of this document are still being read. Ask again for its values."
