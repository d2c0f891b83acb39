"""The list of a project's documents, page by page: sorted, searched, and continued by a cursor."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import Select, select, true
from sqlalchemy.orm import Session

from db.statuses import SKIPPED
from db.tables import EVERYBODY, Document, ProjectFigures, Skip, Task
from engine.documents.lists import text_search
from engine.documents.lists.views import DocumentLine, lines_of
from engine.paging import Order
from engine.workspace import Workspace

Sort = Literal["-created", "name"]
SORTS: tuple[Sort, ...] = get_args(Sort)
MOST_LINES = 1000  # of one page
MOST_COUNTED = 100_000  # documents with skipped tasks
Skipped = Literal["any", "unreadable", "not_sure", "wrong_document", "other"]


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
    skipped: Skipped | None = None,
) -> DocumentPage:
    """Return a page of a project's documents, at the cost of its own lines.

    A document that arrives between two pages moves none from one to the other.

    Args:
        workspace: open workspace.
        project_id: the project.
        viewer_id: the user; None sees all answers. Answers hidden from the user are not counted.
        query: only documents that each of these words is found in: as a part of the name, or as the beginning of a
            printed word, in any case (engine.documents.lists.text_search).
        sort: "-created": newest first; "name": by name.
        limit: maximum number of lines.
        cursor: `next` of the page before, which had the same query and sort; None: the first page.
        ids: only these documents.
        skipped: only documents with a task that somebody skipped and on which no reviewer has decided: for this
            reason, or "any".

    Raises:
        Refused: the cursor is not one of this list.
    """
    with workspace.database.read() as session:
        search = _find_documents(session, project_id, query)
        page = select(Document.id).where(Document.project_id == project_id)
        if ids is not None:
            page = page.where(Document.id.in_(ids))
        total = search.number
        if skipped is not None:
            page = page.where(Document.id.in_(_select_skipped(project_id, skipped)))
            total = len(search.first(session, page, MOST_COUNTED))
        rows, following = _order(sort).rows(session, page, limit, cursor, search.first)
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


def _find_documents(session: Session, project_id: str, query: str) -> text_search.Found:
    """Return the documents that a search finds; all of the project without one."""
    search = text_search.find_documents(session, project_id, query)
    if search is None:
        figures = session.get(ProjectFigures, (project_id, EVERYBODY))
        search = text_search.Found(figures.documents if figures is not None else 0, true())
    return search


def _select_skipped(project_id: str, skipped: Skipped) -> Select[Any]:
    """Return the statement for documents with skipped tasks that wait for a reviewer."""
    chosen = select(Task.document_id).join(Skip, Skip.task_id == Task.id)
    chosen = chosen.where(Skip.project_id == project_id, Skip.verdict.is_(None), Task.state == SKIPPED)
    return chosen if skipped == "any" else chosen.where(Skip.reason == skipped)


def _order(sort: Sort) -> Order:
    keys = (Document.name_key, Document.id) if sort == "name" else (Document.id,)
    return Order(sort, keys, falls=sort.startswith("-"))


def _in_order(session: Session, project_id: str, ids: Sequence[str], viewer_id: str | None) -> list[DocumentLine]:
    lines = {line.id: line for line in lines_of(session, project_id, ids, viewer_id)}
    return [lines[key] for key in ids if key in lines]
