"""Search in a project's documents: by parts of their names, and by the beginnings of the words printed on them.

Each word of a search finds a document by its name or by its words. Case, ligatures and composed letters make no
difference (`search_key`), and punctuation is looked for as it was typed. The rows searched are kept by
db.document_texts. A search is never syntax: its words are quoted, one by one.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    cast,
    column,
    exists,
    func,
    intersect,
    literal,
    or_,
    select,
    table,
)
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.orm import Session

from db.search_tokens import key_of, wanted
from db.tables import Document, DocumentText
from db.tables.search import SEVERAL
from engine.text import storable

# Up to so many documents are looked up and sorted. Of more, the list is gone through in its order, to the page's end.
FEW = 500

_Token = tuple[str, bool]  # and whether it is the beginning of one
_FTS = table("document_search", column("rowid"), column("document_search"))  # of SQLite


@dataclass(frozen=True, slots=True)
class Found:
    """Documents that a search finds: their number, and the condition on Document that chooses them."""

    number: int
    condition: ColumnElement[bool]


def found(session: Session, project_id: str, query: str) -> Found | None:
    """Search in a project; None where the search has no words, so that every document is found.

    Args:
        session: for reading.
        project_id: the project.
        query: as somebody typed it.
    """
    tokens = wanted(key_of(project_id), storable(query))
    if not tokens:
        return None
    dialect = session.get_bind().dialect.name
    alone = _rows(dialect, tokens, several=False)
    number = session.scalar(select(func.count()).select_from(alone.subquery())) or 0
    several = _documents_of_several(session, dialect, tokens)
    if several is not None:
        number += session.scalar(select(func.count()).select_from(several.subquery())) or 0
    if number <= FEW:
        chosen = select(DocumentText.document_id).where(DocumentText.id.in_(alone))
        ids = [*session.scalars(chosen), *(session.scalars(several) if several is not None else ())]
        return Found(number, Document.id.in_(ids))
    condition = _has_row(dialect, tokens, alone)
    return Found(number, condition if several is None else or_(condition, Document.id.in_(several)))


def _has_row(dialect: str, tokens: list[_Token], alone: Select[Any]) -> ColumnElement[bool]:
    """Return the condition that a document's only row is found, for a list that is gone through in its order."""
    if dialect == "postgresql":
        # A value instead of EXISTS: PostgreSQL takes two common words for a rare pair, and would sort all that has it.
        conditions = _conditions(dialect, tokens, several=False)
        row = select(DocumentText.id).where(DocumentText.document_id == Document.id, *conditions).limit(1)
        return row.scalar_subquery().is_not(None)
    # + 0: SQLite would go through all that is found, for each document.
    return exists().where(DocumentText.document_id == Document.id, (DocumentText.id + 0).in_(alone))


def _documents_of_several(session: Session, dialect: str, tokens: list[_Token]) -> Select[Any] | None:
    """Return the statement for the found documents that have several rows; None where no document has."""
    if session.scalar(select(DocumentText.id).where(DocumentText.id >= SEVERAL).limit(1)) is None:
        return None
    each = [
        select(DocumentText.document_id).where(DocumentText.id.in_(_rows(dialect, [token], several=True)))
        for token in tokens
    ]
    every = (intersect(*each) if len(each) > 1 else each[0]).subquery()
    return select(every.c.document_id).distinct()


def _rows(dialect: str, tokens: list[_Token], *, several: bool) -> Select[Any]:
    """Return the statement for the ids of rows that have all of these tokens, of documents with one row or several."""
    of = DocumentText.id if dialect == "postgresql" else _FTS.c.rowid
    return select(of).where(*_conditions(dialect, tokens, several=several))


def _conditions(dialect: str, tokens: list[_Token], *, several: bool) -> list[ColumnElement[bool]]:
    if dialect == "postgresql":
        of: Any = DocumentText.id
        matches: Any = DocumentText.tokens.op("@@")(cast(literal(_tsquery(tokens)), TSQUERY))
    else:
        of = _FTS.c.rowid
        matches = _FTS.c.document_search.op("MATCH")(_match(tokens))
    return [matches, of >= SEVERAL if several else of < SEVERAL]


def _match(tokens: list[_Token]) -> str:
    """Return the search as FTS5 reads it (https://sqlite.org/fts5.html, section 3.1: strings)."""
    quoted = ('"' + token.replace('"', '""') + '"' + (" *" if begins else "") for token, begins in tokens)
    return " AND ".join(quoted)


def _tsquery(tokens: list[_Token]) -> str:
    """Return the search as PostgreSQL reads a tsquery (its manual, 8.11.2)."""
    quoted = (
        "'" + token.replace("\\", "\\\\").replace("'", "''") + "'" + (":*" if begins else "")
        for token, begins in tokens
    )
    return " & ".join(quoted)
