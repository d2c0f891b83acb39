"""The list of a project's documents, page by page: sorted, searched, and continued by a cursor."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sqlalchemy import ColumnElement, and_, func, select, true
from sqlalchemy.orm import Session

from db.tables import Document
from db.tables.documents import search_key
from engine.documents.views import DocumentLine, lines_of
from engine.paging import Order
from engine.workspace import Workspace

Sort = Literal["-created", "name"]
SORTS: tuple[Sort, ...] = get_args(Sort)
MOST_LINES = 1000  # of one page


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """One page of a list of documents.

    total: number of the documents that the search finds, on all pages.
    next: cursor of the next page; None on the last.
    """

    lines: list[DocumentLine]
    total: int
    next: str | None


def document_page(
    workspace: Workspace,
    project_id: str,
    viewer_id: str | None = None,
    *,
    query: str = "",
    sort: Sort = "-created",
    limit: int = MOST_LINES,
    cursor: str | None = None,
    ids: Collection[str] | None = None,
) -> DocumentPage:
    """Return a page of a project's documents, at the cost of its own lines.

    A document that arrives between two pages moves none from one to the other.

    Args:
        workspace: open workspace.
        project_id: the project.
        viewer_id: the user; None sees all answers. Answers hidden from the user are not counted.
        query: only documents whose name contains each of these words, in any case.
        sort: "-created": newest first; "name": by name.
        limit: maximum number of lines.
        cursor: `next` of the page before, which had the same query and sort; None: the first page.
        ids: only these documents.

    Raises:
        Refused: the cursor is not one of this list.
    """
    found = _found(project_id, query)
    with workspace.database.read() as session:
        total = session.scalar(select(func.count()).select_from(Document).where(found)) or 0
        page = select(Document.id).where(found)
        if ids is not None:
            page = page.where(Document.id.in_(ids))
        rows, following = _order(sort).rows(session, page, limit, cursor)
        lines = _in_order(session, project_id, [document_id for (document_id,) in rows], viewer_id)
    return DocumentPage(lines, total, following)


def document_lines(
    workspace: Workspace, project_id: str, viewer_id: str | None = None, *, ids: Collection[str] | None = None
) -> list[DocumentLine]:
    """Return all documents of a project, newest first; with `ids` only these, at the cost of these alone."""
    if ids is None:
        return list(all_lines(workspace, project_id, viewer_id))
    with workspace.database.read() as session:
        return lines_of(session, project_id, ids, viewer_id)


def all_lines(
    workspace: Workspace, project_id: str, viewer_id: str | None = None, *, query: str = "", sort: Sort = "-created"
) -> Iterator[DocumentLine]:
    """Yield the lines of all documents that a search finds; see `document_page`."""
    cursor = None
    while True:
        page = document_page(workspace, project_id, viewer_id, query=query, sort=sort, cursor=cursor)
        yield from page.lines
        cursor = page.next
        if cursor is None:
            return


def _found(project_id: str, query: str) -> ColumnElement[bool]:
    """Return the condition of the documents that a search finds."""
    words = search_key(query.replace("\0", "")).split()
    named = (Document.name_key.contains(word, autoescape=True) for word in words)
    return and_(Document.project_id == project_id, and_(true(), *named))


def _order(sort: Sort) -> Order:
    keys = (Document.name_key, Document.id) if sort == "name" else (Document.id,)
    return Order(sort, keys, falls=sort.startswith("-"))


def _in_order(session: Session, project_id: str, ids: Sequence[str], viewer_id: str | None) -> list[DocumentLine]:
    lines = {line.id: line for line in lines_of(session, project_id, ids, viewer_id)}
    return [lines[key] for key in ids if key in lines]
