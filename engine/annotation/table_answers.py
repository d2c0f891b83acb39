"""Answers to fields that are tables: rows of cells, found by the layout of the words (model.tables)."""

import time
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Document, Page, ProjectField, Question
from engine.annotation.page_cache import PageWords, words_of
from engine.annotation.page_prefilter import rank_texts
from engine.annotation.painting import Painting
from engine.annotation.proposal import ProposedCell, StoredAnswer
from engine.annotation.state import MOST_CELLS, MOST_ROWS, Patch
from engine.annotation.survey_answers import Prepared
from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.fields.kinds import kind_of_type
from engine.fields.types import FieldType
from engine.plurals import count
from engine.workspace import Workspace
from model.boxes import Box
from model.printed_text import printed_text
from model.tables.parts import AskedColumn, Row
from model.tables.propose import ProposedTable, propose_table

_PAGES = 48  # of a longer paper, those are read whose words are most like the headings
_LIKELY, _NEXT = 8, 5  # such pages, and pages behind each: a table may go on there

GivenRow = Mapping[str, Mapping[str, Sequence[int]]]  # column -> page id -> numbers of words


def answer_table(field: FieldDefinition, pages: Mapping[str, PageWords], given: Sequence[GivenRow] = ()) -> Prepared:
    """Return the rows of a table of a paper; the answer marks nothing where no page looks like it.

    Args:
        field: A field with columns.
        pages: Words of the pages by their ids, in the order of the paper; at least one page.
        given: Rows that a person has made or corrected; they stay as they are, and say where the columns are.

    Raises:
        Refused: A given row names a page that is not there, or no word that the page still has.
    """
    began = time.perf_counter()
    named = {page_id for row in given for marks in row.values() for page_id in marks}
    read = {page_id: pages[page_id] for page_id in _likely_pages(field, pages, named)}
    rows = [_to_row(row, number, field, read) for number, row in enumerate(given, 1)]
    columns = [AskedColumn(column.name, column.question, kind_of_type(column.type)) for column in field.columns]
    table = propose_table([page.words for page in read.values()], columns, rows)
    cells = _cells(table, list(read.items()))
    milliseconds = (time.perf_counter() - began) * 1000
    first = cells[0].page_id if cells else next(iter(pages))
    here = [cell for cell in cells if cell.page_id == first]
    rows_there = 1 + max((cell.row for cell in cells), default=-1)
    answer = StoredAnswer(
        words=[word for cell in here for word in cell.words],
        mask=_unite([cell.mask for cell in here]),
        text=count(rows_there, "row") if cells else "",
        score=table.score,
        source="table",
        proposer="Layout of the table",
        cells=cells,
    )
    return Prepared(first, answer, table.score, 1.0 if cells else 0.0, milliseconds)


def load_tables(session: Session, document_id: str) -> dict[str, FieldDefinition]:
    """Return the tables among the fields of a document's project, by question."""
    chosen = (
        select(Question.text, ProjectField.definition)
        .join(Question, Question.id == ProjectField.question_id)
        .join(Document, Document.project_id == ProjectField.project_id)
        .where(
            Document.id == document_id,
            ProjectField.name.is_not(None),
            ProjectField.definition["type"].as_string() == FieldType.TABLE.value,
        )
    )
    fields = {text: FieldDefinition.model_validate(definition) for text, definition in session.execute(chosen)}
    return {text: field for text, field in fields.items() if field.columns}


def document_words(workspace: Workspace, document_id: str, page_id: str | None = None) -> dict[str, PageWords]:
    """Return the words of a stored document by page, in the order of its pages; `page_id`: of that page alone."""
    with workspace.database.read() as session:
        chosen = select(Page.id).where(Page.document_id == document_id).order_by(Page.number)
        pages = session.scalars(chosen if page_id is None else chosen.where(Page.id == page_id)).all()
    return {key: words_of(workspace, key) for key in pages}


def _likely_pages(field: FieldDefinition, pages: Mapping[str, PageWords], named: Collection[str]) -> list[str]:
    """Return the pages to look at, in their order: of a long paper the likeliest, the named, and some behind each."""
    order = list(pages)
    if len(order) <= _PAGES:
        return order
    headings = " ".join([field.question, *(column.question for column in field.columns)])
    texts = {key: " ".join(word.text for word in page.words) for key, page in pages.items()}
    [ranked] = rank_texts(texts, [headings])
    likely = [order.index(key) for key in (*ranked[:_LIKELY], *named) if key in pages]
    places = {at + step for at in likely for step in range(_NEXT + 1)}
    return [order[at] for at in sorted(places) if at < len(order)]


def _to_row(given: GivenRow, number: int, field: FieldDefinition, pages: Mapping[str, PageWords]) -> Row:
    order = {page_id: at for at, page_id in enumerate(pages)}
    row: dict[str, list[tuple[int, int]]] = {}
    for name, marks in given.items():
        if field.column(name) is None:
            continue  # it was taken out of the field since
        for page_id, words in marks.items():
            if page_id not in pages:
                raise Refused(f"Row {number} names a page that is not in this document. Reload the document.")
            places = {word: at for at, word in enumerate(pages[page_id].numbers)}
            # A word that was split, merged or removed since says nothing of the place any more.
            row.setdefault(name, []).extend((order[page_id], places[word]) for word in words if word in places)
    row = {name: cell for name, cell in row.items() if cell}
    if not row:
        raise Refused(f"Row {number} has no words in a column of the table. Mark its cells first.")
    return row


def _cells(table: ProposedTable, pages: Sequence[tuple[str, PageWords]]) -> list[ProposedCell]:
    """Return the cells of a table; a cell that goes on on the next page is there once for each."""
    cells: list[ProposedCell] = []
    for number, row in enumerate(table.rows[:MOST_ROWS]):
        on_pages = [(name, at) for name, words in row.items() for at in sorted({place for place, _ in words})]
        for name, at in on_pages:
            page_id, page = pages[at]
            chosen = sorted({word for place, word in row[name] if place == at})
            cells.append(
                ProposedCell(
                    row=number,
                    column=name,
                    page_id=page_id,
                    words=[page.numbers[word] for word in chosen],
                    mask=_mask_of([page.words[word].box for word in chosen]),
                    text=printed_text(page.words[word] for word in chosen),
                )
            )
    return cells[:MOST_CELLS]


def _mask_of(boxes: Sequence[Box]) -> Patch:
    painting = Painting((0, 0, 0, 0), [])
    painting.words([], [], boxes)
    return Patch.model_validate(painting.paint())


def _unite(masks: Sequence[Patch]) -> Patch:
    painting = Painting((0, 0, 0, 0), [])
    for mask in masks:
        painting.stroke(True, mask.box, mask.counts)
    return Patch.model_validate(painting.paint())
