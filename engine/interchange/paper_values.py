"""Values of a paper: for each field the accepted answer, its printed text, the value made of it, and its place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from db.statuses import AUTOMATIC
from engine.annotation.state import Cell
from engine.annotation.values import read_part
from engine.datasets.frozen_fields import FrozenFields, fields_of_head
from engine.datasets.manifest import FrozenDocument, FrozenItem, read_head
from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext, Normalised, Value
from engine.fields.read_value import issuer_name
from engine.fields.rules import broken_rules, proven_fields
from engine.fields.table_rows import is_table, table_rows
from engine.interchange.release import Marked, Release

_SHARE_DIGITS = 6  # of a box in shares of the page: finer than a pixel of any page


@dataclass(frozen=True, slots=True)
class PaperValue:
    """An answer of a paper to a field.

    Attributes:
        field: The field.
        item: The frozen answer.
        marked: Its marks, page by page; none where the paper does not answer.
        printed: Words of the marks, as they are printed.
        text: The printed text, or as a person corrected it.
        normalised: What the text says as the field's type.
        proven: Whether the rules of the field hold, and one could be checked.
        cell: Its place in a table.
    """

    field: FieldDefinition
    item: FrozenItem
    marked: Sequence[Marked]
    printed: str
    text: str
    normalised: Normalised
    proven: bool = False
    cell: Cell | None = None

    @property
    def value(self) -> Value | None:
        """Return the value that counts: of a signature or a region that it is there."""
        return self.normalised.value

    @property
    def reading(self) -> float | None:
        """Return the lowest confidence of reading of its words, 0..1; None where no OCR read them."""
        read = [word.confidence for page in self.marked for word in page.words if word.confidence is not None]
        return min(read, default=None)

    @property
    def validated_by(self) -> str:
        """Return what stands for the value: "person"; of an automatic answer "rule" or "nothing"."""
        if self.item.status != AUTOMATIC:
            return "person"
        return "rule" if self.proven else "nothing"

    def to_json(self) -> dict[str, Any]:
        """Return the value with its citations."""
        item, normalised = self.item, self.normalised.to_json()
        cell = {"cell": self.cell.model_dump()} if self.cell is not None else {}
        return {
            **cell,
            **normalised,
            "answered": bool(self.marked),
            "printed": self.printed,
            "text": self.text,
            "pages": [_citation(marked) for marked in self.marked],
            "confidence": {
                "reading": self.reading,
                "answer": item.score,
                "answered": item.answered,
            },
            "validated_by": self.validated_by,
            "status": item.status,
            "author": item.author,
            "source": item.source,
            "model_version": item.model_version,
            "weight": item.weight,
            "annotation_id": item.annotation_id,
            "revision": item.revision,
        }


@dataclass(frozen=True, slots=True)
class Paper:
    """A document with its values, in the order of the fields, and the rules that they break (engine.fields.rules)."""

    document: FrozenDocument
    values: dict[str, list[PaperValue]]
    broken: dict[str, list[str]]

    def rows(self, field: FieldDefinition) -> list[dict[str, Value | None]]:
        """Return the rows of a table as plain values."""
        return _rows(field, self.values.get(field.name, ()))


def _rows(field: FieldDefinition, values: Sequence[PaperValue]) -> list[dict[str, Value | None]]:
    return table_rows(field, ((v.cell.row, v.cell.column, v.value) for v in values if v.cell is not None))


def fields_of(release: Release) -> FrozenFields:
    """Return the fields of a release; of a snapshot without any, a plain text for each question."""
    head = read_head(release.workspace, release.snapshot.sha256)
    if "fields" in head:
        return fields_of_head(head, ())
    asked = {item.question_id: item.question for _, items in release.documents() for item in items}
    return fields_of_head(head, sorted(asked.items(), key=lambda row: row[1]))


def papers(release: Release, frozen: FrozenFields) -> Iterator[Paper]:
    """Yield the documents with their values; answers to questions that are no fields are left out."""
    definitions = list(frozen.fields.values())
    for document, items in release.documents():
        values: dict[str, list[PaperValue]] = {}
        context = context_of_paper(release, frozen, items)
        for item in items:
            field = frozen.fields.get(item.question_id)
            if field is not None:
                values.setdefault(field.name, []).extend(item_values(release, context, field, item))
        ordered = {field.name: values[field.name] for field in definitions if field.name in values}
        present = {
            name: [paper.value for paper in of_field if paper.value is not None] for name, of_field in ordered.items()
        }
        tables = {field.name: _rows(field, ordered.get(field.name, ())) for field in definitions if is_table(field)}
        proven = proven_fields(definitions, present, tables)
        checked = {
            name: [replace(paper, proven=name in proven) for paper in of_field] for name, of_field in ordered.items()
        }
        yield Paper(document, checked, broken_rules(definitions, present, tables=tables))


def context_of_paper(release: Release, frozen: FrozenFields, items: Sequence[FrozenItem]) -> LocaleContext:
    """Return how a paper with these answers prints values."""
    return frozen.context_for(_issuer(release, frozen, items))


def _issuer(release: Release, frozen: FrozenFields, items: Sequence[FrozenItem]) -> str | None:
    """Return the issuer of a paper as a person accepted it (engine.annotation.issuers); None where it is not known."""
    for item in items if frozen.settings.get("issuer_conventions") else ():
        field = frozen.fields.get(item.question_id)
        if field is not None and field.issuer and item.status != AUTOMATIC:
            named = next(item_values(release, frozen.context, field, item), None)
            return (issuer_name(named.text) or None) if named is not None else None
    return None


def item_values(
    release: Release, context: LocaleContext, field: FieldDefinition, item: FrozenItem
) -> Iterator[PaperValue]:
    """Yield the values of an answer; of one that says "not in the document", a value without a mark."""
    parts = release.values_of(item)
    if not parts:
        yield PaperValue(field, item, [], "", "", Normalised())
    for part, marked in parts:
        printed = "\n".join(page.text for page in marked if page.text)
        text, read = read_part(field, part, printed, context)
        yield PaperValue(field, item, marked, printed, text, read, cell=part.cell)


def _citation(marked: Marked) -> dict[str, Any]:
    x0, y0, x1, y1 = marked.box
    width, height = marked.page.width, marked.page.height
    shares = (x0 / width, y0 / height, x1 / width, y1 / height)
    return {
        "page": marked.page.number,
        "width": width,
        "height": height,
        "box": [round(share, _SHARE_DIGITS) for share in shares],
        "box_pixels": [x0, y0, x1, y1],
        "words": [word.number for word in marked.words],
    }
