"""Pages of the table of values: each costs what its own rows cost, however many documents a project has.

Each order follows an index. A filter of few documents is read first; one of many is looked up row by row, because the
next row that it finds is never far.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, Select, exists, func, select
from sqlalchemy.orm import Session

from db.tables import BrokenRules, Document, FieldValue, ValueFlag
from engine.answer_table.counts import count_documents, count_found
from engine.answer_table.selection import NAME, OLDEST, VALUE, Filter, TableRequest
from engine.fields.normalisation import Value
from engine.fields.project_fields import StoredField
from engine.paging import Order, Page, every, rows_of
from engine.workspace import Workspace

MOST_ROWS = 200  # of a page
MOST_COUNTED = 10_000  # documents that several filters find together
_FEW = 1000  # documents of a filter that are read first


class CellView(BaseModel):
    """What the answer that counts says: accepted over fixed, submitted, draft, rejected, automatic, proposal."""

    annotation_id: str | None = Field(description="A person's answer; null without any.")
    page_id: str | None = Field(description="First marked page.")
    status: str = Field(description='Status of the answer; "automatic", "proposal" (of a survey), or "" without any.')
    state: str = Field(
        description='"value", "absent" (not in the document), "empty" (no answer), "ambiguous" or "unreadable".'
    )
    printed: str = Field(description="Words of the marks, as they are printed; of a long text the beginning.")
    text: str = Field(description="The same, or as a person corrected it.")
    shown: str = Field(description="Normalised values, for people.")
    values: list[Value | None] = Field(description="Normalised values in order; null for one that cannot be read.")
    changed: bool = Field(description="Whether a person changed the mark or the text.")
    broken: bool = Field(description="Whether a rule of the field is broken.")
    confidence: float | None = Field(description="Confidence of a proposal or an automatic answer, 0..1.")
    validated_by: str = Field(description='"person", "rule" (every rule of the field is kept) or "nothing".')


class BrokenRule(BaseModel):
    """A broken rule."""

    field: str
    sentence: str


class TableRow(BaseModel):
    """A document with its cells by name of the field; cells that were not derived yet are left out."""

    document_id: str
    name: str
    created_at: datetime
    broken: int = Field(description="Number of broken rules.")
    rules: list[BrokenRule] = Field(description="The first broken rules.")
    cells: dict[str, CellView]


def table_page(
    workspace: Workspace, project_id: str, wanted: TableRequest, *, limit: int = MOST_ROWS, cursor: str | None = None
) -> tuple[Page[TableRow], int | None]:
    """Return a page of the table, and the number of documents on all pages; None where it is not known.

    Args:
        workspace: Open workspace.
        project_id: The project.
        wanted: Columns, filters and order.
        limit: Most rows, at most MOST_ROWS.
        cursor: Of the page; None: the first page.

    Raises:
        Refused: The cursor is not one of this list.
    """
    with workspace.database.read() as session:
        numbers = count_found(session, project_id, wanted.filters)
        by_flag = len(wanted.filters) == 1 and wanted.sort.by == OLDEST
        few = None if by_flag else _load_few(session, project_id, numbers)  # the index of flags has that order
        parts = _parts(project_id, wanted, few)
        rows, following = rows_of(session, parts, min(limit, MOST_ROWS), cursor)
        lines = _load_rows(session, [document_id for (document_id,) in rows], wanted.columns)
        total = _count(session, project_id, wanted, numbers, few)
    return Page(lines, following), total


def every_row(workspace: Workspace, project_id: str, wanted: TableRequest) -> Iterator[TableRow]:
    """Yield all rows of the table."""
    return every(lambda cursor: table_page(workspace, project_id, wanted, cursor=cursor)[0])


def _parts(
    project_id: str, wanted: TableRequest, few: Collection[str] | None
) -> list[tuple[Order, Select[*tuple[Any, ...]]]]:
    """Return the statements for the ids of the documents, one behind the other, each with its order."""
    sort, filters = wanted.sort, list(wanted.filters)
    name = ":".join((project_id, *(f"{flag.question_id}.{flag.flag}" for flag in filters), str(sort)))
    if sort.by == VALUE:
        of_field = select(FieldValue.document_id).where(FieldValue.question_id == sort.question_id)
        of_field = of_field.where(*_conditions(FieldValue.document_id, project_id, filters, few))
        by_value = Order(f"{name} values", (FieldValue.sort_key, FieldValue.document_id), falls=sort.falls)
        without = Order(f"{name} without", (FieldValue.document_id,))
        return [
            (by_value, of_field.where(FieldValue.sort_key > "")),
            (without, of_field.where(FieldValue.sort_key == "")),
        ]
    if sort.by == NAME or not filters:
        keys = (Document.name_key, Document.id) if sort.by == NAME else (Document.id,)
        chosen = select(Document.id).where(Document.project_id == project_id)
        chosen = chosen.where(*_conditions(Document.id, project_id, filters, few))
        return [(Order(name, keys, falls=sort.falls), chosen)]
    first, *others = filters
    flagged = select(ValueFlag.document_id).where(*_is(first, project_id))
    flagged = flagged.where(*_conditions(ValueFlag.document_id, project_id, others, few if others else None))
    return [(Order(name, (ValueFlag.document_id,), falls=sort.falls), flagged)]


def _conditions(
    document_id: Any, project_id: str, filters: Sequence[Filter], few: Collection[str] | None
) -> Iterator[ColumnElement[bool]]:
    if few is not None:
        yield document_id.in_(few)
        return
    for each in filters:
        flags = ValueFlag.__table__.alias()
        yield exists().where(
            flags.c.document_id == document_id, flags.c.question_id == each.question_id, flags.c.flag == each.flag
        )


def _is(wanted: Filter, project_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        ValueFlag.project_id == project_id,
        ValueFlag.question_id == wanted.question_id,
        ValueFlag.flag == wanted.flag,
    )


def _load_few(session: Session, project_id: str, found: dict[Filter, int]) -> set[str] | None:
    """Return the documents that all filters find, where one of them finds few; None where none does, or without any."""
    rarest = min(found, key=lambda flag: found[flag], default=None)
    if rarest is None or found[rarest] > _FEW:
        return None
    chosen = select(ValueFlag.document_id).where(*_is(rarest, project_id))
    others = [flag for flag in found if flag != rarest]
    return set(session.scalars(chosen.where(*_conditions(ValueFlag.document_id, project_id, others, None))))


def _count(
    session: Session, project_id: str, wanted: TableRequest, found: dict[Filter, int], few: Collection[str] | None
) -> int | None:
    if not wanted.filters:
        return count_documents(session, project_id)
    if few is not None:
        return len(few)
    if len(wanted.filters) == 1:
        return found[wanted.filters[0]]
    rarest = min(found, key=lambda flag: found[flag])
    others = [flag for flag in wanted.filters if flag != rarest]
    chosen = select(ValueFlag.document_id).where(*_is(rarest, project_id))
    chosen = chosen.where(*_conditions(ValueFlag.document_id, project_id, others, None)).limit(MOST_COUNTED + 1)
    number = session.scalar(select(func.count()).select_from(chosen.subquery())) or 0
    return number if number <= MOST_COUNTED else None


def _load_rows(session: Session, ids: Sequence[str], columns: Sequence[StoredField]) -> list[TableRow]:
    documents = select(Document.id, Document.name, Document.created_at).where(Document.id.in_(ids))
    named = {row.id: row for row in session.execute(documents)}
    of_rules = select(BrokenRules).where(BrokenRules.document_id.in_(ids))
    broken = {row.document_id: row for row in session.scalars(of_rules)}
    names = {field.id: field.name for field in columns}
    cells: dict[str, dict[str, CellView]] = {document_id: {} for document_id in ids}
    of_documents = _CELLS.where(FieldValue.document_id.in_(ids), FieldValue.question_id.in_(names))
    for document_id, question_id, *said in session.connection().execute(of_documents):
        # As the follower has stored it: a page has hundreds of cells, and checking 800 of them takes 10 ms.
        cells[document_id][names[question_id]] = CellView.model_construct(**dict(zip(_NAMES, said, strict=True)))
    return [
        TableRow(
            document_id=document_id,
            name=named[document_id].name,
            created_at=named[document_id].created_at,
            broken=broken[document_id].number if document_id in broken else 0,
            rules=_rules(broken.get(document_id)),
            cells={name: cells[document_id][name] for name in names.values() if name in cells[document_id]},
        )
        for document_id in ids
        if document_id in named
    ]


_NAMES = tuple(CellView.model_fields)
_CELLS = select(
    FieldValue.document_id,
    FieldValue.question_id,
    *(getattr(FieldValue, "content" if name == "values" else name) for name in _NAMES),
)


def _rules(row: BrokenRules | None) -> list[BrokenRule]:
    return [BrokenRule.model_validate(sentence) for sentence in row.sentences] if row is not None else []
