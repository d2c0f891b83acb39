"""Values of documents by field, for the table of values: the answer that counts, its flags, and broken rules.

It also follows strokes of drafts, corrected words, proposals of surveys, and changes of fields and conventions. Strokes
mark nothing dirty: their topic "answers" names the document (db.changes), and a pause gathers them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields as attributes
from typing import Any

from sqlalchemy.orm import Session

from db.changes import DIRTY_VALUES
from db.tables import BrokenRules, FieldValue, ValueCount, ValueFlag
from engine.annotation.state import AnnotationState
from engine.annotation.texts import answer_texts
from engine.followers.counting_answers import load_counting_answers, load_fields_of
from engine.followers.derived_table import DerivedTable, Row, Sums
from engine.followers.follower import Follower
from engine.followers.value_cells import MOST_SENTENCES, ValueCell, ValueRow, make_row

PAUSE_SECONDS = 2.0  # between two looks: strokes on a document within it cost one computation
AT_ONCE = 50  # documents of one transaction: each has a row for every field
_COMPUTED = "field_values"  # in the info of a session: three tables are made of one computation
_COLUMNS = [attribute.name for attribute in attributes(ValueCell) if attribute.name not in ("unsure", "rows")]


def compute_rows(session: Session, ids: Collection[str]) -> dict[str, tuple[str, ValueRow]]:
    """Return (project, row) of some documents, as their answers, words and fields say.

    The rows are those of the snapshot that the session reads; asked again for the same documents, they are returned as
    they are.
    """
    key = tuple(ids)
    computed = session.info.get(_COMPUTED)
    if computed is None or computed[0] != key:
        computed = session.info[_COMPUTED] = key, _compute_rows(session, ids)
    rows: dict[str, tuple[str, ValueRow]] = computed[1]
    return rows


def _compute_rows(session: Session, ids: Collection[str]) -> dict[str, tuple[str, ValueRow]]:
    fields = load_fields_of(session, ids)
    answers = load_counting_answers(session, fields)
    parts: list[AnnotationState] = []
    spans = {}
    for cell, answer in answers.items():
        single = answer.state.single_values()
        spans[cell] = slice(len(parts), len(parts) + len(single))
        parts += single
    texts = answer_texts(session, parts)
    rows = {}
    for document_id, of_project in fields.items():
        cells = [(document_id, question) for question in of_project.fields if (document_id, question) in answers]
        row = make_row(
            of_project,
            {cell[1]: answers[cell] for cell in cells},
            {cell[1]: texts[spans[cell]] for cell in cells},
        )
        rows[document_id] = of_project.project_id, row
    return rows


def compute_values(session: Session, ids: Collection[str]) -> Iterator[Row]:
    """Yield the rows of FieldValue of some documents."""
    for document_id, (project_id, row) in compute_rows(session, ids).items():
        for question_id, cell in row.cells.items():
            yield document_id, question_id, project_id, *(getattr(cell, name) for name in _COLUMNS)


def compute_flags(session: Session, ids: Collection[str]) -> Iterator[Row]:
    """Yield the rows of ValueFlag of some documents."""
    for document_id, (project_id, row) in compute_rows(session, ids).items():
        for question_id, flag in row.flags():
            yield document_id, question_id, flag, project_id


def compute_broken(session: Session, ids: Collection[str]) -> Iterator[Row]:
    """Yield the rows of BrokenRules of some documents."""
    for document_id, (project_id, row) in compute_rows(session, ids).items():
        if row.broken:
            sentences = [{"field": name, "sentence": said} for name, said in row.broken[:MOST_SENTENCES]]
            yield document_id, project_id, len(row.broken), sentences


def count_flags(row: Any) -> Iterable[tuple[tuple[Any, ...], Mapping[str, int]]]:
    """Yield what a row adds to ValueCount."""
    yield (row.project_id, row.question_id, row.flag), {"documents": 1}


FOLLOWER = Follower(
    "field_values",
    (
        DerivedTable(FieldValue, compute_values),
        DerivedTable(ValueFlag, compute_flags, Sums(ValueCount, count_flags)),
        DerivedTable(BrokenRules, compute_broken),
    ),
    topics=frozenset({"answers", "documents", DIRTY_VALUES}),
    publishes="values",
    pause_seconds=PAUSE_SECONDS,
    at_once=AT_ONCE,
)
