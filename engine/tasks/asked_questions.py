"""The list of a project's questions, page by page: with the documents that they were asked of, searched and sorted."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Select, func, select

from db.tables import Question
from db.tables.documents import search_key
from engine.paging import Order, Page
from engine.workspace import Workspace

Sort = Literal["-documents", "text"]
MOST_LISTED = 1000  # questions of one page
OFFERED = 200  # questions in a choice


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """A question that was asked in a project.

    documents: number of the documents that it was asked of; removed answers do not count.
    standard: whether it is a standard question.
    """

    id: str
    text: str
    documents: int
    standard: bool


def asked_questions(
    workspace: Workspace,
    project_id: str,
    *,
    query: str = "",
    sort: Sort = "-documents",
    limit: int = 100,
    cursor: str | None = None,
) -> Page[ListedQuestion]:
    """Return a page of the questions that were asked of documents of a project.

    Args:
        workspace: open workspace.
        project_id: the project.
        query: only questions that contain each of these words, in any case, among their first 512 characters.
        sort: "-documents": those of most documents first, and the latest among equals; "text": by text.
        limit: maximum number, at most MOST_LISTED.
        cursor: of the page; None: the first page.

    Raises:
        Refused: the cursor is not one of this list.
    """
    keys = (
        (Question.text_key, Question.id) if sort == "text" else (Question.documents, Question.last_asked, Question.id)
    )
    order = Order(f"questions {project_id} {sort}", keys, falls=sort == "-documents")
    chosen = _filter(select(Question), project_id, query)
    with workspace.database.read() as session:
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
    return Page((ListedQuestion(each.id, each.text, each.documents, each.standard) for (each,) in rows), following)


def most_asked(workspace: Workspace, project_id: str) -> list[str]:
    """Return the questions of a project that were asked of most documents, alphabetically; OFFERED at most."""
    chosen = select(Question.text).where(Question.project_id == project_id, Question.documents > 0)
    used = chosen.order_by(Question.documents.desc(), Question.last_asked.desc()).limit(OFFERED)
    with workspace.database.read() as session:
        return sorted(session.scalars(used))


def count_asked(workspace: Workspace, project_id: str, query: str = "") -> int:
    """Return the number of the questions on all pages; `query` as of `asked_questions`."""
    with workspace.database.read() as session:
        return session.scalar(_filter(select(func.count()).select_from(Question), project_id, query)) or 0


def _filter(chosen: Select[*tuple[object, ...]], project_id: str, query: str) -> Select[*tuple[object, ...]]:
    words = search_key(query.replace("\0", "")).split()
    named = (Question.text_key.contains(word, autoescape=True) for word in words)
    # The function keeps the database from walking the index of uses where texts are sorted.
    return chosen.where(Question.project_id == project_id, func.coalesce(Question.documents, 0) > 0, *named)
