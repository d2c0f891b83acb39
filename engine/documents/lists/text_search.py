"""Search in a project's documents: by parts of their names, and by the beginnings of the words printed on them.

Each word of a search finds a document by its name or by its words. Case, ligatures and composed letters make no
difference (`search_key`), and punctuation is looked for as it was typed. The rows searched are kept by
db.document_texts. A search is never syntax: its words are quoted, one by one.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    cast,
    column,
    false,
    func,
    intersect,
    literal,
    or_,
    select,
    table,
)
from sqlalchemy.dialects.postgresql import TSQUERY
from sqlalchemy.orm import Session

from db.search_tokens import key_of, query_tokens
from db.tables import Document, DocumentText
from db.tables.search import SEVERAL
from engine.text import storable

# Up to so many documents are looked up and sorted. Of more, the list is gone through in its order, to the page's end.
FEW = 500
_STEP = 200  # rows of the list at once

_Token = tuple[str, bool]  # and whether it is the beginning of one
_FTS = table("document_search", column("rowid"), column("document_search"))  # of SQLite


@dataclass(frozen=True, slots=True)
class Found:
    """Documents that a search finds.

    number: how many.
    condition: on Document, chooses them; with `texts`, those that have several rows.
    texts: ids of the found rows of documents with one row, where they are too many for a condition of SQLite.
    """

    number: int
    condition: ColumnElement[bool]
    texts: Collection[str] | None = None

    def first(self, session: Session, page: Select[Any], number: int) -> Sequence[Any]:
        """Return the first rows of a statement that are of found documents.

        Args:
            session: for reading.
            page: selects from Document, in the order of a list.
            number: maximum number of rows.
        """
        if self.texts is None:
            return session.execute(page.where(self.condition).limit(number)).all()
        rows: list[Any] = []
        own = (DocumentText.document_id == Document.id) & (DocumentText.id < SEVERAL)
        every = page.add_columns(DocumentText.id, self.condition).outerjoin(DocumentText, own)
        with session.execute(every, execution_options={"yield_per": _STEP}) as result:
            for *row, text_id, several in result:
                if several or str(text_id) in self.texts:
                    rows.append(row)
                    if len(rows) == number:
                        break
        return rows


def find_documents(session: Session, project_id: str, query: str) -> Found | None:
    """Search in a project; None where the search has no words, so that every document is found.

    Args:
        session: for reading.
        project_id: the project.
        query: as somebody typed it.
    """
    tokens = query_tokens(key_of(project_id), storable(query))
    if not tokens:
        return None
    dialect = session.get_bind().dialect.name
    several = _documents_of_several(session, dialect, tokens)
    number = 0 if several is None else session.scalar(select(func.count()).select_from(several.subquery())) or 0
    in_several = false() if several is None else Document.id.in_(several)
    alone = _rows(dialect, tokens, several=False)
    if dialect == "sqlite":
        # The rows are read once, as one text: FTS5 puts the words of a beginning together anew for each statement.
        ids = session.scalar(select(func.group_concat(_FTS.c.rowid)).where(*_conditions(dialect, tokens)))
        texts = ids.split(",") if ids else []
        if len(texts) > FEW:
            return Found(number + len(texts), in_several, frozenset(texts))
        of_rows = select(DocumentText.document_id).where(DocumentText.id.in_([int(text_id) for text_id in texts]))
        return Found(number + len(texts), or_(Document.id.in_(of_rows), in_several))
    number += session.scalar(select(func.count()).select_from(alone.subquery())) or 0
    if number <= FEW:
        of_rows = select(DocumentText.document_id).where(DocumentText.id.in_(alone))
        return Found(number, or_(Document.id.in_(session.scalars(of_rows).all()), in_several))
    # A value instead of EXISTS: PostgreSQL takes two common words for a rare pair, and would sort all that has it.
    conditions = _conditions(dialect, tokens)
    row = select(DocumentText.id).where(DocumentText.document_id == Document.id, *conditions).limit(1)
    return Found(number, or_(row.scalar_subquery().is_not(None), in_several))


def _documents_of_several(session: Session, dialect: str, tokens: list[_Token]) -> Select[Any] | None:
    """Return the statement for the found documents that have several rows; None where no document has."""
    if session.scalar(select(DocumentText.id).where(DocumentText.id >= SEVERAL).limit(1)) is None:
        return None
    by_token = [
        select(DocumentText.document_id).where(DocumentText.id.in_(_rows(dialect, [token], several=True)))
        for token in tokens
    ]
    every = (intersect(*by_token) if len(by_token) > 1 else by_token[0]).subquery()
    return select(every.c.document_id).distinct()


def _rows(dialect: str, tokens: list[_Token], *, several: bool) -> Select[Any]:
    """Return the statement for the ids of rows that have all of these tokens, of documents with one row or several."""
    of = DocumentText.id if dialect == "postgresql" else _FTS.c.rowid
    return select(of).where(*_conditions(dialect, tokens, several=several))


def _conditions(dialect: str, tokens: list[_Token], *, several: bool = False) -> list[ColumnElement[bool]]:
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
