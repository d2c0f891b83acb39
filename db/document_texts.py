"""Kept texts of documents, for searches: each unit of work stores those that it changed, in its own transaction.

The tokens of a part, which is some pages in a row, are computed anew from the words of its pages. A document of few
pages has one part; a correction in a long one reads the pages of its part alone.

Objects of the ORM and statements on words are seen by events of their session. The code that writes words past the ORM
calls `mark_pages_dirty`.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, delete, event, exists, insert, or_, select, text, true
from sqlalchemy.orm import ORMExecuteState, Session

from db.changes import ObservedSession
from db.search_tokens import joined_texts, key_of, name_tokens, printed_tokens
from db.tables import Document, DocumentText, Page, PageWord, RemovedDocument
from db.tables.search import SEVERAL

PART = 8  # pages: all are read again when words of one change
MOST_BYTES = 400_000  # of the tokens of a row; PostgreSQL takes a megabyte
AT_ONCE = 20  # documents of one statement: all their words may be in memory
MOST_PARTS = 4  # of a document that are read by themselves; of more, all
_DIRTY = "document_texts"  # in the info of a session
_log = logging.getLogger(__name__)

_Chosen = Mapping[str, Collection[int] | None]  # parts of documents; None: every one
_Come = tuple[str, int, str]  # document, part and tokens of a new row


@dataclass(slots=True)
class _Dirty:
    """Pages, documents and names whose texts one unit of work must compute anew."""

    pages: dict[str, None] = field(default_factory=dict)
    documents: dict[str, None] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)


class Kept(NamedTuple):
    """A row as it is kept."""

    id: int
    part: int
    tokens: str


def mark_pages_dirty(session: Session, ids: Iterable[str]) -> None:
    """Note pages whose words have changed."""
    _dirty_of(session).pages.update(dict.fromkeys(ids))


def mark_documents_dirty(session: Session, ids: Iterable[str]) -> None:
    """Note documents that have arrived, or of which every part may be wrong."""
    _dirty_of(session).documents.update(dict.fromkeys(ids))


def mark_names_dirty(session: Session, ids: Iterable[str]) -> None:
    """Note documents that have other names: the first part has the tokens of the name, and no other one is read."""
    _dirty_of(session).names.update(dict.fromkeys(ids))


def store(session: Session) -> None:
    """Store the texts of the dirty pages and documents; called once, before the commit."""
    session.flush()
    dirty: _Dirty | None = session.info.pop(_DIRTY, None)
    if dirty is None:
        return
    connection = session.connection()
    parts: dict[str, set[int] | None] = {}
    pages = list(dirty.pages)
    for begin in range(0, len(pages), AT_ONCE):
        chosen = select(Page.document_id, Page.number).where(Page.id.in_(pages[begin : begin + AT_ONCE]))
        for document_id, number in connection.execute(chosen):
            _add_part(parts, document_id, part_of(number))
    for document_id in dirty.names:
        _add_part(parts, document_id, 0)
    for document_id in dirty.documents:
        parts[document_id] = None  # every one
    ordered = sorted(parts)  # all in one order: no two units of work wait for each other
    for begin in range(0, len(ordered), AT_ONCE):
        some = ordered[begin : begin + AT_ONCE]
        if connection.dialect.name == "postgresql":
            # Two people who correct two pages of a part at once: the second waits here, and then sees the other's.
            connection.execute(_LOCK, {"ids": some}).all()
        _store(session, {document_id: parts[document_id] for document_id in some})


def part_of(number: int) -> int:
    """Return the part of a document that its page of this number belongs to."""
    return (number - 1) // PART


def compute_rows(session: Session, chosen: _Chosen) -> dict[str, list[tuple[int, str]]]:
    """Return (part, tokens) of the rows that documents should have.

    Args:
        session: for reading.
        chosen: documents, each with the wanted parts; None: every one.
    """
    rows_by_document: dict[str, list[tuple[int, str]]] = {}
    connection = session.connection()
    printed: dict[str, dict[int, list[tuple[int, int, str]]]] = {document_id: {} for document_id in chosen}
    documents = connection.execute(_NAMES, {"ids": list(chosen)}).all()
    searched = {document_id: chosen[document_id] for document_id, _, _, removed in documents if not removed}
    if searched:
        for document_id, number, position, word in connection.execute(_select_words(searched)):
            printed[document_id].setdefault(part_of(number), []).append((number, position, word))
    for document_id, project_id, name, removed in documents:
        if removed:  # no search finds what lies in the bin
            rows_by_document[document_id] = []
            continue
        key, wanted = key_of(project_id), chosen[document_id]
        parts = {0, *printed[document_id]} if wanted is None else wanted
        rows = rows_by_document[document_id] = []
        for part in sorted(parts):
            tokens = printed_tokens(key, joined_texts(printed[document_id].get(part, ())))
            if part == 0:
                tokens |= name_tokens(key, name)
            rows += [(part, piece) for piece in _pieces(sorted(tokens))]
    return rows_by_document


def load_rows(session: Session, ids: Collection[str]) -> dict[str, list[Kept]]:
    """Return the rows that documents have."""
    rows: dict[str, list[Kept]] = {document_id: [] for document_id in ids}
    for row in session.connection().execute(_KEPT, {"ids": list(ids)}):
        rows[row.document_id].append(Kept(row.id, row.part, row.tokens))
    return rows


def mismatches(session: Session, ids: Collection[str]) -> list[str]:
    """Return those of some documents whose rows are not what their names and words say."""
    wanted, stored = compute_rows(session, dict.fromkeys(ids)), load_rows(session, ids)
    return [
        document_id
        for document_id in ids
        if document_id in wanted and any(_compare_rows(wanted[document_id], stored[document_id]))
    ]


def _store(session: Session, chosen: _Chosen) -> None:
    texts, stored = compute_rows(session, chosen), load_rows(session, list(chosen))
    gone: list[int] = []
    alone: list[_Come] = []
    several: list[_Come] = []
    for document_id, rows in texts.items():
        wanted = chosen[document_id]
        others = [(row.part, row.tokens) for row in stored[document_id] if wanted and row.part not in wanted]
        every = [*others, *rows]
        ended, begun = _compare_rows(every, stored[document_id])
        gone += ended
        (several if len(every) > 1 else alone).extend((document_id, *row) for row in begun)
    connection = session.connection()
    for begin in range(0, len(gone), AT_ONCE):
        connection.execute(_FORGET, {"ids": gone[begin : begin + AT_ONCE]})
    _insert(session, alone, 0)
    _insert(session, several, SEVERAL)


def _compare_rows(wanted: list[tuple[int, str]], stored: list[Kept]) -> tuple[list[int], list[tuple[int, str]]]:
    """Return the ids of a document's rows that must go, and the rows that must come."""
    several, missing, gone = len(wanted) > 1, list(wanted), []
    for stored_row in stored:
        row = stored_row.part, stored_row.tokens
        if row in missing and (stored_row.id >= SEVERAL) == several:
            missing.remove(row)
        else:
            gone.append(stored_row.id)
    return gone, missing


def _insert(session: Session, rows: list[_Come], first: int) -> None:
    """Add rows with ids from `first` on."""
    if not rows:
        return
    connection = session.connection()
    if connection.dialect.name == "postgresql":
        ids = [first + number for number in connection.scalars(_NEXT_IDS, {"number": len(rows)})]
    else:
        highest = connection.scalar(_HIGHEST, {"first": first, "end": first + SEVERAL}) or first
        ids = list(range(highest + 1, highest + 1 + len(rows)))
    numbered = zip(ids, rows, strict=True)
    names = "id", "document_id", "part", "tokens"
    connection.execute(_KEEP, [dict(zip(names, (number, *row), strict=True)) for number, row in numbered])


def _pieces(tokens: list[str]) -> Iterator[str]:
    """Yield sorted tokens with spaces between them, in pieces that a row takes; one at least."""
    piece: list[str] = []
    size = 0
    for token in tokens:
        if size > MOST_BYTES:
            yield " ".join(piece)
            piece, size = [], 0
        piece.append(token)
        size += len(token.encode())
    yield " ".join(piece)


def _select_words(chosen: _Chosen) -> Select[str, int, int, str]:
    """Return the statement for the words of the chosen parts: document, number of the page, position, text."""
    whole = [document_id for document_id, parts in chosen.items() if parts is None]
    pages = [
        (Page.document_id == document_id) & Page.number.between(part * PART + 1, (part + 1) * PART)
        for document_id, parts in chosen.items()
        for part in sorted(parts or ())
    ]
    live = select(Page.document_id, Page.number, PageWord.position, PageWord.text).join(
        PageWord, PageWord.page_id == Page.id
    )
    return live.where(PageWord.retired_at.is_(None), or_(Page.document_id.in_(whole), *pages))


def _add_part(parts: dict[str, set[int] | None], document_id: str, part: int) -> None:
    some = parts.setdefault(document_id, set())
    if some is not None:
        some.add(part)
        if len(some) > MOST_PARTS:
            parts[document_id] = None


def _dirty_of(session: Session) -> _Dirty:
    dirty: _Dirty = session.info.setdefault(_DIRTY, _Dirty())
    return dirty


# Built once at import: each upload and each correction of words runs them.
_IDS: Any = bindparam("ids", expanding=True)
_LOCK = select(Document.id).where(Document.id.in_(_IDS)).order_by(Document.id).with_for_update(key_share=True)
_REMOVED = exists().where(RemovedDocument.document_id == Document.id)
_NAMES = select(Document.id, Document.project_id, Document.name, _REMOVED).where(Document.id.in_(_IDS))
_KEPT = (
    select(DocumentText.id, DocumentText.document_id, DocumentText.part, DocumentText.tokens)
    .where(DocumentText.document_id.in_(_IDS))
    .order_by(DocumentText.id)
)
_TABLE: Any = DocumentText.__table__
_FORGET = delete(_TABLE).where(_TABLE.c.id.in_(_IDS))
_KEEP = insert(_TABLE)
_NEXT_IDS = text("SELECT nextval('document_texts_id_seq') FROM generate_series(1, :number)")
_HIGHEST = text("SELECT max(id) FROM document_texts WHERE id > :first AND id < :end")


def _see_flushed(session: ObservedSession, _context: Any) -> None:
    for row in (*session.new, *session.dirty, *session.deleted):
        if isinstance(row, PageWord):
            mark_pages_dirty(session, [row.page_id])
        elif isinstance(row, Document) and row in session.new:
            mark_documents_dirty(session, [row.id])
        elif isinstance(row, Page) and row in session.deleted:
            mark_documents_dirty(session, [row.document_id])


def _see_statement(state: ORMExecuteState) -> None:
    table = state.bind_mapper.class_ if state.bind_mapper is not None else None
    if table is PageWord and (state.is_update or state.is_delete):
        where: ColumnElement[bool] | None = getattr(state.statement, "whereclause", None)
        changed = select(PageWord.page_id).where(true() if where is None else where).distinct()
        parameters = state.parameters if isinstance(state.parameters, Mapping) else {}
        mark_pages_dirty(state.session, state.session.connection().scalars(changed, parameters))
    elif state.is_insert and table in (PageWord, Document):
        name, mark = ("page_id", mark_pages_dirty) if table is PageWord else ("id", mark_documents_dirty)
        rows = state.parameters if isinstance(state.parameters, Sequence) else [state.parameters or {}]
        if not all(name in row for row in rows):
            _log.error("a statement added rows of %s that db.document_texts does not see", table.__tablename__)
        mark(state.session, [row[name] for row in rows if name in row])


event.listen(ObservedSession, "after_flush", _see_flushed)
event.listen(ObservedSession, "do_orm_execute", _see_statement)
