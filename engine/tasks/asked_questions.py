"""The list of a project's questions, page by page: with the documents that they were asked of, searched and sorted."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Select, func, select

from db.tables import EVERYBODY, ProjectFigures, Question
from db.tables.documents import search_key
from engine.accounts import visibility
from engine.paging import Order, Page
from engine.queries import is_asked
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
    viewer_id: str | None = None,
) -> Page[ListedQuestion]:
    """Return a page of the questions that were asked of documents of a project.

    Args:
        workspace: open workspace.
        project_id: the project.
        query: only questions that contain each of these words, in any case, among their first 512 characters.
        sort: "-documents": those of most documents first, and the latest among equals; "text": by text.
        limit: maximum number, at most MOST_LISTED.
        cursor: of the page; None: the first page.
        viewer_id: the user; None sees all answers. Numbers and order would tell of hidden answers: for somebody from
            whom answers are hidden, a standard question counts as asked of all documents, and the order is by text.

    Raises:
        Refused: the cursor is not one of this list.
    """
    with workspace.database.read() as session:
        blind = visibility.works_blind(session, project_id, viewer_id)
        by_text = sort == "text" or blind
        keys = (Question.text_key, Question.id) if by_text else (Question.documents, Question.last_asked, Question.id)
        order = Order(f"questions {project_id} {'text' if by_text else sort}", keys, falls=not by_text)
        chosen = _filter(select(Question), project_id, query, blind)
        rows, following = order.rows(session, chosen, min(limit, MOST_LISTED), cursor)
        everybody = session.get(ProjectFigures, (project_id, EVERYBODY)) if blind else None
    documents = everybody.documents if everybody is not None else 0
    return Page(
        (
            ListedQuestion(
                each.id, each.text, documents if blind and each.standard else each.documents or 0, each.standard
            )
            for (each,) in rows
        ),
        following,
    )


def most_asked(workspace: Workspace, project_id: str) -> list[str]:
    """Return the questions of a project that were asked of most documents, alphabetically; OFFERED at most."""
    chosen = select(Question.text).where(Question.project_id == project_id, Question.documents > 0, is_asked())
    used = chosen.order_by(Question.documents.desc(), Question.last_asked.desc()).limit(OFFERED)
    with workspace.database.read() as session:
        return sorted(session.scalars(used))


def count_asked(workspace: Workspace, project_id: str, query: str = "", viewer_id: str | None = None) -> int:
    """Return the number of the questions on all pages; `query` and `viewer_id` as of `asked_questions`."""
    with workspace.database.read() as session:
        blind = visibility.works_blind(session, project_id, viewer_id)
        return session.scalar(_filter(select(func.count()).select_from(Question), project_id, query, blind)) or 0


def _filter(
    chosen: Select[*tuple[object, ...]], project_id: str, query: str, blind: bool
) -> Select[*tuple[object, ...]]:
    words = search_key(query.replace("\0", "")).split()
    named = (Question.text_key.contains(word, autoescape=True) for word in words)
    # The function keeps the database from walking the index of uses where texts are sorted.
    asked = func.coalesce(Question.documents, 0) > 0
    shown = asked | Question.standard if blind else asked
    return chosen.where(Question.project_id == project_id, shown, is_asked(), *named)
